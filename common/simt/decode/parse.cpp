// Takes PTX text apart: a lexer that knows source lines, and a parser.
#include "common/simt/decode/parse.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <set>
#include <tuple>

#include "common/simt/core/error.h"

namespace simt {

namespace {

struct Token {
  std::string text;
  SourceLine where;
};

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$' || c == '%';
}

// Code of the toolkit and the system, inlined into a kernel, is reported at
// the line of the program that called it.
bool is_system_file(const std::string& path) {
  return path.find("/targets/") != path.npos ||
         path.find("/nvidia/") != path.npos || path.rfind("/usr/", 0) == 0;
}

// Splits PTX text into tokens, each with the source line in force there.
class Lexer {
 public:
  Lexer(const std::string& text, std::vector<std::string>& files)
      : text_(text), files_(files) {
    scan_files();
  }

  std::vector<Token> run() {
    while (at_ < text_.size() && text_[at_]) step();
    return std::move(tokens_);
  }

 private:
  // .file directives come last; the lines that refer to them come first.
  void scan_files() {
    for (size_t at = text_.find(".file\t"); at != text_.npos;
         at = text_.find(".file\t", at + 1)) {
      char* rest = nullptr;
      const size_t number = std::strtoul(&text_[at + 6], &rest, 10);
      const size_t open = text_.find('"', rest - text_.data());
      const size_t close = text_.find('"', open + 1);
      if (close == text_.npos) return;
      if (files_.size() <= number) files_.resize(number + 1);
      files_[number] = text_.substr(open + 1, close - open - 1);
    }
  }

  void step() {
    const char c = text_[at_];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (starts("//")) {
      rest_of_line();
    } else if (starts("/*")) {
      at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
    } else if (starts(".loc\t") || starts(".loc ")) {
      location(rest_of_line());
    } else if (starts(".file") || starts(".version") || starts(".target") ||
               starts(".address_size") || starts(".pragma")) {
      rest_of_line();
    } else if (starts(".section")) {
      at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
    } else if (c == '"') {
      emit(text_.find('"', at_ + 1) + 1);
    } else if (is_name_char(c)) {
      // Directives may touch: ".reg.b32 f" in the half headers' assembly.
      const bool directive = c == '.';
      size_t end = at_ + 1;
      while (end < text_.size() && !(directive && text_[end] == '.') &&
             (is_name_char(text_[end]) || colons(end) || colons(end - 1)))
        ++end;
      emit(end);
    } else {
      emit(at_ + 1);
    }
  }

  bool starts(const char* word) const {
    return text_.compare(at_, std::strlen(word), word) == 0;
  }
  bool colons(size_t at) const { return text_.compare(at, 2, "::") == 0; }

  void emit(size_t end) {
    tokens_.push_back({text_.substr(at_, end - at_), where_});
    at_ = end;
  }

  std::string rest_of_line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string line = text_.substr(at_, end - at_);
    at_ = end;
    return line;
  }

  // .loc file line column[, function_name label, inlined_at file line column]
  void location(const std::string& line) {
    Position here = {}, outer = {};
    auto& [f, l, c] = here;
    std::sscanf(line.c_str(), ".loc %u %u %u", &f, &l, &c);
    const size_t inlined = line.find("inlined_at");
    if (inlined != line.npos) {
      auto& [of, ol, oc] = outer;
      std::sscanf(&line[inlined], "inlined_at %u %u %u", &of, &ol, &oc);
    }
    if (l == 0) return;  // The compiler does not say: still the line before.
    const auto known = resolved_.find(outer);
    if (is_system(f) && inlined != line.npos) {
      where_ = known != resolved_.end()
                   ? known->second
                   : SourceLine{std::get<0>(outer), std::get<1>(outer)};
    } else {
      where_ = {f, l};
    }
    where_.of_groups |=
        f < files_.size() &&
        files_[f].find("/cooperative_groups") != std::string::npos;
    resolved_[here] = where_;
  }
  bool is_system(uint32_t file) const {
    return file < files_.size() && is_system_file(files_[file]);
  }

  using Position = std::tuple<uint32_t, uint32_t, uint32_t>;
  const std::string& text_;
  std::vector<std::string>& files_;
  size_t at_ = 0;
  SourceLine where_;
  std::map<Position, SourceLine> resolved_;
  std::vector<Token> tokens_;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  void run(ModuleText& module) {
    while (at_ < tokens_.size()) top_level(module);
  }

 private:
  const std::string& peek(size_t ahead = 0) const {
    static const std::string end;
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : end;
  }
  std::string next() {
    if (at_ >= tokens_.size()) throw Error("PTX ends in mid-sentence");
    return tokens_[at_++].text;
  }
  bool accept(const char* text) {
    if (peek() != text) return false;
    ++at_;
    return true;
  }
  void expect(const char* text) {
    if (!accept(text))
      throw Error(std::string("PTX: expected '") + text + "', found '" +
                  peek() + "'");
  }
  static uint64_t number(const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 0);
  }

  void top_level(ModuleText& module) {
    bool external = false;
    while (peek() == ".visible" || peek() == ".weak" || peek() == ".extern" ||
           peek() == ".common")
      external |= next() == ".extern";
    const std::string word = next();
    if (word == ".global" || word == ".const" || word == ".shared") {
      Declaration d = declaration(word.substr(1));
      d.external = external;
      if (accept("=")) initial(d);
      expect(";");
      module.variables.push_back(std::move(d));
    } else if (word == ".entry" || word == ".func") {
      FunctionText f = function(word == ".entry");
      FunctionText& known = module.functions[f.name];
      if (!known.defined) known = std::move(f);
    } else if (word == ".alias") {
      while (next() != ";") {
      }
    } else if (word != ";") {
      throw Error("PTX: '" + word + "' is not known here");
    }
  }

  // .align 4 .b8 name[16], after its state space.
  Declaration declaration(const std::string& space) {
    Declaration d;
    d.space = space;
    d.align = 0;
    while (peek()[0] == '.') {
      const std::string word = next();
      if (word == ".align")
        d.align = number(next());
      else if (word == ".attribute")  // (.managed)
        while (next() != ")") continue;
      else if (const Type t = parse_type(word.substr(1)); t.kind)
        d.type = t;  // The rest, .ptr .global and so on, are only hints.
    }
    d.name = next();
    uint64_t count = 1;
    while (accept("[")) {
      count *= peek() == "]" ? 0 : number(next());
      expect("]");
    }
    if (accept("<")) {
      d.registers = number(next());
      expect(">");
    }
    d.align = std::max<uint32_t>({d.align, d.type.bytes, 1});
    d.bytes = d.type.bytes * count;
    return d;
  }

  // = 1, {1, 2}, generic(name)+4, {0xFF(name), 0xFF00(name)}, 0f3F800000
  void initial(Declaration& d) {
    int depth = 0;
    do {
      if (accept("{")) {
        ++depth;
      } else if (accept("}")) {
        --depth;
      } else if (!accept(",")) {
        d.initial.push_back(element());
      }
    } while (depth > 0 || peek() == ",");
  }
  Declaration::Initial element() {
    Declaration::Initial e;
    const bool minus = accept("-");
    const std::string word = next();
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      e.value = literal(word);
      if (minus) e.value = -e.value;
      if (accept("(")) {  // a mask: one byte of an address
        e.mask = e.value;
        e.value = 0;
        e.symbol = symbol(e);
        expect(")");
      }
    } else if (word == "generic" && accept("(")) {
      e.symbol = next();
      expect(")");
    } else {
      e.symbol = word;
    }
    if (accept("+")) e.value += number(next());
    return e;
  }
  std::string symbol(Declaration::Initial& e) {
    std::string name = next();
    if (name == "generic" && accept("(")) {
      name = next();
      expect(")");
    }
    if (accept("+")) e.value += number(next());
    return name;
  }
  static uint64_t literal(const std::string& word) {
    const bool bits = word.size() > 2 && word[0] == '0' &&
                      std::strchr("fFdD", word[1]) != nullptr;
    return bits ? std::strtoull(&word[2], nullptr, 16) : number(word);
  }

  std::vector<Declaration> parameters() {
    std::vector<Declaration> list;
    if (!accept("(")) return list;
    while (!accept(")")) {
      if (accept(",")) continue;
      list.push_back(declaration(next().substr(1)));
    }
    return list;
  }

  FunctionText function(bool entry) {
    FunctionText f;
    f.entry = entry;
    if (!entry) f.results = parameters();
    f.name = next();
    f.where = tokens_[at_ - 1].where;
    f.params = parameters();
    while (peek() != "{" && peek() != ";") {
      if (next() != ".maxntid") continue;
      f.max_threads = number(next());
      while (accept(",")) f.max_threads *= number(next());
    }
    if (accept(";")) return f;
    f.defined = true;
    expect("{");
    for (int depth = 1; depth > 0;) {
      if (peek() == "{" || peek() == "}") {
        Statement s;
        s.scope = next()[0];
        depth += s.scope == '{' ? 1 : -1;
        if (depth > 0) f.body.push_back(std::move(s));
      } else if (!accept(";")) {
        statement(f);
      }
    }
    return f;
  }

  void statement(FunctionText& f) {
    static const std::set<std::string> kSpaces = {".reg", ".param", ".local",
                                                  ".shared"};
    if (kSpaces.contains(peek())) {
      const std::string space = next().substr(1);
      auto& list = f.declarations[f.body.size()];
      const Type type = [&] {
        list.push_back(declaration(space));
        return list.back().type;
      }();
      while (accept(",")) {  // .reg .b32 %a, %b;
        Declaration more;
        more.space = space;
        more.type = type;
        more.name = next();
        list.push_back(more);
      }
      expect(";");
      return;
    }
    Statement s;
    s.where = tokens_[at_].where;
    if (peek(1) == ":") {
      s.label = next();
      ++at_;
      f.body.push_back(s);
      if (peek() == ".callprototype")
        while (peek() != ";") ++at_;
      return;
    }
    if (accept("@")) {
      s.guard_negated = accept("!");
      s.guard = next();
    }
    s.op = split(next());
    s.text = tokens_[at_ - 1].text;
    while (peek() != ";") {
      s.operands.push_back(operand(s.text));
      if (accept(",")) s.text += ',';
    }
    f.body.push_back(std::move(s));
  }

  static std::vector<std::string> split(const std::string& op) {
    std::vector<std::string> parts;
    for (size_t from = op[0] == '.';;) {
      const size_t dot = op.find('.', from);
      parts.push_back(op.substr(from, dot - from));
      if (dot == op.npos) return parts;
      from = dot + 1;
    }
  }

  Operand operand(std::string& text) {
    const size_t from = at_;
    Operand o;
    if (accept("[")) {
      o.address = true;
      o.text = next();
      offset(o);
      expect("]");
    } else if (peek() == "{" || peek() == "(") {
      const char* close = next() == "{" ? "}" : ")";
      while (!accept(close))
        if (!accept(",")) o.list.push_back(signed_name());
    } else {
      o.negated = accept("!");
      o.text = signed_name();
      if (accept("|")) o.second = next();
      offset(o);
    }
    for (size_t k = from; k < at_; ++k)
      text += (k == from ? " " : "") + tokens_[k].text;
    return o;
  }
  std::string signed_name() { return accept("-") ? "-" + next() : next(); }
  void offset(Operand& o) {
    while (peek() == "+" || peek() == "-") {
      const bool minus = next() == "-" || accept("-");
      const auto value = static_cast<int64_t>(number(next()));
      o.offset += minus ? -value : value;
    }
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

ModuleText parse_ptx(const std::string& text) {
  ModuleText module;
  Parser(Lexer(text, module.files).run()).run(module);
  return module;
}

}  // namespace simt
