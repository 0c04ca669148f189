"""./run without a GPU, as a student sees it: chapter 03's own program."""

import os
import pathlib
import subprocess
import unittest

import tree

import counts

SOURCE = tree.REPOSITORY / "chapters/03_pack/relu.cu"

RACE = """\
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  __shared__ volatile float last;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  last = x[i];  // Of many threads, without order.
  y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n > 0) relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
"""


class Show(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = counts.built(tree.REPOSITORY, SOURCE, ".run")
        counts.built(tree.REPOSITORY, SOURCE, ".before")

    def run_program(self, *arguments, status=0, **environment):
        run = subprocess.run([self.program, *arguments], cwd=tree.REPOSITORY, text=True,
                             env=os.environ | environment, capture_output=True)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def test_counters_stand_beside_those_of_the_chapter_before(self):
        aligned, misaligned = self.run_program().split("\nn = ")[1:]
        self.assertRegex(aligned, r"^1,048,576 +03_pack +02_grid_stride +ideal\n")
        self.assertRegex(aligned, r"\n  load requests +8,192 +32,768\n +l1tex__t_requests_\S+ld.sum\n")
        self.assertRegex(aligned, r"\n  sectors a load request +16.00 +4.00 +16.00\n")
        self.assertIn("launched: relu_kernel, 1,024 blocks of 256 threads", aligned)
        self.assertNotIn("shared", aligned.split("Below")[0])
        self.assertRegex(misaligned, r"sectors a load request +5.00 +5.00 +4.00\n"
                                     r"    > a warp's bytes do not begin with a sector")
        widest = max(map(len, (aligned + misaligned).splitlines()))
        self.assertLessEqual(widest, 100)

    def test_it_never_tells_a_time(self):
        self.assertNotRegex(self.run_program(), r"\b(?:ns|us|ms|GB/s|occupancy)\b")

    def test_it_says_the_same_each_time(self):
        self.assertEqual(self.run_program(), self.run_program(SIMT_THREADS="3"))

    def test_any_size(self):
        output = self.run_program("--n=1000", "--offset=3")
        self.assertIn("n = 1,000, 3 elements off", output)
        self.assertRegex(output, r"load requests +32 +-\n")
        self.assertIn("launched: nothing", self.run_program("--n=0"))

    def test_profile(self):
        lines = SOURCE.read_text().splitlines()
        number = next(i for i, line in enumerate(lines, 1) if "*>(x)[first]" in line)
        output = self.run_program("--profile")
        self.assertRegex(output, rf"32.0 +8,192 +16.00 +{number} +Pack pack = ")
        self.assertIn("No line is far from its ideal.", output)
        self.assertNotIn(" | ld.global", output)

    def test_profile_marks_what_is_far_from_the_ideal(self):
        output = self.run_program("--profile", "--offset=1", "--n=4096")
        self.assertRegex(output, r"5.00 +! +\d+ .*y\[i\] = rectify\(x\[i\]\);")
        self.assertRegex(output, r"! chapters/03_pack/relu.cu:\d+: sectors a load request: "
                                 r"5.00, ideally 4.00\n    > a warp's bytes")

    def test_instructions_below_each_line(self):
        output = self.run_program("--ptx")
        self.assertRegex(output, r"8,192  32.0 +\| ld.global.nc.v4.f32 \{")
        self.assertRegex(output, r"\| @%p\d+ bra ")
        self.assertIn("[param_0]", output)

    def test_wrong_code_is_not_counted(self):
        source = tree.REPOSITORY / "build/show/relu.race.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(RACE)
        program = counts.built(tree.REPOSITORY, source, ".run")
        run = subprocess.run([program], cwd=tree.REPOSITORY, text=True, capture_output=True)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout, r"\| 0 failed \|(?s:.*)Nothing is counted of wrong code. "
                                     r"The executor found:\n  race at \S*relu.race.cu:8\n")
        self.assertNotIn("load requests", run.stdout)

    def test_what_it_does_not_understand(self):
        for argument in ("--n=12x", "--n=-1", "--n=", "--record=", "--benchmark_filter=x"):
            with self.subTest(argument):
                output = self.run_program(argument, status=1)
                self.assertIn(f"does not understand {argument}. ", output)

    def test_nothing_is_counted(self):
        off = {"SIMT_COUNTERS": "off"}
        self.assertIn("SIMT_COUNTERS=off says so", self.run_program(**off))
        record = pathlib.Path(self.program).with_suffix(".never")
        self.run_program(f"--record={record}", status=1, **off)
        self.assertFalse(record.exists())


if __name__ == "__main__":
    unittest.main()
