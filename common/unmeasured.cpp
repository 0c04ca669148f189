// Nothing here is worth studying: checks of what is no contract measure
// nothing.
#include <cstdio>
#include <cstdlib>

extern const char* const kOptions = "";

int measure(int, char**) {
  std::puts("Checked. There is nothing to measure.");
  return EXIT_SUCCESS;
}
