"""./run without a GPU, as a student sees it: chapter 03's own program."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import unittest
import tree

from ladder import counts

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


def on_screen(*command):
    """What a terminal of 80 columns gets to show."""
    child, screen = pty.fork()
    if child == 0:
        os.chdir(tree.REPOSITORY)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execv(command[0], list(map(str, command)))
    said = b""
    with contextlib.suppress(OSError):  # It has ended.
        while part := os.read(screen, 65536):
            said += part
    os.waitpid(child, 0)
    return said.decode().replace("\r\n", "\n").replace(str(command[0]), "./run")


class Show(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = counts.built(tree.REPOSITORY, SOURCE, ".run")
        counts.built(tree.REPOSITORY, SOURCE, ".before")
        cls.usual = cls().run_program()

    def run_program(self, *arguments, status=0, **environment):
        run = subprocess.run([self.program, *arguments], cwd=tree.REPOSITORY, text=True, env=os.environ | environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout.replace(str(self.program), "./run")

    def test_each_check_is_named(self):
        output = self.usual
        self.assertRegex(output, r"^Running on .*\n14 checks passed:\n  relu handles every length\n")
        self.assertIn("\n  relu never writes to its input\n"
                      "1 check skipped:\n"
                      "  relu handles more than 2^31 elements: it takes a GPU\n", output)

    def test_what_deserves_attention_comes_before_the_table(self):
        output = self.usual
        attention, table = output.split("\nn = 1,048,576\n")
        self.assertIn("What deserves attention, n = 1,048,576, one element off:\n"
                      "  sectors per load request: 5.00, ideally 4.00\n"
                      "    A warp's bytes reach into one sector more", attention)
        self.assertNotIn("A warp's bytes", table)
        self.assertIn("\nNo counter is far from its ideal.\n", self.run_program("--n=1024"))

    def test_counters_run_from_the_chapter_before_to_this_one(self):
        _, aligned, misaligned = re.split(r"\n\nn = ", self.usual)
        self.assertRegex(aligned, r"^1,048,576\n +02_grid_stride +03_pack +ideal\n")
        self.assertRegex(aligned, r"\n  load requests +32,768 +8,192\n  sectors")
        self.assertRegex(aligned, r"\n  sectors per load request +4.00 +16.00 +16.00\n")
        self.assertIn("launched: relu_kernel, 1,024 blocks of 256 threads", aligned)
        self.assertNotIn("shared", aligned)
        self.assertRegex(misaligned, r"sectors per load request +5.00 +5.00 +4.00\n")

    def test_each_request_has_an_ideal_of_its_own(self):
        """A warp reads 32 floats in one request, and a word in the next: an eighth of a sector."""
        mask = counts.built(tree.REPOSITORY, tree.REPOSITORY / "chapters/05_bitmask/relu_mask.cu", ".run")
        self.program = mask
        output = self.run_program("--n=4096")
        self.assertRegex(output, r"\n  sectors per load request .* 3.00 +3.00\n")
        self.assertNotIn("A warp's bytes", output)

    def test_ncu_names_are_shown_on_request(self):
        self.assertNotIn("l1tex__", self.usual)
        self.assertRegex(self.run_program(NCU="1"),
                         r"\n  load requests .*\n +l1tex__t_requests_\S+ld.sum\n")

    def test_a_screen_of_80_columns_is_wide_enough(self):
        arguments = "--profile", "--offset=1", "--n=4096"
        for output in self.usual, self.run_program(*arguments).split("instr")[0]:
            self.assertLessEqual(max(map(len, output.splitlines())), 80, output)

    def test_it_never_tells_a_time(self):
        self.assertNotRegex(self.usual, r"\b(?:ns|us|ms|GB/s|occupancy)\b")

    def test_it_says_the_same_each_time(self):
        self.assertEqual(self.usual, self.run_program(SIMT_THREADS="3"))

    def test_any_size(self):
        output = self.run_program("--n=1000", "--offset=3")
        self.assertIn("n = 1,000, 3 elements off", output)
        self.assertRegex(output, r"load requests +- +32\n")
        self.assertIn("launched: nothing", self.run_program("--n=0"))

    def test_profile(self):
        lines = SOURCE.read_text().splitlines()
        number = next(i for i, line in enumerate(lines, 1) if "*>(x)[first]" in line)
        output = self.run_program("--profile")
        self.assertRegex(output, rf"32.0 +8,192 +16.00 +{number} +Pack pack = ")
        self.assertIn("\nLine by line, n = 1,048,576.\nNo line is far from its ideal.\n", output)
        self.assertNotIn(" | ld.global", output)

    def test_profile_marks_what_is_far_from_the_ideal(self):
        output = self.run_program("--profile", "--offset=1", "--n=4096")
        self.assertRegex(output, r"5.00 +! +\d+ .*y\[i\] = rectify\(x\[i\]\);")
        worst, listing = re.split(r"\n\n +instr", output)
        self.assertRegex(worst, r"the worst line first:\n! chapters/03_pack/relu.cu:\d+\n"
                                r"  sectors per load request: 5.00, ideally 4.00\n"
                                r"    A warp's bytes(?s:.*)\n  sectors per store request")
        self.assertEqual(worst.count("! chapters"), 1)
        self.assertIn("A short if becomes predicates", listing)

    def test_instructions_below_each_line(self):
        output = self.run_program("--ptx")
        self.assertRegex(output, r"8,192  32.0 +\| ld.global.nc.v4.f32 \{")
        self.assertRegex(output, r"\| @%p\d+ bra ")
        self.assertIn("[param_0]", output)

    def build(self, name, text):
        source = tree.REPOSITORY / f"build/show/{name}.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        if not source.is_file() or source.read_text() != text:
            source.write_text(text)
        return counts.built(tree.REPOSITORY, source, ".run")

    def test_the_last_line_names_what_only_the_executor_found(self):
        self.program = self.build("relu.race", RACE)
        output = self.run_program(status=1)
        self.assertIn("\n14 checks passed:\n", output)
        self.assertNotIn("load requests", output)
        self.assertRegex(output, r"simt: race: .*\n(?s:.*)\nEvery check passed, but ")
        self.assertGreater(max(map(len, output.splitlines())), 120)  # A message is one line, for grep.
        self.assertEqual(output.splitlines()[-1], "FAILED: race in relu_kernel at build/show/relu.race.cu:8")

        output = self.run_program("--test-case=*NaN*", status=1)
        self.assertEqual(output.splitlines()[-1], "FAILED: race in relu_kernel at build/show/relu.race.cu:8")

    def test_what_only_the_counted_calls_do_wrong(self):
        self.program = self.build("relu.late_race", RACE.replace("last = x[i];", "if (n == 1 << 20) last = x[i];"))
        output = self.run_program(status=1)
        self.assertLess(output.index("\n14 checks passed:\n"), output.index("\nsimt: race: "))
        self.assertTrue(output.splitlines()[-1].startswith("FAILED: race in relu_kernel"), output)

    def test_the_first_failure_comes_first(self):
        self.program = self.build("relu.tail", SOURCE.read_text().replace("if (i < n)", "if (i < n - 1)"))
        output = self.run_program(status=1)
        self.assertRegex(output, r"^Running on .*\n\nFAILED: relu handles every length\n"
                                 r"  n = 1: 1 wrong\n"
                                 r"    y\[0\] expected .*, got .*\n"
                                 r"  \(tests/relu_test.cpp:\d+\)\n\n"
                                 r"\d+ of 14 checks failed, these too:\n  relu ")
        self.assertEqual(output.count("expected"), 1)
        self.assertTrue(output.endswith("\nAll that they say:\n  ./run --dt-reporters=console\n"), output)
        output = self.run_program("--dt-reporters=console", status=1)
        self.assertGreater(output.count("expected"), 5)

    def test_the_executor_has_no_word_after_the_verdict(self):
        self.program = self.build("relu.wrong_race", RACE.replace("y[i] = x[i] <= 0.f ? 0.f : x[i]", "y[i] = last"))
        output = self.run_program(status=1)
        told, verdict = output.split(" of 14 checks failed")
        self.assertRegex(told, r"\nsimt: race at build/show/relu.wrong_race.cu:8 in relu_kernel: in \d+ launches")
        self.assertNotIn("simt:", verdict)

    def test_on_a_screen_no_line_is_broken_within_a_word(self):
        self.program = self.build("relu.race", RACE)
        race, profile = on_screen(self.program), on_screen(self.build("relu.copy", SOURCE.read_text()), "--profile")
        self.assertIn("write of 4 bytes, and nothing orders it and the write by thread\n    (0,0,0) at build/", race)
        self.assertTrue(race.endswith("\nFAILED: race in relu_kernel at build/show/relu.race.cu:8\n"), race)
        self.assertRegex(profile, r"\n.{72,}\n")
        for line in (race + profile).splitlines():
            self.assertLessEqual(len(line), 80)

    def test_a_check_that_ends_the_program_is_named(self):
        self.program = self.build("relu.bounds", SOURCE.read_text().replace("if (i < n)", "if (i < n + 2)"))
        output = self.run_program(status=1)
        self.assertRegex(output, r"simt: out of bounds: .*\n  in relu_kernel at build/show/relu.bounds.cu:")
        self.assertTrue(output.endswith("\nFAILED: relu handles every length\n"
                                        "  It ended here, because no CUDA error can be mended. The checks after it did\n"
                                        "  not run.\n"), output)
        output = self.run_program("--dt-reporters=console", status=1)
        self.assertIn("\nTEST CASE:  relu handles every length\n\nERROR: it ended here", output)

    def test_help_lists_our_options(self):
        output = self.run_program("--help")
        for option in ("--n=N", "--profile", "--record=", "NCU=1", "--test-case=", "--dt-help"):
            self.assertIn(f"\n  {option}", output)
        self.assertLessEqual(max(map(len, output.splitlines())), 80)
        self.assertIn("ALL FLAGS", self.run_program("--dt-help"))

    def test_what_was_checked_before_is_only_counted(self):
        checked, counted = self.run_program("--n=1024"), self.run_program("--n=1024", "--checked")
        self.assertIn("checks passed", checked)
        self.assertNotIn("checks passed", counted)
        self.assertTrue(checked.endswith(counted.partition("\n")[2]))

    def test_a_filter_that_matches_nothing_fails_at_once(self):
        self.assertRegex(self.run_program("--test-case=none", status=1), r"^Running .*\nNo check has such a name: ")

    def test_what_it_does_not_understand(self):
        for argument in ("--n=12x", "--n=-1", "--n=", "--record=", "--benchmark_filter=x", "--tset-case=x"):
            with self.subTest(argument):  # Before any check is run.
                self.assertEqual(self.run_program(argument, status=1), f"./run does not understand {argument}. "
                                 "It takes what ./run --help lists.\n")

    def test_nothing_is_counted(self):
        off = {"SIMT_COUNTERS": "off"}
        self.assertIn("SIMT_COUNTERS=off says so", self.run_program(**off))
        record = pathlib.Path(self.program).with_suffix(".never")
        self.run_program(f"--record={record}", status=1, **off)
        self.assertFalse(record.exists())
