// How a statement is held against the list of forms (forms_list.cpp).
#include "common/simt/decode/forms.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "common/simt/core/error.h"
#include "common/simt/core/literals.h"

namespace simt {
namespace {

// The text between the bracket at `open` and its partner, whose place is told.
std::string_view inside(std::string_view text, size_t open, size_t& close) {
  int depth = 0;
  for (close = open; close < text.size(); ++close) {
    depth += text[close] == '{' || text[close] == '(';
    depth -= text[close] == '}' || text[close] == ')';
    if (depth == 0) break;
  }
  return text.substr(open + 1, close - open - 1);
}

std::vector<std::string_view> alternatives(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t from = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == '|' && depth == 0)) {
      parts.push_back(text.substr(from, at - from));
      from = at + 1;
    } else {
      depth += text[at] == '{' || text[at] == '(';
      depth -= text[at] == '}' || text[at] == ')';
    }
  }
  return parts;
}

// ---- Operands ---------------------------------------------------------------

// What a signature asks of one operand: "d", "a.b32", "!q", "[a]".
struct Slot {
  std::string_view name;  // d, a, p, dp, [a], v, ...
  Type type{'b', 4};
  size_t registers = 0;  // d4: so many of them, in braces
  bool negated = false;
  bool minus = false;
  bool or_wider = false;
  std::string_view parts;  // a:halves: which parts of a register it may be
};

Slot slot_of(std::string_view word, const std::vector<Type>& types) {
  Slot slot;
  slot.negated = word.starts_with('!');
  slot.minus = word.starts_with('-');
  if (slot.negated || slot.minus) word.remove_prefix(1);
  if (const size_t colon = word.find(':'); colon != word.npos) {
    slot.parts = word.substr(colon + 1);
    word = word.substr(0, colon);
  }
  const size_t dot = std::min(word.find('.'), word.size());
  slot.name = word.substr(0, dot);
  if (slot.name.starts_with("[t")) {
    slot.registers = slot.name[2] - '0';
    slot.name = "[t]";
  }
  if (slot.name.size() == 2 && std::isdigit(slot.name[1])) {
    slot.registers = slot.name[1] - '0';
    slot.name.remove_suffix(1);
  }
  const std::string_view width = word.substr(dot);
  slot.or_wider = width == ".any";
  if (!width.empty() && !slot.or_wider)
    slot.type = parse_type(std::string(width.substr(1)));
  else if (!types.empty())
    slot.type =
        slot.name == "d" && slot.or_wider ? types.front() : types.back();
  return slot;
}

// The operands of one statement, held against signatures.
class Operands {
 public:
  Operands(const Statement& s, OperandReader& reader) : s_(s), reader_(reader) {
    for (size_t k = 1; k < s.op.size(); ++k)
      if (const Type type = parse_type(s.op[k]); type.kind)
        types_.push_back(type);
  }

  bool fit(const std::vector<std::string>& signature) const {
    if (signature.size() == 1 && signature[0] == "...") return true;
    if (signature.size() != s_.operands.size()) return false;
    for (size_t k = 0; k < signature.size(); ++k)
      if (!fits(s_.operands[k], slot_of(signature[k], types_))) return false;
    return true;
  }

  // Throws Error for a name that nobody has declared.
  void require_known() const {
    for (const Operand& o : s_.operands) {
      require_known(o.text);
      for (const std::string& name : o.list) require_known(name);
    }
  }

 private:
  void require_known(const std::string& name) const {
    if (name.starts_with('%') && is_special(name) && width(name) == 0 &&
        !is_special_predicate(name))
      throw Error("'" + name +
                  "' is no register that is declared here, and no special one "
                  "that the executor knows");
  }
  bool fits(const Operand& o, const Slot& slot) const {
    if (slot.name == "d" && o.text == "_") return s_.name() == "atom";
    const bool in_braces = slot.name == "v" || slot.registers;
    const bool image = slot.name == "[t]";
    if (o.address != (slot.name == "[a]" || image) ||
        o.negated != slot.negated || o.minus != slot.minus ||
        o.list.empty() == in_braces || !is_selection(o, slot))
      return false;
    if (image) return is_image(o, slot);
    if (o.address) return is_address(o);
    if (slot.registers) return !o.in_parentheses && is_fragment(o.list, slot);
    if (slot.name == "v") return !o.in_parentheses && is_vector(o.list, slot);
    const bool pair = slot.name == "dp" || slot.name == "pq";
    if (o.second.empty() == pair) return false;
    if (pair) return is_pair(o, slot);
    if (slot.name == "d") return is_register(o.text, slot);
    if (slot.name == "p") return is_predicate(o.text);
    if (slot.name == "i") return is_integer(o.text);
    if (slot.name == "q")
      return is_predicate(o.text) || is_integer(o.text) ||
             is_special_predicate(o.text);
    if (slot.name == "l") return o.offset == 0;
    if (slot.name == "_") return o.text == "_";
    return is_source(o, slot);
  }

  bool is_predicate(const std::string& name) const {
    return reader_.is_predicate(name);
  }
  static bool is_integer(const std::string& text) {
    const auto number = parse_literal(text);
    return number && number->is_integer();
  }
  bool is_special(const std::string& name) const {
    return name.starts_with('%') && !is_predicate(name) &&
           !reader_.is_register(name);
  }
  int width(const std::string& name) const {
    Operand o;
    o.text = name;
    return reader_.width(o);
  }

  // Parts of a register, where the slot allows them.
  bool is_selection(const Operand& o, const Slot& slot) const {
    if (o.selection.empty()) return slot.name != "d" || slot.parts != "part";
    if (slot.parts.empty() || !reader_.is_register(o.text)) return false;
    const std::string_view numbers = std::string_view(o.selection).substr(1);
    const bool bytes = o.selection[0] == 'b';
    if (!bytes && o.selection[0] != 'h') return false;
    if (slot.parts == "part") return are_numbers(numbers, 1, bytes ? '3' : '1');
    if (bytes != (slot.parts == "bytes")) return false;
    const size_t count = bytes ? 4 : 2;
    if (slot.name != "d") return are_numbers(numbers, count, bytes ? '7' : '3');
    // Each at most once, from the top down.
    return numbers.size() <= count &&
           are_numbers(numbers, numbers.size(), bytes ? '3' : '1') &&
           std::ranges::is_sorted(numbers, std::greater_equal<>{});
  }
  static bool are_numbers(std::string_view text, size_t count, char most) {
    return text.size() == count && !text.empty() &&
           std::ranges::all_of(text,
                               [&](char c) { return '0' <= c && c <= most; });
  }

  // `_` takes what nobody wants.
  bool is_pair(const Operand& o, const Slot& slot) const {
    const bool first =
        slot.name == "pq" ? is_predicate(o.text) : is_register(o.text, slot);
    return (first || o.text == "_") &&
           (is_predicate(o.second) || o.second == "_");
  }
  bool is_register(const std::string& name, const Slot& slot) const {
    const int bytes = width(name);
    return reader_.is_register(name) &&
           (slot.or_wider ? bytes >= slot.type.bytes
                          : bytes == slot.type.bytes);
  }
  bool is_address(const Operand& o) const {
    if (reader_.is_register(o.text)) return width(o.text) >= 4;
    return !is_predicate(o.text) && !is_special(o.text);
  }
  // The image in a register, its coordinates in registers or as numbers.
  bool is_image(const Operand& o, const Slot& slot) const {
    return reader_.is_register(o.text) && width(o.text) == 8 && !o.offset &&
           o.second.empty() && o.list.size() == slot.registers &&
           std::all_of(o.list.begin(), o.list.end(), [&](const auto& name) {
             return parse_literal(name) ||
                    (reader_.is_register(name) && width(name) == 4);
           });
  }
  // Registers of one width; `_` for what is loaded in vain, and numbers to be
  // stored. Of a mov, the decoder knows how wide they are.
  bool is_vector(const std::vector<std::string>& names,
                 const Slot& slot) const {
    int known = 0;
    for (const std::string& name : names) {
      if (name == "_" || parse_literal(name)) continue;
      const int bytes = width(name);
      if (!reader_.is_register(name) || (known && bytes != known)) return false;
      known = bytes;
    }
    if (s_.name() == "mov") return true;
    const bool surface = s_.name() == "suld" || s_.name() == "sust";
    const size_t least = surface && !s_.has("v2") ? 1 : 2;
    return names.size() == (s_.has("v4") ? 4 : least) &&
           (known == 0 || known >= slot.type.bytes);
  }
  // A lane's part of a matrix; the elements of an atomic, or of a texture.
  bool is_fragment(const std::vector<std::string>& names,
                   const Slot& slot) const {
    const auto fits = [&](const std::string& name) {
      const bool number = slot.name != "d" && parse_literal(name);
      return number || is_register(name, slot);
    };
    const auto nobody_wants = [&](const std::string& name) {
      return name == "_" && slot.name == "d" && may_drop_elements();
    };
    return names.size() == slot.registers && std::ranges::any_of(names, fits) &&
           std::ranges::all_of(names, [&](const std::string& name) {
             return fits(name) || nobody_wants(name);
           });
  }
  bool may_drop_elements() const {
    const std::string& op = s_.name();
    return op == "atom" || op == "tex" || op == "tld4";
  }
  bool is_source(const Operand& o, const Slot& slot) const {
    if (const auto number = parse_literal(o.text)) {
      const char kind = slot.type.kind;
      const bool may_be_float =
          kind == 'f' || (kind == 'b' && slot.type.bytes >= 4);
      return o.offset == 0 &&
             (number->is_integer() ? kind != 'f' : may_be_float);
    }
    if (is_predicate(o.text)) return false;
    if (reader_.is_register(o.text))
      return o.offset == 0 && is_register(o.text, slot);
    if (is_special(o.text))
      return (s_.name() == "mov" || s_.name() == "cvt") && o.offset == 0 &&
             width(o.text) == slot.type.bytes;
    return true;  // A variable or a function, or nothing that is known.
  }

  const Statement& s_;
  OperandReader& reader_;
  std::vector<Type> types_;
};

std::vector<std::string> words_of(const std::string& operands) {
  std::vector<std::string> words;
  for (size_t from = 0; from < operands.size();) {
    const size_t comma = std::min(operands.find(", ", from), operands.size());
    words.push_back(operands.substr(from, comma - from));
    from = comma + 2;
  }
  return words;
}

// The lines that begin with an instruction, by its name.
using Lines = std::map<std::string, std::vector<std::string_view>, std::less<>>;

const Lines& lines_by_name() {
  static const Lines kLines = [] {
    Lines lines;
    for (const FormGroup& group : form_groups()) {
      for (std::string_view line : group.lines) {
        // (add|sub).sat and bar{.cta}: what comes before the first dot.
        size_t close = 0;
        const bool many = line[0] == '(';
        const std::string_view first = many ? inside(line, 0, close) : line;
        for (std::string_view name : alternatives(first)) {
          name = name.substr(0, name.find_first_of(".{(<| "));
          auto& known = lines[std::string(name)];
          if (known.empty() || known.back() != line) known.push_back(line);
        }
      }
    }
    return lines;
  }();
  return kLines;
}

// Builds what a line stands for, from left to right: `made`, then `rest`.
class Expansion {
 public:
  Expansion(const std::function<void(const std::string&)>& visit,
            std::string_view wanted)
      : visit_(visit), wanted_(wanted) {}

  void walk(std::string made, const std::string& rest) {
    const size_t open = rest.find_first_of("{(<");
    made += rest.substr(0, open);
    const size_t both = std::min(made.size(), wanted_.size());
    if (made.compare(0, both, wanted_.substr(0, both)) != 0) return;
    if (open == rest.npos) return visit_(made);
    if (rest[open] == '<') {
      const size_t close = rest.find('>', open);
      const auto word = rest.substr(open + 1, close - open - 1);
      walk(made, std::string(form_words().at(word)) + rest.substr(close + 1));
      return;
    }
    size_t close = 0;
    const std::string_view group = inside(rest, open, close);
    const std::string tail = rest.substr(close + 1);
    if (rest[open] == '{') walk(made, tail);
    for (std::string_view one : alternatives(group))
      walk(made, std::string(one) + tail);
  }

 private:
  const std::function<void(const std::string&)>& visit_;
  std::string_view wanted_;
};

}  // namespace

bool is_known_instruction(const std::string& name) {
  return lines_by_name().contains(name);
}

bool selects_parts(const std::string& name) {
  const auto lines = lines_by_name().find(name);
  return lines != lines_by_name().end() &&
         std::ranges::any_of(lines->second, [](std::string_view line) {
           return line.find(" a:") != line.npos;
         });
}

void expand_form(std::string_view line,
                 const std::function<void(const std::string&)>& visit,
                 std::string_view wanted) {
  Expansion(visit, wanted).walk("", std::string(line));
}

namespace {

// Of two types it matters which comes first, and so of two state spaces and of
// two layouts; of other modifiers it does not.
enum class Position { kType, kSpace, kLayout, kAnywhere };
Position position_of(const std::string& modifier) {
  static const std::map<std::string, Position> kPositions = {
      {"e4m3", Position::kType},         {"e5m2", Position::kType},
      {"tf32", Position::kType},         {"e4m3x2", Position::kType},
      {"e5m2x2", Position::kType},       {"s4", Position::kType},
      {"u4", Position::kType},           {"b1", Position::kType},
      {"global", Position::kSpace},      {"shared", Position::kSpace},
      {"shared::cta", Position::kSpace}, {"shared::cluster", Position::kSpace},
      {"local", Position::kSpace},       {"const", Position::kSpace},
      {"param", Position::kSpace},       {"row", Position::kLayout},
      {"col", Position::kLayout}};
  if (parse_type(modifier).kind) return Position::kType;
  const auto known = kPositions.find(modifier);
  return known == kPositions.end() ? Position::kAnywhere : known->second;
}

// The same for all orders that mean the same.
std::vector<std::string> without_order(std::vector<std::string> op) {
  const auto before = [](const std::string& a, const std::string& b) {
    const Position position = position_of(a);
    if (position != position_of(b)) return position < position_of(b);
    return position == Position::kAnywhere && a < b;
  };
  std::stable_sort(op.begin() + 1, op.end(), before);
  return op;
}

std::string joined(const std::vector<std::string>& op) {
  std::string text = op.front();
  for (size_t k = 1; k < op.size(); ++k) text.append(1, '.').append(op[k]);
  return text;
}

// Calls visit(line, form) for each form of an instruction, operands left out.
template <class Visit>
void each_form(const std::string& name, std::string_view wanted, Visit visit) {
  const auto lines = lines_by_name().find(name);
  if (lines == lines_by_name().end()) return;
  for (std::string_view line : lines->second) expand_form(line, visit, wanted);
}

std::string wanted(const std::vector<std::vector<std::string>>& signatures) {
  std::string text = "its operands should be";
  for (size_t k = 0; k < signatures.size(); ++k) {
    text += k ? ", or" : "";
    for (size_t n = 0; n < signatures[k].size(); ++n)
      text += (n ? ", " : " ") + signatures[k][n];
    if (signatures[k].empty()) text += " none";
  }
  return text + " (docs/ptx.md says what that means)";
}

}  // namespace

std::vector<std::string> in_listed_order(std::vector<std::string> op) {
  const std::string text = joined(op);
  const auto wanted = without_order(op);
  bool listed = false;
  std::vector<std::string> found;
  each_form(op.front(), text, [&](const std::string& form) {
    listed |= form.substr(0, form.find(' ')) == text;
  });
  if (listed) return op;
  each_form(op.front(), op.front(), [&](const std::string& form) {
    if (!found.empty()) return;
    auto parts = parts_of_op(form.substr(0, form.find(' ')));
    if (parts.size() == op.size() && without_order(parts) == wanted)
      found = std::move(parts);
  });
  return found.empty() ? op : found;
}

const Forms::Signatures& Forms::signatures(const Statement& s) {
  const std::string op = joined(s.op);
  const auto [known, fresh] = known_.try_emplace(op);
  if (!fresh) return known->second;
  each_form(s.name(), op, [&](const std::string& form) {
    const size_t end = std::min(form.find(' '), form.size());
    if (form.substr(0, end) == op)
      known->second.push_back(
          words_of(form.substr(std::min(end + 1, form.size()))));
  });
  return known->second;
}

void Forms::check(const Statement& s, OperandReader& reader) {
  if (!is_known_instruction(s.name()))
    throw Error("this instruction is not known to the executor");
  const Signatures& all = signatures(s);
  if (all.empty())
    throw Error("the executor does not know this form of " + s.name());
  const Operands operands(s, reader);
  const auto fits = [&](const auto& one) { return operands.fit(one); };
  if (std::ranges::any_of(all, fits)) return;
  operands.require_known();
  throw Error(wanted(all));
}

}  // namespace simt
