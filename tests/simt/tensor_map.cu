// Copies of tensors: boxes of 1 to 5 dimensions, loaded, stored and reduced by
// tensor maps, with every type, swizzle and step, at and beyond the edges; and
// copies that go to several blocks of a cluster. What is expected is computed
// element by element, by another way than the copies'.
#include <cuda.h>

#include <algorithm>
#include <functional>

#include "tests/simt/expect.h"
#include "tests/simt/mbarrier.h"

namespace {

using namespace for_copies;

// ---- Maps -------------------------------------------------------------------

using Encode = decltype(cuTensorMapEncodeTiled);

Encode* encode() {
  static Encode* const kFound = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status;
    expect::ok(cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
    expect::equal(status, cudaDriverEntryPointSuccess);
    return reinterpret_cast<Encode*>(found);
  }();
  return kFound;
}

constexpr int kMost = 5;

// A tensor, and the boxes of it that are copied.
struct Shape {
  int rank;
  uint64_t dim[kMost];
  uint32_t box[kMost];
  uint32_t step[kMost];
  uint32_t padding;  // bytes behind each row, a multiple of 16
  CUtensorMapDataType type;
  uint32_t element;  // its bytes
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;

  uint64_t stride(int d) const {  // in bytes
    uint64_t bytes = element;
    if (d > 0) bytes = (dim[0] * element + 15) / 16 * 16 + padding;
    for (int k = 1; k < d; ++k) bytes *= dim[k];
    return bytes;
  }
  uint64_t bytes() const { return stride(rank - 1) * dim[rank - 1]; }
  uint32_t count(int d) const {
    const uint32_t by = d ? step[d] : 1;
    return (box[d] + by - 1) / by;
  }
  uint32_t box_elements() const {
    uint32_t all = 1;
    for (int d = 0; d < rank; ++d) all *= count(d);
    return all;
  }
  uint32_t box_bytes() const { return box_elements() * element; }
  // A row of the box in shared memory: a swizzle needs all that it mixes.
  uint32_t pitch() const {
    return swizzle ? 16u << swizzle : count(0) * element;
  }
  uint32_t box_room() const { return box_elements() / count(0) * pitch(); }
};

Shape shape(std::vector<uint64_t> dim, std::vector<uint32_t> box) {
  Shape s = {};
  s.rank = static_cast<int>(dim.size());
  for (int d = 0; d < s.rank; ++d) {
    s.dim[d] = dim[d];
    s.box[d] = box[d];
    s.step[d] = 1;
  }
  s.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  s.element = 4;
  return s;
}

CUtensorMap map_of(const Shape& s, void* address) {
  CUtensorMap map;
  cuuint64_t strides[kMost];
  for (int d = 1; d < s.rank; ++d) strides[d - 1] = s.stride(d);
  expect::equal(encode()(&map, s.type, s.rank, address, s.dim, strides, s.box,
                         s.step, CU_TENSOR_MAP_INTERLEAVE_NONE, s.swizzle,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, s.fill),
                CUDA_SUCCESS);
  return map;
}

// ---- What is expected -------------------------------------------------------

struct Corner {
  int at[kMost];
};

// In which byte of shared memory an element's first byte lies, if the box
// begins at a multiple of 1024: chunks of 16 bytes change places.
uint32_t place_in_box(const Shape& s, uint32_t element) {
  const uint32_t byte =
      element / s.count(0) * s.pitch() + element % s.count(0) * s.element;
  const uint32_t line = byte / 128, chunk = byte / 16 % 8;
  uint32_t moved = chunk;
  if (s.swizzle == CU_TENSOR_MAP_SWIZZLE_128B) moved = chunk ^ line % 8;
  if (s.swizzle == CU_TENSOR_MAP_SWIZZLE_64B) moved = chunk ^ line % 4;
  if (s.swizzle == CU_TENSOR_MAP_SWIZZLE_32B) moved = chunk ^ line % 2;
  return line * 128 + moved * 16 + byte % 16;
}

// The byte of the tensor where an element of the box begins, or -1 outside.
int64_t place_in_tensor(const Shape& s, const Corner& corner,
                        uint32_t element) {
  int64_t place = 0;
  for (int d = 0; d < s.rank; ++d) {
    const int64_t step = d ? s.step[d] : 1;
    const int64_t at = corner.at[d] + step * (element % s.count(d));
    element /= s.count(d);
    if (at < 0 || at >= static_cast<int64_t>(s.dim[d])) return -1;
    place += at * static_cast<int64_t>(s.stride(d));
  }
  return place;
}

std::vector<uint8_t> some_bytes(size_t n, uint32_t seed) {
  std::vector<uint8_t> bytes(n);
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    bytes[i] = static_cast<uint8_t>((seed >> 24) | 1);  // never 0
  }
  return bytes;
}

constexpr uint8_t kUntouched = 0xee;

// The box in shared memory after a load.
std::vector<uint8_t> loaded(const Shape& s, const std::vector<uint8_t>& tensor,
                            const Corner& corner) {
  std::vector<uint8_t> box(s.box_room(), kUntouched);
  for (uint32_t e = 0; e < s.box_elements(); ++e) {
    const int64_t from = place_in_tensor(s, corner, e);
    uint8_t* const to = &box[place_in_box(s, e)];
    if (from >= 0)
      std::memcpy(to, &tensor[from], s.element);
    else
      std::memset(to, 0, s.element);
  }
  return box;
}

// The tensor after a box was stored: of each row whole pieces of 16 bytes, if
// they begin in the tensor.
void store_into(std::vector<uint8_t>& tensor, const Shape& s,
                const std::vector<uint8_t>& box, const Corner& corner) {
  for (uint32_t e = 0; e < s.box_elements(); ++e) {
    const uint32_t behind = e % s.count(0) % (16 / s.element);
    const int64_t piece = place_in_tensor(s, corner, e - behind);
    if (piece >= 0)
      std::memcpy(&tensor[piece + behind * s.element], &box[place_in_box(s, e)],
                  s.element);
  }
}

// ---- Kernels ----------------------------------------------------------------

__device__ void fence_for_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ void end_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define TARGET ".shared::cluster.global.mbarrier::complete_tx::bytes"
#define AT1 "{%2}"
#define AT2 "{%2, %3}"
#define AT3 "{%2, %3, %4}"
#define AT4 "{%2, %3, %4, %5}"
#define AT5 "{%2, %3, %4, %5, %6}"
#define PLACE(c) \
  "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])

template <int rank>
__device__ void load(void* to, const CUtensorMap* map, Corner c,
                     uint64_t* bar) {
#define LOAD(n)                                                           \
  if constexpr (rank == n)                                                \
  asm volatile("cp.async.bulk.tensor." #n "d" TARGET " [%0], [%1, " AT##n \
               "], [%7];" ::"r"(shared_address(to)),                      \
               "l"(map), PLACE(c), "r"(shared_address(bar))               \
               : "memory")
  LOAD(1);
  LOAD(2);
  LOAD(3);
  LOAD(4);
  LOAD(5);
}

template <int rank>
__device__ void store(const void* from, const CUtensorMap* map, Corner c) {
#define STORE(n)                                             \
  if constexpr (rank == n)                                   \
  asm volatile("cp.async.bulk.tensor." #n                    \
               "d.global.shared::cta.bulk_group [%1, " AT##n \
               "], [%0];" ::"r"(shared_address(from)),       \
               "l"(map), PLACE(c)                            \
               : "memory")
  STORE(1);
  STORE(2);
  STORE(3);
  STORE(4);
  STORE(5);
}

constexpr int kThreads = 64;
constexpr uint32_t kBarriers = 16;  // bytes behind the box, for two of them

// It begins at a multiple of 1024, because nothing lies before it.
extern __shared__ __align__(1024) uint8_t box[];

__device__ uint64_t* barrier_behind(int bytes) {
  return reinterpret_cast<uint64_t*>(box + bytes);
}

// A block for each corner: its box comes to `out`. It has `bytes`, among others
// that make the room.
template <int rank>
__global__ void load_kernel(const __grid_constant__ CUtensorMap map,
                            const Corner* corners, uint8_t* out, int room,
                            int bytes) {
  uint64_t* const bar = barrier_behind(room);
  for (int i = threadIdx.x; i < room; i += kThreads) box[i] = kUntouched;
  fence_for_copies();
  __syncthreads();
  if (threadIdx.x == 0) {
    init(bar, 1);
    fence_for_copies();
    load<rank>(box, &map, corners[blockIdx.x], bar);
    arrive_and_expect(bar, bytes);
  }
  __syncthreads();
  wait(bar, 0);
  for (int i = threadIdx.x; i < room; i += kThreads)
    out[blockIdx.x * room + i] = box[i];
}

// The box of each block comes from `in`, one after the other.
template <int rank>
__global__ void store_kernel(const __grid_constant__ CUtensorMap map,
                             Corner corner, const uint8_t* in, int bytes) {
  for (int i = threadIdx.x; i < bytes; i += kThreads) box[i] = in[i];
  fence_for_copies();
  __syncthreads();
  if (threadIdx.x == 0) {
    store<rank>(box, &map, corner);
    end_group();
  }
}

using LoadKernel = decltype(load_kernel<1>);
using StoreKernel = decltype(store_kernel<1>);
LoadKernel* const kLoads[] = {load_kernel<1>, load_kernel<2>, load_kernel<3>,
                              load_kernel<4>, load_kernel<5>};
StoreKernel* const kStores[] = {store_kernel<1>, store_kernel<2>,
                                store_kernel<3>, store_kernel<4>,
                                store_kernel<5>};

// ---- Loads and stores -------------------------------------------------------

// In a row a box begins at a multiple of 16 bytes: that, or the next before it.
int aligned(const Shape& s, int at) {
  const int apart = 16 / static_cast<int>(s.element);
  return (at + 1000 * apart) / apart * apart - 1000 * apart;
}

// Corners in and around the tensor: each dimension before, at, within, across
// the end and behind it, while the others are in the middle.
std::vector<Corner> corners_of(const Shape& s) {
  std::vector<Corner> all;
  Corner middle = {};
  for (int d = 0; d < s.rank; ++d)
    middle.at[d] = static_cast<int>(s.dim[d] / 3);
  for (int d = 0; d < s.rank; ++d) {
    const int n = static_cast<int>(s.dim[d]), b = static_cast<int>(s.box[d]);
    for (int at : {-b, -b + 1, -1, 0, 1, n - b, n - b + 1, n - 1, n, n + 5}) {
      all.push_back(middle);
      all.back().at[d] = at;
    }
  }
  Corner low = {}, high = {};
  for (int d = 0; d < s.rank; ++d) {
    low.at[d] = -1;
    high.at[d] = static_cast<int>(s.dim[d]) - 1;
  }
  all.push_back(low);
  all.push_back(high);
  for (Corner& corner : all) corner.at[0] = aligned(s, corner.at[0]);
  return all;
}

template <class Kernel>
void allow_shared(Kernel* kernel, size_t bytes) {
  expect::ok(cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
      static_cast<int>(std::max<size_t>(bytes, 48 << 10))));
}

void check_loads(const Shape& s,
                 expect::Where where = expect::Where::current()) {
  const std::vector<Corner> corners = corners_of(s);
  const std::vector<uint8_t> tensor = some_bytes(s.bytes(), 7);
  const expect::Copy<uint8_t> in(tensor);
  const expect::Copy<Corner> at(corners);
  const CUtensorMap map =
      map_of(s, const_cast<uint8_t*>(static_cast<const uint8_t*>(in)));
  const uint32_t room = s.box_room();
  LoadKernel* const kernel = kLoads[s.rank - 1];
  allow_shared(kernel, room + kBarriers);
  const auto got = expect::results<uint8_t>(
      room * corners.size(),
      [&](uint8_t* out) {
        kernel<<<static_cast<unsigned>(corners.size()), kThreads,
                 room + kBarriers>>>(map, at, out, static_cast<int>(room),
                                     static_cast<int>(s.box_bytes()));
      },
      where);
  std::vector<uint8_t> want;
  for (const Corner& c : corners) {
    const auto one = loaded(s, tensor, c);
    want.insert(want.end(), one.begin(), one.end());
  }
  expect::each(
      got, [&](int i) { return want[i]; }, where);
}

// Nothing is stored from before the tensor.
void check_stores(const Shape& s,
                  expect::Where where = expect::Where::current()) {
  const std::vector<uint8_t> full = some_bytes(s.box_room(), 99);
  const expect::Copy<uint8_t> in(full);
  StoreKernel* const kernel = kStores[s.rank - 1];
  const uint32_t room = s.box_room();
  allow_shared(kernel, room);
  for (const Corner& corner : corners_of(s)) {
    if (*std::min_element(corner.at, corner.at + s.rank) < 0) continue;
    const auto got = expect::results<uint8_t>(
        s.bytes(),
        [&](uint8_t* out) {
          kernel<<<1, kThreads, room>>>(map_of(s, out), corner, in,
                                        static_cast<int>(room));
        },
        where);
    std::vector<uint8_t> want(s.bytes());
    store_into(want, s, full, corner);
    expect::each(
        got, [&](int i) { return want[i]; }, where);
  }
}

void check_both(const Shape& s,
                expect::Where where = expect::Where::current()) {
  check_loads(s, where);
  check_stores(s, where);
}

void check_ranks() {
  check_both(shape({40}, {16}));
  check_both(shape({20, 7}, {8, 3}));
  check_both(shape({13, 6, 5}, {4, 2, 3}));
  check_both(shape({9, 5, 4, 3}, {4, 2, 2, 2}));
  check_both(shape({8, 3, 4, 3, 2}, {4, 2, 3, 2, 2}));
  check_both(shape({3, 2}, {8, 4}));  // larger than the tensor
  check_loads(shape({300, 260}, {256, 40}));
  Shape padded = shape({13, 6, 5}, {4, 2, 3});
  padded.padding = 48;
  check_both(padded);
}

void check_types() {
  const struct {
    CUtensorMapDataType type;
    uint32_t bytes;
  } types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1},
               {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2},
               {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4},
               {CU_TENSOR_MAP_DATA_TYPE_INT32, 4},
               {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8},
               {CU_TENSOR_MAP_DATA_TYPE_INT64, 8},
               {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2},
               {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4},
               {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8},
               {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2}};
  for (const auto& [type, bytes] : types) {
    Shape s = shape({37, 9}, {32 / bytes, 4});
    s.type = type;
    s.element = bytes;
    check_both(s);
  }
}

// Numbers that are loaded as floats and as others made of them.
void check_floats() {
  const std::vector<uint32_t> bits = {0x00000001, 0x80000123, 0x3f801000,
                                      0x3f802fff, 0x3f803000, 0xbf801001,
                                      0x7f800001, 0x007fffff};
  const std::vector<uint32_t> rounded = {0x00000000, 0x80000000, 0x3f800000,
                                         0x3f802000, 0x3f804000, 0xbf802000,
                                         0x7fffe000, 0x00800000};
  const expect::Copy<uint32_t> in(bits);
  const expect::Copy<Corner> at(std::vector<Corner>{Corner{}});
  for (const auto type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32}) {
    Shape s = shape({8}, {8});
    s.type = type;
    const auto got = expect::results<uint32_t>(8, [&](uint32_t* out) {
      load_kernel<1><<<1, kThreads, 32 + kBarriers>>>(
          map_of(s, const_cast<uint32_t*>(static_cast<const uint32_t*>(in))),
          at, reinterpret_cast<uint8_t*>(out), 32, 32);
    });
    const bool rounds = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    expect::each(got, [&](int i) { return (rounds ? rounded : bits)[i]; });
  }
}

// The same tensor as bytes; its boxes have other rows in other lines.
Shape shape_of_bytes(Shape s, uint32_t row) {
  s.type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  s.element = 1;
  s.dim[0] = 150;
  s.box[0] = row;
  s.box[1] = 5;
  return s;
}

void check_swizzles() {
  const struct {
    CUtensorMapSwizzle mode;
    uint32_t span;
  } modes[] = {{CU_TENSOR_MAP_SWIZZLE_32B, 32},
               {CU_TENSOR_MAP_SWIZZLE_64B, 64},
               {CU_TENSOR_MAP_SWIZZLE_128B, 128}};
  for (const auto& [mode, span] : modes) {
    for (uint32_t bytes : {1u, 2u, 4u, 8u}) {
      Shape s = shape({300 / bytes, 37}, {span / bytes, 33});
      s.type = bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
               : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
               : bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                            : CU_TENSOR_MAP_DATA_TYPE_UINT64;
      s.element = bytes;
      s.swizzle = mode;
      check_both(s);
    }
    Shape deep = shape({40, 5, 6}, {span / 4, 3, 4});
    deep.swizzle = mode;
    check_both(deep);
    for (uint32_t bytes = 16; bytes < span; bytes += 16) {
      Shape narrow = shape({40, 5, 6}, {bytes / 4, 3, 4});
      narrow.swizzle = mode;
      check_both(narrow);
      check_both(shape_of_bytes(narrow, bytes));
    }
  }
}

void check_steps() {
  Shape s = shape({20, 17}, {8, 9});
  s.step[1] = 2;
  check_both(s);
  s.step[1] = 8;
  check_both(s);
  s.step[0] = 3;  // Of the first dimension it is ignored.
  check_both(s);
  Shape deep = shape({8, 9, 10}, {4, 5, 7});
  deep.step[1] = 3;
  deep.step[2] = 2;
  check_both(deep);
  deep.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  deep.box[0] = 32;
  check_both(deep);
}

// Small tensors with small boxes, everywhere.
void check_exhaustively() {
  for (uint64_t width : {1, 4, 6})
    for (uint64_t height : {1, 3})
      for (uint32_t rows : {1, 2, 4}) {
        const Shape s = shape({width, height}, {4, rows});
        std::vector<Corner> all;
        for (int x = -8; x <= static_cast<int>(width) + 4; x += 4)
          for (int y = -5; y <= static_cast<int>(height) + 1; ++y)
            all.push_back({{x, y}});
        const std::vector<uint8_t> tensor = some_bytes(s.bytes(), 3);
        const expect::Copy<uint8_t> in(tensor);
        const expect::Copy<Corner> at(all);
        const CUtensorMap map =
            map_of(s, const_cast<uint8_t*>(static_cast<const uint8_t*>(in)));
        const uint32_t bytes = s.box_bytes();
        const auto got =
            expect::results<uint8_t>(bytes * all.size(), [&](uint8_t* out) {
              load_kernel<2><<<static_cast<unsigned>(all.size()), kThreads,
                               bytes + kBarriers>>>(map, at, out,
                                                    static_cast<int>(bytes),
                                                    static_cast<int>(bytes));
            });
        expect::each(got, [&](int i) {
          return loaded(s, tensor, all[i / bytes])[i % bytes];
        });
      }
}

// What lies beside a tensor of floats may be NaN.
void check_nan() {
  for (const auto type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64}) {
    const bool halves = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 ||
                        type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    Shape s = shape({8}, {16});
    s.element = halves ? 2 : type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 ? 8 : 4;
    s.type = type;
    s.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    const expect::Copy<uint8_t> in(some_bytes(s.bytes(), 5));
    const expect::Copy<Corner> at(std::vector<Corner>{Corner{}});
    const auto got = expect::results<uint8_t>(s.box_bytes(), [&](uint8_t* out) {
      load_kernel<1><<<1, kThreads, s.box_bytes() + kBarriers>>>(
          map_of(s, const_cast<uint8_t*>(static_cast<const uint8_t*>(in))), at,
          out, static_cast<int>(s.box_bytes()),
          static_cast<int>(s.box_bytes()));
    });
    expect::each(std::vector<uint8_t>(got.begin() + s.element * 8, got.end()),
                 [&](int i) { return i % 2 ? 0x7f : 0xf7; });
  }
}

// ---- Reductions -------------------------------------------------------------

#define REDUCE(name, operation)                                               \
  __device__ void name(const void* from, const CUtensorMap* map, int x,       \
                       int y) {                                               \
    asm volatile(                                                             \
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta." operation        \
        ".tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(shared_address(from)), \
        "l"(map), "r"(x), "r"(y)                                              \
        : "memory");                                                          \
  }
REDUCE(reduce_add, "add")
REDUCE(reduce_min, "min")
REDUCE(reduce_max, "max")
REDUCE(reduce_inc, "inc")
REDUCE(reduce_and, "and")
REDUCE(reduce_or, "or")
REDUCE(reduce_xor, "xor")

using Reduce = void(const void*, const CUtensorMap*, int, int);

// Each block brings a box of 8 x 4 numbers, and half of it lies outside.
template <class T, Reduce reduce>
__global__ void reduce_kernel(const __grid_constant__ CUtensorMap map,
                              T first) {
  T* const mine = reinterpret_cast<T*>(box);
  mine[threadIdx.x] =
      static_cast<T>(first + static_cast<T>(threadIdx.x * (blockIdx.x + 1)));
  fence_for_copies();
  __syncthreads();
  if (threadIdx.x == 0) {
    reduce(box, &map, 12, 1);
    end_group();
  }
}

// Of several blocks, unless their order would matter.
template <class T, Reduce reduce, int kBlocks = 3, class Update>
void check_reduction(CUtensorMapDataType type, T first, Update update,
                     expect::Where where = expect::Where::current()) {
  Shape s = shape({16, 4}, {8, 4});
  s.type = type;
  s.element = sizeof(T);
  const auto got = expect::results<T>(
      64,
      [&](T* out) {
        reduce_kernel<T, reduce>
            <<<kBlocks, 32, 32 * sizeof(T)>>>(map_of(s, out), first);
      },
      where);
  expect::each(
      got,
      [&](int i) {
        const int x = i % 16 - 12, y = i / 16 - 1;
        T value = 0;
        if (x < 0 || y < 0) return value;
        for (int b = 0; b < kBlocks; ++b)
          value = update(
              value,
              static_cast<T>(first + static_cast<T>((y * 8 + x) * (b + 1))));
        return value;
      },
      where);
}

void check_reductions() {
  const auto sum = [](auto a, auto b) { return a + b; };
  const auto most = [](auto a, auto b) { return a > b ? a : b; };
  const auto least = [](auto a, auto b) { return a < b ? a : b; };
  check_reduction<uint32_t, reduce_add>(CU_TENSOR_MAP_DATA_TYPE_UINT32, 5u,
                                        sum);
  check_reduction<int32_t, reduce_add>(CU_TENSOR_MAP_DATA_TYPE_INT32, -9, sum);
  check_reduction<uint64_t, reduce_add>(CU_TENSOR_MAP_DATA_TYPE_UINT64,
                                        uint64_t{1} << 33, sum);
  check_reduction<float, reduce_add>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 0.5f,
                                     sum);
  check_reduction<double, reduce_add>(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 0.5,
                                      sum);
  check_reduction<int32_t, reduce_min>(CU_TENSOR_MAP_DATA_TYPE_INT32, -20,
                                       least);
  check_reduction<int64_t, reduce_min>(CU_TENSOR_MAP_DATA_TYPE_INT64,
                                       int64_t{-20}, least);
  check_reduction<uint32_t, reduce_max>(CU_TENSOR_MAP_DATA_TYPE_UINT32, 3u,
                                        most);
  check_reduction<uint64_t, reduce_max>(CU_TENSOR_MAP_DATA_TYPE_UINT64,
                                        uint64_t{3}, most);
  check_reduction<uint32_t, reduce_inc, 1>(
      CU_TENSOR_MAP_DATA_TYPE_UINT32, 1u,
      [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  check_reduction<uint32_t, reduce_or>(
      CU_TENSOR_MAP_DATA_TYPE_UINT32, 7u,
      [](uint32_t a, uint32_t b) { return a | b; });
  check_reduction<uint64_t, reduce_xor>(
      CU_TENSOR_MAP_DATA_TYPE_UINT64, uint64_t{7},
      [](uint64_t a, uint64_t b) { return a ^ b; });
  check_reduction<uint32_t, reduce_and>(
      CU_TENSOR_MAP_DATA_TYPE_UINT32, 7u,
      [](uint32_t a, uint32_t b) { return a & b; });
}

// What an H200 makes of two numbers of each type.
template <Reduce reduce>
__global__ void plant_kernel(const __grid_constant__ CUtensorMap map,
                             uint64_t word) {
  reinterpret_cast<uint64_t*>(box)[threadIdx.x] = word;
  fence_for_copies();
  __syncthreads();
  if (threadIdx.x == 0) {
    reduce(box, &map, 0, 0);
    end_group();
  }
}

template <Reduce reduce>
void check_planted(CUtensorMapDataType type, uint32_t bytes, uint64_t was,
                   uint64_t word, uint64_t becomes,
                   expect::Where where = expect::Where::current()) {
  Shape s = shape({128 / bytes, 1}, {128 / bytes, 1});
  s.type = type;
  s.element = bytes;
  const std::vector<uint64_t> before(16, was);
  const auto got = expect::results<uint64_t>(
      16,
      [&](uint64_t* out) {
        expect::ok(cudaMemcpy(out, before.data(), 128, cudaMemcpyHostToDevice));
        plant_kernel<reduce><<<1, 16, 128>>>(map_of(s, out), word);
      },
      where);
  expect::each(
      got, [&](int) { return becomes; }, where);
}

void check_planted_numbers() {
  constexpr uint64_t kWas = 0x3c01800280038004, kWord = 0x4005c00600018007;
  constexpr uint64_t kSum = 0x7c0740088005000b, kXor = 0x7c04400480020003;
  const auto u32 = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  check_planted<reduce_add>(u32, 4, kWas, kWord, kSum);
  check_planted<reduce_min>(u32, 4, kWas, kWord, 0x3c01800200018007);
  check_planted<reduce_max>(u32, 4, kWas, kWord, 0x4005c00680038004);
  check_planted<reduce_inc>(u32, 4, kWas, kWord, 0x3c01800300000000);
  check_planted<reduce_xor>(u32, 4, kWas, kWord, kXor);
  const auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  check_planted<reduce_add>(s32, 4, kWas, kWord, kSum);
  check_planted<reduce_min>(s32, 4, kWas, kWord, kWas);
  check_planted<reduce_max>(s32, 4, kWas, kWord, kWord);
  check_planted<reduce_xor>(s32, 4, kWas, kWord, kXor);
  const auto u64 = CU_TENSOR_MAP_DATA_TYPE_UINT64;
  check_planted<reduce_add>(u64, 8, kWas, kWord, kSum);
  check_planted<reduce_min>(u64, 8, kWas, kWord, kWas);
  check_planted<reduce_max>(u64, 8, kWas, kWord, kWord);
  check_planted<reduce_xor>(u64, 8, kWas, kWord, kXor);
  const auto s64 = CU_TENSOR_MAP_DATA_TYPE_INT64;
  check_planted<reduce_min>(s64, 8, kWas, kWord, kWas);
  check_planted<reduce_max>(s64, 8, kWas, kWord, kWord);
  for (const auto type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}) {
    const bool half = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    check_planted<reduce_add>(type, 2, kWas, kWord,
                              half ? 0x4206c0068002800b : 0x4006c0068002800b);
    check_planted<reduce_min>(type, 2, kWas, kWord, 0x3c01c00680038007);
    check_planted<reduce_max>(type, 2, kWas, kWord, 0x4005800200018004);
  }
  const auto f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  check_planted<reduce_add>(f32, 4, kWas, kWord, 0x400641868001fffd);
  check_planted<reduce_add>(f32, 4, 0x0000000100000001, 0x0000000200400000,
                            0x0000000300400001);
  check_planted<reduce_add>(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, kWas, kWord,
                            kWord);
}

// Halves: exact sums of 1.
template <class T>
__global__ void halves_kernel(const __grid_constant__ CUtensorMap map, T one) {
  reinterpret_cast<uint16_t*>(box)[threadIdx.x] = one;
  fence_for_copies();
  __syncthreads();
  if (threadIdx.x == 0) {
    reduce_add(box, &map, 0, 0);
    end_group();
  }
}

void check_halves() {
  for (const bool bfloat : {false, true}) {
    Shape s = shape({16, 4}, {8, 4});
    s.type = bfloat ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                    : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    s.element = 2;
    const uint16_t one = bfloat ? 0x3f80 : 0x3c00;
    const uint16_t three = bfloat ? 0x4040 : 0x4200;
    const auto got = expect::results<uint16_t>(64, [&](uint16_t* out) {
      halves_kernel<uint16_t><<<3, 32, 64>>>(map_of(s, out), one);
    });
    expect::each(got, [&](int i) { return i % 16 < 8 ? three : 0; });
  }
}

// ---- Where the map lies, and the box ----------------------------------------

__constant__ CUtensorMap constant_map;
__device__ CUtensorMap device_map;

// The box begins `skip` bytes behind a multiple of 1024.
template <bool in_constant>
__global__ void elsewhere_kernel(const CUtensorMap* map, uint8_t* out,
                                 int bytes, int skip) {
  uint64_t* const bar = barrier_behind(bytes + 1024);
  if (threadIdx.x == 0) {
    init(bar, 1);
    fence_for_copies();
    const CUtensorMap* from = in_constant ? &constant_map : map;
    if (!in_constant)
      asm volatile(
          "fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(from)
          : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(from) : "memory");
    asm volatile(
        "cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {0, 0}];" ::"l"(from)
        : "memory");
    arrive_and_expect(bar, bytes);
    const uint64_t policy = 0x12f0000000000000;  // L2::evict_first
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
        "[%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(box + skip)),
        "l"(from), "r"(shared_address(bar)), "r"(4), "r"(2), "l"(policy)
        : "memory");
  }
  __syncthreads();
  wait(bar, 0);
  for (int i = threadIdx.x; i < bytes; i += kThreads) out[i] = box[skip + i];
}

void check_places() {
  Shape s = shape({64, 30}, {32, 11});
  s.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  const std::vector<uint8_t> tensor = some_bytes(s.bytes(), 11);
  const expect::Copy<uint8_t> in(tensor);
  const CUtensorMap map =
      map_of(s, const_cast<uint8_t*>(static_cast<const uint8_t*>(in)));
  expect::ok(cudaMemcpyToSymbol(constant_map, &map, sizeof map));
  expect::ok(cudaMemcpyToSymbol(device_map, &map, sizeof map));
  void* on_device = nullptr;
  expect::ok(cudaGetSymbolAddress(&on_device, device_map));
  const auto bytes = static_cast<int>(s.box_bytes());
  const auto want = loaded(s, tensor, {{4, 2}});
  for (const bool in_constant : {false, true}) {
    const auto kernel =
        in_constant ? elsewhere_kernel<true> : elsewhere_kernel<false>;
    // The pattern goes by the address, not by the row of the box.
    for (int skip : {0, 128, 384, 1024}) {
      const auto got = expect::results<uint8_t>(bytes, [&](uint8_t* out) {
        kernel<<<1, kThreads, bytes + 1024 + kBarriers>>>(
            static_cast<CUtensorMap*>(on_device), out, bytes, skip);
      });
      expect::each(got, [&](int i) {
        const int line = i / 128, chunk = i / 16 % 8;
        const int plain = chunk ^ (line + skip / 128) % 8;
        return want[line * 128 + (plain ^ line % 8) * 16 + i % 16];
      });
    }
  }
}

// A dynamic array begins as it is declared, whatever lies before it.
__global__ void behind_kernel(uint32_t* out) {
  __shared__ volatile int before[3];
  before[threadIdx.x] = 1;
  box[threadIdx.x] = 1;
  out[threadIdx.x] = shared_address(box) % 1024 + before[threadIdx.x] - 1;
}

void check_alignment() {
  const auto got = expect::results<uint32_t>(
      3, [](uint32_t* out) { behind_kernel<<<1, 3, 2048>>>(out); });
  expect::each(got, [](int) { return 0; });
}

// ---- Groups -----------------------------------------------------------------

// Two stages: one is written anew once its copy has read it.
__global__ void stages_kernel(const __grid_constant__ CUtensorMap map,
                              int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int* const stage = reinterpret_cast<int*>(box) + (round & 1) * 64;
    if (threadIdx.x == 0)
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    stage[threadIdx.x] = round * 1000 + static_cast<int>(threadIdx.x);
    fence_for_copies();
    __syncthreads();
    if (threadIdx.x == 0) {
      store<2>(stage, &map, {{0, round * 4}});
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

void check_stages() {
  constexpr int kRounds = 6;
  const Shape s = shape({16, kRounds * 4}, {16, 4});
  const auto got = expect::results<int>(64 * kRounds, [&](int* out) {
    stages_kernel<<<1, 64, 512>>>(map_of(s, out), kRounds);
  });
  expect::each(got, [](int i) { return i / 64 * 1000 + i % 64; });
}

// ---- To several blocks ------------------------------------------------------

// Each block of four asks for a quarter of the rows, for those blocks that
// `ranks` names of it; all get what was asked for them.
__global__ void __cluster_dims__(4, 1, 1)
    multicast_kernel(const __grid_constant__ CUtensorMap map, const int* plain,
                     int* out, bool tensor) {
  uint64_t* const bar = barrier_behind(4 * 256);
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int* const numbers = reinterpret_cast<int*>(box);
  if (threadIdx.x == 0) {
    init(bar, 1);
    fence_for_copies();
    arrive_and_expect(bar, rank == 2 ? 4 * 256 : 3 * 256);
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  // To block 2 and two others: not to the one whose number it has, but for 2.
  const auto ranks =
      static_cast<uint16_t>(rank == 2 ? 0xf : 0xf & ~(1u << rank));
  if (threadIdx.x == 0) {
    int* const to = numbers + 64 * rank;
    if (tensor)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global"
          ".mbarrier::complete_tx::bytes.multicast::cluster [%0], "
          "[%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
          "l"(&map), "r"(shared_address(bar)), "r"(0),
          "r"(static_cast<int>(rank) * 4), "h"(ranks)
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.shared::cluster.global"
          ".mbarrier::complete_tx::bytes.multicast::cluster [%0], "
          "[%1], 256, [%2], %3;" ::"r"(shared_address(to)),
          "l"(plain + 64 * rank), "r"(shared_address(bar)), "h"(ranks)
          : "memory");
  }
  wait(bar, 0);
  for (uint32_t from = 0; from < 4; ++from) {
    const bool came = from != rank || rank == 2;
    out[(rank * 4 + from) * 64 + threadIdx.x] =
        came ? numbers[64 * from + threadIdx.x] : -1;
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

void check_multicast() {
  const Shape s = shape({16, 16}, {16, 4});
  std::vector<int> host(256);
  for (int i = 0; i < 256; ++i) host[i] = i * i + 1;
  const expect::Copy<int> in(host);
  const CUtensorMap map =
      map_of(s, const_cast<int*>(static_cast<const int*>(in)));
  for (const bool tensor : {false, true}) {
    const auto got = expect::results<int>(4 * 256, [&](int* out) {
      multicast_kernel<<<4, 64, 4 * 256 + kBarriers>>>(map, in, out, tensor);
    });
    expect::each(got, [&](int i) {
      const int rank = i / 256, from = i / 64 % 4;
      return from != rank || rank == 2 ? host[i % 256] : -1;
    });
  }
}

// Rounds of a pipeline: each block is told by all that they are done with a
// stage before it copies to all of them.
__global__ void __cluster_dims__(2, 1, 1)
    ring_kernel(const __grid_constant__ CUtensorMap map, int* out, int rounds) {
  uint64_t* const full = barrier_behind(512);
  uint64_t* const empty = full + 1;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int* const numbers = reinterpret_cast<int*>(box);
  if (threadIdx.x == 0) {
    init(full, 1);
    init(empty, 2);
    fence_for_copies();
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) {
      arrive_and_expect(full, 512);
      if (round) wait(empty, (round - 1) & 1);
      const uint16_t both = 3;
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global"
          ".mbarrier::complete_tx::bytes.multicast::cluster [%0], "
          "[%1, {%3, %4}], [%2], %5;" ::"r"(
              shared_address(numbers + 64 * rank)),
          "l"(&map), "r"(shared_address(full)), "r"(0),
          "r"(round * 8 + static_cast<int>(rank) * 4), "h"(both)
          : "memory");
    }
    wait(full, round & 1);
    sum = sum * 3 + numbers[threadIdx.x] * 2 + numbers[64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 2)
      asm volatile(
          "{\n"
          ".reg .b32 at;\n"
          "mapa.shared::cluster.u32 at, %0, %1;\n"
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n"
          "}" ::"r"(shared_address(empty)),
          "r"(threadIdx.x)
          : "memory");
  }
  out[rank * 64 + threadIdx.x] = sum;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

void check_ring() {
  constexpr int kRounds = 5;
  const Shape s = shape({16, 8 * kRounds}, {16, 4});
  std::vector<int> host(128 * kRounds);
  for (int i = 0; i < 128 * kRounds; ++i) host[i] = i % 97;
  const expect::Copy<int> in(host);
  const CUtensorMap map =
      map_of(s, const_cast<int*>(static_cast<const int*>(in)));
  const auto got = expect::results<int>(128, [&](int* out) {
    ring_kernel<<<2, 64, 512 + kBarriers>>>(map, out, kRounds);
  });
  expect::each(got, [&](int i) {
    int sum = 0;
    for (int round = 0; round < kRounds; ++round)
      sum = sum * 3 + host[round * 128 + i % 64] * 2 +
            host[round * 128 + 64 + i % 64];
    return sum;
  });
}

// ---- What cuTensorMapEncodeTiled refuses ------------------------------------

struct Call {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  cuuint32_t rank = 3;
  uint64_t address = 1 << 20;
  cuuint64_t dim[kMost] = {64, 32, 16, 8, 4};
  cuuint64_t stride[kMost] = {256, 8192, 131072, 1048576, 0};
  cuuint32_t box[kMost] = {32, 8, 4, 2, 1};
  cuuint32_t step[kMost] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

void check_call(bool good, const std::function<void(Call&)>& change,
                expect::Where where = expect::Where::current()) {
  Call c;
  change(c);
  CUtensorMap map;
  expect::equal(
      encode()(&map, c.type, c.rank, reinterpret_cast<void*>(c.address), c.dim,
               c.stride, c.box, c.step, c.interleave, c.swizzle, c.promotion,
               c.fill),
      good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, where);
}

void check_calls() {
  check_call(true, [](Call&) {});
  for (cuuint32_t rank : {1, 2, 3, 4, 5})
    check_call(true, [&](Call& c) { c.rank = rank; });
  check_call(false, [](Call& c) { c.rank = 0; });
  check_call(false, [](Call& c) { c.rank = 6; });
  check_call(false, [](Call& c) { c.address += 8; });
  check_call(true, [](Call& c) { c.address += 16; });
  check_call(false, [](Call& c) { c.dim[1] = 0; });
  check_call(true, [](Call& c) { c.dim[2] = 1ull << 32; });
  check_call(false, [](Call& c) { c.dim[2] = (1ull << 32) + 1; });
  check_call(false, [](Call& c) { c.stride[0] = 264; });
  check_call(false, [](Call& c) { c.stride[1] = 1ull << 40; });
  check_call(true, [](Call& c) { c.stride[1] = (1ull << 40) - 16; });
  check_call(false, [](Call& c) { c.box[1] = 0; });
  check_call(true, [](Call& c) { c.box[1] = 256; });
  check_call(false, [](Call& c) { c.box[1] = 257; });
  check_call(false, [](Call& c) { c.box[0] = 30; });
  check_call(false, [](Call& c) { c.step[1] = 0; });
  check_call(true, [](Call& c) { c.step[1] = 8; });
  check_call(false, [](Call& c) { c.step[1] = 9; });
  check_call(true, [](Call& c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; });
  check_call(false, [](Call& c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; });
  check_call(false, [](Call& c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  check_call(false, [](Call& c) {
    c.box[0] = 64;
    c.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  });
  check_call(false, [](Call& c) {
    c.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    c.rank = 2;
  });
  check_call(false, [](Call& c) { c.type = CUtensorMapDataType(99); });
  check_call(false, [](Call& c) { c.swizzle = CUtensorMapSwizzle(99); });
  check_call(false, [](Call& c) { c.interleave = CUtensorMapInterleave(9); });
  check_call(false, [](Call& c) { c.promotion = CUtensorMapL2promotion(9); });
  check_call(false, [](Call& c) { c.fill = CUtensorMapFloatOOBfill(9); });
  check_call(false, [](Call& c) {
    c.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
    c.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  });
  expect::equal(cudaGetLastError(), cudaSuccess);
}

}  // namespace

int main() {
  check_ranks();
  check_types();
  check_floats();
  check_swizzles();
  check_steps();
  check_exhaustively();
  check_nan();
  check_reductions();
  check_planted_numbers();
  check_halves();
  check_places();
  check_alignment();
  check_stages();
  check_multicast();
  check_ring();
  check_calls();
  return expect::report();
}
