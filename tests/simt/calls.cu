// Control flow: recursion, function pointers, virtual functions, jump tables,
// goto, and loops that the lanes of a warp leave one by one.

#include <algorithm>

#include "tests/simt/expect.h"

namespace {

__host__ __device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ __noinline__ bool is_odd(int n);
__host__ __device__ __noinline__ bool is_even(int n) {
  return n == 0 || is_odd(n - 1);
}
__host__ __device__ __noinline__ bool is_odd(int n) {
  return n != 0 && is_even(n - 1);
}

// A frame with an array of its own at each level.
__host__ __device__ __noinline__ int digits(int n, int* above) {
  int mine[3] = {n % 10, n / 10, above == nullptr ? 1 : above[0]};
  if (n == 0) return mine[2];
  return digits(n / 10, mine) * 3 + mine[0] + mine[2];
}

__global__ void recursion_kernel(int* out) {
  const int i = threadIdx.x;
  int* mine = out + 4 * i;
  mine[0] = fibonacci(i % 13);
  mine[1] = ackermann(i % 3, i % 5);
  mine[2] = is_even(i);
  mine[3] = digits(i * 7919, nullptr);
}

void check_recursion() {
  const auto got = expect::results<int>(
      4 * 64, [](int* out) { recursion_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int k) {
    const int i = k / 4;
    const int answers[] = {fibonacci(i % 13), ackermann(i % 3, i % 5),
                           i % 2 == 0, digits(i * 7919, nullptr)};
    return answers[k % 4];
  });
}

// Every lane recurses to a depth of its own; the warp comes back whole.
__device__ __noinline__ int descend(int depth) {
  if (depth == 0) return 1;
  const int below = descend(depth - 1);
  return below + depth % 2;
}

__global__ void depth_kernel(int* out) {
  const int lane = threadIdx.x;
  const int value = descend(lane * 5 % 32);
  out[lane] = __shfl_down_sync(0xffffffff, value, 1);
}

void check_depth() {
  const auto got =
      expect::results<int>(32, [](int* out) { depth_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int lane) {
    const int from = std::min(lane + 1, 31);
    return 1 + (from * 5 % 32 + 1) / 2;
  });
}

using Function = int (*)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ Function operations[3] = {plus, minus, times};

// An indirect call through a table in memory, different in every lane, and
// one through a pointer computed on the spot.
__global__ void pointer_kernel(int* out) {
  const int i = threadIdx.x;
  Function chosen = i % 2 == 0 ? minus : times;
  out[i] = operations[i % 3](i, 3) * 1000 + chosen(i, 2);
}

// A pointer that the host passes on, after it fetched it from the device.
__global__ void passed_kernel(int* out, Function function) {
  out[threadIdx.x] = function(threadIdx.x, 10);
}

void check_pointers() {
  auto got = expect::results<int>(
      48, [](int* out) { pointer_kernel<<<1, 48>>>(out); });
  expect::each(got, [](int i) {
    const int first[] = {i + 3, i - 3, i * 3};
    return first[i % 3] * 1000 + (i % 2 == 0 ? i - 2 : i * 2);
  });
  Function table[3];
  expect::ok(cudaMemcpyFromSymbol(table, operations, sizeof table));
  got = expect::results<int>(
      48, [&](int* out) { passed_kernel<<<1, 48>>>(out, table[2]); });
  expect::each(got, [](int i) { return i * 10; });
}

// Pointers to members: C++ takes an odd one for that of a virtual function.
struct Adder {
  int k;
  __host__ __device__ int plus(int x) const { return x + k; }
  __host__ __device__ int minus(int x) const { return x - k; }
  __host__ __device__ int times(int x) const { return x * k; }
  __host__ __device__ virtual int twice(int x) const { return 2 * x + k; }
};
struct Doubler : Adder {
  __host__ __device__ int twice(int x) const override { return 4 * x + k; }
};

__host__ __device__ int by_member(int i) {
  using Member = int (Adder::*)(int) const;
  const Member members[] = {&Adder::plus, &Adder::minus, &Adder::times,
                            &Adder::twice};
  Adder adder;
  Doubler doubler;
  adder.k = doubler.k = 3;
  const Adder& one = i % 3 == 0 ? adder : doubler;
  return (one.*members[i % 4])(i);
}

__global__ void member_kernel(int* out) {
  out[threadIdx.x] = by_member(threadIdx.x);
}

void check_members() {
  const auto got =
      expect::results<int>(48, [](int* out) { member_kernel<<<1, 48>>>(out); });
  expect::each(got, [](int i) { return by_member(i); });
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
  __device__ virtual int corners() const { return 0; }
};

struct Square : Shape {
  int side;
  __device__ explicit Square(int side) : side(side) {}
  __device__ int area() const override { return side * side; }
  __device__ int corners() const override { return 4; }
};

struct Strip : Square {
  __device__ explicit Strip(int length) : Square(length) {}
  __device__ int area() const override { return side; }
};

struct Dot : Shape {
  __device__ int area() const override { return 1; }
};

__global__ void virtual_kernel(int* out) {
  const int i = threadIdx.x;
  Square square(i);
  Strip strip(i + 1);
  Dot dot;
  const Shape* shapes[] = {&square, &strip, &dot};
  int sum = 0;
  for (int k = 0; k <= i % 3; ++k) {
    const Shape* shape = shapes[(i + k) % 3];
    sum = sum * 10 + shape->area() + shape->corners();
  }
  out[i] = sum;
}

void check_virtual() {
  const auto got = expect::results<int>(
      40, [](int* out) { virtual_kernel<<<1, 40>>>(out); });
  expect::each(got, [](int i) {
    const int values[] = {i * i + 4, i + 1 + 4, 1};
    int sum = 0;
    for (int k = 0; k <= i % 3; ++k) sum = sum * 10 + values[(i + k) % 3];
    return sum;
  });
}

// Locks behind calls: lanes that are back from acquire() must not wait there
// for those who are still in it.
struct Guarded {
  int lock, counter, sum;
};

__device__ __noinline__ int acquire(int* lock) {
  int rounds = 0;
  while (atomicCAS(lock, 0, 1) != 0) ++rounds;
  __threadfence();
  return rounds;
}

__device__ __noinline__ void release(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// A call of a call, with a result and an array in each frame.
__device__ __noinline__ int acquire_deeply(int* lock, int depth) {
  int kept[2] = {depth, static_cast<int>(threadIdx.x)};
  if (depth == 0) return acquire(lock) < 0 ? 1 : 0;
  const int below = acquire_deeply(lock, depth - 1);
  return below + kept[below & 1];
}

__device__ __noinline__ bool try_acquire(int* lock) {
  return atomicCAS(lock, 0, 1) == 0;
}

__device__ void count_once(Guarded* g, int add) {
  volatile int* counter = &g->counter;
  *counter = *counter + 1;
  volatile int* sum = &g->sum;
  *sum = *sum + add;
}

__global__ void acquire_kernel(Guarded* g) {
  const bool first = acquire(&g->lock) >= 0;
  count_once(g, first);
  release(&g->lock);
}

__global__ void acquire_deeply_kernel(Guarded* g) {
  const int depths = acquire_deeply(&g->lock, threadIdx.x % 4);
  count_once(g, depths);
  release(&g->lock);
}

__global__ void try_acquire_kernel(Guarded* g) {
  while (!try_acquire(&g->lock)) {
  }
  __threadfence();
  count_once(g, 1);
  release(&g->lock);
}

using Acquire = int (*)(int*);
__device__ __noinline__ int acquire_slowly(int* lock) {
  while (atomicExch(lock, 1) != 0) __nanosleep(100);
  __threadfence();
  return 0;
}
__device__ Acquire ways[2] = {acquire, acquire_slowly};

__global__ void pointed_acquire_kernel(Guarded* g) {
  const int rounds = ways[threadIdx.x % 2](&g->lock);
  count_once(g, rounds >= 0);
  release(&g->lock);
}

// Each lane holds the lock in several calls, and leaves the loop when it likes.
__global__ void again_kernel(Guarded* g) {
  for (int i = 0; i <= static_cast<int>(threadIdx.x) % 3; ++i) {
    if (acquire(&g->lock) < 0) return;
    count_once(g, i);
    release(&g->lock);
    if (threadIdx.x == 5) break;
  }
}

void check_locks() {
  const auto run = [](void (*kernel)(Guarded*)) {
    return expect::results<Guarded>(
        1, [&](Guarded* g) { kernel<<<2, 64>>>(g); })[0];
  };
  for (const auto kernel :
       {acquire_kernel, try_acquire_kernel, pointed_acquire_kernel}) {
    const Guarded got = run(kernel);
    expect::equal(got.counter, 128);
    expect::equal(got.sum, 128);
  }
  int deep = 0, times = 0, turns = 0;
  for (int i = 0; i < 64; ++i) {
    int below = 0;
    for (int depth = 1; depth <= i % 4; ++depth) below += below & 1 ? i : depth;
    deep += below;
    const int rounds = i == 5 ? 1 : i % 3 + 1;
    times += rounds;
    turns += rounds * (rounds - 1) / 2;
  }
  const Guarded deeply = run(acquire_deeply_kernel);
  expect::equal(deeply.counter, 128);
  expect::equal(deeply.sum, 2 * deep);
  const Guarded again = run(again_kernel);
  expect::equal(again.counter, 2 * times);
  expect::equal(again.sum, 2 * turns);
}

// Dense cases become a jump table (brx.idx).
__host__ __device__ int jump(int kind, int x) {
  switch (kind) {
    case 0:
      return x * 3;
    case 1:
      x += 7;
      break;
    case 2:
      return x ^ 0x55;
    case 3:
      x -= 1;
      [[fallthrough]];
    case 4:
      x *= x;
      break;
    case 5:
      for (int k = 0; k < x % 5; ++k) x += k;
      break;
    case 6:
      return -x;
    case 7:
      return x << 3;
    case 8:
      return x / 3;
    case 9:
      return x % 7;
    case 11:
      x = ~x;
      break;
    case 12:
      x = x * 31 + 17;
      break;
    default:
      return -1;
  }
  return x + 1000;
}

__global__ void jump_kernel(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = jump(i % 15 - 1, i);
}

void check_jump() {
  const auto got =
      expect::results<int>(200, [](int* out) { jump_kernel<<<4, 50>>>(out); });
  expect::each(got, [](int i) { return jump(i % 15 - 1, i); });
}

// Loops with every kind of exit.
__host__ __device__ int collatz(int n, int limit) {
  int steps = 0;
  while (true) {
    if (n == 1) break;
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    if (++steps >= limit) return -steps;
  }
  return steps;
}

__host__ __device__ int nested(int i) {
  int sum = 0;
  for (int a = 0; a < 8; ++a) {
    if ((a ^ i) % 3 == 0) continue;
    for (int b = a; b < 12; ++b) {
      if (b % 5 == i % 5) break;
      int c = b;
      do {
        sum += c;
        if (sum % 11 == 10) goto next;
        --c;
      } while (c > i % 4);
    }
    sum += 1;
  next:
    if (sum > 400) return sum;
  }
  return -sum;
}

// Two loops that jump into each other: no compiler can untangle them into
// nested ones.
__host__ __device__ int tangled(int n) {
  int count = 0;
  if (n % 2 == 0) goto second;
first:
  count += 3;
  n -= 2;
  if (n < 0) return count;
second:
  count *= 2;
  n -= 1;
  if (n % 3 == 0 && n > 0) goto second;
  if (n > 0) goto first;
  return count + 1;
}

__global__ void loops_kernel(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[3 * i] = collatz(i + 1, 60);
  out[3 * i + 1] = nested(i);
  out[3 * i + 2] = tangled(i);
}

void check_loops() {
  const auto got = expect::results<int>(
      3 * 150, [](int* out) { loops_kernel<<<3, 50>>>(out); });
  expect::each(got, [](int k) {
    const int i = k / 3;
    const int answers[] = {collatz(i + 1, 60), nested(i), tangled(i)};
    return answers[k % 3];
  });
}

// Arguments and results of many sizes through calls that stay calls.
struct Bundle {
  double weight;
  int values[5];
  char letter;
};

__host__ __device__ __noinline__ Bundle transform(Bundle in, short add,
                                                  float scale, long long big) {
  Bundle result = in;
  result.weight = in.weight * scale + static_cast<double>(big);
  for (int k = 0; k < 5; ++k) result.values[k] = in.values[4 - k] + add;
  result.letter = static_cast<char>(in.letter + 1);
  return result;
}

__host__ __device__ double through(int i) {
  Bundle bundle = {i * 0.5, {i, i + 1, i + 2, i + 3, i * i}, 'a'};
  bundle = transform(bundle, static_cast<short>(-i), 2.0f, 1ll << 33);
  bundle = transform(bundle, 5, 0.5f, -i);
  return bundle.weight + bundle.values[i % 5] * 3 + bundle.letter;
}

__global__ void bundle_kernel(double* out) {
  out[threadIdx.x] = through(threadIdx.x);
}

void check_bundles() {
  const auto got = expect::results<double>(
      40, [](double* out) { bundle_kernel<<<1, 40>>>(out); });
  expect::each(got, [](int i) { return through(i); });
}

// Bytes that begin anywhere among 16, of every third lane.
struct Letters {
  char all[37];
};

__host__ __device__ __noinline__ Letters turned(char by, Letters in) {
  Letters result;
  for (int k = 0; k < 37; ++k)
    result.all[k] = static_cast<char>(in.all[36 - k] + by * k);
  return result;
}

__host__ __device__ int spelt(int i) {
  Letters letters = {};
  for (int k = 0; k < 37; ++k) letters.all[k] = static_cast<char>(i + k * k);
  if (i % 3 == 0) letters = turned(static_cast<char>(i), letters);
  int sum = 0;
  for (int k = 0; k < 37; ++k) sum = sum * 31 % 65521 + letters.all[k];
  return sum;
}

__global__ void letters_kernel(int* out) {
  out[threadIdx.x] = spelt(threadIdx.x);
}

void check_letters() {
  const auto got = expect::results<int>(
      70, [](int* out) { letters_kernel<<<1, 70>>>(out); });
  expect::each(got, [](int i) { return spelt(i); });
}

// Lambdas and templates passed down to the device.
template <typename F>
__device__ int twice(F f, int x) {
  return f(f(x));
}

__global__ void lambda_kernel(int* out, int add) {
  const int i = threadIdx.x;
  const auto shift = [=](int x) { return x + add * i; };
  out[i] = twice(shift, i) + twice([](int x) { return x * 3; }, 1);
}

void check_lambdas() {
  const auto got = expect::results<int>(
      33, [](int* out) { lambda_kernel<<<1, 33>>>(out, 4); });
  expect::each(got, [](int i) { return i + 8 * i + 9; });
}

// ---- Local memory of a size that is known late ------------------------------

// Each call has its own, and gives it back.
__device__ __noinline__ int deeper(int n, int rank) {
  int* const mine = static_cast<int*>(alloca(n * sizeof(int)));
  for (int k = 0; k < n; ++k) mine[k] = k * rank + n;
  const int below = n > 1 ? deeper(n - 1, rank + 1) : 0;
  int sum = below;
  for (int k = n - 1; k >= 0; --k) sum = sum * 3 + mine[k];
  return sum;
}

__global__ void alloca_kernel(int* out) {
  const int i = threadIdx.x;
  out[i] = deeper(i % 7 + 1, i) + deeper(2, 1);
}

int deeper_on_host(int n, int rank) {
  unsigned sum = n > 1 ? deeper_on_host(n - 1, rank + 1) : 0;
  for (int k = n - 1; k >= 0; --k) sum = sum * 3 + k * rank + n;
  return static_cast<int>(sum);
}

void check_alloca() {
  const auto got =
      expect::results<int>(64, [](int* out) { alloca_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int i) {
    return deeper_on_host(i % 7 + 1, i) + deeper_on_host(2, 1);
  });
}

// What a turn of a loop allocates is given back: all of it would not fit.
__global__ void stack_kernel(uint64_t* out) {
  uint64_t sum = 0;
  for (int turn = 0; turn < 2000; ++turn)
    asm volatile(
        "{\n"
        ".reg .u64 top, one, two, x;\n"
        "stacksave.u64 top;\n"
        "alloca.u64 one, %1;\n"
        "alloca.u64 two, 24, 64;\n"
        "st.local.u64 [one], %2;\n"
        "st.local.u64 [two+16], %1;\n"
        "ld.local.u64 x, [one];\n"
        "add.u64 %0, %0, x;\n"
        "ld.local.u64 x, [two+16];\n"
        "add.u64 %0, %0, x;\n"
        "and.b64 x, two, 63;\n"
        "add.u64 %0, %0, x;\n"
        "stackrestore.u64 top;\n"
        "}"
        : "+l"(sum)
        : "l"(uint64_t{8} * (threadIdx.x + 1) + 256), "l"(uint64_t(turn))
        : "memory");
  out[threadIdx.x] = sum;
}

void check_stack() {
  const auto got = expect::results<uint64_t>(
      32, [](uint64_t* out) { stack_kernel<<<1, 32>>>(out); });
  expect::each(
      got, [](int i) { return 2000 * (8 * (i + 1) + 256) + 2000 * 1999 / 2; });
}

}  // namespace

int main() {
  check_recursion();
  check_depth();
  check_pointers();
  check_members();
  check_virtual();
  check_locks();
  check_jump();
  check_loops();
  check_bundles();
  check_letters();
  check_lambdas();
  check_alloca();
  check_stack();
  return expect::report();
}
