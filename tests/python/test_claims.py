"""tests/claims.py has been seen to fail on every kind of false claim."""

import os
import unittest.mock

import counted
import made_up
from tree import TreeTest

import ptx

SOURCE = """\
namespace {

struct alignas(16) Pack {
  float v[4];
};

__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y,
                            long packs, long n) {
  const long first = threadIdx.x;
  for (long i = first; i < packs; i += blockDim.x)
    reinterpret_cast<Pack*>(y)[i] = reinterpret_cast<const Pack*>(x)[i];
  y[n] = rectify(x[n]);
}

__global__ void plain_kernel(float* y) { y[threadIdx.x] = 0.f; }

template <int kTimes>
__global__ void twice_kernel(float* y) {
  for (int i = 0; i < kTimes; ++i) y[i * 32 + threadIdx.x] = 1.f;
}

}  // namespace

void relu(const float* x, float* y) {
  relu_kernel<<<1, 32>>>(x, y, 1, 4);
  plain_kernel<<<1, 32>>>(y);
  twice_kernel<2><<<1, 32>>>(y);
  twice_kernel<3><<<1, 32>>>(y);
}
"""

HERE = "chapters/03_pack/README.md"
LOAD = "ld.global.nc.v4.*32"


class ClaimTest(TreeTest):
    tool = "claims"

    def setUp(self):
        super().setUp()
        self.write("chapters/03_pack/relu.cu", SOURCE)

    def claim(self, text):
        self.write(HERE, f"# Page\n\nA sentence. <!-- {text} -->\n")

    def green(self, text):
        self.claim(text)
        self.assert_green()

    def red(self, text, *messages):
        self.claim(text)
        self.assert_red(f"{HERE}:3: ", *messages)


class Instructions(ClaimTest):
    def test_counts(self):
        self.green(
            "ptx relu.cu plain_kernel: 1 x st.global.*32, 0 x ld.global.f32, 0 x st.*.v4.f32"
        )
        self.red(
            "ptx relu.cu plain_kernel: 2 x st.global.*32", "found 1; there: 1 x st.global."
        )
        self.red("ptx relu.cu plain_kernel: 0 x st.*", "found 1")
        self.red(
            "ptx relu.cu plain_kernel: 1 x atom.global.*", "found 0; there: no atom at all"
        )

    def test_each_part_is_judged(self):
        self.claim("ptx relu.cu plain_kernel: 1 x st.global.*32, 5 x ret")
        self.assert_red("ok    ", "FAIL  ", "1 passed, 1 failed")

    def test_the_opcode_is_meant_in_full(self):
        self.red(
            "ptx relu.cu plain_kernel: 1 x st.global", "found 0; there: 1 x st.global."
        )

    def test_a_kernel_that_changed(self):
        self.green(f"ptx relu.cu relu_kernel: 1 x {LOAD}")
        self.edit("chapters/03_pack/relu.cu", "alignas(16) ", "")
        self.assert_red("found 0; there: ")

    def test_a_header_that_changed(self):
        self.edit(
            "chapters/03_pack/relu.cu",
            "namespace {",
            '#include "common/pack.h"\nnamespace {',
        )
        self.edit("chapters/03_pack/relu.cu", "alignas(16)", "alignas(kPackBytes)")
        self.write("common/pack.h", "constexpr int kPackBytes = 16;\n")
        self.green(f"ptx relu.cu relu_kernel: 1 x {LOAD}")
        self.write("common/pack.h", "constexpr int kPackBytes = 4;\n")
        self.assert_red("found 0; there: ")

    def test_in_loop(self):
        self.green(
            f"ptx relu.cu relu_kernel: 1 x {LOAD} in loop, 0 x ld.global.nc.f32 in loop"
        )
        self.red(
            "ptx relu.cu relu_kernel: 1 x ld.global.nc.f32 in loop",
            "found 0; there: 1 x ld.global.nc.v4",
        )
        self.red("ptx relu.cu plain_kernel: 0 x ld.global.f32 in loop", "has no loop")

    def test_in_the_loop_of_a_line(self):
        self.green(f"ptx relu.cu relu_kernel: 1 x {LOAD} in loop 'i < packs'")
        self.red(
            "ptx relu.cu relu_kernel: 0 x st.global.v4.f32 in loop 'y[n] ='",
            "no loop of the PTX",
            "line 14",
        )
        self.red(
            "ptx relu.cu relu_kernel: 0 x ret in loop 'no such text'",
            "0 lines of relu.cu contain",
        )

    def test_at_a_line(self):
        self.green(
            "ptx relu.cu relu_kernel: 1 x ld.global.nc.*32 at 'y[n] =', 0 x ld.global.nc.v4.f32 at 'y[n] ='"
        )
        self.green("ptx relu.cu relu_kernel: 1 x setp.*.f32 at 'rectify(x[n])'")
        self.red("ptx relu.cu relu_kernel: 2 x ld.global.nc.*32 at 'y[n] ='", "found 1")
        self.red(
            "ptx relu.cu relu_kernel: 1 x ret at 'x'",
            "lines of relu.cu contain 'x', need exactly 1",
        )
        self.red(
            "ptx relu.cu relu_kernel: 0 x ret at 'plain_kernel<<<1'",
            "no instruction of the PTX",
        )

    def test_templates_are_named_with_their_arguments(self):
        self.green("ptx relu.cu twice_kernel<2>: 2 x st.global.*32")
        self.green("ptx relu.cu twice_kernel<3>: 3 x st.global.*32")
        self.red(
            "ptx relu.cu twice_kernel: 2 x st.global.*32",
            "2 functions in the PTX answer to 'twice_kernel'",
        )

    def test_names(self):
        self.red("ptx relu.cu kernel: 1 x ret", "0 functions in the PTX answer to 'kernel'")
        self.red("ptx gone.cu relu_kernel: 1 x ret", "no file gone.cu")

    def test_grammar(self):
        for text, message in [
            ("ptx relu.cu: 1 x ret", "write: ptx FILE KERNEL:"),
            ("ptx relu.cu relu_kernel: ret", "cannot read 'ret'"),
            (
                "ptx relu.cu relu_kernel: 1 x ret in the pack loop",
                "cannot read '1 x ret in the pack loop'",
            ),
            ("ptx relu.cu relu_kernel: 1 x ret at line", "cannot read"),
            (
                "ptx relu.cu relu_kernel: 0 x ld.globl.f32",
                "no PTX instruction has a part 'globl'",
            ),
            (
                "ptx relu.cu relu_kernel: 0 x ld.glo*l.q*",
                "no PTX instruction has a part 'q*'",
            ),
            ("count relu.cu: 16 sectors per request", "write: count FILE n=N"),
            ("ptxx relu.cu relu_kernel: 1 x ret", "'ptxx' is no directive"),
        ]:
            with self.subTest(text):
                self.red(text, message)

    def test_a_file_that_does_not_compile(self):
        self.edit("chapters/03_pack/relu.cu", "y[n] =", "y[m] =")
        self.red(
            "ptx relu.cu relu_kernel: 1 x ret",
            "relu.cu does not compile",
            '"m" is undefined',
        )

    def test_no_claim(self):
        self.write(HERE, "# Page\n\n`<!-- ptx relu.cu relu_kernel: 1 x ret -->`\n")
        self.assert_red("no ptx, count or times claim found")

    def test_a_file_is_compiled_once(self):
        self.green("ptx relu.cu plain_kernel: 1 x ret")
        self.green("ptx relu.cu relu_kernel: 1 x ret")
        self.assertEqual(len(list((self.root / "build/claims").iterdir())), 1)


class Counts(ClaimTest):
    """Counting claims, judged by what the program says that it counted."""

    def setUp(self):
        super().setUp()
        counted.plant(self.write, "chapters/03_pack/relu.cu")

    def test_counts(self):
        self.green("count relu.cu n=1024: 4 sectors per load request, 32 load requests")
        self.red("count relu.cu n=1024: 16 sectors per load request", "counted 4.00")
        self.claim("count relu.cu n=1024: 4 sectors per load request, 33 load requests")
        self.assert_red("1 passed, 1 failed", "33 load requests: counted 32")

    def test_any_size_and_offset_can_be_asked_for(self):
        self.green("count relu.cu n=2^20: 32,768 load requests")
        self.green("count relu.cu n=2,048 offset=1: 5 sectors per load request")
        self.red("count relu.cu n=2048 offset=1: 4 sectors per load request", "counted 5.00")

    def test_a_program_that_changed(self):
        self.green("count relu.cu n=1024: 4 sectors per load request")
        self.edit("chapters/03_pack/relu.sh", "$((4 + offset))", "$((32 + offset))")
        self.assert_red("counted 32.00")

    def test_a_program_that_changed_at_another_size(self):
        self.green("count relu.cu n=4096: 4 sectors per load request")
        self.edit("chapters/03_pack/relu.sh", "$((4 + offset))", "$((32 + offset))")
        self.assert_red("counted 32.00")

    def test_a_whole_number_is_meant_exactly(self):
        self.green("count relu.cu n=1024: 31.97 active threads")
        self.green("count relu.cu n=1024: 31.969 active threads")
        self.red("count relu.cu n=1024: 32 active threads", "counted 31.97")
        self.red("count relu.cu n=1024: 31.98 active threads", "counted 31.97")

    def test_the_launch(self):
        self.green("count relu.cu n=2^20 grid=4,096 block=256: 32768 load requests")
        self.red("count relu.cu n=2^20 grid=4095: 32768 load requests", "launched with grid 4096")
        self.red("count relu.cu n=2^20 block=128: 32768 load requests", "launched with block 256")

    def test_names_and_grammar(self):
        self.red("count relu.cu n=1024: 4 sectors per request",
                 "nothing is counted as 'sectors per request'; there are load requests, ")
        self.red("count gone.cu n=1024: 4 sectors per load request", "no file gone.cu")
        self.red("count relu.cu n=many: 4 load requests", "'n=many' is no size")
        self.red("count relu.cu n=1 n=2: 4 load requests", "'n=2' is no size")
        self.red("count relu.cu n=1024: four sectors", "cannot read 'four sectors'")

    def test_wrong_code_is_not_counted(self):
        self.write("chapters/03_pack/relu.sh", counted.FAILING)
        self.red("count relu.cu n=1024: 32 load requests", "does not pass its checks")
        self.red("count relu.cu n=2048: 64 load requests", "does not pass its checks")

    def test_a_program_that_cannot_be_built(self):
        self.write("Makefile", "%:\n\t@echo no compiler; exit 1\n")
        self.red("count relu.cu n=1024: 32 load requests", "cannot be counted", "no compiler")

    def test_it_runs_once_for_each_size(self):
        for _ in range(2):
            self.green("count relu.cu n=1024: 32 load requests")
            self.green("count relu.cu n=2048: 64 load requests")
        self.assertEqual(self.read("calls").split("\n"), ["1024 0", "2048 0", ""])


class Beside(ClaimTest):
    def test_a_number_in_the_sentence_is_the_claims(self):
        claim = "<!-- ptx relu.cu twice_kernel<3>: 3 x st.global.*32 -->"
        for sentence in ("It makes two wide stores.", "It has four of 2 bytes. Three times. Or 4.", "So 5 and 3."):
            with self.subTest(sentence):
                self.write(HERE, f"# Page\n\nSo. {sentence}\n{claim}\n")
                self.assert_red(f"{HERE}:4: '", "is said beside, and not claimed")
        self.write(HERE, f"# Page\n\nTwo loads. In chapter 07, of 16 bytes, 1 + 2 makes three stores.\n{claim}\n"
                   "It takes four loads.\n")
        self.assert_green()

    def test_a_size_is_no_count(self):
        counted.plant(self.write, "chapters/03_pack/relu.cu")
        self.write(HERE, "# Page\n\nTwo loads. <!-- count relu.cu n=2^20: 32,768 load requests -->\n"
                   "It takes two requests. <!-- count relu.cu n=2^20: 32,768 load requests -->\n")
        self.assert_red("'two requests' is said beside")


class Times(ClaimTest):
    """Comparisons, judged by made-up records: chapter 03 runs at the copy's speed."""

    def setUp(self):
        super().setUp()
        made_up.repository(self.root)

    def test_comparisons(self):
        self.green("times relu.cu < 0.65 x ../01_one_thread_each/relu.cu at 2^28")
        self.red("times relu.cu < 0.6 x ../01_one_thread_each/relu.cu at 2^28", "0.626 x at n = 268,435,456")
        self.green("times relu.cu < 1.01 x relu.cu copy at 1024..2^28, relu.cu copy < 1 x relu.four.cu at 2^20..2^28")
        self.red("times relu.four.cu < 1.01 x relu.cu at 1024..2^28", "1.026 x at n = 268,435,456")

    def test_grammar(self):
        for text, message in [
            ("times relu.cu is faster", "cannot read 'relu.cu is faster'"),
            ("times relu.cu < 1 x relu.cu copy at 2^20..2^27", "was not measured at both 1,048,576 and 134,217,728"),
            ("times relu.cu < 1 x relu.cu backward at 2^28", "was not measured at both"),
            ("times gone.cu < 1 x relu.cu at 2^28", "no file gone.cu"),
        ]:
            with self.subTest(text):
                self.red(text, message)

    def test_a_stale_record_is_skipped_aloud(self):
        self.write("chapters/03_pack/relu.four.cu", "int edited;\n")
        self.claim("times relu.four.cu < 0.1 x relu.cu at 2^28, relu.cu < 1.1 x relu.cu copy at 2^28")
        status, said = self.run_tool()
        self.assertEqual((status, said.count("STALE ")), (0, 1), said)
        self.assertIn("1 passed, 0 failed, 1 skipped", said)
        with unittest.mock.patch.dict(os.environ, RELEASE="1"):
            self.assert_red("not checked: plots/data/")


NESTED = """
  .loc 1 10 1
  mov.u32 %r1, 0;
$outer:
  .loc 1 11 1
  add.s32 %r1, %r1, 1;
  .loc 1 20 1
$inner:
  ld.global.f32 %f1, [%rd1];
  .loc 1 30 5, function_name $name, inlined_at 1 21 3
  mul.f32 %f1, %f1, %f1;
  .loc 1 20 1
  @%p1 bra $inner;
  .loc 1 11 1
  st.global.f32 [%rd1], %f1;
  @!%p2 bra $done;
  bra.uni $outer;
$done:
  {
  call.uni (retval0),
  vprintf,
  (param0, param1);
  }
  ret;
"""

SWITCH = """
$again:
  add.s32 %r1, %r1, 1;
$table: .branchtargets $again,
  $done;
  brx.idx %r1, $table;
$done:
  ret;
"""


class Loops(unittest.TestCase):
    def setUp(self):
        self.kernel = ptx.Kernel(NESTED)

    def opcodes(self, indices):
        return sorted(self.kernel.instructions[i].opcode for i in indices)

    def test_the_inner_loop_is_inside_the_outer_but_not_the_other_way(self):
        self.assertEqual(
            self.opcodes(self.kernel.in_loops_of((1, 20))),
            ["bra", "ld.global.f32", "mul.f32"],
        )
        self.assertIn("st.global.f32", self.opcodes(self.kernel.in_loops_of((1, 11))))
        self.assertIn("ld.global.f32", self.opcodes(self.kernel.in_loops_of((1, 11))))

    def test_what_runs_once_is_on_no_cycle(self):
        self.assertNotIn("mov.u32", self.opcodes(self.kernel.on_cycles()))

    def test_a_jump_table_leads_back(self):
        switch = ptx.Kernel(SWITCH)
        self.assertEqual(sorted(switch.on_cycles()), [0, 1])

    def test_inlined_code_stems_from_its_caller_too(self):
        self.assertEqual(self.opcodes(self.kernel.of_line((1, 21))), ["mul.f32"])
        self.assertEqual(self.opcodes(self.kernel.of_line((1, 30))), ["mul.f32"])
