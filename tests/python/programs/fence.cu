// What only Hopper has.
__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }
int main() {
  k<<<1, 128>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
