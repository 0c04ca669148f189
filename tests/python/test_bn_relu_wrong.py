"""Wrong versions of chapter 16's headers, each caught by the check of tests/bn_relu_test.cpp
that is named. More stand in the chapter's page and in tests/wrong."""


from wrong_engines import OfContract, Wrong, judge, takes_minutes

TWO, ONE = "bn_relu.planned", "bn_relu"  # Launches, of the file that shows it.
SHAPES = "bn_relu handles every shape"
BACKWARD = "bn_relu_backward handles every shape"
FAR = "bn_relu finds the variance of numbers far from 0"
RUNNING = "bn_relu moves the running statistics with every call"
SCRATCH = "bn_relu shares scratch between shapes, one after the other"
WRONG = [
    Wrong("the running variance is the biased one", "moments.h", "squares / fmaxf(m - 1, 1)", "squares / fmaxf(m, 1)", TWO, RUNNING),
    Wrong("the variance is the unbiased one", "moments.h", "squares / fmaxf(m, 1)", "squares / fmaxf(m - 1, 1)", TWO, SHAPES),
    Wrong("epsilon stands outside of the root", "moments.h", "sqrtf(variance + epsilon)", "(sqrtf(variance) + epsilon)",
          TWO, "bn_relu adds epsilon where all numbers are equal"),
    Wrong("a large mean costs digits", "moments.h", "return to_float(from.x[first]);", "return 0.f;", TWO, FAR),
    Wrong("the means' distance does not count", "moments.h", "other.squares + away * away * count * weight", "other.squares", TWO, SHAPES),
    Wrong("two threads without elements divide by them", "moments.h", "if (other.count == 0) return;", "", TWO, SHAPES),
    Wrong("the momentum is that of the past", "moments.h", "at.momentum * (center", "(1 - at.momentum) * (center", TWO, RUNNING),
    Wrong("the bit is a factor", "moments.h", "return bits >> k & 1 ? dy[k] : 0.f;", "return static_cast<float>(bits >> k & 1) * dy[k];",
          TWO, "bn_relu_backward gives 0 where the bit is 0, whatever dy is"),
    Wrong("gamma's gradient is not normalised", "moments.h", "at.d_gamma[c] = g_away * known.inverse;", "at.d_gamma[c] = g_away;", TWO, BACKWARD),
    Wrong("one deviation is forgotten", "moments.h", "g_away * known.inverse * known.inverse / m",
          "g_away * known.inverse / m", TWO, BACKWARD),
    Wrong("the counter is not reset", "sums.h", "atomicInc(counter, parts - 1)", "atomicAdd(counter, 1)", TWO, SCRATCH),
    Wrong("all blocks of a channel finish it", "sums.h", "if (!is_last(lent.counters + group, plan.parts)) return;",
          "is_last(lent.counters + group, plan.parts);", TWO, "race", SHAPES),
    Wrong("one block's part is left out", "sums.h", "int other = seat.member;", "int other = seat.member + 1;", TWO, SHAPES),
    Wrong("a part is counted before it is written", "sums.h", "__threadfence();  // What this block wrote comes before its count.", "",
          TWO, "race", SHAPES),
    Wrong("each shape has its counters elsewhere", "sums.h", "counters(reinterpret_cast<unsigned*>(scratch))",
          "counters(reinterpret_cast<unsigned*>(scratch) + kMostShared)", TWO, SCRATCH),
    Wrong("a round is taken for whole", "sums.h", "p + (kAtOnce - 1) * step < loads", "p < loads", TWO, SHAPES),
    Wrong("warps meet without a barrier", "sums.h", "shared[warp][lane] = *mine;\n  __syncthreads();", "shared[warp][lane] = *mine;",
          TWO, "race", SHAPES),
    Wrong("neighbouring lanes do not meet", "sums.h", "far >= seat.apart;", "far > seat.apart;", TWO, SHAPES),
    Wrong("what is left of a round is forgotten", "sums.h", "if (p + k * step < loads) sums.add(rest[k], shift);", "continue;", TWO, SHAPES),
    Wrong("rows of a channel lie side by side", "sums.h", "i_ += to_next_row_;", "", TWO, SHAPES),
    Wrong("a row that ends in a pack takes all of it", "normalise.h", "place.left() >= kPack", "place.left() > 0", TWO, SHAPES),
    Wrong("a channel's stride is the other layout's", "elements.h", "channel_ = row - task.by_channels.divide(row) * channels_;",
          "channel_ = task.by_channels.divide(row);", TWO, SHAPES),
    Wrong("behind the last channel comes one more", "elements.h", "if (++channel_ == channels_) channel_ = 0;", "++channel_;", TWO, SHAPES),
    Wrong("a quotient is one too small", "elements.h", "(1ull << 32) / divisor) +\n              1", "(1ull << 32) / divisor)", TWO, SHAPES),
    Wrong("what lies behind the end has bits", "normalise.h", "k < left && pack[k] > 0.f", "pack[k] > 0.f", TWO, SHAPES),
    Wrong("the mask of the last warp is missing", "normalise.h", "if (i % 32 == 0 && left > 0)", "if (i % 32 == 0 && left >= 32)", TWO, SHAPES),
    Wrong("a NaN becomes 0", "normalise.h", "return v <= 0.f ? 0.f : v;", "return fmaxf(v, 0.f);",
          TWO, "bn_relu keeps a NaN or an infinity to its channel"),
    Wrong("the mean is part of beta", "normalise.h", "return (x - of.mean) * of.scale + of.a;",
          "return x * of.scale + (of.a - of.mean * of.scale);", TWO, FAR),
    Wrong("a bit is of what was not rounded", "normalise.h", "k < left && pack[k] > 0.f", "k < left && v > 0.f",
          TWO, "bn_relu tells by y as it was rounded whether it is positive"),
    Wrong("the last tile is left out", "launch.h", "- 1 - blockIdx.x;\n  if (tile < 0) return;\n  f(", "- 2 - blockIdx.x;\n  if (tile < 0) return;\n  f(", ONE, SHAPES),
    Wrong("one block of a group need not come", "columns.h", "(1u << 31) - (parts - 1)", "(1u << 31) - (parts - 2)", ONE, "race", SHAPES),
    Wrong("a meeting counts before the sums are written", "columns.h", "__threadfence();  // What this block wrote comes before its count.", "",
          ONE, "race", SHAPES),
    Wrong("a block takes its own sums for its group's", "columns.h", "__ldcg(parts + c * columns.parts + part)",
          "__ldcg(parts + c * columns.parts + my.part)", ONE, SHAPES),
    Wrong("all parts count alike", "columns.h", "return Sums::of(columns.rows_of(part),", "return Sums::of(1.f,", ONE, SHAPES),
    Wrong("what comes before the kept rows is taken for these", "columns.h", "my.read(at.x, turn - kKept, x);", "", ONE, SHAPES),
    Wrong("a round's squares are about another mean", "columns.h", "shift[e] - mean;", "shift[e];", ONE, SHAPES),
    Wrong("a lane that has no row votes for none", "columns.h", "if (turn + k >= my.turns) break;", "if (!my.has(turn + k)) break;",
          ONE, "missing lanes", SHAPES),
    Wrong("what does not pass counts", "columns.h", "if (!(bits >> e & 1)) selected.bits[e] = 0;", "", ONE, BACKWARD),
    Wrong("the last turn is taken for whole", "plan.h", "mine - (row(part, mine - 1) + below >= rows)", "mine", ONE, "out of bounds", SHAPES),
    Wrong("a part's last turn is taken for whole", "plan.h", "(end > rows ? end - rows : 0)", "0", ONE, SHAPES),
]


@takes_minutes
def test_each_is_caught():
    judge(OfContract("bn_relu", "chapters/16_bn_relu"), WRONG)
