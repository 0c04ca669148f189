// Nothing here is worth studying: what ./run reports where there is no GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>

int measure(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--dt-", 5) == 0) continue;  // doctest's.
    std::fprintf(stderr,
                 "./run does not understand %s. Without a GPU it takes\n"
                 "  --dt-...    doctest's options\n",
                 argv[i]);
    return EXIT_FAILURE;
  }
  std::puts(
      "Checked, not measured. The counters of a run without a GPU arrive with "
      "the executor's next step.");
  return EXIT_SUCCESS;
}
