// For programs whose kernels NVRTC compiles while they run: it needs no GPU,
// and whoever asks it for machine code gets PTX, which the executor carries
// out.
#include <cstddef>

extern "C" {

int nvrtcGetPTXSize(void* program, size_t* bytes);
int nvrtcGetPTX(void* program, char* ptx);

int nvrtcGetCUBINSize(void* program, size_t* bytes) {
  return nvrtcGetPTXSize(program, bytes);
}
int nvrtcGetCUBIN(void* program, char* cubin) {
  return nvrtcGetPTX(program, cubin);
}

}  // extern "C"
