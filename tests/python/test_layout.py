"""tests/layout.py has been seen to fail on every kind of disorder."""

import shutil
import subprocess
import unittest

from tree import TreeTest

from form import sources

MAKEFILE = """\
chapter01 chapter02:
build/cpu/%.o: %.cu
	@mkdir -p $(@D)
	@g++ -I. -D__global__= -D__device__= -x c++ -c $< -o $@
"""

SOURCE = """\
// Chapter {number}: a test.
//
// New:   one sentence that goes
//        on for two lines.
// Why:   a mechanism.
// Price: what it costs.

#include "common/relu.h"

namespace {{

constexpr int kBlock = {number};

__global__ void relu_kernel(const float* x, float* y) {{ y[0] = x[kBlock]; }}

}}  // namespace

void relu(const float* x, float* y) {{ relu_kernel(x, y); }}
"""

PAGE = """\
# {number} · The title

Some words. **Why is it so?**

The **{term}** in one sentence.

`make chapter{number} && ./run`

## The change

<!-- {change} -->
<!-- end -->

Each thread has one.

<!-- figure b -->
![A figure](../../plots/figures/a.svg)
<!-- end -->

## Why it works

See [the style](../../docs/style.md#one-word) and [below](#break-it), or
[elsewhere](https://example.org/page). Every [grid](../../docs/terms.md#grid) ends.

{filler}

## Predict

How many are there?

<details><summary>Answer</summary>

There are <!-- value a -->4<!-- end -->.

</details>

And how many here?

<details><summary>Answer</summary>

As many. <!-- count relu.cu n=1: 4 loads -->

</details>

## What happened

It reaches <!-- value a -->4.2 TB/s<!-- end --> here, a 16-byte load of 128 bytes.

<!-- table a -->
| GB/s |
|---|
| 4277 GB/s |
<!-- end -->
<!-- figure a -->
![A figure](../../plots/figures/a.svg)
<!-- end -->

## Where the time goes

It waits.

## Break it

- Drop the tail.
  <!-- break relu.cu: 'a' -> 'b'; red: x -->
  <!-- end -->
- Drop the head.
  <!-- break relu.cu: 'a' -> 'b'; red: x -->
  <!-- end -->

## Your turn

Write one.

## Read along

A book.
"""
FILLER = "These are seven words and no more.\n" * 95

ERRATA = """\
# Errata

| The text | What is true | Done right in | Shown by |
|---|---|---|---|
| Any n. | Full tiles. | [02](../chapters/02_two/README.md) | [relu.tail.cu](../tests/wrong/relu.tail.cu), [`any n`](../tests/relu_test.cpp) |
| Two GPUs. | The sum, twice. | nowhere | read, not shown |
"""

TERMS = """\
# Terms

<!-- terms -->
### grid

### pack
<!-- end -->

### cache

A small memory.

## More

### host

It calls.
"""

CU = "chapters/02_two/relu.cu"
HERE = "chapters/02_two/README.md"
LOW, HIGH = "common/simt/core/warp.h", "common/simt/runtime/launch.cpp"


DEVICE = "// .multiprocessors = 132, .threads_per_multiprocessor = 2048\n"


class Layout(TreeTest):
    tool = "layout"

    def setUp(self):
        super().setUp()
        self.write("Makefile", MAKEFILE)
        self.write("LICENSE", "Free.\n")
        self.write("README.md", "# Readme\n")
        self.write("docs/style.md", "# Style\n\n## One word\n")
        self.write("docs/errata.md", ERRATA)
        self.write("docs/terms.md", TERMS)
        self.write("plots/figures/a.svg", "<svg/>\n")
        self.write("plots/relu_bench.cpp", "int bench;\n")
        self.write("tests/relu_test.cpp", "int test;  // any n\n")
        self.write("tests/wrong/relu.tail.cu", "int wrong;\n")
        self.write(
            "common/relu.h", "// A contract.\nvoid relu(const float* x, float* y);\n"
        )
        self.write("common/grid.h", "// Built in chapter 02.\n")
        self.write(LOW, "// Registers.\n#include <vector>\n")
        self.write(HIGH, '// Launches.\n#include "common/simt/core/warp.h"\n')
        self.write("common/harness/bench.h", "// How a chapter is timed.\n")
        self.write("common/simt/core/device.cpp", DEVICE)
        self.write("common/setup/ensure.sh", "fail 'g++ 11 or newer is needed'\n")
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("chapters/01_one/relu.cu", SOURCE.format(number="01"))
        self.write(
            "chapters/01_one/README.md",
            PAGE.format(number="01", term="grid", change="code relu.cu", filler=FILLER),
        )
        self.write(CU, SOURCE.format(number="02"))
        self.write(
            HERE,
            PAGE.format(number="02", term="pack", change="diff ../01_one relu.cu", filler=FILLER),
        )

    def red_after(self, name, old, new, *messages):
        before = self.read(name)
        self.edit(name, old, new)
        try:
            self.assert_red(*messages)
        finally:
            self.write(name, before)

    def test_a_good_tree(self):
        self.assert_green()

    def test_top_level(self):
        self.write("scripts/go.sh", "true\n")
        self.assert_red("top level: scripts does not belong at the top")
        shutil.rmtree(self.root / "scripts")
        (self.root / "LICENSE").unlink()
        self.assert_red("top level: LICENSE is missing")

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

    def test_contracts(self):
        for name in ("tests/relu_test.cpp", "plots/relu_bench.cpp", "common/relu.h"):
            text = self.read(name)
            (self.root / name).unlink()
            self.assert_red(
                f"{CU}: contract: fulfils the contract 'relu', which has no {name}"
            )
            self.write(name, text)
        self.write("tests/wrong/gelu.tail.cu", "\n")
        self.assert_red(
            "tests/wrong/gelu.tail.cu: wrong kernel: there is no contract common/gelu.h"
        )
        (self.root / "tests/wrong/gelu.tail.cu").unlink()
        header = self.read("common/relu.h")
        self.write("common/relu.h", header + "constexpr int words(int n) { return n; }\n")
        self.assert_green()  # What the contract defines itself is nobody's to define.

    def test_header(self):
        for old, new, message in [
            ("// Chapter 02", "// Chapter 03", "begins '// Chapter 02'"),
            ("// Why:", "// How:", "labels are New, Why, Price; found New, How, Price"),
            ("// Price: what it costs.\n", "", "found New, Why"),
            ("// Price: ", "// Note:  a thing.\n// Price: ", "found New, Why, Note, Price"),
            ("two lines.", "two lines. Or two.", "New is one sentence"),
            ("a mechanism.", "it is 5 % faster.", "'5 % faster' is a measurement"),
        ]:
            with self.subTest(new):
                self.red_after(CU, old, new, f"{CU}: header: ", message)

    def test_source_size(self):
        self.red_after(
            CU,
            "}  // namespace",
            "// long\n" * 70 + "}  // namespace",
            "size: 88 lines, at most 80",
        )
        self.red_after(
            CU,
            "// Price: what",
            "// Price: what " + "x" * 60,
            "line 6 has ",
            "columns, at most 80",
        )

    def test_vocabulary(self):
        for name in ("tid", "idx", "g_idata", "sdata"):
            self.red_after(
                CU, "x[kBlock]", f"x[{name}]", f"'{name}' is not in the vocabulary"
            )
        self.edit(CU, "// Price: what", "// Price: tid what")
        self.assert_green()

    def test_symbols(self):
        self.red_after(
            CU,
            "}  // namespace\n",
            "}  // namespace\n\nint extra() { return 1; }\n",
            "symbols: line 18: 'extra' belongs in the anonymous namespace",
            "exports extra, relu; its contract is relu",
        )
        self.red_after(
            CU,
            "namespace {\n",
            "inline namespace mine {\n",
            "'relu_kernel' belongs in the anonymous namespace",
            "exports mine::relu_kernel, relu",
        )
        self.red_after(
            CU,
            "void relu(",
            "void relu2(",
            "defines relu not exactly once",
            "exports relu2; its contract is relu",
        )
        self.red_after(CU, "y[0] = x[kBlock]", "y[0] = x[kBlok]", "cannot be made", "kBlok")
        text = self.read(CU)
        self.write(CU, text.replace("relu_kernel", "fast_kernel"))
        self.assert_red("kernel 'fast_kernel' is named relu_kernel")

    @unittest.skipUnless(
        sources.clang_format(), "no clang-format of the version that judges"
    )
    def test_formatting(self):
        self.red_after(
            CU,
            "constexpr int kBlock",
            "constexpr  int kBlock",
            f"{CU}: formatting: line 12 ",
        )

    def test_marking(self):
        self.red_after(
            "common/grid.h", "02.", "07.", "built in chapter 07, which does not exist"
        )
        self.red_after(
            "common/grid.h",
            "Built in",
            "Made in",
            "common/grid.h: marking: the first line says 'Built in chapter NN.'",
        )
        self.write("common/show.cpp", "// How a table is printed.\n")
        self.assert_red("common/show.cpp: marking: ", "it belongs in common/harness/")

    def test_purpose(self):
        wanted = "purpose: the first line says what the file is for"
        self.red_after("common/harness/bench.h", "// How", "//\n// How", f"bench.h: {wanted}")
        self.red_after(LOW, "// Registers.\n", "", f"{LOW}: {wanted}")

    def test_layers_of_the_executor(self):
        upward = '#include "common/simt/runtime/launch.h"'
        self.red_after(LOW, "#include <vector>", upward, f"{LOW}: layer: includes runtime/")
        self.red_after(HIGH, "#include", 'getenv("A");\n#include', "reads the environment")
        self.write("common/simt/other.cpp", "// Odd.\n")
        self.assert_red("common/simt/other.cpp: layer: lies in other.cpp")

    def test_change(self):
        lines = "".join(f"constexpr int k{i} = {i};\n" for i in range(30))
        before = self.read(CU)
        self.edit(CU, "constexpr int kBlock = 02;\n", "// A comment.\n" * 20 + lines)
        status, output = self.run_tool()
        self.assertIn(f"note  {CU}: 30 changed code lines, aim for 25", output)
        self.assertNotIn("at most 40", output)
        self.write(CU, before)
        self.red_after(
            CU,
            "constexpr int kBlock = 02;\n",
            lines + lines.replace(" k", " m"),
            "change: 60 changed code lines against 01_one, at most 40",
        )

    def test_headings(self):
        for old, new in [
            ("## Your turn", "## Exercise"),
            ("## Your turn", "## Why it works"),
            ("# 02 · The title", "# 03 · The title"),
            ("# 02 · The title", "# 02 The title"),
            ("## Read along\n", "## Read along\n\n## More\n"),
            ("## Why it works\n", ""),
        ]:
            with self.subTest(new):
                self.red_after(HERE, old, new, f"{HERE}: headings: ")

    def test_page(self):
        self.red_after(
            HERE, "make chapter02", "make chapter01", "`make chapter02 && ./run` is no paragraph of its own"
        )
        self.red_after(
            HERE, "diff ../01_one relu.cu", "code relu.cu", "holds no woven diff"
        )
        self.red_after(
            HERE, "<!-- table a -->", "<!-- figure a -->", "holds no woven table"
        )
        self.red_after(
            HERE, "<!-- figure a -->", "<!-- table b -->", "holds no woven figure"
        )

    def test_what_a_page_must_have(self):
        figure = "<!-- figure b -->\n![A figure](../../plots/figures/a.svg)\n<!-- end -->\n"
        no_picture = "picture: no figure stands between the change and the first words"
        for old, new, message in [
            ("**Why is it so?**", "**Why** is it so?", "opening: asks no **question?**"),
            ("**Why is it so?**", "Why is it so?", "opening: asks no **question?**"),
            ("in one sentence.\n\n`make", "in one sentence:\n`make", "is no paragraph of its own"),
            ("It waits.", "", "sections: nothing stands below 'Where the time goes'"),
            ("Write one.", "", "sections: nothing stands below 'Your turn'"),
            (figure, "", no_picture),
            (figure, figure + "\nThat was it.\n", no_picture),
            ("## Why it works\n", "## Why it works\n\nFor a reason.\n\n" + figure, None),
            ("<!-- figure b -->", "<!-- table b -->", no_picture),
            ("How many are there?", "So many are there.", "no question stands before this answer"),
            ("And how many here?", "", "no question stands before this answer"),
            ("<!-- value a -->4<!-- end -->", "4", "this answer holds no woven value or table"),
            (" <!-- count relu.cu n=1: 4 loads -->", "", "this answer holds no woven value or table"),
            ("</details>\n\nAnd", "\nAnd", "predictions: 'Predict' has 1 answers in <details>, need 2 or 3"),
            ("As many.", "As <details><!-- value a -->4<!-- end --></details>", None),
        ]:
            with self.subTest(new=new, message=message):
                page = self.read(HERE)
                self.edit(HERE, old, new)
                if message:
                    self.assert_red(f"{HERE}: ", message)
                else:
                    self.assert_green()
                self.write(HERE, page)

    def test_a_picture_may_stand_first_below_why_it_works(self):
        figure = "<!-- figure b -->\n![A figure](../../plots/figures/a.svg)\n<!-- end -->\n"
        self.edit(HERE, figure, "")
        self.edit(HERE, "## Why it works\n", "## Why it works\n\n" + figure)
        self.assert_green()
        self.red_after(HERE, "works\n\n", "works\n\nFor a reason.\n\n", "picture: no figure")

    def test_prose(self):
        for old, new, message in [
            (FILLER, FILLER[:1000], "length: 262 words of prose, need 700 to 1400"),
            (FILLER, FILLER * 3, "words of prose, need 700 to 1400"),
            ("A book.", "A" + " word" * 28 + ".", f"{HERE}: long sentences: line 172: 29 words, at most 28: 'A"),
            ("A book.", "It takes 16 sectors a request.", "phrases: line 172: 'sectors a request'"),
            ("A book.", "It takes two loads a thread.", "'two loads a thread': write 'per'"),
            ("A book.", "Had each one, it would.", "'Had each': write 'If ...'"),
            ("A book.", "It waits; who has none waits, too.", "give it a noun"),
            ("A book.", "It shall wait.", "'shall': write 'will'"),
            ("A book.", "It has only so many.", "'only so many': write"),
            ("A book.", "Arrays out of the L2 cache.", "write 'L2 cold'"),
            ("A book.", "It is *as good\nas* that.", "'as good as': write 'at best'"),
            ("A book.", "Half is nobody's.", "'nobody's': say it plainly"),
        ]:
            with self.subTest(new[:40]):
                self.red_after(HERE, old, new, message)
        self.edit(HERE, "A book.", "A warp loads a pack. Were the threads? " + "Who has " * 9 + "it?")
        self.edit(HERE, "It waits.", "It `shall` [wait](https://example.org/shall), <!-- value a -->1<!-- end -->.")
        self.assert_green()
        self.red_after("docs/terms.md", "It calls.", "It" + " word" * 28 + ".", "line 17: 29 words")
        self.red_after("docs/terms.md", "It calls.", "We shall see.", "line 17: 'shall'")

    def test_linked_terms(self):
        link = "[grid](../../docs/terms.md#grid)"
        self.edit("chapters/01_one/README.md", "The **grid** in", "The **warp** and **grids** in")
        self.edit("docs/terms.md", "### grid\n", "### grids\n\n### warp\n")
        self.edit(HERE, "#grid)", "#grids)")
        self.edit("chapters/01_one/README.md", "#grid)", "#grids)")
        self.assert_green()
        for text in ("Two Warps wait.", "A [warp](../01_one/README.md) waits.", "- A\n  warp."):
            with self.subTest(text):
                self.red_after(
                    HERE,
                    "A book.",
                    text,
                    f"{HERE}: linked terms: line ",
                    "', which chapters/01_one/README.md:5 defines, is linked nowhere: link it to "
                    "docs/terms.md#warp",
                )
        self.edit(HERE, "A book.", "A warp, two [warps](../../docs/terms.md#warp), `pack` of a warplike grid.")
        self.edit(HERE, link.replace("#grid", "#grids"), "grid")  # An everyday word.
        self.assert_green()

    def test_a_page_that_cannot_be_read_is_reported_once(self):
        self.edit(HERE, "<!-- figure a -->", "<!-- figrue a -->")
        self.assert_red("'figrue' is no directive", "passed, 1 failed")

    def test_break_items(self):
        self.red_after(
            HERE,
            "- Drop the head.\n",
            "- Drop it.\n- Drop the head.\n",
            "line 162: this item has no break directive",
        )
        self.edit(HERE, "- Drop the tail.\n", "Drop the tail.\n")
        self.red_after(
            HERE, "- Drop the head.\n", "Drop the head.\n", "'Break it' has no list items"
        )

    def test_links(self):
        for old, new, message in [
            ("style.md#one-word", "stile.md", "line 22: there is no ../../docs/stile.md"),
            (
                "style.md#one-word",
                "style.md#two-words",
                "line 22: style.md has no heading for #two-words",
            ),
            ("(#break-it)", "(#brake-it)", "no heading for #brake-it"),
            ("figures/a.svg)\n<!-- end -->\n\n## Where", "figures/b.svg)\n<!-- end -->\n\n## Where", "there is no ../../plots/figures/b.svg"),
            ("../../docs/style.md#one-word", "../../..", "there is no ../../.."),
        ]:
            with self.subTest(new):
                self.red_after(HERE, old, new, f"{HERE}: links: ", message)
        self.write("build/made.md", "x\n")
        self.red_after(
            HERE,
            "docs/style.md#one-word",
            "build/made.md",
            "there is no ../../build/made.md",
        )
        self.red_after(
            "README.md",
            "# Readme",
            '# Readme\n<img src="plots/gone.svg">',
            "README.md: links: line 2: ",
        )

    def test_errata(self):
        page = "docs/errata.md"
        for old, new, message in [
            (
                "| read, not shown |",
                "| the book |",
                "line 6: links nothing that shows it: link it, or say 'read, not shown'",
            ),
            ("not shown |", "not shown yet |", "line 6: links nothing that shows it"),
            (
                "../tests/wrong/relu.tail.cu",
                "../chapters/02_two/README.md",
                "line 5: ../chapters/02_two/README.md shows nothing",
            ),
            ("`any n`", "`every n`", "'every n' does not stand in ../tests/relu_test.cpp"),
            ("Two GPUs. |", "Two GPUs, ", "line 6: a row has 4 cells"),
            ("| nowhere |", "| |", "line 6: a row has 4 cells"),
        ]:
            with self.subTest(new):
                self.red_after(page, old, new, f"{page}: errata rows: ", message)
        self.write(page, "".join(ERRATA.splitlines(keepends=True)[:4]))
        self.assert_red(f"{page}: errata rows: has no row")
        (self.root / page).unlink()
        self.assert_red("errata rows: found nothing to look at")

    def test_measured_numbers_typed_by_hand(self):
        for number in (
            "4.2 TB/s",
            "4277 GB/s",
            "2.5 us",
            "2.5 µs",
            "3 ms",
            "99 % of copy",
            "99 % of the plain copy",
            "0.99 x copy",
            "1.4 times faster",
            "5 % slower",
            "2,008 microseconds",
            "60\nns",
        ):
            with self.subTest(number):
                self.red_after(
                    HERE,
                    "A book.",
                    f"It takes {number}, say.",
                    "typed numbers: ",
                    f"'{' '.join(number.split())}' is a measurement typed by hand",
                )

    def test_what_is_typed_by_hand(self):
        """Drifts of a word or a number, and sentences that are none."""
        for text, message in [
            ("`kBlok` is it.", "identifiers: line 172: 'kBlok' is neither in the page's code nor"),
            ("`__syncwarps()` waits.", "'__syncwarps' is neither"),
            ("Type `make chapter3`.", "targets: line 172: make has no target 'chapter3'"),
            ("So:\n\n```sh\nmake chapter01 chapters && ./run\n```", "make has no target 'chapters'"),
            ("So:\n\n    make runs SRC=a.cu", "make has no target 'runs'"),
            ("See [chapter\n01](../02_two/README.md).", "chapter links: line 172: 'chapter\n01' leads to"),
            ("See [01](../02_two/README.md).", "'01' leads to ../02_two/README.md"),
            ("It takes g++\n10 or newer.", "versions: 'g++ 10 or newer' is not what"),
            ("It takes Python 3.9 or newer.", "'Python 3.9 or newer' is not what"),
            ("An SM holds 1,536\nthreads.", "gpu: line 172: '1,536' in 'An SM holds"),
            ("An H200 has 142 SMs.", "'142' in 'An H200 has"),
            ("<!-- table a -->\n<!-- end -->\n" * 4, "markup: 20 of 180 lines hold nothing but directives"),
        ]:
            with self.subTest(text):
                self.red_after(HERE, "A book.", text, message)
        self.edit(HERE, "A book.", "`kBlock`, `relu` and `__syncwarp()`: `make chapter01 && ./run`, g++ 11 or newer, "
                  "[chapter 01](../01_one/README.md). An H200 has 132 SMs, each holds 2,048 threads. Others have 80 SMs.")
        self.assert_green()

    def test_terms(self):
        self.red_after(
            HERE, "A book.", "A **Pack** again.", f"'pack' is bold already in {HERE}:5"
        )
        self.red_after(
            HERE,
            "The **pack** in",
            "It is a **pack** in",
            f"{HERE}:5: what defines 'pack' begins with 'It', and no sentence stands before it",
        )
        self.red_after(
            HERE,
            "**pack**",
            "**grid**",
            "'grid' is bold already in chapters/01_one/README.md:5",
        )

    def test_entries(self):
        page = "docs/terms.md"
        for name, old, new, message in [
            (HERE, "**pack**", "**box**", f"{HERE}:5 defines 'box', which has no entry"),
            (page, "A small memory.", "", "line 9: 'cache' is bold in no chapter, and nothing"),
            (page, "It calls.", "", "line 15: 'host' is bold in no chapter, and nothing"),
            (page, "### host", "### pack", f"line 15: 'pack' is defined here and in {HERE}:5"),
        ]:
            with self.subTest(message):
                self.red_after(name, old, new, f"{page}: entries: ", message)
        (self.root / page).unlink()
        self.assert_red("entries: found nothing to look at")

    def test_one_machine(self):
        for text in (
            "/ho" + "me/me/x",
            "/wor" + "k/main",
            "(/tm" + "p/x)",
            "https://py" + "pi.org/simple",
            "http://10." + "0.0.1/",
        ):
            with self.subTest(text):
                self.red_after(
                    "LICENSE", "Free.", f"Free. {text}", "LICENSE: machine: line 1: "
                )
        self.edit("LICENSE", "Free.", "Free: build/tmp/x, $HOME/work/x and docs/work/.")
        self.assert_green()

    def test_fast_math(self):
        self.red_after(
            "Makefile", "g++", "g++ $(A) --use_fast" + "_math", "Makefile: fast math: "
        )

    def test_nothing_to_look_at(self):
        shutil.rmtree(self.root / "tests/wrong")
        self.assert_red("wrong kernel: found nothing to look at")
        shutil.rmtree(self.root / "chapters")
        self.assert_red(
            "header: found nothing to look at", "headings: found nothing to look at"
        )


class Change(unittest.TestCase):
    def test_a_line_replaced_counts_once_and_comments_do_not_count(self):
        before = ["int a;", "int b;  // b", "", "int c;"]
        after = ["int a;", "// new", "int d;  // d", "int c;", "int e;"]
        self.assertEqual(sources.changed_lines(before, after), 2)
