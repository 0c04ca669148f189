// Which options common/harness/bench.cpp takes; it looks at their values.
#include <string_view>

bool measure_takes(std::string_view option) {
  for (const std::string_view name :
       {"--record=", "--free-memory=", "--benchmark_"})
    if (option.starts_with(name)) return true;
  return false;
}
