// The checks, and in plain words what became of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

// Whether doctest takes an option: one that ./run --help lists, or --dt-...
bool is_for_checks(std::string_view option);

// Runs the checks that doctest's options choose. Returns how the program must
// end, or nothing: then each of them was run and passed, and it may measure.
std::optional<int> run_checks(int argc, char** argv);

// Whether the executor found something wrong, of which it told when it did.
// That is then the last line.
bool print_findings();

// What to say besides if a CUDA error ends the program now.
std::string& said_if_interrupted();
