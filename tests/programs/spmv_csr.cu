// A sparse matrix in compressed rows times a vector: one thread per row,
// and one warp per row with shuffles.
#include <cuda.h>

#include <cstdio>
#include <vector>

__global__ void row_a_thread(const int* starts, const int* columns,
                             const float* values, const float* x, float* y,
                             int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) {
    sum += values[k] * x[columns[k]];
  }
  y[row] = sum;
}

__global__ void row_a_warp(const int* starts, const int* columns,
                           const float* values, const float* x, float* y,
                           int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) {
    sum += values[k] * x[columns[k]];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  }
  if (lane == 0) y[row] = sum;
}

template <typename T>
T* to_device(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T),
             cudaMemcpyHostToDevice);
  return device;
}

int main() {
  const int rows = 300;
  std::vector<int> starts(1, 0), columns;
  std::vector<float> values, x(rows), expected(rows), y(rows);
  for (int i = 0; i < rows; ++i) x[i] = (float)(i % 9) - 4;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < row * row % 71; ++k) {
      columns.push_back((row * 13 + k * 7) % rows);
      values.push_back((float)(k % 5) + 0.25f);
      expected[row] += values.back() * x[columns.back()];
    }
    starts.push_back((int)columns.size());
  }
  int* device_starts = to_device(starts);
  int* device_columns = to_device(columns);
  float* device_values = to_device(values);
  float* device_x = to_device(x);
  float* device_y = to_device(y);
  int wrong = 0;
  for (int way = 0; way < 2; ++way) {
    if (way == 0) {
      row_a_thread<<<(rows + 127) / 128, 128>>>(device_starts, device_columns,
                                                device_values, device_x,
                                                device_y, rows);
    } else {
      row_a_warp<<<(rows * 32 + 127) / 128, 128>>>(
          device_starts, device_columns, device_values, device_x, device_y,
          rows);
    }
    cudaMemcpy(y.data(), device_y, rows * sizeof(float),
               cudaMemcpyDeviceToHost);
    float sum = 0;
    for (int i = 0; i < rows; ++i) {
      wrong += y[i] != expected[i];
      sum += y[i];
    }
    printf("%d non-zeros, sum of the product %.2f\n", (int)values.size(), sum);
  }
  cudaFree(device_starts);
  cudaFree(device_columns);
  cudaFree(device_values);
  cudaFree(device_x);
  cudaFree(device_y);
  return wrong != 0;
}
