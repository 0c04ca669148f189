// Decoding of the instructions on matrices.
#include "common/simt/isa/matrix/matrix.h"

#include <map>
#include <mutex>

#include "common/simt/core/finding.h"

namespace simt {
namespace {

const std::map<std::string, Number>& numbers() {
  static const std::map<std::string, Number> kNumbers = {
      {"f16", Number::kHalf},    {"bf16", Number::kBFloat},
      {"tf32", Number::kTFloat}, {"e4m3", Number::kE4M3},
      {"e5m2", Number::kE5M2},   {"f32", Number::kFloat},
      {"f64", Number::kDouble},  {"s32", Number::kInt32},
      {"s8", Number::kSigned8},  {"u8", Number::kUnsigned8},
      {"s4", Number::kSigned4},  {"u4", Number::kUnsigned4},
      {"b1", Number::kBits}};
  return kNumbers;
}

// One for each form. Kernels may be decoded at the same time.
const Matrix& matrix_of(const Statement& s, Handler& run) {
  struct Known {
    Matrix matrix;
    Handler run = nullptr;
  };
  static std::mutex mutex;
  static auto* all = new std::map<std::string, Known>;
  const std::lock_guard lock(mutex);
  std::string form;
  for (const std::string& part : s.op) form.append(part).append(1, '.');
  if (is_sparse(s)) form += s.operands.back().text;  // the selector
  const auto [it, fresh] = all->try_emplace(form);
  Known& known = it->second;
  if (fresh)
    known.run = s.name() == "mma" || s.has("mma")
                    ? product_handler(s, known.matrix)
                    : matrix_memory_handler(s, known.matrix);
  run = known.run;
  return known.matrix;
}

}  // namespace

bool is_sparse(const Statement& s) {
  return s.has("sp") || s.has("sp::ordered_metadata");
}
bool is_number(const std::string& type) { return numbers().contains(type); }
Number number_of(const std::string& type) { return numbers().at(type); }

// m8n32k16 is computed as the product of the transposed matrices.
Fragment product_fragment(char which, Number number, int m, int n, int k) {
  const bool swapped = m == 8 && n == 32;
  if (swapped) std::swap(m, n);
  const bool left = which == (swapped ? 'b' : 'a');
  const Fragment f = which == 'c' || which == 'd' ? fragment_c(number, m, n)
                     : left                       ? fragment_a(number, m, k)
                                                  : fragment_b(number, k, n);
  return swapped ? f.transposed() : f;
}

namespace {

bool is_matrix_instruction(const std::string& op) {
  return op == "mma" || op == "wmma" || op == "ldmatrix" || op == "stmatrix" ||
         op == "movmatrix";
}

Rounding rounding_of(const Statement& s) {
  return s.has("rz")   ? Rounding::kToZero
         : s.has("rm") ? Rounding::kDown
         : s.has("rp") ? Rounding::kUp
                       : Rounding::kNearest;
}

std::vector<std::string> registers_of(const Operand& o) {
  return o.list.empty() ? std::vector{o.text} : o.list;
}

}  // namespace

bool decode_matrix(const Statement& s, OperandReader& operands, Draft& ins) {
  if (!is_matrix_instruction(s.name())) return false;
  const Matrix& matrix = matrix_of(s, ins.run);
  ins.matrix = &matrix;
  ins.kind = Kind::kMatrix;
  ins.rounding = rounding_of(s);
  for (const Operand& o : s.operands) {
    const bool written = &o == &s.operands.front();
    const int bytes = o.list.empty() ? 4 : matrix.a.register_bytes();
    if (o.address) continue;
    for (const std::string& name : registers_of(o))
      if (written)
        ins.written.push_back(operands.destination(named(name)));
      else
        ins.read.push_back(operands.source(named(name), bytes));
  }
  ins.read.push_back(operands.source(named("-1"), 4));
  // That a lane accesses at once, for messages.
  if (!matrix.accesses.empty())
    ins.element_bytes = matrix.accesses.front().bytes;
  return true;
}

namespace {

// Why some do not come, as far as that is known.
std::string absence(const Warp& warp, uint32_t mask) {
  const uint32_t exited = warp.threads & ~warp.live & ~mask;
  if (exited)
    return ": lane " + std::to_string(first_lane(exited)) + " has exited";
  return warp.threads != kAllLanes ? ": the block ends within this warp" : "";
}

}  // namespace

void require_all_lanes(Warp& warp, const Instruction& ins, uint32_t mask) {
  if (mask == kAllLanes) return;
  fault(warp, ins, first_lane(mask), "missing lane",
        "only the lanes " + hex_mask(mask) + " come to this " +
            ins.statement->name() +
            ", which all 32 lanes of a warp execute together" +
            absence(warp, mask),
        kLaunchFailure);
}

}  // namespace simt
