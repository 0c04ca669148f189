"""The Makefile's answers: what it can do, and what to do about a bad request."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = sorted(ROOT.glob("chapters/[0-9][0-9]_*/*.cu"))
NAMES = {f.parent.name[:2] + f.stem.removeprefix(f.name.split(".")[0]) for f in FILES}


def make(*arguments):
    """(exit status, all that it prints), on its own even below another make."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "BACKEND")}
    done = subprocess.run(["make", *arguments], cwd=ROOT, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


class MakeTest(unittest.TestCase):
    def assert_refuses(self, arguments, *words):
        status, output = make(*arguments)
        self.assertNotEqual(status, 0, output)
        for word in words:
            self.assertIn(word, output)

    def test_alone_prints_what_it_can_do(self):
        status, output = make()
        self.assertEqual(status, 0)
        for word in ("make run SRC=", "make doctor", *(f"    chapter{name}" for name in NAMES)):
            self.assertIn(word, output)
        self.assertLessEqual(max(map(len, output.splitlines())), 80)

    def test_no_such_chapter(self):
        for goal in ("chapter7", "chapter99", "chapter03.none", "diff7", "ptx99", "bench3"):
            self.assert_refuses([goal], f"There is no {goal}.", *(f"    chapter{n}" for n in NAMES))

    def test_no_such_backend(self):
        self.assert_refuses(["BACKEND=tpu", "chapter01"], "BACKEND=tpu is neither gpu nor cpu")

    def test_no_file(self):
        for goal in ("run", "program", "profile"):
            self.assert_refuses([goal], f"make {goal} SRC=")
            for name in ("none.cu", "README.md"):
                self.assert_refuses([goal, f"SRC={name}"], "there is no such .cu", name)

    def test_no_such_contract(self):
        with tempfile.NamedTemporaryFile(prefix="nonsense.", suffix=".cu") as file:
            self.assert_refuses(["run", f"SRC={file.name}"], "'nonsense'", "The contracts are: ", "relu",
                                "make program")

    def test_each_file_has_its_targets(self):
        self.assertTrue(FILES)
        goals = (f"{goal}{name}" for goal in ("chapter", "ptx") for name in sorted(NAMES))
        status, output = make("-n", "BACKEND=cpu", *goals)
        self.assertEqual(status, 0, output)

    def test_the_first_build_says_that_it_takes_long(self):
        with tempfile.TemporaryDirectory() as nothing:
            for goal, long in (("chapter01", True), ("ptx01", False)):
                status, said = make("-n", goal, "BACKEND=cpu", f"B={nothing}")
                self.assertEqual(status, 0, said)
                self.assertEqual("executor: that takes a minute or more.\n" in said, long, said)
                self.assertLessEqual(said.find("The first build"), said.find("nvcc"))
        self.assertNotIn("a minute", make("-n", "chapter01", "BACKEND=cpu")[1])

    def test_lines_are_not_counted_on_a_gpu(self):
        self.assert_refuses(["-n", "profile", "BACKEND=gpu", f"SRC={FILES[0]}"], "add BACKEND=cpu")

    def test_diff(self):
        self.assertIn("is the first relu.cu", make("diff01")[1])
        status, output = make("diff02")
        self.assertEqual(status, 0)
        self.assertIn("+// Chapter 02", output)
        self.assertIn("-// Chapter 01", output)


KERNEL = """
#include <cstdio>
#include "own.h"
int twice(int);
__global__ void mark_kernel(int* x) { *x = N; }  // N is not in any file
__global__ void wrong_kernel(int* x) { x[1] = 0; }
int main(int argc, char** argv) {
  int* x;
  cudaMallocManaged(&x, sizeof *x);
  mark_kernel<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  std::printf("%d %d %ld", twice(*x), OWN, __cplusplus);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  if (argc == 1) wrong_kernel<<<1, 1>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""

STRIDED = """
#include <cstdio>
__global__ void strided_kernel(const float* x, float* y) {
  __shared__ float tile[1024];
  tile[32 * threadIdx.x] = x[8 * threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = tile[32 * threadIdx.x];
}
__global__ void a_kernel_with_quite_a_long_name(float* y) {
  *y = threadIdx.x;
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 1024);
  cudaMalloc(&y, 1024);
  cudaMemset(x, 0, 1024);
  for (int k = 0; k < 2; ++k) {
    strided_kernel<<<1, 32>>>(x, y);
    a_kernel_with_quite_a_long_name<<<1, 32>>>(y);
  }
  std::printf("done");
  return cudaDeviceSynchronize();
}
"""


class ProgramTest(unittest.TestCase):
    """`make program` of sources anywhere, and the ./run that it leaves."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b:c (")  # No Makefile could name it in a rule.
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source = self.folder / "my main.cu"
        self.source.write_text(KERNEL)
        (self.folder / "own.h").write_text("#define OWN 5\n")
        (self.folder / "twice.cpp").write_text("int twice(int x) { return 2 * x; }\n")
        run = ROOT / "run"
        if run.is_symlink() or run.exists():  # What somebody works with.
            kept = shutil.copy2(run, self.folder / "run", follow_symlinks=False)
            self.addCleanup(shutil.copy2, kept, run, follow_symlinks=False)
        self.addCleanup(run.unlink, missing_ok=True)

    def program(self, *arguments, sources=("my main.cu", "twice.cpp")):
        names = " ".join(f"'{self.folder / name}'" for name in sources)
        return make("program", "BACKEND=cpu", f"SRC={names}", *arguments)

    def run_it(self, *arguments):
        done = subprocess.run([ROOT / "run", *arguments], text=True, capture_output=True, cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def test_files_flags_and_arguments(self):
        status, said = self.program("FLAGS=-DN=3 -O0", "ARGS=64 'two words'")
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count("nvcc "), 2, said)
        self.assertNotIn("g++", said, "the library was built again")
        self.assertEqual(self.run_it()[:2], (0, "6 5 201703 [64] [two words]"))
        self.assertEqual(self.run_it("other")[:2], (0, "6 5 201703 [other]"))

        (self.folder / "own.h").write_text("#define OWN 7\n")
        status, said = self.program("FLAGS=-DN=3 -O0")
        self.assertEqual((status, said.count("nvcc ")), (0, 1), said)  # The one that includes it.
        status, said = self.program("FLAGS=-DN=3 -O0")
        self.assertEqual((status, said.count("nvcc "), said.count("link ")), (0, 0, 0), said)
        status, printed, told = self.run_it()
        self.assertEqual((status, printed), (1, "6 7 201703"))
        self.assertIn("at my main.cu:6,", told)  # The name is the user's own, as it is seen from there.
        self.assertTrue(told.endswith("\nFAILED: out of bounds in wrong_kernel at my main.cu:6\n"), told)

        status, said = self.program("FLAGS=-DN=4", "STD=20")
        self.assertEqual((status, said.count("nvcc "), "g++" in said), (0, 2, False), said)
        self.assertEqual(self.run_it("x")[:2], (0, "8 7 202002 [x]"))

    def test_it_ends_with_one_line_per_kernel(self):
        (self.folder / "my main.cu").write_text(STRIDED)
        self.assertEqual(self.program(sources=("my main.cu",))[0], 0)
        status, printed, told = self.run_it()
        self.assertEqual((status, printed), (1, "done"))
        self.assertRegex(told, r"\nkernel +launches +requests +sectors conflicts +lanes +findings\n"
                               r"strided_kernel +2 +4 +18.00 +124 +32.0 +none\n"
                               r"a_kernel_with_quite_a_long_name\n +2 +2 +1.00 +0 +32.0 +race\n")
        self.assertIn("The whole report: SIMT_REPORT=report.json ./run\n", told)
        self.assertTrue(told.endswith("\nFAILED: race in a_kernel_with_quite_a_long_name at my main.cu:10\n"), told)
        self.assertLessEqual(max(map(len, told.split("\nkernel ")[1].splitlines())), 80)

        report = self.folder / "report.json"
        with unittest.mock.patch.dict(os.environ, SIMT_REPORT=str(report)):
            self.assertIn(f"The whole report is {report}.\n", self.run_it()[2])
        with unittest.mock.patch.dict(os.environ, SIMT_COUNTERS="off"):
            self.assertNotIn("kernel  ", self.run_it()[2])
        (self.folder / "my main.cu").write_text("int main() {}\n")
        self.assertEqual(self.program(sources=("my main.cu",))[0], 0)
        self.assertIn("No kernel was launched", self.run_it()[2])

    def test_profile_of_a_program(self):
        (self.folder / "my main.cu").write_text(STRIDED)
        status, said = make("profile", "BACKEND=cpu", f"SRC={self.source}", "PTX=1")
        self.assertNotEqual(status, 0)  # Of the program: it has a race.
        worst, listing = said.split("What deserves attention, the worst line first:\n")[1].split("\n\n", 1)
        self.assertTrue(worst.startswith(f"! {self.source}:5\n  bank conflicts of shared stores: 62, ideally 0\n"))
        self.assertIn("\n  sectors per load request: 32.00, ideally 4.00\n", worst.split("!")[1])
        self.assertRegex(listing, r"(?m)^ +\d+ +32.0 +2 +32.00 .*!   5    tile\[")
        self.assertIn(" | ld.global", listing)
        self.assertNotIn("launches", listing)

    def test_profile_of_what_fulfils_a_contract(self):
        status, said = make("profile", "BACKEND=cpu", "SRC=tests/parity/../../chapters/01_one_thread_each/relu.cu")
        self.assertEqual(status, 0, said)
        self.assertIn("\nLine by line, n = 1,048,576.\nNo line is far from its ideal.\n", said)

    def test_a_main_of_its_own_makes_it_a_program(self):
        source = self.folder.parent / f"relu.{os.getpid()}.cu"
        source.write_text("int main() {}\n")
        self.addCleanup(source.unlink)
        status, said = make("profile", "BACKEND=cpu", f"SRC={source}")
        self.assertEqual(status, 0, said)
        self.assertIn("No kernel was launched", said)

    def test_what_cannot_be_linked_is_explained(self):
        (self.folder / "twice.cpp").write_text(
            "extern \"C\" int cublasCreate_v2(void**);\n"
            "extern \"C\" int cuInit(unsigned);\n"
            "int main() { return cublasCreate_v2(nullptr) + cuInit(0); }\n")
        status, said = self.program("FLAGS=-lcublas", sources=("twice.cpp",))
        self.assertNotEqual(status, 0)
        self.assertIn("The program uses cuBLAS, which needs a GPU.", said)
        self.assertIn("The program uses the CUDA driver API", said)
        (self.folder / "twice.cpp").write_text("int twice(int x) { return 2 * x; }\n")
        self.assertIn("The program has no main function", self.program(sources=("twice.cpp",))[1])

    def test_flags_that_make_no_sense(self):
        for flag, why in (("-rdc=true", "linked from several files"), ("-arch=sm_80", "leave -arch=sm_80 out")):
            status, said = self.program(f"FLAGS={flag}")
            self.assertNotEqual(status, 0)
            self.assertIn(why, said)

    def test_a_file_alone_needs_no_quotes(self):
        (self.folder / "my main.cu").write_text("int main() { return 3; }\n")
        status, said = make("program", "BACKEND=cpu", f"SRC={self.source}")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.run_it()[0], 3)


if __name__ == "__main__":
    unittest.main()
