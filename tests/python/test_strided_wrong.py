"""Wrong versions of chapter 15's engine, each caught by the check of tests/strided_test.cpp
that is named. Those that a ReLU's own checks catch stand in the chapter's page."""


from wrong_engines import Engine, Wrong, judge, takes_minutes

RANDOM = "gpu_kernel handles random shapes, strides and types"
EDGES = "the divider divides at every edge"
LENGTHS = "gpu_kernel handles every length"
TILES = "gpu_kernel turns what lies the other way through tiles"
ROWS = "gpu_kernel reads what rows share once for several of them"
SHORT = "gpu_kernel repeats a column, and folds rows too short for a pack"
SPLIT = "the planner splits where 32 bits do not reach"
REFUSED = "gpu_kernel refuses what is wrong, in a sentence, and does nothing"
SATURATED = "gpu_kernel saturates fractions, and wraps whole numbers"
WRONG = [
    Wrong("the divider's factor is rounded down", "divider.h", "<< 32) / d) + 1", "<< 32) / d)", "quotients", EDGES),
    Wrong("the divider is off at 2^31 - 1", "divider.h", "std::bit_width(d - 1)",
          "std::bit_width(d - 1) - (d > INT32_MAX - 1)", "quotients", EDGES),
    Wrong("the divider rounds powers of two up", "divider.h", "std::bit_width(d - 1)", "std::bit_width(d)",
          "quotients", EDGES),
    Wrong("what is repeated has the stride of an element", "plan.h", "if (size == dim.size && size != 1)",
          "if (size != dim.size) dim.stride[a] = all->bytes[a];\nelse", "sums", SHORT),
    Wrong("dimensions are joined if the output's are", "plan.h", "return next.stride[a] == last->size",
          "return a > 0 || next.stride[a] == last->size", "sums", "the planner joins what all arrays step through alike"),
    Wrong("the second half begins where the first does", "paths.h", "second.at[a] += half", "second.at[a] += 0 * half",
          "sums", "the pieces are all of it, and each once"),
    Wrong("the halves are equal, whatever is left over", "paths.h", "second.dims[far].size -= half;",
          "second.dims[far].size = half;", "sums", "the pieces are all of it, and each once"),
    Wrong("elements are counted where bytes should be", "paths.h", "piece.last(a) < INT32_MAX",
          "piece.last(a) / piece.bytes[a] < INT32_MAX", "sums", SPLIT),
    Wrong("2^29 floats are split, too", "paths.h", "piece.last(a) < INT32_MAX",
          "piece.last(a) + piece.bytes[a] <= INT32_MAX", "sums", SPLIT),
    Wrong("an output's elements may share a place", "plan.h", "d.size > 1 && d.stride[out] < reach", "false",
          "sums", REFUSED),
    Wrong("an input may overlap the output anyhow", "plan.h", "if (overlap(all, out, a) &&", "if (false &&",
          "sums", REFUSED),
    Wrong("packs are of the narrowest type", "paths.h", "*std::max_element(piece.bytes", "*std::min_element(piece.bytes",
          "unoptimised_functions", "gpu_kernel packs by the largest type of a function"),
    Wrong("only the output is asked whether it is aligned", "paths.h", "piece.at[a] % bytes != 0", "piece.at[0] % bytes != 0",
          "sums", "misaligned access", RANDOM),
    Wrong("no pack is shifted", "paths.h", "cut.shift[a] = late(a, head);", "cut.shift[a] = 0;",
          "unoptimised_functions", "misaligned access", "gpu_kernel handles every pair of offsets"),
    Wrong("bytes are shifted within their words alone", "stretches.h", "shift & 4 * by ? words[w + by] : words[w]", "words[w]",
          "unoptimised_functions", "gpu_kernel handles every pair of offsets"),
    Wrong("words are shifted, and no bytes within them", "stretches.h", "8 * (shift % 4)", "0",
          "unoptimised_copies", "gpu_kernel handles every pair of offsets"),
    Wrong("the first pack is shifted, too", "paths.h", "cut.head = head + shifts * width;", "cut.head = head;",
          "sums", "race", "gpu_kernel reads nothing of its neighbours"),
    Wrong("the last pack is shifted, too", "paths.h", "cut.tail = shifts * width;", "cut.tail = 0;",
          "sums", "out of bounds", "gpu_kernel reads nothing of its neighbours"),
    Wrong("rows need not begin with whole packs", "paths.h", "d.stride[a] % bytes == 0", "d.stride[a] > 0",
          "sums", "misaligned access", RANDOM),
    Wrong("what is shared is read once for all rows, and so is the rest", "body.h",
          "row == 0 || task.step[a] != 0", "row == 0", "sums", ROWS),
    Wrong("the rows of a thread are one apart", "paths.h", "for (int64_t& stride : rows.stride) stride *= steps;", "",
          "sums", ROWS),
    Wrong("what is left over is dropped", "gpu_kernel.h", "if (blockIdx.x < gridDim.x - 1) return;\n  const", "return;\n  const",
          "sums", LENGTHS),
    Wrong("what is left over of rows is dropped", "gpu_kernel.h", "kWidth == 1 || blockIdx.x < gridDim.x - 1", "true",
          "sums", SHORT),
    Wrong("what is left over begins one late", "gpu_kernel.h", ": i + (task.end", ": i + 1 + (task.end",
          "sums", LENGTHS),
    Wrong("the head is one too long", "paths.h", "cut.head = head +", "cut.head = head + (head > 0) +",
          "unoptimised_functions", "misaligned access", "gpu_kernel handles every pair of offsets"),
    Wrong("what lies before the first pack is left out", "gpu_kernel.h", "i < task.head ? i :", "i < task.head ? task.count :",
          "unoptimised_functions", "gpu_kernel handles every pair of offsets"),
    Wrong("a pack that goes on in the next row does not", "access.h", "if (task.crosses) {", "if (false) {", "sums", SHORT),
    Wrong("a packed array is read by the strides of rows", "access.h", "at[k].of[a] += i[k] * stride[d].of[a]",
          "at[k].of[a] += i[k] * stride[0].of[a]", "sums", RANDOM),
    Wrong("the tile is read before it is written", "tiles.h",
          "  __syncthreads();\n  const Column out", "  const Column out", "sums", "race", TILES),
    Wrong("the next tile does not wait", "tiles.h", "  __syncthreads();  // What was here before has been read.\n", "",
          "sums", "race", TILES),
    Wrong("every tile is whole", "tiles.h", "columns = min(uint32_t{kTile}, width - left)", "columns = kTile",
          "sums", "out of bounds", TILES),
    Wrong("the tile is not turned", "tiles.h", "v[k] = shared[tile.lane][tile.line + k * kLines]",
          "v[k] = shared[tile.line + k * kLines][tile.lane]", "sums", TILES),
    Wrong("what is too large wraps", "types.h", "if (v >= static_cast<From>(kMost<To>)) return kMost<To>;\n", "\n",
          "unoptimised_copies", SATURATED),
    Wrong("a bool is its lowest bit", "types.h", "return bits != 0;", "return bits & 1;", "unoptimised_copies", RANDOM),
    Wrong("a host's scalar is as narrow as the array", "functor.h", "f.wide(cast<Wide<T>>(x), scalar)",
          "f.wide(cast<Wide<T>>(x), cast<Wide<T>>(cast<T>(scalar)))", "unoptimised_functions",
          "gpu_kernel keeps a host's scalar as exact as it computes"),
    Wrong("the first result fills all outputs", "body.h", "get<kOut>(out)[k][e] = get<kOut>(results)",
          "get<kOut>(out)[k][e] = get<0>(results)", "unoptimised_functions", "gpu_kernel fills several outputs"),
]


@takes_minutes
def test_each_is_caught():
    judge(Engine("strided", "chapters/15_strides_and_casts"), WRONG)
