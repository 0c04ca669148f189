// Launches the kernels that races.py makes: for each a line of FOLDER/launches,
//
//   NAME BLOCKS THREADS BYTES
//
// the kernel in FOLDER/kernels.ptx, and in FOLDER/tables so many bytes that say
// which lane goes where. Each launch has memory of its own. What its threads
// note about when they came goes to FOLDER/notes.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr size_t kBytes = 4096;  // That they fight for; races.py says the same.
constexpr size_t kNotes = 32;    // By each thread, behind its result.

// What is there at first: no two words are alike.
const std::vector<char> kNumbers = [] {
  std::vector<char> numbers(1024);
  for (size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = static_cast<char>(k % 4 ? k / 4 * k : k / 4);
  return numbers;
}();

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  std::exit(1);
}

char* device_bytes(size_t count) {
  char* bytes = nullptr;
  check(cudaMalloc(&bytes, count), "cudaMalloc");
  check(cudaMemset(bytes, 0, count), "cudaMemset");
  return bytes;
}

void launch(cudaKernel_t kernel, int blocks, int threads, const char* table,
            size_t table_bytes, std::ofstream& noted) {
  char* const there = device_bytes(table_bytes);
  check(cudaMemcpy(there, table, table_bytes, cudaMemcpyDefault), "cudaMemcpy");
  char* const disputed = device_bytes(kBytes);
  check(
      cudaMemcpy(disputed, kNumbers.data(), kNumbers.size(), cudaMemcpyDefault),
      "cudaMemcpy");
  const size_t all = static_cast<size_t>(blocks) * threads;
  std::vector<char> notes(4 * kNotes * all);
  char* const results = device_bytes(8 * all + notes.size());
  void* arguments[] = {const_cast<char**>(&disputed),
                       const_cast<char**>(&there),
                       const_cast<char**>(&results)};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), blocks, threads,
                         arguments, 0, nullptr),
        "launch");
  check(cudaDeviceSynchronize(), "kernel");
  check(cudaMemcpy(notes.data(), results + 8 * all, notes.size(),
                   cudaMemcpyDefault),
        "cudaMemcpy");
  noted.write(notes.data(), notes.size());
  for (char* memory : {disputed, there, results}) cudaFree(memory);
}

}  // namespace

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  std::vector<char> text = bytes_of(folder + "/kernels.ptx");
  text.push_back(0);
  cudaLibrary_t library;
  check(cudaLibraryLoadData(&library, text.data(), nullptr, nullptr, 0, nullptr,
                            nullptr, 0),
        "kernels.ptx");
  const std::vector<char> tables = bytes_of(folder + "/tables");
  const char* table = tables.data();
  std::ifstream launches(folder + "/launches");
  std::ofstream noted(folder + "/notes", std::ios::binary);
  std::string name;
  int blocks, threads;
  for (size_t bytes; launches >> name >> blocks >> threads >> bytes;
       table += bytes) {
    cudaKernel_t kernel;
    check(cudaLibraryGetKernel(&kernel, library, name.c_str()), name.c_str());
    launch(kernel, blocks, threads, table, bytes, noted);
  }
}
