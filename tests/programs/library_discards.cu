// What libraries throw away is nobody's mistake: CUB's runs go to a place that
// many write and nobody reads, and Thrust's intersection compares a key behind
// the last.
#include <thrust/device_vector.h>
#include <thrust/set_operations.h>

#include <cstdio>
#include <cub/device/device_run_length_encode.cuh>
#include <vector>

template <class T>
T* pointer(thrust::device_vector<T>& vector) {
  return thrust::raw_pointer_cast(vector.data());
}

int main() {
  const int n = 5000;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * i / 7 % 11;
  thrust::device_vector<int> data(in), offsets(n), lengths(n), count(1);
  size_t bytes = 0;
  const auto find_runs = [&](void* scratch) {
    cub::DeviceRunLengthEncode::NonTrivialRuns(
        scratch, bytes, pointer(data), pointer(offsets), pointer(lengths),
        pointer(count), n);
  };
  find_runs(nullptr);
  thrust::device_vector<char> scratch(bytes);
  find_runs(pointer(scratch));
  const int runs = count[0], last = offsets[runs - 1], length = lengths[0];

  std::vector<int> twos(n), threes(n);
  for (int i = 0; i < n; ++i) twos[i] = 2 * i, threes[i] = 3 * i;
  thrust::device_vector<int> a(twos), b(threes), both(n);
  const int alike = thrust::set_intersection(a.begin(), a.end(), b.begin(),
                                             b.end(), both.begin()) -
                    both.begin();
  const int most = both[alike - 1];
  std::printf(
      "%d runs, the first of %d, the last at %d; %d in both, up to %d\n", runs,
      length, last, alike, most);
}
