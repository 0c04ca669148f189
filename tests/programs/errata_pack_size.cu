// How many elements does a pack of at most 16 bytes hold? OneFlow's rule, in
// our words, for a few types; and what it says of a type that fits in no pack.
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

constexpr int kMostBytes = 16, kMostElements = 8;

template <class... T>
constexpr int kUnasked =
    std::min({kMostElements, kMostBytes / static_cast<int>(sizeof(T))...});

// The same, for types that fit.
template <class... T>
requires((sizeof(T) <= kMostBytes) && ...) constexpr int kPack = kUnasked<T...>;

template <class T>
constexpr bool kFits = requires {
  kPack<T>;
};

struct Rotation {
  double angle[3];
};
static_assert(kUnasked<Rotation> == 0);  // And then packs = n / 0.
static_assert(!kFits<Rotation> && kFits<double>);

// What an array of halves promises of its address, and what an access needs.
struct alignas(16) Halves {
  __half v[kPack<__half>];
};
static_assert(alignof(__half[kPack<__half>]) == 2 && alignof(Halves) == 16);

template <class X, class Y>
void print(const char* types) {
  constexpr int kBoth = kPack<X, Y>;
  printf("%-16s  %d elements, loads of %2zu bytes, stores of %2zu\n", types,
         kBoth, kBoth * sizeof(X), kBoth * sizeof(Y));
}

int64_t blocks_of_256(int64_t threads) { return (threads + 255) / 256; }

int main() {
  print<int8_t, int8_t>("int8 to int8");
  print<__half, __half>("half to half");
  print<__half, float>("half to float");
  print<float, float>("float to float");
  print<int8_t, double>("int8 to double");
  print<double, double>("double to double");
  printf("24 bytes          %d elements, if nobody asks\n", kUnasked<Rotation>);

  const int64_t image = 3 * 224 * 224;
  printf(
      "an image of %lld floats: %lld blocks by the float, %lld by the pack\n",
      static_cast<long long>(image),
      static_cast<long long>(blocks_of_256(image)),
      static_cast<long long>(blocks_of_256(image / kPack<float>)));
  return 0;
}
