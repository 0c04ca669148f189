// Device code that a program loads while it runs: libraries, of the runtime and
// of the driver, and several texts of PTX that are linked.
#include <string>

#include "tests/simt/driver_calls.h"

namespace {

using driver_calls::ok;
using expect::each;
using expect::equal;
using expect::is_true;
using expect::ok;

const std::string kHead = R"(
.version 7.0
.target sm_70
.address_size 64
)";

// y[i] = shift + i
const std::string kAlone = kHead + R"(
.visible .global .align 4 .u32 shift = 5;
.visible .entry shifted(.param .u64 to)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %tid.x;
  ld.global.u32 %r2, [shift];
  add.u32 %r2, %r2, %r1;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r2;
  ret;
}
)";

// y[i] = twice(i) + far, which another text has.
const std::string kCaller = kHead + R"(
.extern .global .align 4 .u32 far;
.extern .func (.param .u32 result) twice(.param .u32 value);
.visible .entry called(.param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %tid.x;
  {
    .param .u32 value;
    .param .u32 result;
    st.param.u32 [value], %r1;
    call (result), twice, (value);
    ld.param.u32 %r2, [result];
  }
  ld.global.u32 %r3, [far];
  add.u32 %r2, %r2, %r3;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r2;
  ret;
}
)";
const std::string kCalled = kHead + R"(
.visible .global .align 4 .u32 far = 1000;
.visible .func (.param .u32 result) twice(.param .u32 value)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [value];
  add.u32 %r2, %r1, %r1;
  st.param.u32 [result], %r2;
  ret;
}
)";

constexpr int kN = 32;

int* ints() {
  int* all = nullptr;
  ok(cudaMalloc(&all, kN * sizeof(int)));
  return all;
}

std::vector<int> on_host(const int* from) {
  std::vector<int> all(kN);
  ok(cudaMemcpy(all.data(), from, kN * sizeof(int), cudaMemcpyDefault));
  return all;
}

void of_the_runtime() {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr, listed = nullptr;
  unsigned count = 0;
  ok(cudaLibraryLoadData(&library, kAlone.c_str(), nullptr, nullptr, 0, nullptr,
                         nullptr, 0));
  ok(cudaLibraryGetKernel(&kernel, library, "shifted"));
  ok(cudaLibraryGetKernelCount(&count, library));
  equal(count, 1u);
  ok(cudaLibraryEnumerateKernels(&listed, 1, library));
  equal(listed, kernel);
  int* y = ints();
  void* arguments[] = {&y};
  ok(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, kN, arguments,
                      0, nullptr));
  each(on_host(y), [](int i) { return 5 + i; });
  void* shift = nullptr;
  size_t bytes = 0;
  ok(cudaLibraryGetGlobal(&shift, &bytes, library, "shift"));
  equal(bytes, sizeof(int));
  ok(cudaMemset(shift, 0, bytes));
  ok(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, kN, arguments,
                      0, nullptr));
  each(on_host(y), [](int i) { return i; });
  equal(cudaLibraryGetKernel(&kernel, library, "no_such"),
        cudaErrorSymbolNotFound);
  ok(cudaLibraryUnload(library));
}

void of_the_driver() {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUmodule module = nullptr;
  const char* name = nullptr;
  ok(CALL(LibraryLoadData)(&library, kAlone.c_str(), nullptr, nullptr, 0,
                           nullptr, nullptr, 0));
  ok(CALL(LibraryGetKernel)(&kernel, library, "shifted"));
  ok(CALL(KernelGetFunction)(&function, kernel));
  ok(CALL(FuncGetName)(&name, function));
  equal(std::string(name), "shifted");
  int* y = ints();
  void* arguments[] = {&y};
  ok(CALL(LaunchKernel)(function, 1, 1, 1, kN, 1, 1, 0, nullptr, arguments,
                        nullptr));
  each(on_host(y), [](int i) { return 5 + i; });
  // A kernel may stand where a function is wanted.
  ok(CALL(LaunchKernel)(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, kN, 1, 1,
                        0, nullptr, arguments, nullptr));
  ok(CALL(LibraryGetModule)(&module, library));
  CUdeviceptr shift = 0;
  ok(CALL(ModuleGetGlobal)(&shift, nullptr, module, "shift"));
  int threads = 0;
  ok(CALL(KernelGetAttribute)(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                              kernel, 0));
  equal(threads, 1024);
  ok(CALL(LibraryUnload)(library));
}

void in_a_graph() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ok(CALL(ModuleLoadData)(&module, kAlone.c_str()));
  ok(CALL(ModuleGetFunction)(&function, module, "shifted"));
  int* y = ints();
  void* arguments[] = {&y};
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = function;
  node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = kN;
  node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = arguments;
  CUgraph graph = nullptr;
  CUgraphNode added = nullptr;
  CUgraphExec executable = nullptr;
  ok(CALL(GraphCreate)(&graph, 0));
  ok(CALL(GraphAddKernelNode)(&added, graph, nullptr, 0, &node));
  ok(CALL(GraphInstantiateWithFlags)(&executable, graph, 0));
  ok(CALL(GraphLaunch)(executable, nullptr));
  each(on_host(y), [](int i) { return 5 + i; });
  ok(CALL(GraphExecDestroy)(executable));
  ok(CALL(GraphDestroy)(graph));
}

void add(CUlinkState link, const std::string& ptx) {
  ok(CALL(LinkAddData)(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()),
                       ptx.size() + 1, "part", 0, nullptr, nullptr));
}

void linked() {
  CUlinkState link = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  ok(CALL(LinkCreate)(0, nullptr, nullptr, &link));
  add(link, kCaller);
  add(link, kCalled);
  ok(CALL(LinkComplete)(link, &image, &bytes));
  is_true(bytes > 0, "there is an image");
  ok(CALL(ModuleLoadData)(&module, image));
  ok(CALL(LinkDestroy)(link));
  ok(CALL(ModuleGetFunction)(&function, module, "called"));
  int* y = ints();
  void* arguments[] = {&y};
  ok(CALL(LaunchKernel)(function, 1, 1, 1, kN, 1, 1, 0, nullptr, arguments,
                        nullptr));
  each(on_host(y), [](int i) { return 1000 + 2 * i; });
}

void unlinked() {
  char errors[1000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors)};
  CUlinkState link = nullptr;
  void* image = nullptr;
  ok(CALL(LinkCreate)(2, options, values, &link));
  add(link, kCaller);
  equal(CALL(LinkComplete)(link, &image, nullptr), CUDA_ERROR_INVALID_SOURCE);
  is_true(std::string(errors).find("twice") != std::string::npos ||
              std::string(errors).find("far") != std::string::npos,
          "the log says what is missing");
  ok(CALL(LinkDestroy)(link));
}

}  // namespace

int main() {
  driver_calls::begin();
  of_the_runtime();
  of_the_driver();
  in_a_graph();
  linked();
  unlinked();
  return expect::report();
}
