// Times a contract's function on a GPU; docs/measuring.md tells what is
// measured, and why.
#include "common/harness/bench.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string_view>

#include "common/harness/bench_clocks.h"

namespace {

constexpr int kWarmUp = 5;
constexpr int kSamples = 50;
constexpr int kGraphLaunches = 64;
constexpr auto kGateLimit = std::chrono::milliseconds(100);

struct Options {
  std::string record;      // The file to write, or empty.
  size_t free_memory = 0;  // What to take for the GPU's free memory; 0: ask.
};

Options options;

int attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

int64_t l2_bytes() {
  static const int64_t bytes = attribute(cudaDevAttrL2CacheSize);
  return bytes;
}

// Two transfers a clock; the attributes are in kHz and bits.
double datasheet_gbps() {
  return 2e-6 * attribute(cudaDevAttrMemoryClockRate) *
         attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
}

// All that one benchmark may allocate.
int64_t memory_limit() {
  static const int64_t limit = [] {
    size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    if (options.free_memory != 0) free = options.free_memory;
    return static_cast<int64_t>(free / 4);
  }();
  return limit;
}

// So many copies of the arrays that a copy has left the cache when its turn
// comes again: four times the L2 in all, as far as the memory goes.
int64_t cold_slots(int64_t bytes) {
  if (bytes == 0) return 1;
  const int64_t wanted = (4 * l2_bytes() + bytes - 1) / bytes;
  return std::max<int64_t>(1, std::min(wanted, memory_limit() / bytes));
}

// Holds a stream back until all its work has been queued, so that the GPU
// never waits for the CPU between two events. It opens by itself after a
// while, because a profiler may insist on finishing each launch first.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    CUDA_CHECK(cudaLaunchHostFunc(stream, wait, this));
  }
  void open() { opened_.set_value(); }

 private:
  static void wait(void* gate) {
    static_cast<Gate*>(gate)->open_.wait_for(kGateLimit);
  }
  std::promise<void> opened_;
  std::future<void> open_ = opened_.get_future();
};

// Times calls on a stream of its own, a pair of events around each.
class Timer {
 public:
  Timer() {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (auto* events : {&start_, &stop_}) {
      events->resize(kSamples);
      for (cudaEvent_t& event : *events) CUDA_CHECK(cudaEventCreate(&event));
    }
  }

  cudaStream_t stream() const { return stream_; }
  void finish() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }

  // Seconds that each of kSamples calls of `call(i)` took on the GPU.
  template <class Call>
  std::vector<double> seconds(Call call) {
    Gate gate(stream_);
    for (int i = 0; i < kSamples; ++i) {
      CUDA_CHECK(cudaEventRecord(start_[i], stream_));
      call(i);
      CUDA_CHECK(cudaEventRecord(stop_[i], stream_));
    }
    gate.open();
    clocks_ = reader_.read();  // While the GPU is at work.
    finish();

    std::vector<double> seconds(kSamples);
    for (int i = 0; i < kSamples; ++i) {
      float ms = 0.f;
      CUDA_CHECK(cudaEventElapsedTime(&ms, start_[i], stop_[i]));
      seconds[i] = ms * 1e-3;
    }
    return seconds;
  }

  // The clocks during the last call of seconds().
  const Clocks& clocks() const { return clocks_; }
  const ClockReader& reader() const { return reader_; }

 private:
  cudaStream_t stream_ = nullptr;
  std::vector<cudaEvent_t> start_, stop_;
  ClockReader reader_;
  Clocks clocks_;
};

Timer& timer() {
  static Timer only;
  return only;
}

void warm_up(Work& work, int64_t slots) {
  for (int i = 0; i < kWarmUp; ++i) work.call(i % slots, timer().stream());
  timer().finish();
}

void poison(Work& work) {
  work.poison();
  CUDA_CHECK(cudaDeviceSynchronize());
}

// Each call on arrays that have left the cache. The rotation goes on where
// the warm-up stopped.
std::vector<double> cold_seconds(Work& work, int64_t slots) {
  warm_up(work, slots);
  poison(work);
  std::set<int64_t> used;
  const auto seconds = timer().seconds([&](int i) {
    const int64_t slot = (kWarmUp + i) % slots;
    work.call(slot, timer().stream());
    used.insert(slot);
  });
  for (const int64_t slot : used) work.check(slot);
  return seconds;
}

// Each call on the arrays of the call before it.
std::vector<double> warm_seconds(Work& work) {
  poison(work);
  warm_up(work, 1);
  const auto seconds =
      timer().seconds([&](int) { work.call(0, timer().stream()); });
  work.check(0);
  return seconds;
}

// As warm, but launched by the GPU itself: one graph of many calls.
std::vector<double> graph_seconds(Work& work) {
  const cudaStream_t stream = timer().stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kGraphLaunches; ++i) work.call(0, stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));

  poison(work);
  CUDA_CHECK(cudaGraphLaunch(replay, stream));
  timer().finish();
  auto seconds = timer().seconds(
      [&](int) { CUDA_CHECK(cudaGraphLaunch(replay, stream)); });
  for (double& s : seconds) s /= kGraphLaunches;
  work.check(0);
  CUDA_CHECK(cudaGraphExecDestroy(replay));
  CUDA_CHECK(cudaGraphDestroy(graph));
  return seconds;
}

// The q-th quantile by nearest rank, in microseconds.
double quantile_us(std::vector<double> seconds, double q) {
  std::sort(seconds.begin(), seconds.end());
  const double rank = q * static_cast<double>(seconds.size() - 1);
  return 1e6 * seconds[static_cast<size_t>(rank + 0.5)];
}

void set_quantiles(benchmark::State& state, const std::string& prefix,
                   const std::vector<double>& seconds) {
  state.counters[prefix + "p10_us"] = quantile_us(seconds, 0.1);
  state.counters[prefix + "p50_us"] = quantile_us(seconds, 0.5);
  state.counters[prefix + "p90_us"] = quantile_us(seconds, 0.9);
}

// Cold calls are the benchmark's own time. Warm ones are timed where they can
// differ, graphs where the launch is a good part of the time.
void run_benchmark(benchmark::State& state, int64_t bytes,
                   const WorkMaker& make) {
  const int64_t slots = cold_slots(bytes);
  const std::unique_ptr<Work> work = make(slots);

  const std::vector<double> cold = cold_seconds(*work, slots);
  const Clocks clocks = timer().clocks();
  size_t i = 0;
  for (auto _ : state) state.SetIterationTime(cold[i++]);
  state.SetBytesProcessed(state.iterations() * bytes);

  state.counters["n"] = static_cast<double>(state.range(0));
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["slots"] = static_cast<double>(slots);
  set_quantiles(state, "", cold);
  if (slots > 1) set_quantiles(state, "warm_", warm_seconds(*work));
  if (bytes <= l2_bytes()) set_quantiles(state, "graph_", graph_seconds(*work));
  if (work->worst_error() >= 0) {
    state.counters["worst_error"] = work->worst_error();
  }
  if (clocks.known) {
    state.counters["sm_mhz"] = clocks.sm_mhz;
    state.counters["memory_mhz"] = clocks.memory_mhz;
    state.counters["throttled"] = clocks.throttled();
  }
}

class EmptyKernel : public Work {
 public:
  void call(int64_t, cudaStream_t stream) override {
    launch_empty_kernel(stream);
  }
};

class Copy : public Work {
 public:
  Copy(int64_t bytes, int64_t slots)
      : n_(bytes / (2 * sizeof(float))), x_(n_, slots), y_(n_, slots) {
    x_.fill(random_floats());
  }
  void call(int64_t slot, cudaStream_t stream) override {
    CUDA_CHECK(cudaMemcpyAsync(y_[slot], x_[slot], n_ * sizeof(float),
                               cudaMemcpyDeviceToDevice, stream));
  }
  void poison() override { y_.poison(); }
  void check(int64_t slot) override { y_.check(slot, random_floats()); }

 private:
  int64_t n_;
  Slots<float> x_, y_;
};

class Read : public Work {
 public:
  Read(int64_t bytes, int64_t slots)
      : n_(bytes / sizeof(float)), x_(n_, slots), never_(1, 1) {
    x_.fill(random_floats());
  }
  void call(int64_t slot, cudaStream_t stream) override {
    launch_read_kernel(x_[slot], n_, never_[0], stream);
  }

 private:
  int64_t n_;
  Slots<float> x_, never_;
};

double counter(const benchmark::BenchmarkReporter::Run& run, const char* name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? 0.0 : found->second.value;
}

double gbps(const benchmark::BenchmarkReporter::Run& run) {
  const double us = counter(run, "p50_us");
  return us > 0 ? counter(run, "bytes") / us * 1e-3 : 0;
}

std::string grouped(int64_t n) {  // 1073741824 -> 1,073,741,824
  std::string digits = std::to_string(n);
  for (auto i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<size_t>(i), 1, ',');
  }
  return digits;
}

// Prints a line for each benchmark as it finishes, and keeps them all.
class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      runs_.push_back(run);
      const std::string& series = run.run_name.function_name;
      if (series == kFloor) {
        print_floor(run);
      } else if (series == kCopy) {
        copies_[counter(run, "bytes")] = run;
      } else if (series == kRead) {
        reads_[counter(run, "bytes")] = run;
      } else {
        if (series != series_) print_header(series);
        print_row(run);
      }
    }
  }

  void print_footer() const {
    std::printf("\n");
    print_roof("a copy", copies_);
    print_roof("a read", reads_);
    std::printf("us: median of %d calls, L2 cold (%s bytes);", kSamples,
                grouped(l2_bytes()).c_str());
    std::printf(" warm: with the arrays in it,\n");
    std::printf(
        "as far as they fit; graph: warm, launched from a CUDA graph.\n");
    std::printf("copy: a plain device-to-device copy of as many bytes.\n");
    if (!reads_.empty()) {
      std::printf("read: as many bytes read, and nothing written.\n");
    }
    if (throttled_) std::printf("*: the GPU throttled meanwhile.\n");
  }

  const std::vector<Run>& runs() const { return runs_; }

  static constexpr const char* kFloor = "empty kernel";
  static constexpr const char* kCopy = "copy";
  static constexpr const char* kRead = "read";

 private:
  using Roofs = std::map<double, Run>;  // By bytes.

  static void print_roof(const char* name, const Roofs& roofs) {
    if (roofs.empty()) return;
    const double roof = gbps(roofs.rbegin()->second);
    const double datasheet = datasheet_gbps();
    if (roof == 0 || datasheet == 0) return;
    std::printf("Roof: %s of the largest size reached %.0f GB/s, ", name, roof);
    std::printf("%.0f %% of the datasheet's %.0f.\n", 100 * roof / datasheet,
                datasheet);
  }

  static void print_floor(const Run& run) {
    std::printf("Launch floor: an empty kernel takes %.2f us,",
                counter(run, "p50_us"));
    std::printf(" %.2f us in a CUDA graph.\n", counter(run, "graph_p50_us"));
  }

  void print_header(const std::string& series) {
    series_ = series;
    std::printf("\n%s\n%13s %10s %8s %9s", series.c_str(), "n", "us", "GB/s",
                "% of copy");
    if (!reads_.empty()) std::printf(" %9s", "% of read");
    std::printf(" %9s %9s\n", "warm us", "graph us");
  }

  void print_row(const Run& run) {
    std::printf("%13s %10.2f %8.1f %9s",
                grouped(static_cast<int64_t>(counter(run, "n"))).c_str(),
                counter(run, "p50_us"), gbps(run),
                percent_of(copies_, run).c_str());
    if (!reads_.empty()) std::printf(" %9s", percent_of(reads_, run).c_str());
    std::printf(" %9s %9s%s\n", microseconds(run, "warm_p50_us").c_str(),
                microseconds(run, "graph_p50_us").c_str(), star(run));
    std::fflush(stdout);
  }

  static std::string percent_of(const Roofs& roofs, const Run& run) {
    const auto roof = roofs.find(counter(run, "bytes"));
    if (roof == roofs.end()) return "-";
    return formatted(
        "%.1f", 100 * counter(roof->second, "p50_us") / counter(run, "p50_us"));
  }

  const char* star(const Run& run) {
    if (counter(run, "throttled") == 0) return "";
    throttled_ = true;
    return " *";
  }

  static std::string microseconds(const Run& run, const char* name) {
    const double us = counter(run, name);
    return us == 0 ? "-" : formatted("%.2f", us);
  }

  static std::string formatted(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
  }

  std::string series_;
  Roofs copies_, reads_;
  std::vector<Run> runs_;
  bool throttled_ = false;
};

std::string version(int number) {  // 13000 -> 13.0
  return std::to_string(number / 1000) + "." +
         std::to_string(number % 1000 / 10);
}

void describe_machine() {
  cudaDeviceProp gpu;
  int device = 0, runtime = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&gpu, device));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));

  const auto add = benchmark::AddCustomContext;
  add("gpu", gpu.name);
  add("compute_capability",
      std::to_string(gpu.major) + "." + std::to_string(gpu.minor));
  add("sms", std::to_string(gpu.multiProcessorCount));
  add("l2_bytes", std::to_string(l2_bytes()));
  add("memory_limit_bytes", std::to_string(memory_limit()));
  add("datasheet_gbps", std::to_string(std::lround(datasheet_gbps())));
  add("driver", timer().reader().driver());
  add("cuda", version(runtime));
  add("clocks_before", timer().reader().read().text());
}

// Google Benchmark's JSON, without the machine's name, which is nobody's
// business.
void write_record(const Table& table, std::ostream& file) {
  std::ostringstream text;
  benchmark::JSONReporter json;
  json.SetOutputStream(&text);
  json.SetErrorStream(&std::cerr);
  json.ReportContext(benchmark::BenchmarkReporter::Context());
  json.ReportRuns(table.runs());
  json.Finalize();

  std::istringstream lines(text.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"host_name\":") == std::string::npos) file << line << "\n";
  }
}

bool take_option(std::string_view argument) {
  const auto value_of = [&](std::string_view name) {
    return argument.starts_with(name) ? argument.substr(name.size())
                                      : std::string_view();
  };
  const std::string record(value_of("--record="));
  const std::string memory(value_of("--free-memory="));
  if (!record.empty()) options.record = record;
  if (!memory.empty()) {
    char* end = nullptr;
    const double bytes = std::strtod(memory.c_str(), &end);
    if (*end != '\0' || bytes < 1e6) return false;
    options.free_memory = static_cast<size_t>(bytes);
  }
  return !record.empty() || !memory.empty();
}

bool take_options(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool for_checks = argument.starts_with("--dt-") ||
                            argument == "--no-skip" || argument == "-ns";
    if (for_checks) continue;
    if (take_option(argument)) continue;
    std::fprintf(stderr,
                 "./run does not understand %s. It takes what ./run --help "
                 "lists.\n",
                 argv[i]);
    return false;
  }
  return true;
}

}  // namespace

const std::vector<float>& random_floats() {
  static const std::vector<float> values = [] {
    std::vector<float> drawn(4'194'301);
    std::mt19937 random(2026);
    for (float& v : drawn) v = static_cast<float>(random()) * 0x1p-31f - 1.f;
    return drawn;
  }();
  return values;
}

std::vector<int64_t> bench_sizes(int64_t bytes_per_element) {
  // The sources' own: 3 x 224 x 224 and 16 x 32 x 112 x 112.
  std::vector<int64_t> sizes = {150'528, 6'422'528};
  const int step = options.record.empty() ? 2 : 1;
  for (int power = 10; power <= 30; power += step) {
    sizes.push_back(int64_t{1} << power);
  }
  std::sort(sizes.begin(), sizes.end());
  std::erase_if(
      sizes, [&](int64_t n) { return n > memory_limit() / bytes_per_element; });
  if (sizes.empty()) {
    std::fprintf(stderr,
                 "A quarter of the GPU's free memory is %s bytes: "
                 "too little to measure. End other programs on it.\n",
                 grouped(memory_limit()).c_str());
    std::exit(EXIT_FAILURE);
  }
  return sizes;
}

void add_benchmark(const std::string& series, int64_t n, int64_t bytes,
                   WorkMaker make) {
  const auto run = [bytes, make](benchmark::State& state) {
    run_benchmark(state, bytes, make);
  };
  benchmark::RegisterBenchmark(series.c_str(), run)
      ->ArgName("n")
      ->Arg(n)
      ->Iterations(kSamples)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_copy(int64_t n, int64_t bytes, const std::string& series) {
  add_benchmark(series, n, bytes, [bytes](int64_t slots) {
    return std::make_unique<Copy>(bytes, slots);
  });
}

void add_read(int64_t n, int64_t bytes) {
  add_benchmark(Table::kRead, n, bytes, [bytes](int64_t slots) {
    return std::make_unique<Read>(bytes, slots);
  });
}

extern const char* const kOptions =
    "  --record=FILE         measure more sizes, write FILE\n"
    "  --free-memory=BYTES   as if the GPU had so much (1e9)\n"
    "  --benchmark_...       Google Benchmark's options\n";

int measure(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!take_options(argc, argv)) return EXIT_FAILURE;
  std::ofstream file;
  if (!options.record.empty()) {
    file.open(options.record);
    if (!file) {
      std::fprintf(stderr, "Cannot write %s: does its folder exist?\n",
                   options.record.c_str());
      return EXIT_FAILURE;
    }
  }

  describe_machine();
  add_benchmark(Table::kFloor, 0, 0,
                [](int64_t) { return std::make_unique<EmptyKernel>(); });
  add_benchmarks();

  Table table;
  if (benchmark::RunSpecifiedBenchmarks(&table) == 0) return EXIT_FAILURE;
  table.print_footer();
  benchmark::AddCustomContext("clocks_after", timer().reader().read().text());
  if (!options.record.empty()) {
    write_record(table, file);
    file.close();
    if (!file) {
      std::fprintf(stderr, "Could not write all of %s.\n",
                   options.record.c_str());
      return EXIT_FAILURE;
    }
  }
  benchmark::Shutdown();
  return EXIT_SUCCESS;
}
