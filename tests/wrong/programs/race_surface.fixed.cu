// finds: nothing
//
// A blur: a thread reads texels by one surface, and writes by another.
#include <cuda_runtime.h>

__global__ void blur_kernel(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int i = threadIdx.x;
  const int next = min(i + 1, 255);
  const float mean = (surf2Dread<float>(from, 4 * i, 0) +
                      surf2Dread<float>(from, 4 * next, 0)) /
                     2;
  surf2Dwrite(mean, to, 4 * i, 0);
}

int main() {
  cudaSurfaceObject_t surface[2];
  for (cudaSurfaceObject_t& one : surface) {
    const auto floats = cudaCreateChannelDesc<float>();
    cudaResourceDesc image{};
    image.resType = cudaResourceTypeArray;
    cudaMallocArray(&image.res.array.array, &floats, 256, 1,
                    cudaArraySurfaceLoadStore);
    cudaCreateSurfaceObject(&one, &image);
  }
  blur_kernel<<<1, 256>>>(surface[0], surface[1]);
  return cudaDeviceSynchronize() != cudaSuccess;
}
