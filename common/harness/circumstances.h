// What a reporter of doctest's may say of a failure.
#pragma once

#include <doctest/doctest.h>

#include <sstream>
#include <string>

// What INFO() has said of the values at hand, a line each.
inline std::string circumstances() {
  std::ostringstream out;
  for (int k = 0; k < doctest::IReporter::get_num_active_contexts(); ++k) {
    doctest::IReporter::get_active_contexts()[k]->stringify(&out);
    out << "\n";
  }
  return out.str();
}
