"""`make weave` has been seen to fail on every kind of drift."""

import os
from unittest import mock

from tree import REPOSITORY, TreeTest

from ladder import source, weave

KERNEL = """\
// Chapter 02: a test.

#include "common/check.h"

#define TWICE(x) \\
  ((x) + (x))

namespace {

constexpr int kBlock = 256;  // A unit.

struct alignas(16) Pack {
  float v[4];
};

// Why this helper is here.
__device__ float helper(float x) { return x; }

template <int kWidth, typename T = float>
[[nodiscard]]
__global__ void __launch_bounds__(256)
    relu_kernel(const T* __restrict__ x,
                T* __restrict__ y) {
  if (true) {
    y[0] = helper(x[0]);  // "}" in a comment }
  }
}

}  // namespace

void relu(const float* x, float* y) { relu_kernel<4><<<1, 1>>>(x, y); }
"""

PAGE = """\
# Page

<!-- code relu.cu relu_kernel -->
<!-- end -->

<!-- diff ../01_one relu.cu helper -->
<!-- end -->

The copy moves <!-- value copy 2 -->?<!-- end --> here.

<!-- table sizes a b -->
<!-- end -->
- An item.
  <!-- figure ladder -->
  <!-- end -->

```markdown
<!-- code nothing.cu nowhere -->
```
"""

DATA = "plots/data/measured"


class Tables:
    """Stands in for ladder.tables."""

    def __init__(self, root):
        self.root, self.STALE = root, set()

    def render(self, kind, name, args, page):
        if name == "absent":
            raise ValueError("no data for it: run make bench")
        value, *old = (self.root / DATA).read_text().splitlines()
        self.STALE |= set(old)
        return [value if kind == "value" else f"{kind} {name} {' '.join(args)} {page.name}"]


HERE = "chapters/02_two/README.md"


class Weave(TreeTest):
    tool = "ladder.weave"

    def setUp(self):
        super().setUp()
        self.write("chapters/01_one/relu.cu", KERNEL.replace("return x;", "return 0;"))
        self.write("chapters/02_two/relu.cu", KERNEL)
        self.write(DATA, "4.2 TB/s\n")
        self.enterContext(mock.patch.object(weave, "tables", Tables(self.root)))
        self.write(HERE, PAGE)
        self.assert_green()

    def check_red(self, *messages):
        before = self.read(HERE)
        self.assert_red(*messages, arguments=["--check"])
        self.assertEqual(self.read(HERE), before, "--check changes nothing")

    def test_weaving_is_complete_and_stable(self):
        page = self.read(HERE)
        self.assertIn("```cuda\ntemplate <int kWidth, typename T = float>\n", page)
        self.assertIn('// "}" in a comment }\n  }\n}\n```', page)
        self.assertIn("-__device__ float helper(float x) { return 0; }\n+__device__", page)
        self.assertIn(" // Why this helper is here.\n", page)
        self.assertIn("moves <!-- value copy 2 -->4.2 TB/s<!-- end --> here", page)
        self.assertIn(
            "<!-- table sizes a b -->\ntable sizes a b README.md\n<!-- end -->", page
        )
        self.assertIn(
            "  <!-- figure ladder -->\n  figure ladder  README.md\n  <!-- end -->", page
        )
        self.assertIn("```markdown\n<!-- code nothing.cu nowhere -->\n```", page)
        self.assert_green("--check")

    def test_code_that_changed(self):
        self.edit("chapters/02_two/relu.cu", "y[0] = helper", "y[1] = helper")
        self.check_red(
            f"{HERE}:3: 'code relu.cu relu_kernel' is stale", "+    y[1] = helper"
        )
        self.assert_green()
        self.assert_green("--check")

    def test_the_older_file_changed(self):
        self.edit("chapters/01_one/relu.cu", "return 0;", "return 1;")
        self.check_red("'diff ../01_one relu.cu helper' is stale", "return 1;")

    def test_a_number_edited_by_hand(self):
        self.edit(HERE, "4.2 TB/s", "4.3 TB/s")
        self.check_red("'value copy 2' is stale", "-4.3 TB/s", "+4.2 TB/s")

    def test_data_of_an_earlier_version(self):
        self.edit(DATA, "TB/s\n", "TB/s\na.json is of an earlier version\n")
        self.assertRegex(self.run_tool("--check")[1], "STALE a.json .*\n.*, 1 skipped\n")
        with mock.patch.dict(os.environ, RELEASE="1"):
            self.check_red("FAIL  a.json is of an earlier version")

    def test_data_that_changed(self):
        self.edit(DATA, "4.2", "4.1")
        self.check_red("'value copy 2' is stale")

    def test_a_table_edited_by_hand(self):
        self.edit(HERE, "table sizes a b README.md", "table sizes a c README.md")
        self.check_red("'table sizes a b' is stale")

    def test_equal_functions_have_no_diff(self):
        self.edit("chapters/01_one/relu.cu", "return 0;", "return x;")
        self.check_red("the two are equal")

    def test_missing_pieces(self):
        for old, new, message in [
            ("relu.cu relu_kernel", "gone.cu relu_kernel", "no file gone.cu"),
            (
                "relu.cu relu_kernel",
                "relu.cu gone_kernel",
                "0 definitions of 'gone_kernel'",
            ),
            ("../01_one relu.cu", "../01_gone relu.cu", "no file ../01_gone"),
            ("<!-- table sizes", "<!-- table absent", "no data for it: run make bench"),
            ("<!-- table sizes a b -->", "<!-- table -->", "say which: table NAME"),
            ("<!-- code relu.cu relu_kernel -->", "<!-- code -->", "say which file"),
        ]:
            with self.subTest(new):
                page = self.read(HERE)
                self.edit(HERE, old, new)
                self.check_red(message)
                self.assert_red(message)  # Nor does weaving lose the block.
                self.assertEqual(len(self.read(HERE)), len(page) - len(old) + len(new))
                self.write(HERE, page)

    def test_two_functions_of_a_name(self):
        self.edit(
            "chapters/02_two/relu.cu",
            "}  // namespace",
            "float helper(int);\nfloat helper(int) {}\n}  // namespace",
        )
        self.check_red("2 definitions of 'helper', need exactly 1 (lines 16, 30)")

    def test_pages_that_cannot_be_read(self):
        for old, new, message in [
            ("<!-- code relu", "<!-- coed relu", "'coed' is no directive"),
            ("<!-- code relu", "<!- code relu", "half a comment"),
            ("<!-- code relu", "<-- code relu", "half a comment"),
            (
                "```\n<!-- end -->\n\n<!-- diff",
                "```\n\n<!-- diff",
                "'code relu.cu relu_kernel' is never closed",
            ),
            ("# Page\n", "# Page\n<!-- end -->\n", "closes nothing"),
            (
                "```markdown\n<!-- code nothing.cu nowhere -->\n```",
                "```markdown\n",
                "never closed",
            ),
            ("The copy moves <!--", "<!--", "a line may not begin with 'value'"),
            (
                "# Page\n",
                "# Page\n<!-- ptx a b: 1 x ld --> text\n",
                "is not rendered as Markdown",
            ),
            (
                "# Page\n",
                "# Page\nA <!-- break a: 'i--' -> 'i'; red: x -->\n",
                "may not contain '--'",
            ),
            ("TB/s<!-- end -->", "TB/s\n<!-- end -->", "on one line"),
        ]:
            with self.subTest(new):
                page = self.read(HERE)
                self.edit(HERE, old, new)
                self.check_red(HERE, message)
                self.write(HERE, page)

    def test_no_block(self):
        self.write(HERE, "# Nothing woven\n")
        self.check_red("no woven block found", "0 passed, 1 failed")

    def test_no_page(self):
        (self.root / HERE).unlink()
        self.assert_red("no page (*.md) found", arguments=["--check"])

    def test_every_page_is_woven(self):
        for name in ("README.md", "docs/style.md", "chapters/02_two/more.md"):
            self.write(name, "<!-- table sizes -->\nold\n<!-- end -->\n")
            self.assert_red(f"{name}:1: 'table sizes' is stale", arguments=["--check"])
            self.assert_green()

    def test_terms(self):
        page = "docs/terms.md"
        self.write(page, "<!-- terms -->\n<!-- end -->\n")
        self.assert_red("no chapter defines a **term**")
        self.edit(HERE, "# Page\n", "# Page\n\n**Why so?** An `x. Y` moves. It is a **warp\n"
                  "vote** of [them](../01_one/relu.cu). And so on.\n\n- **SMs** vote.\n")
        self.assert_green()
        self.assertEqual(
            self.read(page),
            "<!-- terms -->\n### SMs\n\nSMs vote. ([chapter 02](../chapters/02_two/README.md))\n\n"
            "### warp vote\n\nAn `x. Y` moves. It is a warp vote of "
            "[them](../chapters/01_one/relu.cu). ([chapter 02](../chapters/02_two/README.md))\n"
            "<!-- end -->\n",
        )
        self.assert_green("--check")
        self.edit(HERE, "- **SMs** vote", "- **SMs** wait")
        self.assert_red(f"{page}:1: 'terms' is stale", arguments=["--check"])


class Cut(TreeTest):
    def cut(self, name):
        self.write("a.cu", KERNEL)
        return source.cut(self.root / "a.cu", name)

    def test_by_name(self):
        for name, first, last in [
            ("TWICE", "#define TWICE(x) \\", "  ((x) + (x))"),
            ("kBlock", "constexpr int kBlock = 256;  // A unit.", None),
            ("Pack", "struct alignas(16) Pack {", "};"),
            (
                "helper",
                "// Why this helper is here.",
                "__device__ float helper(float x) { return x; }",
            ),
            ("relu_kernel", "template <int kWidth, typename T = float>", "}"),
            (
                "relu",
                "void relu(const float* x, float* y) { relu_kernel<4><<<1, 1>>>(x, y); }",
                None,
            ),
        ]:
            with self.subTest(name):
                lines = self.cut(name)
                self.assertEqual((lines[0], lines[-1]), (first, last or first))

    def test_a_declaration_counts_where_there_is_no_definition(self):
        self.write("a.h", "#pragma once\n\n// Adds.\nvoid sum(int n);\n")
        self.assertEqual(
            source.cut(self.root / "a.h", "sum"), ["// Adds.", "void sum(int n);"]
        )

    def test_every_source_of_the_repository_can_be_split(self):
        sources = [*REPOSITORY.glob("chapters/*/*.cu"), *REPOSITORY.glob("common/*.h")]
        self.assertTrue(sources)
        for path in sources:
            with self.subTest(path.name):
                self.assertTrue([u for u in source.units(path.read_text()) if u.name])
