"""./run without a GPU, as a student sees it: chapter 03's own program."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import struct
import termios

import pytest
import tree

from harness import built
from ladder import counts

SOURCE = tree.REPOSITORY / "chapters/03_pack/relu.cu"

RACE = (tree.REPOSITORY / "tests/python/programs/race.cu").read_text()


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


class TestShow:
    program, usual = None, ""

    @pytest.fixture(autouse=True)
    def built(self):
        self.program = counts.built(tree.REPOSITORY, SOURCE, ".run")
        counts.built(tree.REPOSITORY, SOURCE, ".before")
        TestShow.usual = self.usual or self.run_program()

    def run_program(self, *arguments, status=0, **environment):
        run = built.told([self.program, *arguments], cwd=tree.REPOSITORY, env=os.environ | environment)
        assert run.returncode == status, run.stdout
        return run.stdout.replace(str(self.program), "./run")

    def test_each_check_is_named(self):
        output = self.usual
        assert re.search(r"^Running on .*\n14 checks passed:\n  relu handles every length\n", output)
        assert ("\n  relu never writes to its input\n"
                "1 check skipped:\n"
                "  relu handles more than 2^31 elements: it takes a GPU\n") in output

    def test_what_deserves_attention_comes_before_the_table(self):
        output = self.usual
        attention, table = output.split("\nn = 1,048,576\n")
        assert ("What deserves attention, n = 1,048,576, one element off:\n"
                "  sectors per load request: 5.00, ideally 4.00\n"
                "    A warp's bytes reach into one sector more") in attention
        assert "A warp's bytes" not in table
        assert "\nNo counter is far from its ideal.\n" in self.run_program("--n=1024")

    def test_counters_run_from_the_chapter_before_to_this_one(self):
        _, aligned, misaligned = re.split(r"\n\nn = ", self.usual)
        assert re.search(r"^1,048,576\n +02_grid_stride +03_pack +ideal\n", aligned)
        assert re.search(r"\n  load requests +32,768 +8,192\n  sectors", aligned)
        assert re.search(r"\n  sectors per load request +4.00 +16.00 +16.00\n", aligned)
        assert "launched: relu_kernel, 1,024 blocks of 256 threads" in aligned
        assert "shared" not in aligned
        assert re.search(r"sectors per load request +5.00 +5.00 +4.00\n", misaligned)

    def test_each_request_has_an_ideal_of_its_own(self):
        """A warp reads 32 floats in one request, and a word in the next: an eighth of a sector."""
        mask = counts.built(tree.REPOSITORY, tree.REPOSITORY / "chapters/05_bitmask/relu_mask.cu", ".run")
        self.program = mask
        output = self.run_program("--n=4096")
        assert re.search(r"\n  sectors per load request .* 3.00 +3.00\n", output)
        assert "A warp's bytes" not in output

    def test_ncu_names_are_shown_on_request(self):
        assert "l1tex__" not in self.usual
        assert re.search(r"\n  load requests .*\n +l1tex__t_requests_\S+ld.sum\n", self.run_program(NCU="1"))

    def test_a_screen_of_80_columns_is_wide_enough(self):
        arguments = "--profile", "--offset=1", "--n=4096"
        for output in self.usual, self.run_program(*arguments).split("instr")[0]:
            assert max(map(len, output.splitlines())) <= 80, output

    def test_it_never_tells_a_time(self):
        assert not re.search(r"\b(?:ns|us|ms|GB/s|occupancy)\b", self.usual)

    def test_it_says_the_same_each_time(self):
        assert self.usual == self.run_program(SIMT_THREADS="3")

    def test_any_size(self):
        output = self.run_program("--n=1000", "--offset=3")
        assert "n = 1,000, 3 elements off" in output
        assert re.search(r"load requests +- +32\n", output)
        assert "launched: nothing" in self.run_program("--n=0")

    def test_profile(self):
        lines = SOURCE.read_text().splitlines()
        number = next(i for i, line in enumerate(lines, 1) if "*>(x)[first]" in line)
        output = self.run_program("--profile")
        assert re.search(rf"32.0 +8,192 +16.00 +{number} +Pack pack = ", output)
        assert "\nLine by line, n = 1,048,576.\nNo line is far from its ideal.\n" in output
        assert " | ld.global" not in output

    def test_profile_marks_what_is_far_from_the_ideal(self):
        output = self.run_program("--profile", "--offset=1", "--n=4096")
        assert re.search(r"5.00 +! +\d+ .*y\[i\] = rectify\(x\[i\]\);", output)
        worst, listing = re.split(r"\n\n +instr", output)
        assert re.search(r"the worst line first:\n! chapters/03_pack/relu.cu:\d+\n"
                         r"  sectors per load request: 5.00, ideally 4.00\n"
                         r"    A warp's bytes(?s:.*)\n  sectors per store request", worst)
        assert worst.count("! chapters") == 1
        assert "A short if becomes predicates" in listing

    def test_instructions_below_each_line(self):
        output = self.run_program("--ptx")
        assert re.search(r"8,192  32.0 +\| ld.global.nc.v4.f32 \{", output)
        assert re.search(r"\| @%p\d+ bra ", output)
        assert "[param_0]" in output

    def build(self, name, text):
        source = built.write(tree.REPOSITORY / f"build/show/{name}.cu", text)
        return counts.built(tree.REPOSITORY, source, ".run")

    def test_the_last_line_names_what_only_the_executor_found(self):
        self.program = self.build("relu.race", RACE)
        output = self.run_program(status=1)
        assert "\n14 checks passed:\n" in output
        assert "load requests" not in output
        assert re.search(r"simt: race: .*\n(?s:.*)\nEvery check passed, but ", output)
        assert max(map(len, output.splitlines())) > 120  # A message is one line, for grep.
        assert output.splitlines()[-1] == "FAILED: race in relu_kernel at build/show/relu.race.cu:9"

        output = self.run_program("--test-case=*NaN*", status=1)
        assert output.splitlines()[-1] == "FAILED: race in relu_kernel at build/show/relu.race.cu:9"

    def test_what_only_the_counted_calls_do_wrong(self):
        self.program = self.build("relu.late_race", RACE.replace("last = x[i];", "if (n == 1 << 20) last = x[i];"))
        output = self.run_program(status=1)
        assert output.index("\n14 checks passed:\n") < output.index("\nsimt: race: ")
        assert output.splitlines()[-1].startswith("FAILED: race in relu_kernel"), output

    def test_the_first_failure_comes_first(self):
        self.program = self.build("relu.tail", SOURCE.read_text().replace("if (i < n)", "if (i < n - 1)"))
        output = self.run_program(status=1)
        assert re.search(r"^Running on .*\n\nFAILED: relu handles every length\n"
                         r"  n = 1: 1 wrong\n"
                         r"    y\[0\] expected .*, got .*\n"
                         r"  \(tests/relu_test.cpp:\d+\)\n\n"
                         r"\d+ of 14 checks failed, these too:\n  relu ", output)
        assert output.count("expected") == 1
        assert output.endswith("\nAll that they say:\n  ./run --dt-reporters=console\n"), output
        output = self.run_program("--dt-reporters=console", status=1)
        assert output.count("expected") > 5

    def test_the_executor_has_no_word_after_the_verdict(self):
        self.program = self.build("relu.wrong_race", RACE.replace("y[i] = x[i] <= 0.f ? 0.f : x[i]", "y[i] = last"))
        output = self.run_program(status=1)
        told, verdict = output.split(" of 14 checks failed")
        assert re.search(r"\nsimt: race at build/show/relu.wrong_race.cu:9 in relu_kernel: in \d+ launches", told)
        assert "simt:" not in verdict

    def test_on_a_screen_no_line_is_broken_within_a_word(self):
        self.program = self.build("relu.race", RACE)
        race, profile = on_screen(self.program), on_screen(self.build("relu.copy", SOURCE.read_text()), "--profile")
        assert "write of 4 bytes, and nothing orders it and the write by thread\n    (0,0,0) at build/" in race
        assert race.endswith("\nFAILED: race in relu_kernel at build/show/relu.race.cu:9\n"), race
        assert re.search(r"\n.{72,}\n", profile)
        for line in (race + profile).splitlines():
            assert len(line) <= 80

    def test_a_check_that_ends_the_program_is_named(self):
        self.program = self.build("relu.bounds", SOURCE.read_text().replace("if (i < n)", "if (i < n + 2)"))
        output = self.run_program(status=1)
        assert re.search(r"simt: out of bounds: .*\n  in relu_kernel at build/show/relu.bounds.cu:", output)
        assert output.endswith("\nFAILED: relu handles every length\n"
                               "  It ended here, because no CUDA error can be mended. The checks after it did\n"
                               "  not run.\n"), output
        output = self.run_program("--dt-reporters=console", status=1)
        assert "\nTEST CASE:  relu handles every length\n\nERROR: it ended here" in output

    def test_help_lists_our_options(self):
        output = self.run_program("--help")
        for option in ("--n=N", "--profile", "--record=", "NCU=1", "--test-case=", "--dt-help"):
            assert f"\n  {option}" in output
        assert max(map(len, output.splitlines())) <= 80
        assert "ALL FLAGS" in self.run_program("--dt-help")

    def test_what_was_checked_before_is_only_counted(self):
        checked, counted = self.run_program("--n=1024"), self.run_program("--n=1024", "--checked")
        assert "checks passed" in checked
        assert "checks passed" not in counted
        assert checked.endswith(counted.partition("\n")[2])

    def test_a_filter_that_matches_nothing_fails_at_once(self):
        assert re.search(r"^Running .*\nNo check has such a name: ", self.run_program("--test-case=none", status=1))

    def test_what_it_does_not_understand(self):
        for argument in ("--n=12x", "--n=-1", "--n=", "--record=", "--benchmark_filter=x", "--tset-case=x"):
            assert self.run_program(argument, status=1) == (f"./run does not understand {argument}. "
                                                            "It takes what ./run --help lists.\n")

    def test_nothing_is_counted(self):
        off = {"SIMT_COUNTERS": "off"}
        assert "SIMT_COUNTERS=off says so" in self.run_program(**off)
        record = pathlib.Path(self.program).with_suffix(".never")
        self.run_program(f"--record={record}", status=1, **off)
        assert not record.exists()
