// The driver API: contexts, modules of PTX that are loaded while the program
// runs, memory, launches; and together with the runtime, which it shares
// everything with.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "tests/simt/driver_calls.h"

namespace {

using driver_calls::ok;
using expect::equal;
using expect::is_true;

constexpr int kN = 1000;

// y[i] = a * x[i] + shift, where shift is a variable of the module.
const std::string kPtx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 shift = 5;
.visible .const .align 4 .u32 factors[2] = {1, 10};

.visible .entry scale(.param .u64 to, .param .u32 a, .param .u64 from,
                      .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<9>;
  .reg .b64 %d<7>;
  ld.param.u64 %d1, [to];
  ld.param.u32 %r1, [a];
  ld.param.u64 %d2, [from];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.s32 %p, %r6, %r2;
  @%p ret;
  mul.wide.s32 %d3, %r6, 4;
  cvta.to.global.u64 %d4, %d2;
  add.s64 %d4, %d4, %d3;
  ld.global.u32 %r7, [%d4];
  ld.global.u32 %r8, [shift];
  mad.lo.s32 %r7, %r7, %r1, %r8;
  ld.const.u32 %r8, [factors+4];
  mul.lo.s32 %r7, %r7, %r8;
  cvta.to.global.u64 %d5, %d1;
  add.s64 %d5, %d5, %d3;
  st.global.u32 [%d5], %r7;
  ret;
}

.visible .entry nothing()
{
  ret;
}
)";

struct Arrays {
  CUdeviceptr x = 0, y = 0;

  Arrays() {
    std::vector<int> numbers(kN);
    for (int i = 0; i < kN; ++i) numbers[i] = i;
    ok(CALL(MemAlloc)(&x, kN * sizeof(int)));
    ok(CALL(MemAlloc)(&y, kN * sizeof(int)));
    ok(CALL(MemcpyHtoD)(x, numbers.data(), kN * sizeof(int)));
    ok(CALL(MemsetD32)(y, 0, kN));
  }
  ~Arrays() {
    ok(CALL(MemFree)(x));
    ok(CALL(MemFree)(y));
  }
  std::vector<int> result() const {
    std::vector<int> got(kN);
    ok(CALL(MemcpyDtoH)(got.data(), y, kN * sizeof(int)));
    return got;
  }
};

void devices() {
  int count = 0, version = 0, major = 0;
  ok(CALL(DriverGetVersion)(&version));
  is_true(version >= 12000, "the driver is one of CUDA 12 or newer");
  ok(CALL(DeviceGetCount)(&count));
  is_true(count > 0, "there is a device");
  CUdevice device = -1;
  ok(CALL(DeviceGet)(&device, 0));
  equal(CALL(DeviceGet)(&device, count), CUDA_ERROR_INVALID_DEVICE);
  char name[100] = "";
  ok(CALL(DeviceGetName)(name, sizeof name, 0));
  cudaDeviceProp facts;
  expect::ok(cudaGetDeviceProperties(&facts, 0));
  equal(std::string(name), std::string(facts.name));
  ok(CALL(DeviceGetAttribute)(&major,
                              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  equal(major, facts.major);
  size_t bytes = 0;
  ok(CALL(DeviceTotalMem)(&bytes, 0));
  equal(bytes, facts.totalGlobalMem);
}

void names_of_errors() {
  const char* text = nullptr;
  ok(CALL(GetErrorName)(CUDA_ERROR_INVALID_VALUE, &text));
  equal(std::string(text), std::string("CUDA_ERROR_INVALID_VALUE"));
  ok(CALL(GetErrorString)(CUDA_ERROR_NOT_FOUND, &text));
  equal(std::string(text), std::string("named symbol not found"));
  // Codes that this suite meets nowhere else.
  ok(CALL(GetErrorName)(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, &text));
  equal(std::string(text), std::string("CUDA_ERROR_STREAM_CAPTURE_UNJOINED"));
  ok(CALL(GetErrorString)(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, &text));
  equal(std::string(text), std::string("capturing stream has unjoined work"));
  ok(CALL(GetErrorString)(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, &text));
  equal(std::string(text), std::string("context already current"));
  const auto of_runtime = static_cast<CUresult>(cudaErrorInvalidPitchValue);
  equal(CALL(GetErrorName)(of_runtime, &text), CUDA_ERROR_INVALID_VALUE);
  equal(CALL(GetErrorName)(static_cast<CUresult>(-1), &text),
        CUDA_ERROR_INVALID_VALUE);
  is_true(text == nullptr, "there is no name for it");
}

void contexts() {
  CUcontext now = nullptr, first = nullptr, second = nullptr;
  ok(CALL(CtxSetCurrent)(nullptr));
  ok(CALL(CtxGetCurrent)(&now));
  is_true(now == nullptr, "there is no context");
  CUdeviceptr memory = 0;
  equal(CALL(MemAlloc)(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
  ok(CALL(CtxCreate)(&first, nullptr, 0, 0));
  ok(CALL(CtxGetCurrent)(&now));
  is_true(now == first, "the new context is current");
  ok(CALL(CtxCreate)(&second, nullptr, 0, 0));
  ok(CALL(CtxPopCurrent)(&now));
  is_true(now == second, "it was the last one");
  ok(CALL(CtxGetCurrent)(&now));
  is_true(now == first, "the one below is current again");
  ok(CALL(CtxPushCurrent)(second));
  ok(CALL(MemAlloc)(&memory, 4));
  ok(CALL(CtxSynchronize)());
#if CUDA_VERSION >= 13000
  const auto synchronize = reinterpret_cast<decltype(&cuCtxSynchronize_v2)>(
      driver_calls::found("cuCtxSynchronize", 13000));
  const auto device_of = reinterpret_cast<decltype(&cuCtxGetDevice_v2)>(
      driver_calls::found("cuCtxGetDevice", 13000));
  CUdevice device = -1;
  ok(synchronize(first));
  ok(synchronize(nullptr));
  ok(device_of(&device, first));
  equal(device, 0);
#endif
  ok(CALL(CtxDestroy)(second));
  ok(CALL(CtxGetCurrent)(&now));
  is_true(now == first, "the other one was destroyed");
#if CUDA_VERSION >= 13000
  equal(synchronize(second), CUDA_ERROR_CONTEXT_IS_DESTROYED);
#endif
  equal(CALL(CtxCreate)(&second, nullptr, 0x800, 0), CUDA_ERROR_INVALID_VALUE);
  ok(CALL(CtxDestroy)(first));
}

// What one context has freed may be another's when the first is destroyed.
void memory_of_contexts() {
  constexpr size_t kBytes = size_t{10} << 30;
  CUcontext first = nullptr, second = nullptr;
  CUdeviceptr memory = 0;
  ok(CALL(CtxCreate)(&first, nullptr, 0, 0));
  for (int k = 0; k < 2; ++k) {
    ok(CALL(MemAlloc)(&memory, kBytes));
    ok(CALL(MemFree)(memory));
  }
  ok(CALL(CtxCreate)(&second, nullptr, 0, 0));
  ok(CALL(MemAlloc)(&memory, kBytes));
  ok(CALL(CtxDestroy)(first));
  ok(CALL(MemsetD8)(memory, 1, 16));
  ok(CALL(MemFree)(memory));
  ok(CALL(CtxDestroy)(second));
}

void launch(CUfunction function, const Arrays& arrays, CUstream stream) {
  CUdeviceptr to = arrays.y, from = arrays.x;
  int a = 3, n = kN;
  void* arguments[] = {&to, &a, &from, &n};
  ok(CALL(LaunchKernel)(function, (kN + 255) / 256, 1, 1, 256, 1, 1, 0, stream,
                        arguments, nullptr));
}

// Functions whose parameters are registers, and arguments that are no .param
// memory.
const std::string kRegistersPtx = R"(
.version 8.3
.target sm_70
.address_size 64

.func (.reg .u32 %sum, .reg .f64 %half) both (.reg .u32 %in, .reg .f64 %x)
{
  .reg .pred %p;
  add.u32 %sum, %in, %in;
  mul.f64 %half, %x, 0d3FE0000000000000;
  setp.gt.u32 %p, %in, 50;
  @%p ret;
  add.u32 %sum, %sum, 1;
}
.func (.param .b32 res) same (.param .b32 in, .reg .u32 %more)
{
  .reg .b32 %q;
  ld.param::func.b32 %q, [in];
  add.u32 %q, %q, %more;
  st.param::func.b32 [res], %q;
  ret;
}

.visible .entry registers(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f64 %x<3>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  cvt.rn.f64.u32 %x1, %r1;
  mov.u32 %r2, 7;
  call (%r2, %x2), both, (%r1, %x1);
  setp.lt.u32 %p, %r1, 32;
  @%p call.uni (%r2), same, (%r2, 1000);
  cvt.rzi.u32.f64 %r3, %x2;
  mad.lo.u32 %r2, %r3, 10000, %r2;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r2;
  ret;
}
)";

void register_parameters() {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  ok(CALL(ModuleLoadData)(&module, kRegistersPtx.c_str()));
  ok(CALL(ModuleGetFunction)(&kernel, module, "registers"));
  CUdeviceptr out = 0;
  std::vector<unsigned> got(64);
  ok(CALL(MemAlloc)(&out, sizeof(unsigned) * got.size()));
  void* arguments[] = {&out};
  ok(CALL(LaunchKernel)(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments,
                        nullptr));
  ok(CALL(MemcpyDtoH)(got.data(), out, sizeof(unsigned) * got.size()));
  expect::each(got, [](int i) {
    return i / 2 * 10000 + 2 * i + (i <= 50) + (i < 32 ? 1000 : 0);
  });
  ok(CALL(MemFree)(out));
  ok(CALL(ModuleUnload)(module));
}

void modules() {
  const Arrays arrays;
  CUmodule module = nullptr;
  CUfunction scale = nullptr, nothing = nullptr;
  ok(CALL(ModuleLoadData)(&module, kPtx.c_str()));
  ok(CALL(ModuleGetFunction)(&scale, module, "scale"));
  ok(CALL(ModuleGetFunction)(&nothing, module, "nothing"));
  launch(scale, arrays, nullptr);
  expect::each(arrays.result(), [](int i) { return 10 * (3 * i + 5); });

  CUdeviceptr shift = 0;
  size_t bytes = 0;
  ok(CALL(ModuleGetGlobal)(&shift, &bytes, module, "shift"));
  equal(bytes, sizeof(int));
  const int seven = 7;
  ok(CALL(MemcpyHtoD)(shift, &seven, sizeof seven));
  launch(scale, arrays, nullptr);
  expect::each(arrays.result(), [](int i) { return 10 * (3 * i + 7); });
  const int factors[] = {1, 100};
  ok(CALL(ModuleGetGlobal)(&shift, &bytes, module, "factors"));
  equal(bytes, 2 * sizeof(int));
  ok(CALL(MemcpyHtoD)(shift, factors, sizeof factors));
  launch(scale, arrays, nullptr);
  expect::each(arrays.result(), [](int i) { return 100 * (3 * i + 7); });

  // Another module of the same text has variables of its own.
  CUmodule other = nullptr;
  CUfunction again = nullptr;
  ok(CALL(ModuleLoadDataEx)(&other, kPtx.c_str(), 0, nullptr, nullptr));
  ok(CALL(ModuleGetFunction)(&again, other, "scale"));
  launch(again, arrays, nullptr);
  expect::each(arrays.result(), [](int i) { return 10 * (3 * i + 5); });
  ok(CALL(ModuleUnload)(other));

  equal(CALL(ModuleGetFunction)(&again, module, "scales"),
        CUDA_ERROR_NOT_FOUND);
  equal(CALL(ModuleGetGlobal)(&shift, &bytes, module, "shifts"),
        CUDA_ERROR_NOT_FOUND);
  equal(CALL(LaunchKernel)(nothing, 0, 1, 1, 32, 1, 1, 0, nullptr, nullptr,
                           nullptr),
        CUDA_ERROR_INVALID_VALUE);
  ok(CALL(LaunchKernel)(nothing, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr,
                        nullptr));
  ok(CALL(CtxSynchronize)());
  ok(CALL(ModuleUnload)(module));
}

// As Triton writes it: a block of 64 and no other, one register in braces, zero
// before each load; and all threads load what only the first one uses, which
// stores there.
const std::string kAsTriton = R"(
.version 8.7
.target sm_80
.address_size 64

.visible .entry next(.param .u64 .ptr .global .align 1 next_param_0)
.reqntid 64
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
$L__func_begin0:
  ld.param.b64 %rd1, [next_param_0];
  mov.u32 %r1, %tid.x;
  setp.eq.b32 %p1, %r1, 0;
  mov.u32 %r2, 0x0;
  ld.global.b32 { %r2 }, [ %rd1 + 0 ];
  add.s32 %r3, %r2, 1;
  @%p1 st.global.b32 [ %rd1 + 0 ], { %r3 };
  ret;
$L__func_end0:
}
)";

void own_block() {
  CUmodule module = nullptr;
  CUfunction next = nullptr;
  ok(CALL(ModuleLoadData)(&module, kAsTriton.c_str()));
  ok(CALL(ModuleGetFunction)(&next, module, "next"));
  CUdeviceptr number = 0;
  ok(CALL(MemAlloc)(&number, sizeof(int)));
  ok(CALL(MemsetD32)(number, 40, 1));
  void* arguments[] = {&number};
  const auto with = [&](unsigned x, unsigned y) {
    return CALL(LaunchKernel)(next, 1, 1, 1, x, y, 1, 0, nullptr, arguments,
                              nullptr);
  };
  ok(with(64, 1));
  ok(with(1, 1));  // It stands for the kernel's own.
  for (const unsigned threads : {2, 32, 128})
    equal(with(threads, 1), CUDA_ERROR_INVALID_VALUE);
  equal(with(32, 2), CUDA_ERROR_INVALID_VALUE);
  int got = 0;
  ok(CALL(MemcpyDtoH)(&got, number, sizeof got));
  equal(got, 42);
  ok(CALL(MemFree)(number));
  ok(CALL(ModuleUnload)(module));
}

// A product and the sum that it goes into become one; not for a debugger, as
// numba and others ask for it in the target.
const std::string kSquarePtx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry square_and_add(.param .u64 numbers)
{
  .reg .f32 %f<5>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [numbers];
  ld.global.f32 %f1, [%rd1];
  ld.global.f32 %f2, [%rd1+4];
  mul.f32 %f3, %f1, %f1;
  add.f32 %f4, %f3, %f2;
  st.global.f32 [%rd1], %f4;
  ret;
}
)";

float square_and_add(const std::string& ptx, float x, float y) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  ok(CALL(ModuleLoadData)(&module, ptx.c_str()));
  ok(CALL(ModuleGetFunction)(&kernel, module, "square_and_add"));
  CUdeviceptr numbers = 0;
  const float both[] = {x, y};
  ok(CALL(MemAlloc)(&numbers, sizeof both));
  ok(CALL(MemcpyHtoD)(numbers, both, sizeof both));
  void* arguments[] = {&numbers};
  ok(CALL(LaunchKernel)(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                        nullptr));
  float sum = 0;
  ok(CALL(MemcpyDtoH)(&sum, numbers, sizeof sum));
  ok(CALL(MemFree)(numbers));
  ok(CALL(ModuleUnload)(module));
  return sum;
}

void for_a_debugger() {
  const float x = 1 + 0x1p-12f, y = -1 - 0x1p-11f;  // x * x + y is 0x1p-24
  std::string debug = kSquarePtx;
  debug.insert(debug.find("\n.address_size"), ", debug");
  debug.insert(debug.find("mul"), ".loc 1 1 0\n");
  debug += ".file 1 \"x.cu\"\n.section .debug_abbrev\n{\n.b8 0\n}\n";
  equal(square_and_add(kSquarePtx, x, y), 0x1p-24f);
  equal(square_and_add(debug, x, y), 0.f);
}

void bad_modules() {
  CUmodule module = nullptr;
  equal(CALL(ModuleLoad)(&module, "no such file.ptx"),
        CUDA_ERROR_FILE_NOT_FOUND);
  equal(CALL(ModuleLoadData)(&module, "this is no ptx"),
        CUDA_ERROR_INVALID_IMAGE);
  const auto text = [](const std::string& body, const char* target = "sm_70") {
    return ".version 8.0\n.target " + std::string(target) +
           "\n.address_size 64\n.visible .entry x(){ " + body;
  };
  const std::pair<std::string, CUresult> texts[] = {
      {text("ret; }"), CUDA_SUCCESS},
      {text("ret; }", "sm_90a"), CUDA_SUCCESS},
      {text("ret; }", "sm_100"), CUDA_ERROR_INVALID_PTX},
      {text("ret; "), CUDA_ERROR_INVALID_PTX},
      {text("bra NOWHERE; ret; }"), CUDA_ERROR_INVALID_PTX},
      {text("mov.u32 %r1, 5; ret; }"), CUDA_ERROR_INVALID_PTX},
      {text(".reg .b32 %r<2>; bogus.u32 %r1; ret; }"), CUDA_ERROR_INVALID_PTX},
      {text(".reg .b32 %r<2>; add.q32 %r1,%r1,1; ret; }"),
       CUDA_ERROR_INVALID_PTX},
      {text(".reg .b64 %r<2>; mov.u64 %r1, nowhere; ret; }"),
       CUDA_ERROR_INVALID_PTX},
      {text("ret; }\n.const .b8 full[65536];"), CUDA_SUCCESS},
      {text("ret; }\n.const .b8 more[65537];"), CUDA_ERROR_INVALID_PTX},
      {".version 99.0\n.target sm_90\n.visible .entry x(){ ret; }",
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION}};
  for (const auto& [ptx, code] : texts) {
    char log[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    equal(CALL(ModuleLoadDataEx)(&module, ptx.c_str(), 2, options, values),
          code);
    const auto used = reinterpret_cast<size_t>(values[1]);
    equal(used > 0, code != CUDA_SUCCESS);
    equal(strlen(log) > 0, code != CUDA_SUCCESS);
    if (code == CUDA_SUCCESS) ok(CALL(ModuleUnload)(module));
  }
}

void module_file() {
  const Arrays arrays;
  const char* const name = std::tmpnam(nullptr);
  std::ofstream(name) << kPtx;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  ok(CALL(ModuleLoad)(&module, name));
  std::remove(name);
  ok(CALL(ModuleGetFunction)(&scale, module, "scale"));

  // All arguments in one piece, as they lie.
  struct {
    CUdeviceptr to;
    int a;
    CUdeviceptr from;
    int n;
  } packed = {arrays.y, 4, arrays.x, kN};
  size_t bytes = offsetof(decltype(packed), n) + sizeof packed.n;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  ok(CALL(LaunchKernel)(scale, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  expect::each(arrays.result(), [](int i) { return 10 * (4 * i + 5); });
  size_t more = sizeof packed;
  void* too_many[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                      CU_LAUNCH_PARAM_BUFFER_SIZE, &more, CU_LAUNCH_PARAM_END};
  equal(CALL(LaunchKernel)(scale, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr,
                           too_many),
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);

  CUlaunchConfig config = {};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  packed.a = 6;
  ok(CALL(LaunchKernelEx)(&config, scale, nullptr, extra));
  expect::each(arrays.result(), [](int i) { return 10 * (6 * i + 5); });
  ok(CALL(ModuleUnload)(module));
}

void functions() {
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  ok(CALL(ModuleLoadData)(&module, kPtx.c_str()));
  ok(CALL(ModuleGetFunction)(&scale, module, "scale"));
  int value = -1, blocks = 0, grid = 0, block = 0;
  ok(CALL(FuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                            scale));
  equal(value, 1024);
  ok(CALL(FuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                            scale));
  equal(value, 0);
  ok(CALL(FuncSetAttribute)(
      scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  ok(CALL(FuncGetAttribute)(
      &value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, scale));
  equal(value, 60000);
  for (int which = CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
       which <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
       ++which) {
    ok(CALL(FuncGetAttribute)(&value, CUfunction_attribute(which), scale));
    equal(value, 0);
  }
  equal(CALL(FuncGetAttribute)(&value, CUfunction_attribute(16), scale),
        CUDA_ERROR_INVALID_VALUE);
  equal(CALL(FuncSetAttribute)(scale, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
        CUDA_ERROR_INVALID_VALUE);
  equal(CALL(ModuleGetGlobal)(nullptr, nullptr, module, "shift"),
        CUDA_ERROR_INVALID_VALUE);
  ok(CALL(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, scale, 1024, 0));
  is_true(blocks >= 1, "a block fits");
  ok(CALL(OccupancyMaxPotentialBlockSize)(&grid, &block, scale, nullptr, 0, 0));
  is_true(grid > 0 && block >= 32 && block % 32 == 0, "whole warps");
  ok(CALL(ModuleUnload)(module));
}

void memory() {
  std::vector<short> shorts(64, 0);
  CUdeviceptr a = 0, b = 0;
  size_t pitch = 0, bytes = 0, total = 0;
  ok(CALL(MemAlloc)(&a, 128));
  ok(CALL(MemAllocPitch)(&b, &pitch, 100, 4, 4));
  is_true(pitch >= 100 && pitch % 16 == 0, "rows begin at whole vectors");
  ok(CALL(MemsetD16)(a, 0x1234, 32));
  ok(CALL(MemsetD8)(a + 64, 0x56, 64));
  ok(CALL(MemcpyDtoH)(shorts.data(), a, 128));
  expect::each(shorts, [](int i) { return i < 32 ? 0x1234 : 0x5656; });
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.srcPitch = 32;
  copy.dstDevice = b;
  copy.dstPitch = pitch;
  copy.dstXInBytes = 8;
  copy.WidthInBytes = 32;
  copy.Height = 4;
  ok(CALL(Memcpy2D)(&copy));
  std::vector<short> row(16);
  ok(CALL(MemcpyDtoH)(row.data(), b + pitch + 8, 32));
  expect::each(row, [](int) { return 0x1234; });
  ok(CALL(MemcpyDtoH)(row.data(), b + 3 * pitch + 8, 32));
  expect::each(row, [](int) { return 0x5656; });
  copy.WidthInBytes = 40;  // of rows of 32
  equal(CALL(Memcpy2D)(&copy), CUDA_ERROR_INVALID_VALUE);
  unsigned type = 0;
  ok(CALL(PointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
  equal(type, unsigned(CU_MEMORYTYPE_DEVICE));
  equal(CALL(PointerGetAttribute)(&type, CUpointer_attribute(99), a),
        CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr begin = 0;
  ok(CALL(MemGetAddressRange)(&begin, &bytes, a + 100));
  equal(begin, a);
  is_true(bytes >= 128, "it is the whole allocation");
  ok(CALL(MemGetInfo)(&bytes, &total));
  is_true(bytes > 0 && bytes <= total, "there is room");
  ok(CALL(MemFree)(a));
  ok(CALL(MemFree)(b));
  equal(CALL(MemAlloc)(&a, 0), CUDA_ERROR_INVALID_VALUE);
  equal(CALL(MemcpyDtoD)(0, 0, 16), CUDA_ERROR_INVALID_VALUE);
}

// What an H100 makes of arguments at the edge.
void edges() {
  CUdeviceptr address = 8;
  equal(CALL(MemAlloc)(&address, 0), CUDA_ERROR_INVALID_VALUE);
  equal(address, CUdeviceptr{0});
  void* pinned = &address;
  ok(CALL(MemHostAlloc)(&pinned, 0, 0));
  is_true(pinned == nullptr, "no bytes, no address");
  ok(CALL(MemAlloc)(&address, 128));
  ok(CALL(MemsetD32)(address + 1, 7, 0));
  equal(CALL(MemsetD32)(address + 1, 7, 1), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY2D nothing = {};  // Nobody looks where that should be.
  ok(CALL(Memcpy2D)(&nothing));
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = address;
  copy.WidthInBytes = 8;
  copy.Height = 1;
  equal(CALL(Memcpy2D)(&copy), CUDA_ERROR_INVALID_VALUE);
  uint64_t handles = 7;
  ok(CALL(PointerGetAttribute)(
      &handles, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address));
  equal(handles, uint64_t{0});
  size_t bytes = 7;
  equal(CALL(MemGetAddressRange)(nullptr, &bytes,
                                 reinterpret_cast<CUdeviceptr>(&bytes)),
        CUDA_ERROR_NOT_FOUND);
  equal(bytes, size_t{0});
  ok(CALL(MemFree)(address));
  equal(CALL(CtxPushCurrent)(nullptr), CUDA_ERROR_INVALID_VALUE);
  char name[8];
  equal(CALL(DeviceGetName)(name, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  CUmodule module;
  equal(CALL(ModuleLoadData)(
            &module, ".version 99.0\n.target sm_80\n.address_size 64\n"),
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CUarray array;
  const CUDA_ARRAY_DESCRIPTOR of_no_format = {8, 4, CUarray_format(5), 1};
  equal(CALL(ArrayCreate)(&array, &of_no_format), CUDA_ERROR_INVALID_VALUE);
}

void streams() {
  const Arrays arrays;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUstream stream = nullptr, other = nullptr;
  CUevent before = nullptr, after = nullptr;
  ok(CALL(ModuleLoadData)(&module, kPtx.c_str()));
  ok(CALL(ModuleGetFunction)(&scale, module, "scale"));
  ok(CALL(StreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  ok(CALL(StreamCreate)(&other, CU_STREAM_NON_BLOCKING));
  ok(CALL(EventCreate)(&before, CU_EVENT_DEFAULT));
  ok(CALL(EventCreate)(&after, CU_EVENT_DEFAULT));
  ok(CALL(CtxSynchronize)());
  ok(CALL(EventRecord)(before, stream));
  ok(CALL(MemsetD32Async)(arrays.x, 2, kN, stream));
  launch(scale, arrays, stream);
  ok(CALL(EventRecord)(after, stream));
  ok(CALL(StreamWaitEvent)(other, after, 0));
  std::vector<int> got(kN);
  ok(CALL(MemcpyDtoHAsync)(got.data(), arrays.y, kN * sizeof(int), other));
  ok(CALL(StreamSynchronize)(other));
  ok(CALL(EventSynchronize)(after));
  ok(CALL(StreamQuery)(stream));
  float milliseconds = -1;
  ok(CALL(EventElapsedTime)(&milliseconds, before, after));
  is_true(milliseconds >= 0, "time goes on");
  expect::each(got, [](int) { return 10 * (3 * 2 + 5); });
  ok(CALL(EventDestroy)(before));
  ok(CALL(EventDestroy)(after));
  ok(CALL(StreamDestroy)(stream));
  ok(CALL(StreamDestroy)(other));
  ok(CALL(ModuleUnload)(module));
}

// ---- Together with the runtime ----------------------------------------------

__global__ void add_kernel(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

void both() {
  CUcontext primary = nullptr, now = nullptr;
  ok(CALL(CtxSetCurrent)(nullptr));
  int* x = nullptr;
  expect::ok(
      cudaMalloc(&x, kN * sizeof(int)));  // makes the primary one current
  ok(CALL(DevicePrimaryCtxRetain)(&primary, 0));
  ok(CALL(CtxGetCurrent)(&now));
  is_true(now == primary, "the runtime uses the primary context");
  const auto address = reinterpret_cast<CUdeviceptr>(x);
  ok(CALL(MemsetD32)(address, 41, kN));
  add_kernel<<<4, 256>>>(x, kN);
  expect::ok(cudaGetLastError());
  std::vector<int> got(kN);
  ok(CALL(MemcpyDtoH)(got.data(), address, kN * sizeof(int)));
  expect::each(got, [](int) { return 42; });

  // A kernel of the program's own, launched by the driver.
  cudaFunction_t function = nullptr;
  expect::ok(cudaGetFuncBySymbol(&function,
                                 reinterpret_cast<const void*>(add_kernel)));
  int n = kN;
  void* arguments[] = {&x, &n};
  ok(CALL(LaunchKernel)(function, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments,
                        nullptr));
  expect::ok(cudaMemcpy(got.data(), x, kN * sizeof(int), cudaMemcpyDefault));
  expect::each(got, [](int) { return 43; });

  // A call of the driver's that fails is none of the runtime's errors.
  CUdeviceptr none = 0;
  equal(CALL(MemAlloc)(&none, 0), CUDA_ERROR_INVALID_VALUE);
  equal(cudaGetLastError(), cudaSuccess);
  expect::ok(cudaFree(x));
  ok(CALL(DevicePrimaryCtxRelease)(0));
}

// Each thread has its own current context.
void threads() {
  CUcontext primary = nullptr;
  ok(CALL(DevicePrimaryCtxRetain)(&primary, 0));
  CUresult without = CUDA_SUCCESS, with = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    CUdeviceptr x = 0;
    without = CALL(MemAlloc)(&x, 4);
    CALL(CtxSetCurrent)(primary);
    with = CALL(MemAlloc)(&x, 4);
    CALL(MemFree)(x);
  }).join();
  equal(without, CUDA_ERROR_INVALID_CONTEXT);
  equal(with, CUDA_SUCCESS);
  ok(CALL(DevicePrimaryCtxRelease)(0));
}

}  // namespace

int main() {
  ok(CALL(Init)(0));
  devices();
  names_of_errors();
  memory_of_contexts();  // The first that allocates: addresses come again.
  contexts();
  CUcontext context = nullptr;
  ok(CALL(CtxCreate)(&context, nullptr, 0, 0));
  modules();
  register_parameters();
  own_block();
  for_a_debugger();
  bad_modules();
  module_file();
  functions();
  memory();
  edges();
  streams();
  ok(CALL(CtxDestroy)(context));
  both();
  threads();
  return expect::report();
}
