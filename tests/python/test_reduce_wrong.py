"""Wrong versions of chapter 12's engine, each caught by the check of tests/reduce_test.cpp
that is named. Those that the sum's own checks catch stand in the chapter's page."""


from wrong_engines import Engine, Wrong, judge, takes_minutes

RANDOM = "reduce handles random shapes, strides, dimensions and types"
LENGTHS = "reduce handles every length of a row"
SHARED = "reduce shares long rows and columns between blocks"
WRONG = [
    Wrong("the counter is not reset", "reduce.h", "atomicInc(counter, gridDim.y - 1)", "atomicAdd(counter, 1)",
          "sums", "reduce leaves its counters ready for the next call"),
    Wrong("one part is left out", "reduce.h", "for (int y = seat.member; y", "for (int y = seat.member + 1; y", "sums", SHARED),
    Wrong("all blocks write their part to one place", "reduce.h", "parts[(blockIdx.y * task.teams + holder.team)",
          "parts[(holder.team)", "sums", "race", SHARED),
    Wrong("a chain of additions is forgotten", "reduce.h", "for (int a = 1; a < kAccs", "for (int a = 2; a < kAccs",
          "sums", LENGTHS),
    Wrong("what is left over is read one too early", "reduce.h", "first < head ? first : first + loads * kAlong",
          "first < head ? first : first + loads * kAlong - 1", "sums", LENGTHS),
    Wrong("a round is taken for whole", "reduce.h", "i + (kAtOnce - 1) * step < loads", "i + (kAtOnce - 2) * step < loads",
          "sums", LENGTHS),
    Wrong("the last exchange ends early", "reduce.h", "for (int far = warps / 2; far > 0", "for (int far = warps / 2; far > 1",
          "sums", LENGTHS),
    Wrong("a thread without a result reads on", "reduce.h", "if (result >= task.results) return;\n", "\n",
          "sums", "out of bounds", RANDOM),
    Wrong("one byte of four is forgotten", "operations.h", "0x01010101", "0x00010101", "other_sums",
          "reduce handles every offset, in rows and columns"),
    Wrong("results are written by the input's strides", "access.h", "sum.out + i * dim[d].out_stride", "sum.out + i * dim[d].stride",
          "sums", RANDOM),
    Wrong("64-bit indices are divided wrongly", "access.h", "return i / divisor;", "return i / (divisor + 1);",
          "sums", RANDOM),
    Wrong("dimensions are joined whatever the results' order", "plan.h",
          " &&\n                 next.out_stride == last.size * last.out_stride", "", "sums", RANDOM),
    Wrong("an index counts in the order of reading", "plan.h", "if (!kind.indexed) std", "std", "extremes", RANDOM),
    Wrong("columns are packed wherever they begin", "plan.h", "at.x % (side * kind.in_bytes) == 0 &&", "", "sums",
          "misaligned access", "reduce handles every offset, in rows and columns"),
    Wrong("members are too few for the ends of a row", "plan.h", "? 2 * pack : 1", "? 1 : 1", "sums", LENGTHS),
    Wrong("no index needs 64 bits", "plan.h", "INT32_MAX - (1 << 24)", "INT64_MAX", "sums",
          "the planner counts in 64 bits where 32 are too few"),
    Wrong("a tie goes to the highest index", "operations.h", "tie ? b.index < a.index", "tie ? b.index > a.index",
          "extremes", "reduce gives a tie to the lowest index"),
    Wrong("a later one wins a tie", "operations.h", "is_first_nan || Order::better(one.value, best.value)",
          "is_first_nan || !Order::better(best.value, one.value)", "extremes",
          "reduce gives a tie to the lowest index"),
    Wrong("a thread passes over NaN", "operations.h", "is_first_nan || Order::better", "Order::better", "extremes",
          "reduce lets NaN win, and says where the first is"),
    Wrong("where all are infinite, none is the first", "operations.h", "best.index == INT64_MAX ? 0 : best.index",
          "best.index", "extremes", "reduce keeps infinities and denormal numbers"),
    Wrong("a NaN loses", "operations.h", "return b != b || Order::better(b, a) ? b : a;",
          "return Order::better(b, a) ? b : a;", "extremes", "reduce lets NaN win, and says where the first is"),
    Wrong("a NaN has no place", "operations.h", "b_nan || Order::better", "Order::better",
          "extremes", "reduce lets NaN win, and says where the first is"),
    Wrong("the greatest is 0 at least", "operations.h", "? -std::numeric_limits<A>::infinity()", "? A{0}",
          "extremes", "reduce keeps infinities and denormal numbers"),
    Wrong("Welford divides by no elements", "operations.h", "if (a.count == 0) return b;\n", "\n",
          "spreads", SHARED),
    Wrong("two means are taken for one", "operations.h", " + away * away * a.count * part", "",
          "spreads", "reduce finds the variance of numbers far from 0"),
]


@takes_minutes
def test_each_is_caught():
    judge(Engine("reduce", "chapters/12_reduce"), WRONG)
