// The table of counters: its rows, what it says of them, and its files.
#include "common/harness/show.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using show::Metrics;
using show::Row;

constexpr const char* kRequests =
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kSectors =
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kUsed =
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct";
constexpr const char* kCompulsory = "simt__compulsory_bytes.sum";

Row row(const Metrics& metrics, const std::string& name) {
  for (const Row& one : show::rows_of(metrics))
    if (one.name == name) return one;
  FAIL("there is no row ", name);
  return {};
}

// Each of `requests` warps loads floats and touches so many sectors for them.
Metrics loads(double requests, double sectors, double lanes = 32) {
  return {{kRequests, requests},
          {kSectors, requests * sectors},
          {kUsed, 100 * lanes / 8 / sectors}};
}

Metrics shared_loads(double loads, double wavefronts, double conflicts) {
  return {
      {"smsp__sass_inst_executed_op_shared_ld.sum", loads},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", wavefronts},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", conflicts}};
}

bool says(const Row& one, const std::string& text) {
  return one.note.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("coalesced loads are ideal, and nothing is said of them") {
  const Row sectors = row(loads(100, 4), "sectors per load request");
  CHECK(sectors.value == 4);
  CHECK(sectors.ideal == 4);
  CHECK(sectors.note.empty());
}

TEST_CASE("a sector for each lane is eight times the bytes") {
  const Row sectors = row(loads(100, 32), "sectors per load request");
  CHECK(sectors.value == 32);
  CHECK(sectors.ideal == 4);
  CHECK(says(sectors, "a sector of its own: 8 times as many"));
  CHECK(sectors.cost == 2800);
}

TEST_CASE("one sector more is a matter of where the bytes begin") {
  const Row sectors = row(loads(100, 5), "sectors per load request");
  CHECK(says(sectors, "do not begin where a sector begins"));
}

TEST_CASE("a request touches a sector, however few bytes it is about") {
  const Metrics one_lane = loads(100, 1, 1);
  const Row sectors = row(one_lane, "sectors per load request");
  CHECK(sectors.ideal == 1);
  CHECK(sectors.note.empty());
  CHECK(sectors.cost == 0);
  const Row used = row(one_lane, "loaded bytes that are used");
  CHECK(used.value == 12.5);
  CHECK(used.ideal == 12.5);
}

TEST_CASE("where requests are counted apart, so is their ideal") {
  // Half of them load 32 floats side by side, half of them one.
  const double used = (128 + 4) / 64.;
  Metrics metrics = {
      {kRequests, 200}, {kSectors, 500}, {kUsed, 100 * used / 2.5}};
  CHECK(row(metrics, "sectors per load request").ideal ==
        doctest::Approx(used));
  metrics["simt__least_sectors_mem_global_op_ld.sum"] = 500;
  CHECK(row(metrics, "sectors per load request").ideal == 2.5);
  CHECK(row(metrics, "sectors per load request").note.empty());
  CHECK(row(metrics, "loaded bytes that are used").ideal ==
        doctest::Approx(100 * used / 2.5));
}

TEST_CASE("scattered loads are told apart from both") {
  const Row sectors = row(loads(100, 8), "sectors per load request");
  CHECK(says(sectors, "2 times as many sectors"));
}

TEST_CASE("bank conflicts are told in passes") {
  const Row lost =
      row(shared_loads(10, 320, 310), "bank conflicts of shared loads");
  CHECK(says(lost, "32 passes instead of 1"));
  const Row passes =
      row(shared_loads(10, 320, 310), "wavefronts of shared loads");
  CHECK(passes.ideal == 10);
  CHECK(row(shared_loads(10, 10, 0), "bank conflicts of shared loads")
            .note.empty());
}

TEST_CASE("what a kernel has nothing of is not relevant") {
  CHECK_FALSE(row(loads(1, 4), "shared loads").relevant);
  CHECK_FALSE(row(loads(1, 4), "store requests").relevant);
  CHECK_FALSE(row(loads(1, 4), "atomic requests").relevant);
  CHECK(row(loads(1, 4), "load requests").relevant);
}

TEST_CASE("branches and lanes") {
  const Metrics metrics = {
      {"smsp__sass_branch_targets.sum", 100},
      {"smsp__sass_branch_targets_threads_uniform.sum", 74},
      {"smsp__inst_executed.sum", 1000},
      {"smsp__thread_inst_executed_per_inst_executed.ratio", 16},
  };
  const Metrics whole = show::total(std::vector{metrics, metrics});
  const Row branches = row(whole, "branch efficiency");
  CHECK(branches.value == 74);
  CHECK(says(branches, "At 26 % of the branches"));
  const Row active = row(whole, "active threads per warp instruction");
  CHECK(active.value == 16);
  CHECK(says(active, "16 of a warp's 32"));
}

TEST_CASE("a kernel without branches is uniform, though ncu prints 0") {
  const Metrics ncu = {
      {"smsp__sass_average_branch_targets_threads_uniform.pct", 0},
      {"smsp__sass_branch_targets.sum", 0}};
  CHECK(row(ncu, "branch efficiency").value == 100);
}

TEST_CASE("a total weighs each part") {
  const Metrics both = show::total(std::vector{loads(300, 4), loads(100, 32)});
  CHECK(row(both, "load requests").value == 400);
  CHECK(row(both, "sectors per load request").value == 11);
  CHECK(row(both, "sectors per load request").ideal == doctest::Approx(4));

  const auto warps = [](double instructions, double active) {
    return Metrics{
        {"smsp__inst_executed.sum", instructions},
        {"smsp__thread_inst_executed_per_inst_executed.ratio", active}};
  };
  const Metrics halves = show::total(std::vector{warps(30, 32), warps(10, 8)});
  CHECK(row(halves, "active threads per warp instruction").value == 26);
}

TEST_CASE("bytes that are moved twice are told") {
  Metrics metrics = loads(100, 4);
  metrics[kCompulsory] = 6400;
  const Row moved = row(metrics, "bytes moved by all requests");
  CHECK(moved.value == 12800);
  CHECK(moved.ideal == 6400);
  CHECK(says(moved, "2 times"));
}

TEST_CASE("barriers are those of a block, over all launches") {
  show::CountedCase counted;
  for (const double barriers : {9., 1.}) {
    counted.launches.push_back(
        {"sum_kernel",
         4,
         256,
         {{"simt__barriers_per_block.ratio", barriers}, {kCompulsory, 32}}});
  }
  CHECK(row(show::total(counted), "barriers per block").value == 5);
}

TEST_CASE("a file gives back what was written") {
  const std::string path =
      std::filesystem::temp_directory_path() /
      ("show_test." + std::to_string(std::hash<std::string>{}(
                          std::filesystem::read_symlink("/proc/self"))));
  show::Counts counts = {"03_pack", {}};
  counts.cases.push_back({{1024, 1}, {}});
  counts.cases[0].launches.push_back(
      {"f<float, 4>", 4096, 256, loads(3, 4.25)});
  show::write_file(counts, path);
  const std::optional<show::Counts> again = show::read_file(path);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);

  CHECK(text.find("\npart\tload requests\t") < text.find("\nrow\tload"));
  CHECK(text.find("\nrow\tload requests\t") != std::string::npos);
  REQUIRE(again);
  CHECK(again->name == "03_pack");
  const show::CountedCase* counted = again->find({1024, 1});
  REQUIRE(counted);
  REQUIRE(counted->launches.size() == 1);
  CHECK(counted->launches[0].kernel == "f<float, 4>");
  CHECK(counted->launches[0].blocks == 4096);
  CHECK(counted->launches[0].metrics == counts.cases[0].launches[0].metrics);
  CHECK_FALSE(again->find({1024, 0}));
}

TEST_CASE("no file is no counts") {
  CHECK_FALSE(show::read_file("no/such/file"));
}

TEST_CASE("what deserves attention is told in lines of 80 columns") {
  const std::string text =
      show::explained(row(loads(100, 32), "sectors per load request"));
  CHECK(text ==
        "sectors per load request: 32.00, ideally 4.00\n"
        "    Each lane touches a sector of its own: 8 times as many sectors as "
        "the bytes\n    need.");
  CHECK(show::wrapped(std::string(76, 'a') + " b", 4) ==
        "    " + std::string(76, 'a') + "\n    b");
}

TEST_CASE("numbers are easy to read") {
  CHECK(show::grouped(0) == "0");
  CHECK(show::grouped(999) == "999");
  CHECK(show::grouped(1000) == "1,000");
  CHECK(show::grouped(8388608) == "8,388,608");
  CHECK(show::text(16, Row::kRatio) == "16.00");
  CHECK(show::text(12.5, Row::kPercent) == "12.5 %");
  CHECK(show::title({1 << 20, 1}) == "n = 1,048,576, one element off");
}
