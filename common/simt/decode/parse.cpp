// Takes PTX text apart: a lexer that knows source lines, and a parser.
#include "common/simt/decode/parse.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "common/simt/core/error.h"
#include "common/simt/core/literals.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/expression.h"
#include "common/simt/decode/forms.h"
#include "common/simt/decode/tokens.h"

namespace simt {

namespace {

// More than any program has, and little enough for the host.
constexpr uint64_t kMostRegisters = 1 << 18;     // one declaration's
constexpr uint64_t kMostBytes = 1ull << 40;      // a variable's
constexpr uint64_t kMostParameterBytes = 32764;  // a kernel's, as in CUDA
constexpr uint64_t kMostAlignment = 1 << 15;
constexpr uint64_t kMostAnything = UINT32_MAX;

// What may stand before a variable or a function. Each file may declare what is
// .common, too.
const std::map<std::string_view, Linkage> kLinkage = {
    {".visible", Linkage::kVisible},
    {".weak", Linkage::kWeak},
    {".common", Linkage::kWeak},
    {".extern", Linkage::kExternal}};
const std::set<std::string_view> kVariableSpaces = {".global", ".const",
                                                    ".shared"};
const std::set<std::string_view> kTakeOneInBraces = {"ld", "ldu", "st", "mov"};
const std::set<std::string_view> kBodySpaces = {".reg", ".param", ".local",
                                                ".shared"};

// Directives of a function that change nothing here: how many registers it may
// have, how many of its blocks share an SM, how it is called.
const std::map<std::string_view, int> kLimits = {
    {".minnctapersm", 1}, {".maxnctapersm", 1}, {".maxnreg", 1},
    {".noreturn", 0},     {".abi_preserve", 1}, {".abi_preserve_control", 1}};

// Advice to ptxas.
const std::set<std::string_view> kPragmas = {
    "nounroll", "used_bytes_mask", "enable_smem_spilling", "frequency"};

class Parser {
 public:
  Parser(std::vector<Token> tokens, uint32_t unit, ModuleText& module)
      : tokens_(std::move(tokens)), unit_(unit), module_(module) {}

  void run() {
    tell_where([&] {
      while (at_ < tokens_.size()) top_level();
    });
  }

  void run(FunctionText& f) {
    function_ = f.name;
    tell_where([&] { body(f); });
  }

 private:
  void tell_where(const auto& parse) const {
    try {
      parse();
    } catch (const Error& e) {
      throw Error(std::string("PTX") + place() + ": " + e.what());
    }
  }

  // " (relu.cu:23, relu_kernel)", as far as it is known.
  std::string place() const {
    if (tokens_.empty()) return "";
    const Token& token = tokens_[std::min(at_, tokens_.size() - 1)];
    const std::string line = location_of(token.where, module_.files);
    const std::string name = function_name(function_);
    if (line.empty() && name.empty()) return "";
    return " (" + line + (line.empty() || name.empty() ? "" : ", ") + name +
           ")";
  }

  // ---- Tokens ---------------------------------------------------------------

  std::string_view peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text
                                        : std::string_view();
  }
  std::string_view next() {
    if (at_ >= tokens_.size()) throw Error("the text ends in mid-sentence");
    return tokens_[at_++].text;
  }
  bool accept(std::string_view text) {
    if (peek() != text) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text))
      throw Error("expected " + quoted(text) + ", found " + quoted(peek()));
  }
  static std::string quoted(std::string_view text) {
    return "'" + std::string(text) + "'";
  }
  uint64_t count(uint64_t most) {
    return parse_count(std::string(next()), most);
  }

  static bool is_name(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.empty() ? 0 : text[0]);
    return std::isalpha(first) || first == '_' || first == '$' || first == '%';
  }
  std::string name() {
    if (!is_name(peek())) throw Error(quoted(peek()) + " is no name");
    return known_as(next());
  }
  std::string known_as(std::string_view name) const {
    std::string same(name);
    const auto& own = module_.units[unit_].own_names;
    const auto renamed = own.find(same);
    return renamed == own.end() ? same : renamed->second;
  }
  [[noreturn]] void unknown_directive(std::string_view word) {
    throw Error("the executor does not know " + quoted(word) + " here");
  }

  // ---- The module -----------------------------------------------------------

  void top_level() {
    function_.clear();
    Linkage linkage = Linkage::kOwnFile;
    while (kLinkage.contains(peek())) linkage = kLinkage.at(next());
    const std::string_view word = next();
    if (kVariableSpaces.contains(word)) {
      variable(std::string(word.substr(1)), linkage);
    } else if (word == ".entry" || word == ".func") {
      define(function(word == ".entry", linkage));
    } else if (word == ".version") {
      if (!peek().starts_with("9.") && !peek().starts_with("8.") &&
          !peek().starts_with("7."))
        throw Error("the executor knows PTX 7, 8 and 9, not " +
                    std::string(peek()));
      next();
    } else if (word == ".target") {
      target();
    } else if (word == ".address_size") {
      if (count(64) != 64) throw Error("addresses have 64 bits here");
    } else if (word == ".pragma") {
      pragma();
    } else if (word != ";") {
      unknown_directive(word);
    }
  }

  // .target sm_90a, debug
  void target() {
    do {
      const std::string_view word = next();
      if (!word.starts_with("sm_") && word != "debug" &&
          word != "texmode_independent" && word != "texmode_unified")
        throw Error("the executor does not know the target " +
                    std::string(word));
      module_.units[unit_].for_sm_90a |= word == "sm_90a";
      if (word == "debug") module_.units[unit_].level = 0;
    } while (accept(","));
  }

  // .pragma "used_bytes_mask 0xf0f"; returns the first words.
  std::set<std::string_view> pragma() {
    std::set<std::string_view> words;
    do {
      const std::string_view text = next();
      if (!text.starts_with('"')) throw Error(quoted(text) + " is no string");
      const auto word = text.substr(1, text.find_first_of(" \"", 1) - 1);
      if (!kPragmas.contains(word))
        throw Error("the executor does not know .pragma " + std::string(text));
      words.insert(word);
    } while (accept(","));
    expect(";");
    return words;
  }

  void define(FunctionText f) {
    FunctionText& known = module_.functions[f.name];
    if (known.defined && f.defined) {
      require_other_file(f.name, known.unit);
      if (replaces(f.name, f.linkage, known.linkage)) known = std::move(f);
    } else if (!known.defined) {
      known = std::move(f);
    }
  }

  void require_other_file(const std::string& name, uint32_t unit) const {
    if (unit == unit_) throw Error(name + " is defined for the second time");
  }

  // Of two that are defined, whether the second one counts.
  bool replaces(const std::string& name, Linkage second, Linkage first) const {
    if (first != Linkage::kWeak && second != Linkage::kWeak)
      throw Error(name + " is defined for the second time");
    return first == Linkage::kWeak && second != Linkage::kWeak;
  }

  void variable(const std::string& space, Linkage linkage) {
    const bool external = linkage == Linkage::kExternal;
    Declaration d = declaration(space);
    d.linkage = linkage;
    d.unit = unit_;
    if (accept("=")) initial(d);
    expect(";");
    if (external && space == "shared")
      d.bytes = 0;  // The launch says how many.
    if (d.bytes == 0 && !external)
      throw Error("the variable " + d.name + " is of unknown size");
    const auto known =
        std::ranges::find(module_.variables, d.name, &Declaration::name);
    if (known == module_.variables.end())
      module_.variables.push_back(std::move(d));
    else
      define_again(*known, std::move(d));
  }

  // Several files know the variable.
  void define_again(Declaration& known, Declaration d) {
    if (known.space != d.space)
      throw Error(d.name + " is ." + known.space + " in another file, and ." +
                  d.space + " here");
    const uint32_t align = std::max(known.align, d.align);
    const bool first_counts = d.linkage == Linkage::kExternal ||
                              (known.linkage != Linkage::kExternal &&
                               !replaces(d.name, d.linkage, known.linkage));
    if (!first_counts) known = std::move(d);
    known.align = align;
  }

  // ---- Declarations ---------------------------------------------------------

  // .align 4 .b8 name[16], behind its state space.
  Declaration declaration(const std::string& space) {
    Declaration d;
    d.space = space;
    d.align = 0;
    while (peek().starts_with('.')) {
      const std::string word(next());
      if (word == ".align") {
        d.align = alignment();
      } else if (word == ".attribute") {
        expect("(");
        if (next() != ".managed")
          throw Error("of attributes, the executor knows .managed alone");
        expect(")");
      } else if (word == ".ptr" && space == "param") {
        points_to();
      } else if (const Type t = parse_type(word.substr(1)); t.kind) {
        if (d.type.kind) throw Error("a second type, " + word);
        d.type = t;
      } else {
        unknown_directive(word);
      }
    }
    if (!d.type.kind)
      throw Error(quoted(peek()) + " is declared without a type");
    if (d.type.is('p') && space != "reg")
      throw Error("predicates are registers only");
    named(d);
    return d;
  }
  uint32_t alignment() {
    const uint64_t bytes = count(kMostAlignment);
    if (bytes == 0 || (bytes & (bytes - 1)))
      throw Error("an alignment of " + std::to_string(bytes) +
                  " is no power of two");
    return bytes;
  }
  // .ptr .global .align 16: what a parameter points to, for ptxas to use.
  void points_to() {
    static const std::set<std::string_view> kSpaces = {".global", ".shared",
                                                       ".local", ".const"};
    if (kSpaces.contains(peek())) ++at_;
    if (accept(".align")) alignment();
  }

  // name[16], %r<7>
  void named(Declaration& d) {
    d.name = name();
    d.registers = 0;
    uint64_t elements = 1;
    while (d.space != "reg" && accept("[")) {
      const uint64_t size = peek() == "]" ? 0 : count(kMostBytes);
      if (__builtin_mul_overflow(elements, size, &elements))
        throw Error(d.name + " is too large");
      expect("]");
    }
    if (d.space == "reg" && accept("<")) {
      d.registers = count(kMostRegisters);
      if (d.registers == 0) throw Error("no registers " + d.name);
      expect(">");
    }
    d.align = std::max<uint32_t>({d.align, d.type.bytes, 1});
    if (elements > kMostBytes / std::max<uint64_t>(d.type.bytes, 1))
      throw Error(d.name + " is too large");
    d.bytes = d.type.bytes * elements;
  }

  // = 1, {1, 2}, generic(name)+4, {0xFF(name), 0xFF00(name)}, 0f3F800000
  void initial(Declaration& d) {
    if (!accept("{")) {
      d.initial.push_back(element(d.type));
    } else if (!accept("}")) {
      do {
        d.initial.push_back(element(d.type));
      } while (accept(","));
      expect("}");
    }
    const uint64_t bytes = d.type.bytes * d.initial.size();
    if (d.bytes == 0) d.bytes = bytes;
    if (bytes > d.bytes)
      throw Error(d.name + " begins with more values than it holds");
  }
  Declaration::Initial element(Type type) {
    Declaration::Initial e;
    if (!at_name()) {
      const std::string first(peek());
      const Literal number = constant_expression(tokens_, at_);
      if (number.is_integer() == type.is_float())
        throw Error("what begins with " + quoted(first) +
                    " is no value of this type");
      e.value = number.as(type.bytes);
      if (accept("(")) {  // a mask: one byte of an address
        e.mask = e.value;
        e.value = 0;
        if (e.mask == 0) throw Error("a mask of no bits");
        e.symbol = symbol(e);
        expect(")");
      }
    } else {
      e.symbol = symbol(e);
    }
    return e;
  }
  std::string symbol(Declaration::Initial& e) {
    const bool generic = peek() == "generic" && peek(1) == "(";
    if (generic) at_ += 2;
    const std::string symbol = name();
    if (generic) expect(")");
    if (accept("+")) e.value += count(kMostBytes);
    return symbol;
  }

  std::vector<Declaration> parameters(bool entry) {
    std::vector<Declaration> list;
    if (!accept("(")) return list;
    if (accept(")")) return list;
    do {
      const bool in_register = !entry && accept(".reg");
      if (!in_register) expect(".param");
      list.push_back(declaration(in_register ? "reg" : "param"));
      if (list.back().type.is('p'))
        throw Error("predicates are no parameters here");
    } while (accept(","));
    expect(")");
    return list;
  }

  // ---- Functions ------------------------------------------------------------

  FunctionText function(bool entry, Linkage linkage) {
    FunctionText f;
    f.entry = entry;
    f.linkage = linkage;
    f.unit = unit_;
    f.where = tokens_[at_ - 1].where;
    if (!entry) f.results = parameters(entry);
    f.name = function_ = name();
    f.params = parameters(entry);
    while (!peek().starts_with('{') && peek() != ";") directive(f);
    require_agreement(f);
    if (accept(";")) return f;
    f.defined = true;
    require_sizes(f);
    f.unread = next();
    return f;
  }

  void body(FunctionText& f) {
    expect("{");
    for (const auto& list : {f.params, f.results})
      for (const Declaration& d : list) parameters_.insert(d.name);
    for (Declaration& d : f.params)
      if (d.space == "reg") take_from_memory(f, d);
    for (Declaration& d : f.results)
      if (d.space == "reg") results_.push_back(take_apart(f, d));
    uint32_t scopes = 0;
    for (int depth = 1; depth > 0;) {
      if (peek() == "{" || peek() == "}") {
        Statement s;
        s.scope = next()[0];
        s.number = ++scopes;
        depth += s.scope == '{' ? 1 : -1;
        if (depth > 0) f.body.push_back(std::move(s));
      } else if (!accept(";")) {
        statement(f);
      }
    }
    give_results(f, {});
  }

  void require_sizes(const FunctionText& f) {
    uint64_t bytes = 0;
    for (const auto& list : {f.params, f.results})
      for (const Declaration& d : list) {
        if (d.bytes == 0) throw Error(d.name + " is of unknown size");
        bytes += d.bytes + d.align;
        if (bytes > 2 * kMostParameterBytes)
          throw Error("more than " + std::to_string(kMostParameterBytes) +
                      " bytes of parameters");
      }
  }

  void directive(FunctionText& f) {
    const std::string_view word = next();
    if (const auto known = kLimits.find(word); known != kLimits.end()) {
      if (known->second) count(kMostAnything);
    } else if (word == ".maxntid") {
      f.max_threads = extent();
    } else if (word == ".reqntid") {
      exact_extent(f.block, "block");
    } else if (word == ".reqnctapercluster") {
      exact_extent(f.cluster, "cluster");
    } else if (word == ".blocksareclusters") {
      f.blocks_are_clusters = true;
    } else if (word == ".explicitcluster") {
      f.explicit_cluster = true;
    } else if (word == ".maxclusterrank") {
      f.most_in_cluster = count(kMostAnything);
    } else if (word == ".pragma") {
      pragma();
    } else {
      unknown_directive(word);
    }
  }

  void exact_extent(unsigned (&size)[3], const std::string& of_what) {
    int given = 0;
    do {
      if (given == 3) throw Error("a " + of_what + " has three dimensions");
      size[given++] = count(kMostAnything);
    } while (accept(","));
    std::fill(size + given, size + 3, 1u);
    if (std::count(size, size + 3, 0u)) throw Error("an empty " + of_what);
  }

  void require_agreement(const FunctionText& f) {
    if (f.max_threads && f.block[0]) throw Error(".maxntid beside .reqntid");
    if (f.blocks_are_clusters && !(f.block[0] && f.cluster[0]))
      throw Error(".blocksareclusters without .reqntid and .reqnctapercluster");
  }

  // 256, 1, 1
  uint32_t extent() {
    uint64_t all = count(kMostAnything);
    while (accept(",")) all *= count(kMostAnything);
    if (all == 0 || all > kMostAnything) throw Error("such an extent");
    return all;
  }

  // ---- Statements -----------------------------------------------------------

  void statement(FunctionText& f) {
    if (kBodySpaces.contains(peek())) return variables(f);
    if (accept(".pragma")) {
      const std::set<std::string_view> words = pragma();
      if (words.contains("nounroll")) f.stay_loops.insert(f.body.size());
      has_gap_ = words.contains("used_bytes_mask");
      return;
    }
    if (peek().starts_with('.')) unknown_directive(peek());
    Statement s;
    s.has_gap = std::exchange(has_gap_, false);
    s.where = tokens_[at_].where;
    s.origin = tokens_[at_].origin;
    if (peek(1) == ":") return label(f, s);
    if (accept("@")) {
      s.guard_negated = accept("!");
      s.guard = name();
    }
    if (!is_name(peek())) throw Error(quoted(peek()) + " is no instruction");
    s.text = next();
    s.op = parts(s.text);
    if (is_known_instruction(s.name()))
      operands(s);
    else
      skip_operands(s);
    if (kTakeOneInBraces.contains(s.name())) take_out_of_braces(s);
    if (s.name() == "call") return call(f, s);
    if (s.name() == "ret") give_results(f, s);
    f.body.push_back(std::move(s));
  }

  // ld.global.b32 {%r1}, [%rd1], as Triton writes it.
  static void take_out_of_braces(Statement& s) {
    for (Operand& o : s.operands)
      if (o.list.size() == 1 && !o.in_parentheses)
        o.text = std::exchange(o.list, {}).front();
  }

  // ---- Parameters in registers ----------------------------------------------
  //
  // A function and who calls it meet in .param memory, as nvcc writes it. What
  // PTX lets programs pass in registers or as numbers is written so here, too.

  // A register and the memory in which it is passed.
  struct Passed {
    std::string value;  // a register's name, or a number
    Declaration in;
  };

  Declaration new_parameter(const Declaration& like) {
    Declaration d = like;
    d.space = "param";
    d.name = "passed." + std::to_string(passed_++);
    return d;
  }

  // The declaration of a parameter becomes that of memory.
  Passed take_apart(FunctionText& f, Declaration& d) {
    f.declarations[0].push_back(d);
    const Declaration memory = new_parameter(d);
    return {std::exchange(d, memory).name, memory};
  }
  void take_from_memory(FunctionText& f, Declaration& d) {
    const Passed passed = take_apart(f, d);
    f.body.push_back(moved(passed, false, {}));
  }
  void give_results(FunctionText& f, const Statement& ret) {
    for (const Passed& result : results_)
      f.body.push_back(moved(result, true, ret));
  }

  // ld.param.b32 value, [memory]; or st.param.b32 [memory], value; under the
  // condition of `like`, and at its line.
  static Statement moved(const Passed& passed, bool stores,
                         const Statement& like) {
    Operand memory, value;
    memory.text = passed.in.name;
    memory.address = true;
    value.text = passed.value;
    Statement s;
    s.where = like.where;
    s.origin = like.origin;
    s.guard = like.guard;
    s.guard_negated = like.guard_negated;
    s.op = {stores ? "st" : "ld", "param",
            "b" + std::to_string(8 * passed.in.type.bytes)};
    s.operands = {memory, value};
    if (!stores) std::swap(s.operands[0], s.operands[1]);
    s.text = like.text.empty() ? "the parameter " + passed.value : like.text;
    return s;
  }

  void call(FunctionText& f, Statement& s) {
    const size_t target =
        !s.operands.empty() && s.operands[0].in_parentheses ? 1 : 0;
    std::vector<Passed> results, arguments;
    if (target < s.operands.size()) {
      const auto callee = module_.functions.find(s.operands[target].text);
      if (callee != module_.functions.end()) {
        if (target) results = passed(f, s.operands[0], callee->second.results);
        if (target + 1 < s.operands.size())
          arguments = passed(f, s.operands[target + 1], callee->second.params);
      }
    }
    for (const Passed& one : arguments) f.body.push_back(moved(one, true, s));
    f.body.push_back(s);
    for (const Passed& one : results)
      if (one.value != "_") f.body.push_back(moved(one, false, s));
  }

  // Those of a call's operands that are no .param memory; they become some.
  std::vector<Passed> passed(FunctionText& f, Operand& operands,
                             const std::vector<Declaration>& formals) {
    std::vector<Passed> list;
    const size_t count = std::min(operands.list.size(), formals.size());
    for (size_t k = 0; k < count; ++k) {
      std::string& name = operands.list[k];
      const bool scalar = formals[k].bytes == formals[k].type.bytes;
      if (!scalar || parameters_.contains(name)) continue;
      const Declaration memory = new_parameter(formals[k]);
      f.declarations[f.body.size()].push_back(memory);
      list.push_back({std::exchange(name, memory.name), memory});
    }
    return list;
  }

  // ---- Variables and labels -------------------------------------------------

  // .reg .b32 %a, %b<2>;
  void variables(FunctionText& f) {
    const std::string space(next().substr(1));
    auto& list = f.declarations[f.body.size()];
    Declaration d = declaration(space);
    for (;;) {
      if (d.bytes == 0 && space != "reg")
        throw Error("the variable " + d.name + " is of unknown size");
      list.push_back(d);
      if (space == "param") parameters_.insert(d.name);
      if (!accept(",")) break;
      named(d);
    }
    expect(";");
  }

  void label(FunctionText& f, Statement& s) {
    s.label = name();
    ++at_;
    if (accept(".branchtargets")) {
      s.op = {"branchtargets"};
      operands(s);
      expect(";");
    } else if (accept(".calltargets")) {  // for ptxas to use
      operands(s);
      s.operands.clear();
      expect(";");
    } else if (accept(".callprototype")) {  // what is called says so itself
      parameters(false);
      name();
      parameters(false);
      while (peek() != ";")
        if (const auto word = next(); !kLimits.contains(word))
          unknown_directive(word);
        else if (kLimits.at(word))
          count(kMostAnything);
    }
    f.body.push_back(s);
  }

  const std::vector<std::string>& parts(const std::string& op) {
    const auto [known, fresh] = module_.ops.try_emplace(op);
    if (fresh) known->second = in_listed_order(parts_of_op(op));
    return known->second;
  }

  // %r1.b0 becomes %r1 and b0.
  static void split_selection(Operand& o) {
    const size_t dot = o.text.rfind('.');
    if (dot == o.text.npos || !is_name(o.text)) return;
    o.selection = o.text.substr(dot + 1);
    o.text.resize(dot);
  }

  void operands(Statement& s) {
    if (peek() == ";") return;
    do {
      if (!s.operands.empty()) s.text += ',';
      s.operands.push_back(operand(s.text, s.name() == "call"));
    } while (accept(","));
    if (s.text[0] == 'v' && selects_parts(s.name()))
      std::ranges::for_each(s.operands, split_selection);
    if (peek() != ";")
      throw Error(quoted(peek()) + " is left over behind " + quoted(s.text));
  }

  // Of an instruction that nobody knows, the text is enough to refuse it.
  void skip_operands(Statement& s) {
    s.text += ' ';
    while (peek() != ";")
      s.text += next() == "," ? ", " : tokens_[at_ - 1].text;
  }

  Operand operand(std::string& text, bool calls) {
    const size_t from = at_;
    Operand o;
    if (accept("[")) {
      o.address = true;
      o.text = word();
      offset(o);
      if (accept(",")) coordinates(o);
      expect("]");
    } else if (peek() == "{" || (peek() == "(" && calls)) {
      const char* close = next() == "{" ? "}" : ")";
      if (!accept(close)) {
        do {
          o.list.push_back(word());
        } while (accept(","));
        expect(close);
      }
      o.in_parentheses = *close == ')';
    } else {
      if (is_name(peek(1))) {
        o.negated = accept("!");
        o.minus = !o.negated && accept("-");
      }
      o.text = word();
      if (accept("|")) o.second = name();
      offset(o);
    }
    for (size_t k = from; k < at_; ++k)
      (text += k == from ? " " : "") += tokens_[k].text;
    return o;
  }

  // Of an image or a tensor: [%rd1, {%f1, %f2}], or
  // [image, sampler, {%f1, %f2}].
  void coordinates(Operand& o) {
    if (peek() != "{") {
      o.second = word();
      if (!accept(",")) return;
    }
    expect("{");
    do {
      o.list.push_back(word());
    } while (accept(","));
    expect("}");
  }

  bool at_name() const { return is_name(peek()) && peek() != "WARP_SZ"; }

  // A name or a number.
  std::string word() {
    if (at_name()) return known_as(next());
    const size_t from = at_;
    const Literal number = constant_expression(tokens_, at_);
    if (number.is_integer())
      return std::to_string(static_cast<int64_t>(number.bits));
    std::string text;
    for (size_t k = from; k < at_; ++k) text += tokens_[k].text;
    return text;
  }
  void offset(Operand& o) {
    while (accept("+")) {
      const Literal number = constant_expression(tokens_, at_);
      const auto value = static_cast<int64_t>(number.bits);
      constexpr auto most = static_cast<int64_t>(kMostBytes);
      if (!number.is_integer() || value < -most || value > most)
        throw Error("what is added to " + quoted(o.text) +
                    " is no number of bytes");
      o.offset += value;
    }
  }

  std::vector<Token> tokens_;
  const uint32_t unit_;
  ModuleText& module_;
  std::string function_;              // that is being read, for messages
  std::set<std::string> parameters_;  // its own and its calls', in memory
  std::vector<Passed> results_;       // its own, in registers
  uint32_t passed_ = 0;
  size_t at_ = 0;
  bool has_gap_ = false;  // what the next statement loads
};

}  // namespace

std::vector<std::string> accepted_directives() {
  std::vector<std::string> all = {".version",
                                  ".target",
                                  ".address_size",
                                  ".file",
                                  ".loc",
                                  ".section",
                                  ".entry",
                                  ".func",
                                  ".maxntid",
                                  ".reqntid",
                                  ".reqnctapercluster",
                                  ".blocksareclusters",
                                  ".explicitcluster",
                                  ".maxclusterrank",
                                  ".align",
                                  ".ptr",
                                  ".attribute(.managed)",
                                  ".reg",
                                  ".param",
                                  ".local",
                                  ".shared",
                                  ".global",
                                  ".const",
                                  ".branchtargets",
                                  ".calltargets",
                                  ".callprototype"};
  for (const auto& [word, linkage] : kLinkage) all.emplace_back(word);
  for (const auto& [word, arguments] : kLimits) all.emplace_back(word);
  for (const std::string_view word : kPragmas)
    all.push_back(".pragma \"" + std::string(word) + "\"");
  return all;
}

void add_unit(ModuleText& module, std::string_view text, Unit unit) {
  const auto number = static_cast<uint32_t>(module.units.size());
  unit.ptx = text;
  unit.first_file = static_cast<uint32_t>(module.files.size());
  module.units.push_back(std::move(unit));
  Parser(outline_of(text, module), number, module).run();
}

ModuleText parse_outline(std::string_view text) {
  ModuleText module;
  add_unit(module, text, {});
  return module;
}

void parse_body(ModuleText& module, FunctionText& function) {
  if (const auto body = std::exchange(function.unread, {}); !body.empty())
    Parser(tokens_of(body, module.units[function.unit], module), function.unit,
           module)
        .run(function);
}

ModuleText parse_ptx(std::string_view text) {
  ModuleText module = parse_outline(text);
  for (auto& [name, function] : module.functions) parse_body(module, function);
  return module;
}

}  // namespace simt
