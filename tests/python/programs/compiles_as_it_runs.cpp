// Its kernel is a template, compiled for the device's own architecture.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>

const char* const kSource =
    "template <int kFactor> __global__ void times(int* x) { *x *= kFactor; }";

void ok(int status) {
  if (status == 0) return;
  std::fprintf(stderr, "status %d\n", status);
  std::exit(2);
}

int main() {
  nvrtcProgram program;
  ok(nvrtcCreateProgram(&program, kSource, "times.cu", 0, nullptr, nullptr));
  ok(nvrtcAddNameExpression(program, "times<6>"));
  const char* options[] = {"--gpu-architecture=sm_90"};
  ok(nvrtcCompileProgram(program, 1, options));
  size_t bytes;
  ok(nvrtcGetWANTEDSize(program, &bytes));
  std::string compiled(bytes, ' ');
  ok(nvrtcGetWANTED(program, compiled.data()));
  const char* name;
  ok(nvrtcGetLoweredName(program, "times<6>", &name));

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr x;
  ok(cuInit(0));
  ok(cuDeviceGet(&device, 0));
  ok(cuDevicePrimaryCtxRetain(&context, device));
  ok(cuCtxSetCurrent(context));
  ok(cuModuleLoadData(&module, compiled.data()));
  ok(cuModuleGetFunction(&kernel, module, name));
  ok(nvrtcDestroyProgram(&program));
  int value = 7;
  ok(cuMemAlloc(&x, sizeof value));
  ok(cuMemcpyHtoD(x, &value, sizeof value));
  void* arguments[] = {&x};
  ok(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  ok(cuMemcpyDtoH(&value, x, sizeof value));
  std::printf("%d\n", value);
}
