// A peer of chapter 12: CUB's reduction of segments, of one length here.
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <cstring>
#include <cub/device/device_segmented_reduce.cuh>

namespace {

struct RowBegin {
  int64_t n;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * n; }
};

// The scratch that it needs where there is none.
template <class T, class R>
int64_t rows_of(bool greatest, const void* x, void* out, int64_t rows,
                int64_t n, void* scratch, size_t bytes, cudaStream_t stream) {
  using cub::DeviceSegmentedReduce;
  const auto begins = thrust::make_transform_iterator(
      thrust::counting_iterator<int64_t>(0), RowBegin{n});
  const auto* in = static_cast<const T*>(x);
  auto* results = static_cast<R*>(out);
  const cudaError_t error =
      greatest ? DeviceSegmentedReduce::Max(scratch, bytes, in, results, rows,
                                            begins, begins + 1, stream)
               : DeviceSegmentedReduce::Sum(scratch, bytes, in, results, rows,
                                            begins, begins + 1, stream);
  return error == cudaSuccess ? static_cast<int64_t>(bytes) : -1;
}

}  // namespace

// What is the name of an operation, as in any_reduce.h. Returns how many bytes
// of scratch it needs or took; -1 for an error, or if it is none of CUB's.
extern "C" int64_t cub_rows(const char* what, const void* x, void* out,
                            int64_t rows, int64_t n, void* scratch,
                            int64_t bytes, cudaStream_t stream) {
  if (std::strcmp(what, "sum float") == 0)
    return rows_of<float, float>(false, x, out, rows, n, scratch, bytes,
                                 stream);
  if (std::strcmp(what, "max float") == 0)
    return rows_of<float, float>(true, x, out, rows, n, scratch, bytes, stream);
  if (std::strcmp(what, "sum half") == 0)
    return rows_of<__half, __half>(false, x, out, rows, n, scratch, bytes,
                                   stream);
  if (std::strcmp(what, "sum int8") == 0)
    return rows_of<int8_t, int64_t>(false, x, out, rows, n, scratch, bytes,
                                    stream);
  return -1;
}
