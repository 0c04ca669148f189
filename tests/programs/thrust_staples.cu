// What programs take from Thrust: sort, unique where the data lies, a scan and
// a sum. Its kernels hand counts from block to block without a fence.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <cstdio>
#include <vector>

int main() {
  const int n = 10000;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 7919 % 1009 - 500;
  thrust::device_vector<int> data(in);
  thrust::sort(data.begin(), data.end());
  const int least = data[0], middle = data[n / 2], most = data[n - 1];
  data.erase(thrust::unique(data.begin(), data.end()), data.end());
  const int different = data.size(), last = data.back();
  thrust::inclusive_scan(data.begin(), data.end(), data.begin());
  const int sum = thrust::reduce(data.begin(), data.end());
  std::printf("from %d over %d to %d, %d different, the last %d, sum %d\n",
              least, middle, most, different, last, sum);
}
