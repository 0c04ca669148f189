"""What of tests/layout.py is no matter of one run over drifts/layout.tree."""

import subprocess

from tree import TreeTest

from form import sources

CU = "chapters/02_two/relu.cu"
HERE = "chapters/02_two/README.md"


class TestLayout(TreeTest):
    tool = tree = "layout"

    def test_untracked_files_of_a_git_repository_count_and_ignored_ones_do_not(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".gitignore", "build/\nrun\nlog\n")
        self.write("log", "x\n")
        self.assert_green()
        self.write("stray", "x\n")
        self.assert_red("stray does not belong")

    def test_chapter_folders(self):
        (self.root / "chapters/02_two").rename(self.root / "chapters/03_two")
        self.assert_red("chapters/03_two: numbers are consecutive, so this is 02")
        (self.root / "chapters/03_two").rename(self.root / "chapters/02-Two")
        self.assert_red("chapters/02-Two: name it NN_name")
        (self.root / "chapters/02-Two").rename(self.root / "chapters/02_two")
        (self.root / HERE).unlink()
        self.assert_red("chapters/02_two: chapter folder: has no README.md")
        (self.root / CU).unlink()
        self.write(HERE, "x")
        self.assert_red("chapters/02_two: chapter folder: has no <op>.cu")

    def test_many_changed_lines_are_noted(self):
        for name in (CU, CU.replace(".cu", ".exercise.cu")):
            more = "// A comment.\n" * 20 + "static_assert(true);\n" * 29
            self.edit(name, "}  // namespace\n", more + "}  // namespace\n")
        assert f"note  {CU}: 30 changed code lines, aim for 25" in self.run_tool()[1]
        self.assert_green()

    def test_one_machine(self):
        for text in ("/ho" + "me/me/x", "/wor" + "k/main", "(/tm" + "p/x)",
                     "https://py" + "pi.org/simple", "http://10." + "0.0.1/"):
            self.write("LICENSE", f"Free. {text}\n")
            self.assert_red("LICENSE: machine: line 1: ")
        self.write("LICENSE", "Free: build/tmp/x, $HOME/work/x and docs/work/.\n")
        self.assert_green()

    def test_fast_math(self):
        self.edit("Makefile", "g++", "g++ $(A) --use_fast" + "_math")
        self.assert_red("Makefile: fast math: ")


class TestChange:
    def test_a_line_replaced_counts_once_and_comments_do_not_count(self):
        before = ["int a;", "int b;  // b", "", "int c;"]
        after = ["int a;", "// new", "int d;  // d", "int c;", "int e;"]
        assert sources.changed_lines(before, after) == 2
