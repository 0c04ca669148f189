// PTX text, taken apart but not yet understood: modules, functions, statements.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

// Where an instruction came from. `file` indexes Module::files; line 0 means
// that the compiler did not say.
struct SourceLine {
  uint32_t file = 0;
  uint32_t line = 0;
  bool of_groups = false;   // code of cooperative groups, or of a pipeline
  bool of_library = false;  // code of CUB, Thrust or libcu++
};

// A PTX fundamental type. kind is one of u s b f (numbers and untyped bits),
// h (f16), x (f16x2), y (bf16), z (bf16x2), p (predicate), 0 (no type).
struct Type {
  char kind = 0;
  uint8_t bytes = 0;
  bool is(char k) const { return kind == k; }
  bool is_signed() const { return kind == 's'; }
  bool is_float() const { return kind == 'f'; }
  bool is_integer() const { return is('u') || is('s') || is('b'); }
  bool operator==(const Type&) const = default;
};
// "f32", without the dot. Of "u16x2" it is what it fills, 4 bytes.
Type parse_type(const std::string& name);

// One operand: a name, number or symbol, with what surrounds it.
//   %r1   -%r1   !%p1   0f3F800000   sym+8   [%rd1+16]   {%f1,%f2}   %p1|%p2
//   [%rd1,{%f1,%f2}]   %r1.b0 (of video instructions)
struct Operand {
  std::string text;               // Name or number; without '!', '[', offset.
  std::string second;             // The part behind '|'.
  std::string selection;          // b0, h1, b3210: parts of a register.
  std::vector<std::string> list;  // The parts between braces or parentheses.
  int64_t offset = 0;             // sym+8, [reg+16]
  bool address = false;           // Was in square brackets.
  bool negated = false;           // Began with '!'.
  bool minus = false;             // A register behind '-'.
  bool in_parentheses = false;    // The list is a call's, not a vector.
};

std::vector<std::string> parts_of_op(std::string_view op);

// A branch that unrolling a loop makes: around a turn that comes before all
// others, or turns that are left over.
enum class OverTurns : uint8_t { kNone, kFirst, kLast };

struct Statement {
  std::string label;    // Set: only a label, or what .branchtargets lists.
  char scope = 0;       // '{' or '}': only a scope,
  uint32_t number = 0;  // and which; where unroll.cpp copied it, the same one.
  std::string guard;    // Predicate behind '@', or empty.
  bool guard_negated = false;
  std::string text;               // As written, for messages.
  std::vector<std::string> op;    // "ld.global.f32" -> ld, global, f32
  std::vector<Operand> operands;  // None where nobody knows the instruction.
  SourceLine where;
  uint32_t origin = 0;    // Which of ModuleText::origins.
  bool left_out = false;  // ptxas sees that it does nothing anybody needs.
  bool has_gap = false;   // A load; nobody reads all the bytes it brings.
  OverTurns over_turns = OverTurns::kNone;

  const std::string& name() const { return op.front(); }
  bool has(const char* modifier) const;
  bool stores() const {
    return name() == "st" || name() == "stmatrix" || name() == "sust" ||
           (name() == "wmma" && has("store"));
  }
  bool is_atomic() const { return name() == "atom" || name() == "red"; }
  bool sets_up_mbarrier() const { return name() == "mbarrier" && has("init"); }
  Type type() const { return parse_type(op.back()); }
};

// Who may mean a function or a variable of a module by its name.
enum class Linkage : uint8_t {
  kOwnFile,   // its own file only
  kVisible,   // every file
  kWeak,      // every file, and each may have one: they are the same
  kExternal,  // it is another file's, or the system's
};

// A variable of any state space, a parameter, or a register declaration.
struct Declaration {
  std::string space;  // "reg" "param" "local" "shared" "global" "const"
  std::string name;
  Type type;
  uint32_t align = 1;
  uint64_t bytes = 0;      // 0 for an array of unknown size (dynamic shared).
  uint32_t registers = 0;  // %r<7> declares 7 of them; 0: just `name`.
  Linkage linkage = Linkage::kOwnFile;
  uint32_t unit = 0;  // of which file: ModuleText::units
  struct Initial {    // One element: symbol (or none) + value, masked.
    std::string symbol;
    uint64_t value = 0;
    uint64_t mask = 0;  // Non-zero: only this byte of the symbol's address.
  };
  std::vector<Initial> initial;
};

// The directives that parse_ptx accepts, for docs/ptx.md.
std::vector<std::string> accepted_directives();

struct FunctionText {
  std::string name;
  bool entry = false;
  bool defined = false;
  Linkage linkage = Linkage::kOwnFile;
  uint32_t unit = 0;        // as above
  std::string_view unread;  // Its body, braces and all, until it is needed.
  std::vector<Declaration> params, results;
  std::vector<Statement> body;
  std::map<size_t, std::vector<Declaration>> declarations;  // by body index
  std::set<size_t> stay_loops;  // where .pragma "nounroll" stands, likewise
  uint32_t max_threads = 0;     // .maxntid, 0 if not given
  unsigned block[3] = {};       // .reqntid, likewise
  unsigned cluster[3] = {};     // .reqnctapercluster, likewise
  bool blocks_are_clusters = false;
  bool explicit_cluster = false;
  uint32_t most_in_cluster = 0;  // .maxclusterrank
  SourceLine where;
};

// The PTX of one source file as a fat binary holds it, and what nvcc would say
// to ptxas: " --fmad false ". The PTX itself does not tell.
struct PtxFile {
  std::string_view text, options = {};
};

// Code that was inlined, by the label where it begins: up to which one, and
// where. What lies within another comes behind it.
struct InlinedCall {
  std::string end;
  uint32_t file = 0, line = 0;
};
using InlinedCalls = std::multimap<std::string, InlinedCall, std::less<>>;

// The text of one source file, as nvcc compiled it.
struct Unit {
  std::string_view ptx;     // all of it
  uint32_t first_file = 0;  // its files in ModuleText::files: from here on
  bool for_sm_90a = false;  // and for no other GPU
  int level = 3;            // of ptxas: -O3
  bool fuses = true;        // products and sums: not with -fmad=false
  // Names of its own that another file has, too; and what they are called here.
  std::map<std::string, std::string> own_names;
  InlinedCalls inlined;  // only with -G: elsewhere .loc tells
};

struct ModuleText {
  std::vector<Unit> units;

  std::map<std::string, FunctionText> functions;
  std::vector<Declaration> variables;
  std::vector<std::string> files;  // by the index of .file
  // Instructions as they are written, and as forms.h lists their modifiers.
  std::map<std::string, std::vector<std::string>> ops;
  // What instructions stem from: a line, and those that it was inlined into.
  std::vector<std::vector<SourceLine>> origins;
};

// "relu.cu:23", or "" where the compiler did not say.
std::string location_of(SourceLine where,
                        const std::vector<std::string>& files);

}  // namespace simt
