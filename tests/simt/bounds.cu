// Accesses of every width at the edges of every kind of memory: in front of an
// array, behind it, and where addresses wrap around. What is inside is what a
// GPU gives, too; that nothing outside is ever touched, only the executor
// promises. A fault ends what a process can do, so each has one of its own.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

using Word = unsigned long long;

constexpr int kLanes = 32;
constexpr int kBytes = 512;  // Of each array: 32 lanes of up to 16 bytes.

struct alignas(16) Bytes {
  unsigned char at[kBytes];
};

// Which array, and the state space that the instruction names.
enum Array { kGlobal, kShared, kLocal, kConst, kParam };
enum Named { kItself, kNothing, kIn32Bits };
enum Operation { kLoad, kStore, kAdd };

struct Case {
  Array array;
  Named named;
  Operation operation;
  int bytes;          // Of a lane.
  bool from_array;    // Whether this is the distance of lane 0 from the array,
  long long address;  //   or its address. The other lanes' follow.
};

struct Task {
  Case access;
  unsigned char* global;
  Word* out;
};

__constant__ Bytes constants;
__constant__ Task task;

// A part of the address is in the instruction; sums must neither be taken for
// what is in the register nor wrap around unnoticed.
#define LOAD(SPACE, A, TYPE, PART, R, VALUE)          \
  asm volatile("ld" SPACE TYPE " %0, [%1+" #PART "];" \
               : "=" R(VALUE)                         \
               : A(address - decltype(address)(PART)))
#define LOAD_TWO(SPACE, A, PART)                              \
  asm volatile("ld" SPACE ".v2.b64 {%0, %1}, [%2+" #PART "];" \
               : "=l"(wide), "=l"(other)                      \
               : A(address - decltype(address)(PART)))
#define STORE(SPACE, A, TYPE, PART, R, VALUE)                   \
  asm volatile("st" SPACE TYPE " [%0+" #PART                    \
               "], %1;" ::A(address - decltype(address)(PART)), \
               R(VALUE)                                         \
               : "memory")
#define STORE_TWO(SPACE, A, PART)                                     \
  asm volatile("st" SPACE ".v2.b64 [%0+" #PART                        \
               "], {%1, %1};" ::A(address - decltype(address)(PART)), \
               "l"(wide)                                              \
               : "memory")
#define ADD(SPACE, A, TYPE, PART, R, VALUE)                       \
  asm volatile("atom" SPACE ".add" TYPE " %0, [%1+" #PART "], 0;" \
               : "=" R(VALUE)                                     \
               : A(address - decltype(address)(PART))             \
               : "memory")

// What was read, as one number. Zeros are written, and added.
#define LOADS(NAME, Address, SPACE, A)                        \
  __device__ Word load_##NAME(Address address, int bytes) {   \
    unsigned short narrow = 0;                                \
    unsigned word = 0;                                        \
    Word wide = 0, other = 0;                                 \
    if (bytes == 1) LOAD(SPACE, A, ".u8", 16, "h", narrow);   \
    if (bytes == 2) LOAD(SPACE, A, ".u16", -16, "h", narrow); \
    if (bytes == 4) LOAD(SPACE, A, ".u32", 16, "r", word);    \
    if (bytes == 8) LOAD(SPACE, A, ".u64", -16, "l", wide);   \
    if (bytes == 16) LOAD_TWO(SPACE, A, 16);                  \
    return narrow + word + wide + other;                      \
  }
#define STORES(NAME, Address, SPACE, A)                        \
  __device__ void store_##NAME(Address address, int bytes) {   \
    const unsigned short narrow = 0;                           \
    const unsigned word = 0;                                   \
    const Word wide = 0;                                       \
    if (bytes == 1) STORE(SPACE, A, ".u8", 16, "h", narrow);   \
    if (bytes == 2) STORE(SPACE, A, ".u16", -16, "h", narrow); \
    if (bytes == 4) STORE(SPACE, A, ".u32", 16, "r", word);    \
    if (bytes == 8) STORE(SPACE, A, ".u64", -16, "l", wide);   \
    if (bytes == 16) STORE_TWO(SPACE, A, 16);                  \
  }
#define ADDS(NAME, Address, SPACE, A)                      \
  __device__ Word add_##NAME(Address address, int bytes) { \
    unsigned word = 0;                                     \
    Word wide = 0;                                         \
    if (bytes == 4) ADD(SPACE, A, ".u32", -16, "r", word); \
    if (bytes == 8) ADD(SPACE, A, ".u64", 16, "l", wide);  \
    return word + wide;                                    \
  }

LOADS(generic, Word, "", "l")
LOADS(global, Word, ".global", "l")
LOADS(shared, Word, ".shared", "l")
LOADS(shared_32, unsigned, ".shared", "r")
LOADS(local, Word, ".local", "l")
LOADS(constant, Word, ".const", "l")
LOADS(parameter, Word, ".param::entry", "l")
STORES(generic, Word, "", "l")
STORES(global, Word, ".global", "l")
STORES(shared, Word, ".shared", "l")
STORES(shared_32, unsigned, ".shared", "r")
STORES(local, Word, ".local", "l")
ADDS(generic, Word, "", "l")
ADDS(global, Word, ".global", "l")
ADDS(shared, Word, ".shared", "l")
ADDS(shared_32, unsigned, ".shared", "r")

#define TO(SPACE, POINTER) \
  asm("cvta.to." SPACE ".u64 %0, %1;" : "=l"(begin) : "l"(POINTER))

// The array's address in its own space.
__device__ Word named_address(Array array, const void* generic) {
  Word begin = 0;
  if (array == kGlobal) TO("global", generic);
  if (array == kShared) TO("shared", generic);
  if (array == kLocal) TO("local", generic);
  if (array == kConst) TO("const", generic);
  if (array == kParam) TO("param", generic);
  return begin;
}

__device__ Word access_named(const Case& it, Word address) {
  switch (it.operation) {
    case kLoad:
      if (it.array == kGlobal) return load_global(address, it.bytes);
      if (it.array == kShared) return load_shared(address, it.bytes);
      if (it.array == kLocal) return load_local(address, it.bytes);
      if (it.array == kConst) return load_constant(address, it.bytes);
      return load_parameter(address, it.bytes);
    case kStore:
      if (it.array == kGlobal) store_global(address, it.bytes);
      if (it.array == kShared) store_shared(address, it.bytes);
      if (it.array == kLocal) store_local(address, it.bytes);
      return 0;
    default:
      if (it.array == kGlobal) return add_global(address, it.bytes);
      return add_shared(address, it.bytes);
  }
}

__device__ Word access_generic(const Case& it, Word address) {
  if (it.operation == kLoad) return load_generic(address, it.bytes);
  if (it.operation == kAdd) return add_generic(address, it.bytes);
  store_generic(address, it.bytes);
  return 0;
}

__device__ Word access_32(const Case& it, unsigned address) {
  if (it.operation == kLoad) return load_shared_32(address, it.bytes);
  if (it.operation == kAdd) return add_shared_32(address, it.bytes);
  store_shared_32(address, it.bytes);
  return 0;
}

// There are no other parameters, and no other local memory.
__global__ void access_kernel(const __grid_constant__ Bytes parameter) {
  __shared__ Bytes shared;
  Bytes local;
  const Case it = task.access;
  const int i = threadIdx.x;
  for (int k = 0; k < kBytes; ++k) local.at[k] = k % 251;
  for (int k = i; k < kBytes; k += kLanes) shared.at[k] = k % 251;
  __syncthreads();
  const void* const array = it.array == kGlobal   ? task.global
                            : it.array == kShared ? shared.at
                            : it.array == kLocal  ? local.at
                            : it.array == kConst  ? constants.at
                                                  : parameter.at;
  Word address = it.named == kNothing ? reinterpret_cast<Word>(array)
                                      : named_address(it.array, array);
  address = (it.from_array ? address : 0) + it.address + i * it.bytes;
  const Word got = it.named == kNothing    ? access_generic(it, address)
                   : it.named == kIn32Bits ? access_32(it, address)
                                           : access_named(it, address);
  task.out[i] = got;
}

struct Outcome {
  cudaError_t error;
  std::vector<Word> read;
};

Bytes numbered() {
  Bytes bytes;
  for (int k = 0; k < kBytes; ++k) bytes.at[k] = k % 251;
  return bytes;
}

Outcome access(const Case& it) {
  const Bytes bytes = numbered();
  unsigned char* global = nullptr;
  Word* out = nullptr;
  expect::ok(cudaMalloc(&global, sizeof bytes));
  expect::ok(cudaMalloc(&out, kLanes * sizeof *out));
  expect::ok(cudaMemcpy(global, &bytes, sizeof bytes, cudaMemcpyHostToDevice));
  expect::ok(cudaMemcpyToSymbol(constants, &bytes, sizeof bytes));
  const Task told = {it, global, out};
  expect::ok(cudaMemcpyToSymbol(task, &told, sizeof told));
  access_kernel<<<1, kLanes>>>(bytes);
  Outcome outcome = {cudaDeviceSynchronize(), std::vector<Word>(kLanes)};
  if (outcome.error != cudaSuccess) return outcome;
  expect::ok(cudaMemcpy(outcome.read.data(), out, kLanes * sizeof *out,
                        cudaMemcpyDeviceToHost));
  expect::ok(cudaFree(global));
  expect::ok(cudaFree(out));
  return outcome;
}

// What a lane reads that begins at byte k.
Word read_at(int k, int bytes) {
  const Bytes all = numbered();
  Word sum = 0;
  for (int part = 0; part < bytes; part += 8) {
    Word value = 0;
    std::memcpy(&value, all.at + k + part, std::min(bytes, 8));
    sum += value;
  }
  return sum;
}

void check_inside(const Case& it) {
  const Outcome got = access(it);
  expect::equal(got.error, cudaSuccess);
  if (it.operation == kStore) return;
  expect::each(got.read,
               [&](int i) { return read_at(i * it.bytes, it.bytes); });
}

// In a child of its own, which is killed if it hangs.
void check_outside(const Case& it) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    const cudaError_t error = access(it).error;
    _exit(error == cudaErrorIllegalAddress ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) {
    std::cout << "array " << it.array << ", named " << it.named
              << ", operation " << it.operation << ", " << it.bytes
              << " bytes, " << (it.from_array ? "array" : "") << "+"
              << it.address << ": status " << status << std::endl;
  }
  expect::count(status == 0);
}

// Every access that there is, all of it in the array.
std::vector<Case> accesses() {
  std::vector<Case> all;
  for (Array array : {kGlobal, kShared, kLocal, kConst, kParam}) {
    for (Named named : {kItself, kNothing, kIn32Bits}) {
      if (named == kIn32Bits && array != kShared) continue;
      for (Operation operation : {kLoad, kStore, kAdd}) {
        const bool fixed = array == kConst || array == kParam;
        if (operation != kLoad && fixed) continue;
        if (operation == kAdd && array == kLocal) continue;
        for (int bytes : {1, 2, 4, 8, 16}) {
          if (operation == kAdd && bytes != 4 && bytes != 8) continue;
          all.push_back({array, named, operation, bytes, true, 0});
        }
      }
    }
  }
  return all;
}

// The same, with one lane outside or all of them.
std::vector<Case> outside(Case it) {
  std::vector<Case> all;
  const auto add = [&](bool from_array, long long address) {
    it.from_array = from_array;
    it.address = address;
    all.push_back(it);
  };
  add(true, -it.bytes);                         // Lane 0.
  add(true, kBytes - (kLanes - 1) * it.bytes);  // The last lane.
  const bool repeats = it.named == kNothing && it.array != kGlobal;
  if (it.named == kIn32Bits || repeats) return all;
  add(false, (1ll << 32) - it.bytes);
  if (it.operation != kLoad) return all;
  add(false, 1ll << 32);
  add(false, -(kLanes - 1) * it.bytes);  // The last lane's is 0.
  add(false, 1ll << 63);
  return all;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return !on_executor();
  const std::vector<Case> all = accesses();
  // First, because CUDA that is in use does not survive a fork. The executor
  // that has read its kernels and run none does: no child reads them again.
  if (run_self("where am I").status == 0) {
    cudaFuncAttributes read = {};
    expect::ok(cudaFuncGetAttributes(&read, access_kernel));
    for (const Case& it : all)
      for (const Case& wrong : outside(it)) check_outside(wrong);
  }
  for (const Case& it : all) check_inside(it);
  return expect::report();
}
