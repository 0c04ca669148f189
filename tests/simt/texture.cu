// Textures and surfaces: arrays of every kind, linear memory and rows with a
// pitch; what is read at a texel, between texels and beside the image.
#include <cuda_fp16.h>

#include <cmath>

#include "tests/simt/expect.h"

// CUDA advises against some of the calls.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// The names that nvcc --default-stream per-thread makes of them.
extern "C" {
extern decltype(cudaMemcpy2DToArray) cudaMemcpy2DToArray_ptds;
extern decltype(cudaMemcpy2DToArrayAsync) cudaMemcpy2DToArrayAsync_ptsz;
extern decltype(cudaMemcpy2DFromArray) cudaMemcpy2DFromArray_ptds;
extern decltype(cudaMemcpy2DFromArrayAsync) cudaMemcpy2DFromArrayAsync_ptsz;
extern decltype(cudaMemcpy2DArrayToArray) cudaMemcpy2DArrayToArray_ptds;
extern decltype(cudaMemcpyToArray) cudaMemcpyToArray_ptds;
extern decltype(cudaMemcpyToArrayAsync) cudaMemcpyToArrayAsync_ptsz;
extern decltype(cudaMemcpyFromArray) cudaMemcpyFromArray_ptds;
extern decltype(cudaMemcpyFromArrayAsync) cudaMemcpyFromArrayAsync_ptsz;
extern decltype(cudaMemcpyArrayToArray) cudaMemcpyArrayToArray_ptds;
}

namespace {

using expect::ok;

// ---- Making them ------------------------------------------------------------

template <class T>
cudaChannelFormatDesc channels() {
  return cudaCreateChannelDesc<T>();
}

// An array with what is in a vector, texel by texel.
template <class T>
class Array {
 public:
  Array(cudaExtent extent, const std::vector<T>& texels, unsigned flags = 0)
      : extent_(extent) {
    const cudaChannelFormatDesc form = channels<T>();
    ok(cudaMalloc3DArray(&array_, &form, extent, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr =
        make_cudaPitchedPtr(const_cast<T*>(texels.data()),
                            extent.width * sizeof(T), extent.width, rows());
    copy.dstArray = array_;
    copy.extent = whole();
    copy.kind = cudaMemcpyHostToDevice;
    ok(cudaMemcpy3D(&copy));
  }
  ~Array() { ok(cudaFreeArray(array_)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::vector<T> texels() const {
    std::vector<T> all(extent_.width * rows() * whole().depth);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array_;
    copy.dstPtr = make_cudaPitchedPtr(all.data(), extent_.width * sizeof(T),
                                      extent_.width, rows());
    copy.extent = whole();
    copy.kind = cudaMemcpyDeviceToHost;
    ok(cudaMemcpy3D(&copy));
    return all;
  }
  operator cudaArray_t() const { return array_; }
  cudaResourceDesc resource() const {
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeArray;
    d.res.array.array = array_;
    return d;
  }

 private:
  size_t rows() const { return extent_.height ? extent_.height : 1; }
  cudaExtent whole() const {
    return {extent_.width, rows(), extent_.depth ? extent_.depth : 1};
  }

  cudaExtent extent_;
  cudaArray_t array_ = nullptr;
};

struct How {
  cudaTextureAddressMode beside = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool normalised = false;
  cudaTextureReadMode read = cudaReadModeElementType;
};

cudaTextureDesc description(const How& how) {
  cudaTextureDesc d = {};
  for (auto& mode : d.addressMode) mode = how.beside;
  d.filterMode = how.filter;
  d.readMode = how.read;
  d.normalizedCoords = how.normalised;
  return d;
}

class Texture {
 public:
  Texture(const cudaResourceDesc& resource, const How& how) {
    const cudaTextureDesc d = description(how);
    ok(cudaCreateTextureObject(&object_, &resource, &d, nullptr));
  }
  ~Texture() { ok(cudaDestroyTextureObject(object_)); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

class Surface {
 public:
  explicit Surface(const cudaResourceDesc& resource) {
    ok(cudaCreateSurfaceObject(&object_, &resource));
  }
  ~Surface() { ok(cudaDestroySurfaceObject(object_)); }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  operator cudaSurfaceObject_t() const { return object_; }

 private:
  cudaSurfaceObject_t object_ = 0;
};

// ---- Linear memory ----------------------------------------------------------

template <class T>
__global__ void fetch_kernel(cudaTextureObject_t texture, T* out, int first) {
  const int i = threadIdx.x;
  out[i] = tex1Dfetch<T>(texture, first + i);
}

template <class T>
std::vector<T> fetched(const std::vector<T>& x, int first, int n) {
  T* memory = nullptr;
  ok(cudaMalloc(&memory, x.size() * sizeof(T)));
  ok(cudaMemcpy(memory, x.data(), x.size() * sizeof(T), cudaMemcpyDefault));
  cudaResourceDesc d = {};
  d.resType = cudaResourceTypeLinear;
  d.res.linear = {memory, channels<T>(), x.size() * sizeof(T)};
  std::vector<T> got;
  {
    const Texture texture(d, {});
    got = expect::results<T>(
        n, [&](T* out) { fetch_kernel<<<1, n>>>(texture, out, first); });
  }
  ok(cudaFree(memory));
  return got;
}

void check_linear() {
  std::vector<float> floats(40);
  for (int i = 0; i < 40; ++i) floats[i] = 0.25f * i - 3;
  expect::each(fetched(floats, -10, 64),
               [&](int i) { return i < 10 || i >= 50 ? 0 : floats[i - 10]; });
  std::vector<signed char> bytes(40);
  for (int i = 0; i < 40; ++i) bytes[i] = static_cast<signed char>(i * 11);
  expect::each(fetched(bytes, 3, 32), [&](int i) { return bytes[i + 3]; });
  std::vector<unsigned short> words(40);
  for (int i = 0; i < 40; ++i) words[i] = static_cast<unsigned short>(i * 4111);
  expect::each(fetched(words, 3, 32), [&](int i) { return words[i + 3]; });
  std::vector<int> integers(40);
  for (int i = 0; i < 40; ++i) integers[i] = i * 0x12345678;
  expect::each(fetched(integers, 0, 32), [&](int i) { return integers[i]; });
  std::vector<uchar4> pixels(40);
  for (int i = 0; i < 40; ++i)
    pixels[i] = {static_cast<unsigned char>(i), 2, 200, 255};
  const auto got = fetched(pixels, 4, 32);
  bool same = true;
  for (int i = 0; i < 32; ++i)
    same &= got[i].x == i + 4 && got[i].y == 2 && got[i].z == 200 &&
            got[i].w == 255;
  expect::is_true(same, "four channels come back");
}

// ---- Texels -----------------------------------------------------------------

// All places from `from` on, `step` apart, in rows of `width`.
struct Grid {
  float from, step;
  int width, height, depth;
  __host__ __device__ int size() const { return width * height * depth; }
  __host__ __device__ float x(int i) const { return from + i % width * step; }
  __host__ __device__ float y(int i) const {
    return from + i / width % height * step;
  }
  __host__ __device__ float z(int i) const {
    return from + i / width / height * step;
  }
};

template <class T>
__global__ void sample_1d(cudaTextureObject_t t, T* out, Grid g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size()) out[i] = tex1D<T>(t, g.x(i));
}
template <class T>
__global__ void sample_2d(cudaTextureObject_t t, T* out, Grid g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size()) out[i] = tex2D<T>(t, g.x(i), g.y(i));
}
template <class T>
__global__ void sample_3d(cudaTextureObject_t t, T* out, Grid g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size()) out[i] = tex3D<T>(t, g.x(i), g.y(i), g.z(i));
}
template <class T>
__global__ void sample_layer(cudaTextureObject_t t, T* out, Grid g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size())
    out[i] = tex2DLayered<T>(t, g.x(i), g.y(i), static_cast<int>(g.z(i)));
}
template <class T>
__global__ void sample_line(cudaTextureObject_t t, T* out, Grid g) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size())
    out[i] = tex1DLayered<T>(t, g.x(i), static_cast<int>(g.y(i)));
}

template <class T, class Kernel>
std::vector<T> sampled(Kernel kernel, cudaTextureObject_t texture, Grid g) {
  return expect::results<T>(g.size(), [&](T* out) {
    kernel<<<(g.size() + 63) / 64, 64>>>(texture, out, g);
  });
}

// An image of small whole numbers: sums of their 256ths are exact.
std::vector<float> numbers(int n) {
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>((i * 37 + 11) % 64);
  return x;
}

// Where a texel is taken from that may lie beside the image; -1: nowhere.
int place(int at, int n, cudaTextureAddressMode beside) {
  if (at >= 0 && at < n) return at;
  switch (beside) {
    case cudaAddressModeWrap:
      return (at % n + n) % n;
    case cudaAddressModeMirror: {
      const int turn = (at % (2 * n) + 2 * n) % (2 * n);
      return turn < n ? turn : 2 * n - 1 - turn;
    }
    case cudaAddressModeBorder:
      return -1;
    default:
      return at < 0 ? 0 : n - 1;
  }
}

// Two texels along an axis, and how much the second counts, of 256.
struct Taps {
  int at[2];
  int second;
};
Taps taps(float x, int n, const How& how) {
  if (how.normalised) x *= static_cast<float>(n);
  auto beside = how.beside;
  if (!how.normalised &&
      (beside == cudaAddressModeWrap || beside == cudaAddressModeMirror))
    beside = cudaAddressModeClamp;
  if (how.filter == cudaFilterModePoint)
    return {{place(static_cast<int>(std::floor(x)), n, beside), -1}, 0};
  const float first = std::floor(x - 0.5f);
  const float second = x - 0.5f - first;  // a multiple of 1/256 here
  const int k = static_cast<int>(first);
  if (beside == cudaAddressModeClamp && (k < 0 || k >= n - 1))
    return {{place(k, n, beside), -1}, 0};
  return {{place(k, n, beside), place(k + 1, n, beside)},
          static_cast<int>(second * 256)};
}

// The weights of an H200's filter are whole 256ths: split along z, then along
// x, then along y, and one part of each two is rounded, halves up.
int weight_of(const Taps (&t)[3], int corner) {
  const int z = corner >> 2 ? t[2].second : 256 - t[2].second;
  const int right = (z * t[0].second + 128) / 256;
  if (corner & 1) {
    const int below = (right * t[1].second + 128) / 256;
    return corner & 2 ? below : right - below;
  }
  const int left = z - right;
  const int above = (left * (256 - t[1].second) + 128) / 256;
  return corner & 2 ? left - above : above;
}

float expected(const std::vector<float>& image, const int (&size)[3],
               const float (&at)[3], const How& how) {
  Taps t[3] = {{{0, -1}, 0}, {{0, -1}, 0}, {{0, -1}, 0}};
  for (int k = 0; k < 3; ++k)
    if (size[k] > 0) t[k] = taps(at[k], size[k], how);
  // A line is an image of one row, and the filter is at its edge.
  if (size[1] == 0 && how.filter == cudaFilterModeLinear)
    t[1] = taps(0, 1, how);
  float sum = 0;
  for (int c = 0; c < 8; ++c) {
    const int x = t[0].at[c & 1], y = t[1].at[c >> 1 & 1], z = t[2].at[c >> 2];
    const int weight = weight_of(t, c);
    if (weight == 0 || x < 0 || y < 0 || z < 0) continue;
    const int width = size[0], height = size[1] > 0 ? size[1] : 1;
    sum += static_cast<float>(weight) * image[x + width * (y + height * z)];
  }
  return sum / 256;
}

void check_sampling() {
  constexpr int kW = 8, kH = 4, kD = 4;
  const auto image = numbers(kW * kH * kD);
  const Array<float> line({kW, 0, 0}, {image.begin(), image.begin() + kW});
  const Array<float> flat({kW, kH, 0},
                          {image.begin(), image.begin() + kW * kH});
  const Array<float> box({kW, kH, kD}, image);
  for (const auto beside : {cudaAddressModeClamp, cudaAddressModeBorder,
                            cudaAddressModeWrap, cudaAddressModeMirror})
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (const bool normalised : {false, true}) {
        const How how{beside, filter, normalised};
        // Not where a point lies just between two texels.
        const float step = normalised ? 0.046875f : 0.375f;
        const Grid g1{normalised ? -1.0078125f : -3.125f, step, 64, 1, 1};
        const Grid g2{g1.from, step * 2, 24, 24, 1};
        const Grid g3{g1.from, step * 4, 12, 12, 12};
        const auto one =
            sampled<float>(sample_1d<float>, Texture(line.resource(), how), g1);
        expect::each(one, [&](int i) {
          return expected(image, {kW, 0, 0}, {g1.x(i), 0, 0}, how);
        });
        const auto two =
            sampled<float>(sample_2d<float>, Texture(flat.resource(), how), g2);
        expect::each(two, [&](int i) {
          return expected(image, {kW, kH, 0}, {g2.x(i), g2.y(i), 0}, how);
        });
        const auto three =
            sampled<float>(sample_3d<float>, Texture(box.resource(), how), g3);
        expect::each(three, [&](int i) {
          return expected(image, {kW, kH, kD}, {g3.x(i), g3.y(i), g3.z(i)},
                          how);
        });
      }
}

void check_layers() {
  constexpr int kW = 6, kH = 5, kLayers = 3;
  const auto image = numbers(kW * kH * kLayers);
  const Array<float> stack({kW, kH, kLayers}, image, cudaArrayLayered);
  const Array<float> lines({kW, 0, kLayers},
                           {image.begin(), image.begin() + kW * kLayers},
                           cudaArrayLayered);
  const How how{cudaAddressModeClamp, cudaFilterModeLinear};
  const Grid g{0, 0.5f, 12, 10, 6};
  expect::each(
      sampled<float>(sample_layer<float>, Texture(stack.resource(), how), g),
      [&](int i) {
        const int layer = static_cast<int>(g.z(i));
        const std::vector<float> one(image.begin() + layer * kW * kH,
                                     image.begin() + (layer + 1) * kW * kH);
        return expected(one, {kW, kH, 0}, {g.x(i), g.y(i), 0}, how);
      });
  const Grid h{0, 0.5f, 12, 6, 1};
  expect::each(
      sampled<float>(sample_line<float>, Texture(lines.resource(), how), h),
      [&](int i) {
        const int layer = static_cast<int>(h.y(i));
        const std::vector<float> one(image.begin() + layer * kW,
                                     image.begin() + (layer + 1) * kW);
        return expected(one, {kW, 0, 0}, {h.x(i), 0, 0}, how);
      });
}

// ---- What texels are --------------------------------------------------------

template <class T, class Read = T>
std::vector<Read> texels_read(const std::vector<T>& x, const How& how) {
  const Array<T> array({x.size(), 0, 0}, x);
  return sampled<Read>(sample_1d<Read>, Texture(array.resource(), how),
                       {0.5f, 1, static_cast<int>(x.size()), 1, 1});
}

void check_types() {
  std::vector<unsigned char> bytes(256);
  std::vector<signed char> signed_bytes(256);
  std::vector<short> words(256);
  std::vector<unsigned> wide(256);
  for (int i = 0; i < 256; ++i) {
    bytes[i] = static_cast<unsigned char>(i);
    signed_bytes[i] = static_cast<signed char>(i);
    words[i] = static_cast<short>(i * 257);
    wide[i] = static_cast<unsigned>(i) * 0x01010101u;
  }
  expect::each(texels_read(bytes, {}), [](int i) { return i; });
  expect::each(texels_read(signed_bytes, {}),
               [&](int i) { return signed_bytes[i]; });
  expect::each(texels_read(words, {}), [&](int i) { return words[i]; });
  expect::each(texels_read(wide, {}), [&](int i) { return wide[i]; });
  How fraction;
  fraction.read = cudaReadModeNormalizedFloat;
  expect::each(texels_read<unsigned char, float>(bytes, fraction),
               [](int i) { return i / 255.f; });
  expect::each(texels_read<signed char, float>(signed_bytes, fraction),
               [&](int i) { return std::max(signed_bytes[i] / 127.f, -1.f); });
  expect::each(texels_read<short, float>(words, fraction),
               [&](int i) { return std::max(words[i] / 32767.f, -1.f); });
}

// ---- Rows with a pitch, gathering, asking -----------------------------------

__global__ void gather_kernel(cudaTextureObject_t t, float4* out) {
  const int i = threadIdx.x;
  out[i] = tex2Dgather<float4>(t, 1.f + i % 4, 1.f + i / 4, 0);
}

__global__ void ask_kernel(cudaTextureObject_t t, cudaSurfaceObject_t s,
                           int* out) {
  asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
  asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
  asm("suq.width.b32 %0, [%1];" : "=r"(out[2]) : "l"(s));
  asm("suq.height.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
}

void check_pitch() {
  constexpr int kW = 30, kH = 9;
  const auto image = numbers(kW * kH);
  float* rows = nullptr;
  size_t pitch = 0;
  ok(cudaMallocPitch(&rows, &pitch, kW * sizeof(float), kH));
  ok(cudaMemcpy2D(rows, pitch, image.data(), kW * sizeof(float),
                  kW * sizeof(float), kH, cudaMemcpyHostToDevice));
  cudaResourceDesc d = {};
  d.resType = cudaResourceTypePitch2D;
  d.res.pitch2D = {rows, channels<float>(), kW, kH, pitch};
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    const How how{cudaAddressModeClamp, filter};
    const Grid g{-0.875f, 0.75f, 43, 15, 1};
    expect::each(
        sampled<float>(sample_2d<float>, Texture(d, how), g), [&](int i) {
          return expected(image, {kW, kH, 0}, {g.x(i), g.y(i), 0}, how);
        });
  }
  ok(cudaFree(rows));
}

void check_gather() {
  constexpr int kW = 5, kH = 5;
  const auto image = numbers(kW * kH);
  const Array<float> array({kW, kH, 0}, image, cudaArrayTextureGather);
  const Texture texture(array.resource(), {});
  const auto got = expect::results<float4>(
      16, [&](float4* out) { gather_kernel<<<1, 16>>>(texture, out); });
  bool same = true;
  for (int i = 0; i < 16; ++i) {
    const int x = i % 4, y = i / 4;
    const auto at = [&](int dx, int dy) {
      return image[x + dx + kW * (y + dy)];
    };
    same &= got[i].x == at(0, 1) && got[i].y == at(1, 1) &&
            got[i].z == at(1, 0) && got[i].w == at(0, 0);
  }
  expect::is_true(same, "the four texels around come in their order");
}

// ---- Surfaces ---------------------------------------------------------------

// Each texel becomes what its neighbour was, and a number more.
__global__ void shift_kernel(cudaSurfaceObject_t from, cudaSurfaceObject_t to,
                             int w, int h) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x >= w || y >= h) return;
  const int left = surf2Dread<int>(from, (x - 1) * 4, y, cudaBoundaryModeZero);
  const int right =
      surf2Dread<int>(from, (x + 1) * 4, y, cudaBoundaryModeClamp);
  surf2Dwrite(left * 100 + right, to, x * 4, y);
  surf2Dwrite(-1, to, (x + w) * 4, y, cudaBoundaryModeZero);
}

__global__ void kinds_kernel(cudaSurfaceObject_t line, cudaSurfaceObject_t box,
                             cudaSurfaceObject_t stack) {
  const int i = threadIdx.x;
  const short2 a = surf1Dread<short2>(line, i * 4);
  surf1Dwrite(make_short2(a.y, a.x), line, i * 4);
  const int x = i % 4, y = i / 4 % 4, z = i / 16;
  const uchar4 b = surf3Dread<uchar4>(box, x * 4, y, z);
  surf3Dwrite(make_uchar4(b.w, b.z, b.y, b.x), box, x * 4, y, z);
  const float4 c = surf2DLayeredread<float4>(stack, x * 16, y, z);
  surf2DLayeredwrite(make_float4(c.w, c.x, c.y, c.z), stack, x * 16, y, z);
}

void check_surfaces() {
  constexpr int kW = 20, kH = 3;
  std::vector<int> numbers(kW * kH);
  for (int i = 0; i < kW * kH; ++i) numbers[i] = i % 23 + 1;
  const unsigned both = cudaArraySurfaceLoadStore;
  const Array<int> from({kW, kH, 0}, numbers, both);
  const Array<int> to({kW, kH, 0}, std::vector<int>(kW * kH), both);
  {
    const Surface source(from.resource()), target(to.resource());
    shift_kernel<<<kH, 32>>>(source, target, kW, kH);
    ok(cudaDeviceSynchronize());
    const Texture texture(from.resource(), {});
    expect::each(
        expect::results<int>(
            4, [&](int* out) { ask_kernel<<<1, 1>>>(texture, source, out); }),
        [](int i) { return i % 2 ? kH : kW; });
  }
  expect::each(to.texels(), [&](int i) {
    const int x = i % kW;
    return (x ? numbers[i - 1] : 0) * 100 + numbers[x + 1 < kW ? i + 1 : i];
  });
  std::vector<short2> pairs(64);
  std::vector<uchar4> bytes(64);
  std::vector<float4> floats(64);
  for (int i = 0; i < 64; ++i) {
    const auto b = static_cast<unsigned char>(i);
    pairs[i] = {static_cast<short>(i), static_cast<short>(-i)};
    bytes[i] = {b, 1, 2, 3};
    floats[i] = {1.f * i, 1, 2, 3};
  }
  const Array<short2> line({64, 0, 0}, pairs, both);
  const Array<uchar4> box({4, 4, 4}, bytes, both);
  const Array<float4> stack({4, 4, 4}, floats, both | cudaArrayLayered);
  {
    const Surface one(line.resource()), two(box.resource()),
        three(stack.resource());
    kinds_kernel<<<1, 64>>>(one, two, three);
    ok(cudaDeviceSynchronize());
  }
  pairs = line.texels(), bytes = box.texels(), floats = stack.texels();
  bool same = true;
  for (int i = 0; i < 64; ++i)
    same &= pairs[i].x == -i && pairs[i].y == i && bytes[i].x == 3 &&
            bytes[i].w == i && floats[i].x == 3 && floats[i].y == 1.f * i;
  expect::is_true(same, "surfaces of three kinds are read and written");
}

// ---- Copies and errors ------------------------------------------------------

// An image of 8 rows of 64 bytes goes into an array, over to another one, and
// back, in three ways.
void check_copies_per_thread() {
  constexpr size_t kRow = 64, kRows = 8, kBytes = kRow * kRows;
  const auto form = channels<short2>();
  cudaArray_t a = nullptr, b = nullptr;
  ok(cudaMallocArray(&a, &form, kRow / sizeof(short2), kRows));
  ok(cudaMallocArray(&b, &form, kRow / sizeof(short2), kRows));
  std::vector<unsigned char> x(kBytes), y(kBytes);
  const auto begin = [&](int value) {
    for (size_t i = 0; i < kBytes; ++i) x[i] = i * 7 + value;
  };
  const auto check = [&] {
    ok(cudaStreamSynchronize(cudaStreamPerThread));
    expect::is_true(x == y, "the image comes back");
  };
  const auto to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost,
             over = cudaMemcpyDeviceToDevice;
  begin(1);
  ok(cudaMemcpy2DToArray_ptds(a, 0, 0, x.data(), kRow, kRow, kRows, to));
  ok(cudaMemcpy2DArrayToArray_ptds(b, 0, 0, a, 0, 0, kRow, kRows, over));
  ok(cudaMemcpy2DFromArray_ptds(y.data(), kRow, b, 0, 0, kRow, kRows, from));
  check();
  begin(2);
  ok(cudaMemcpyToArray_ptds(a, 0, 0, x.data(), kBytes, to));
  ok(cudaMemcpyArrayToArray_ptds(b, 0, 0, a, 0, 0, kBytes, over));
  ok(cudaMemcpyFromArray_ptds(y.data(), b, 0, 0, kBytes, from));
  check();
  begin(3);
  const auto stream = cudaStreamPerThread;
  ok(cudaMemcpy2DToArrayAsync_ptsz(a, 0, 0, x.data(), kRow, kRow, kRows, to,
                                   stream));
  ok(cudaMemcpyFromArrayAsync_ptsz(y.data(), a, 0, 0, kBytes, from, stream));
  check();
  begin(4);
  ok(cudaMemcpyToArrayAsync_ptsz(b, 0, 0, x.data(), kBytes, to, stream));
  ok(cudaMemcpy2DFromArrayAsync_ptsz(y.data(), kRow, b, 0, 0, kRow, kRows, from,
                                     stream));
  check();
  ok(cudaFreeArray(a));
  ok(cudaFreeArray(b));
}

// Of a box the places count in texels where an array is at one end: in memory
// that is at the other, too.
void check_boxes() {
  const auto form = channels<float>();
  cudaArray_t array = nullptr;
  ok(cudaMalloc3DArray(&array, &form, make_cudaExtent(10, 6, 4), 0));
  std::vector<float> x(20 * 9 * 7), y(20 * 5 * 4, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i;
  cudaMemcpy3DParms in = {}, out = {};
  in.srcPtr = make_cudaPitchedPtr(x.data(), 20 * sizeof(float), 20, 9);
  in.srcPos = make_cudaPos(3, 2, 1);
  in.dstArray = array;
  in.dstPos = make_cudaPos(1, 1, 1);
  in.extent = make_cudaExtent(7, 4, 3);
  in.kind = cudaMemcpyHostToDevice;
  ok(cudaMemcpy3D(&in));
  out.srcArray = array;
  out.srcPos = in.dstPos;
  out.dstPtr = make_cudaPitchedPtr(y.data(), 20 * sizeof(float), 20, 5);
  out.dstPos = make_cudaPos(4, 1, 1);
  out.extent = make_cudaExtent(2, 2, 2);
  out.kind = cudaMemcpyDeviceToHost;
  ok(cudaMemcpy3D(&out));
  expect::each(y, [&](int i) {
    const int column = i % 20 - 4, row = i / 20 % 5 - 1, plane = i / 100 - 1;
    const bool inside = column >= 0 && column < 2 && row >= 0 && row < 2 &&
                        plane >= 0 && plane < 2;
    return inside ? x[((plane + 1) * 9 + row + 2) * 20 + column + 3] : -1;
  });
  ok(cudaFreeArray(array));
}

void check_copies() {
  const auto form = channels<short2>();
  cudaArray_t array = nullptr, other = nullptr;
  ok(cudaMallocArray(&array, &form, 16, 8));
  ok(cudaMallocArray(&other, &form, 16, 8));
  std::vector<int> x(16 * 8), y(16 * 8), z(10 * 4);
  for (int i = 0; i < 16 * 8; ++i) x[i] = i * 3 + 1;
  ok(cudaMemcpy2DToArray(array, 0, 0, x.data(), 64, 64, 8,
                         cudaMemcpyHostToDevice));
  ok(cudaMemcpy2DFromArray(y.data(), 64, array, 0, 0, 64, 8,
                           cudaMemcpyDeviceToHost));
  expect::each(y, [&](int i) { return x[i]; });
  ok(cudaMemcpy2DToArray(other, 0, 0, y.data(), 64, 64, 8, cudaMemcpyDefault));
  ok(cudaMemcpy2DArrayToArray(other, 8, 1, array, 16, 2, 20, 3,
                              cudaMemcpyDeviceToDevice));
  ok(cudaMemcpy2DFromArray(z.data(), 40, other, 4, 1, 40, 4,
                           cudaMemcpyDeviceToHost));
  expect::each(z, [&](int i) {
    const int column = 1 + i % 10, row = 1 + i / 10;
    const bool copied = column >= 2 && column < 7 && row < 4;
    return x[copied ? (row + 1) * 16 + column + 2 : row * 16 + column];
  });
  ok(cudaMemcpyArrayToArray(other, 16, 1, array, 32, 2, 80));
  ok(cudaMemcpy2DFromArray(y.data(), 64, other, 0, 0, 64, 8,
                           cudaMemcpyDeviceToHost));
  for (int i = 0; i < 20; ++i) expect::equal(y[16 + 4 + i], x[32 + 8 + i]);
  cudaChannelFormatDesc told = {};
  cudaExtent extent = {};
  unsigned flags = 9;
  ok(cudaArrayGetInfo(&told, &extent, &flags, array));
  expect::equal(told.y, 16);
  expect::equal(extent.height, 8u);
  expect::equal(extent.depth, 0u);
  expect::equal(flags, 0u);
  const auto refused = [](cudaError_t error) {
    expect::is_true(error != cudaSuccess, "the call is refused");
    cudaGetLastError();
  };
  refused(cudaMemcpy2DToArray(array, 8, 0, x.data(), 64, 64, 8,
                              cudaMemcpyHostToDevice));
  cudaSurfaceObject_t surface = 0;
  cudaTextureObject_t texture = 0;
  cudaResourceDesc d = {};
  d.resType = cudaResourceTypeArray;
  d.res.array.array = array;
  cudaTextureDesc how = description({});
  how.filterMode = cudaFilterModeLinear;
  refused(cudaCreateTextureObject(&texture, &d, &how, nullptr));
  refused(cudaCreateTextureObject(&texture, &d, nullptr, nullptr));
  refused(cudaCreateSurfaceObject(&surface, nullptr));
  ok(cudaFreeArray(array));
  ok(cudaFreeArray(other));
}

// What texels can be read as, and which of them a filter takes.
template <class T>
cudaError_t made_of(cudaTextureFilterMode filter, cudaTextureReadMode read) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  const cudaChannelFormatDesc form = cudaCreateChannelDesc<T>();
  ok(cudaMallocArray(&resource.res.array.array, &form, 16, 8));
  cudaTextureDesc how = description({});
  how.filterMode = filter;
  how.readMode = read;
  cudaTextureObject_t texture = 0;
  const cudaError_t error =
      cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  expect::equal(cudaGetLastError(), error);
  if (error == cudaSuccess) ok(cudaDestroyTextureObject(texture));
  ok(cudaFreeArray(resource.res.array.array));
  return error;
}

void check_settings() {
  constexpr auto kPoint = cudaFilterModePoint, kLinear = cudaFilterModeLinear;
  constexpr auto kAsIs = cudaReadModeElementType,
                 kFraction = cudaReadModeNormalizedFloat;
  for (const auto filter : {kPoint, kLinear}) {
    expect::equal(made_of<float>(filter, kAsIs), cudaSuccess);
    expect::equal(made_of<float>(filter, kFraction),
                  cudaErrorInvalidNormSetting);
    expect::equal(made_of<uchar1>(filter, kFraction), cudaSuccess);
  }
  expect::equal(made_of<uchar1>(kLinear, kAsIs), cudaErrorInvalidFilterSetting);
  expect::equal(made_of<int>(kLinear, kAsIs), cudaErrorInvalidFilterSetting);
  expect::equal(made_of<int>(kLinear, kFraction),
                cudaErrorInvalidFilterSetting);
  expect::equal(made_of<int>(kPoint, kFraction), cudaErrorInvalidNormSetting);
  expect::equal(made_of<float>(static_cast<cudaTextureFilterMode>(2), kAsIs),
                cudaErrorInvalidValue);
}

}  // namespace

int main() {
  check_linear();
  check_sampling();
  check_layers();
  check_types();
  check_pitch();
  check_gather();
  check_surfaces();
  check_boxes();
  check_copies();
  check_copies_per_thread();
  check_settings();
  return expect::report();
}
