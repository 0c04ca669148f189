// For programs with cuRAND's tables of Sobol's numbers, which the toolkit's own
// library holds. Only these come from there: what else it has needs a GPU, and
// would fail when it is called. Now the linker refuses it by name.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

template <class... Arguments>
int ask(const char* name, Arguments... arguments) {
  static void* const library = dlopen("libcurand.so", RTLD_NOW | RTLD_LOCAL);
  void* const call = library ? dlsym(library, name) : nullptr;
  if (!call) {
    std::fprintf(stderr, "simt: %s: %s\n", name, dlerror());
    std::abort();
  }
  return reinterpret_cast<int (*)(Arguments...)>(call)(arguments...);
}

}  // namespace

extern "C" {

int curandGetDirectionVectors32(void** vectors, int set) {
  return ask("curandGetDirectionVectors32", vectors, set);
}
int curandGetDirectionVectors64(void** vectors, int set) {
  return ask("curandGetDirectionVectors64", vectors, set);
}
int curandGetScrambleConstants32(void** constants) {
  return ask("curandGetScrambleConstants32", constants);
}
int curandGetScrambleConstants64(void** constants) {
  return ask("curandGetScrambleConstants64", constants);
}

}  // extern "C"
