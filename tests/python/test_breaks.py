"""tests/breaks.py has been seen to fail on every item that does not hold, and docs/ladder/weave.py
to show what is true of those that do.

A fake build makes a fake suite, so that only the judging is on trial here.
"""

import unittest.mock
from tree import TreeTest
import breaks
from ladder import mutants

MAKEFILE = """\
.DELETE_ON_ERROR:
build/cpu/%.run: %.cu
	@! grep -n syntax_error $< $$(sed -n 's/^#include "\\(.*cu\\)"/\\1/p' $<) || \\
	  { echo "$<: does not compile"; exit 1; }
	@mkdir -p $(@D)
	@printf '#!/bin/sh\\nexec sh suite.sh %s $$*\\n' '$$KERNEL' > $@
	@chmod +x $@
"""

SUITE = """\
[ "$2" = --dt-exit ] || { echo "checks only, please"; exit 1; }
case "$(cat "$1") $*" in
*drop_tail*plain)
  echo
  echo 'FAILED: relu handles every length'
  echo '  CHECK( right ) is NOT correct!'
  exit 1 ;;
*drop_tail*)
  echo ====================
  echo 'TEST CASE:  relu handles every length'
  echo 'relu_test.cpp:1: ERROR: CHECK( right ) is NOT correct!'
  echo ====================
  echo 'TEST CASE:  relu queues its work'
  echo 'relu_test.cpp:2: MESSAGE: cannot be seen'
  exit 1 ;;
*overrun*) echo 'relu_kernel, block 0, thread 3: out of bounds'; kill -ABRT $$ ;;
*sleep*) exec sleep 60 ;;
*) echo 'all checks passed' ;;
esac
"""

SOURCE = """\
void relu() {
  if (i < n) keep_tail("it's \\\\ so");
  for (;;) stay();
}
"""

HERE = "chapters/03_pack/README.md"


class Planted(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("Makefile", MAKEFILE)
        self.write("suite.sh", SUITE)
        self.write("common/relu.h", "void relu();\n")
        self.write("chapters/03_pack/relu.cu", SOURCE)

    def items(self, *texts):
        lines = [f"- Item.\n  <!-- {text} -->\n  <!-- end -->\n" for text in texts]
        self.write(HERE, "## Break it\n\n" + "".join(lines))


class Breaks(Planted):
    tool = "breaks"

    def green(self, *texts):
        self.items(*texts)
        self.assert_green()

    def red(self, text, *messages):
        self.items(text)
        self.assert_red(f"{HERE}:4: ", *messages)

    def test_the_named_test_case_fails(self):
        self.green(
            "break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu handles every length"
        )

    def test_a_name_that_several_cases_may_begin_with(self):
        self.red("break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu handles", "not by 'relu handles'")

    def test_the_executor_finds_it(self):
        self.green("break relu.cu: 'stay' -> 'overrun'; red: out of bounds")

    def test_several_items_and_long_ones(self):
        self.green(
            "break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu handles every length",
            "break relu.cu: 'n) keep_tail(\"it\\'s \\\\\\\\ so\");\\n'\n    '  for'\n"
            "    -> 'n) drop_tail();\\n'\n    '  for'; red: relu\n    handles every length",
            "break relu.cu: 'stay()' -> 'overrun(), i--\\>0'; red: out of bounds",
        )

    def test_nothing_noticed(self):
        self.red(
            "break relu.cu: 'stay' -> 'go'; red: relu handles",
            "the mutant passes: no check noticed",
        )

    def test_another_check_noticed(self):
        self.red(
            "break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu passes NaN",
            "not by 'relu passes NaN'; failed: 'relu handles every length'",
        )
        self.red(
            "break relu.cu: 'keep_tail' -> 'drop_tail'; red: every length",
            "failed: 'relu handles",
        )
        self.red(
            "break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu queues",
            "failed: 'relu handles every length'\n",
        )
        self.red(
            "break relu.cu: 'stay' -> 'overrun'; red: relu handles",
            "failed: no test case",
            "out of bounds",
        )

    def test_the_mutant_does_not_compile(self):
        self.red(
            "break relu.cu: 'stay' -> 'syntax_error'; red: x",
            "does not compile and link",
            "syntax_error",
        )

    def test_a_mutant_that_no_longer_compiles(self):
        self.green("break relu.cu: 'stay' -> 'overrun'; red: out of bounds")
        self.edit("Makefile", "syntax_error", "overrun")
        self.run_tool()
        for program in (self.root / "build/cpu").rglob("*.run"):
            program.unlink()
        self.assert_red("does not compile and link")

    def test_old_matches_once(self):
        self.red("break relu.cu: 'gone' -> 'x'; red: x", "'gone' occurs 0 times in relu.cu")
        self.red("break relu.cu: '()' -> 'x'; red: x", "'()' occurs 2 times in relu.cu")
        self.red("break relu.cu: 'stay' -> 'stay'; red: x", "nothing is broken")
        self.red("break relu.cu: '' -> 'stay'; red: x", "occurs 0 times")

    def test_the_source_changed_under_the_page(self):
        self.green("break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu handles every length")
        self.edit("chapters/03_pack/relu.cu", "keep_tail", "mind_tail")
        self.assert_red("'keep_tail' occurs 0 times in relu.cu")

    def test_the_unmodified_file_must_pass(self):
        self.edit("chapters/03_pack/relu.cu", "keep_tail", "drop_tail")
        self.red(
            "break relu.cu: 'stay' -> 'overrun'; red: out of bounds",
            "unmodified relu.cu does not pass",
        )

    def test_the_unmodified_file_does_not_say_it_too(self):
        self.red(
            "break relu.cu: 'stay' -> 'overrun'; red: all checks",
            "the unmodified file says 'all checks' too",
        )

    def test_grammar(self):
        for text, message in [
            ("break relu.cu: keep -> drop; red: x", "write: break FILE:"),
            ("break relu.cu: 'stay' -> 'go'", "write: break FILE:"),
            ("break relu.cu: 'stay' -> 'go'; red:", "write: break FILE:"),
            ("break relu.cu 'stay' -> 'go'; red: x", "write: break FILE:"),
            ("break relu.cu: 'st\\ay' -> 'go'; red: x", "'\\a' is no escape"),
            ("break gone.cu: 'stay' -> 'go'; red: x", "no file gone.cu"),
            ("break README.md: 'stay' -> 'go'; red: x", "README.md is no .cu"),
            ("breaks relu.cu: 'stay' -> 'go'; red: x", "'breaks' is no directive"),
        ]:
            with self.subTest(text):
                self.red(text, message)

    def test_no_item(self):
        self.write(HERE, "# Page\n")
        self.assert_red("no break item found")

    def test_a_mutant_that_hangs(self):
        source = self.root / "chapters/03_pack/relu.cu"
        item = mutants.Break("page:1", source, "stay", "sleep", "relu handles")
        workshop = mutants.Workshop(self.root, "cpu", [item])
        job = (workshop.mutants[item],)
        with unittest.mock.patch.object(mutants, "SECONDS", 0.2):
            hung = workshop.runs([job])[job]
        self.assertIn("hung for", breaks.judge(item, hung, mutants.Run(True, 0, "")))
        self.edit("suite.sh", "exec sleep 60", "echo awake")
        self.assertTrue(workshop.runs([job])[job].passed, "it is tried again")

    def test_what_a_program_said_is_kept_as_long_as_it_is_the_same(self):
        text = "break relu.cu: 'stay' -> 'overrun'; red: out of bounds"
        self.green(text)
        self.edit("suite.sh", "out of bounds", "elsewhere")
        self.green(text)
        self.edit("Makefile", "exec sh", "exec  sh")
        for program in (self.root / "build/cpu").rglob("*.run"):
            program.unlink()
        self.assert_red("not by 'out of bounds'")


TAIL = "break relu.cu: 'keep_tail' -> 'drop_tail'; red: relu handles every length"
SHOWN = """\
  <details><summary>The edit, and what <code>./run</code> says</summary>

  ```diff
   void relu() {
  -  if (i < n) keep_tail("it's \\\\ so");
  +  if (i < n) drop_tail("it's \\\\ so");
     for (;;) stay();
  ```

  ```text
  FAILED: relu handles every length
    CHECK( right ) is NOT correct!
  ```

  </details>
  <!-- end -->
"""


class WovenBreaks(Planted):
    tool = "ladder.weave"

    def setUp(self):
        super().setUp()
        self.items(TAIL)
        self.assert_green()

    def text(self):
        """What the page shows of what the program said."""
        return self.read(HERE).split("```text\n")[1].split("```")[0].replace("\n  ", "\n").strip()

    def test_the_edit_and_what_turns_red(self):
        self.assertIn(f"<!-- {TAIL} -->\n{SHOWN}", self.read(HERE))
        self.assert_green("--check")

    def test_what_changed_since(self):
        self.edit("chapters/03_pack/relu.cu", "(;;)", "(; ;)")
        self.assert_red("is stale", "for (; ;)", arguments=["--check"])
        self.edit("suite.sh", "FAILED: relu handles every", "FAILED: relu handles any")
        self.edit("Makefile", "exec sh", "exec  sh")
        for program in (self.root / "build/cpu").rglob("*.run"):
            program.unlink()
        self.assert_red("+  FAILED: relu handles any length", arguments=["--check"])

    def test_an_item_that_does_not_hold(self):
        for text, message in [
            ("break relu.cu: 'stay' -> 'go'; red: relu handles", "'relu handles' does not turn red"),
            ("break relu.cu: 'stay' -> 'syntax_error'; red: relu", "'relu' does not turn red"),
            ("break relu.cu: 'gone' -> 'go'; red: relu", "'gone' occurs 0 times"),
        ]:
            with self.subTest(text):
                self.items(text)
                self.assert_red(f"{HERE}:4: ", message)

    def test_a_finding(self):
        self.edit("suite.sh", "kill -ABRT $$", "echo 'FAILED: it'; echo '  ended here'; exit 1")
        self.items("break relu.cu: 'stay' -> 'overrun'; red: out of bounds")
        self.assert_green()
        self.assertIn("Red: *out of bounds*.", self.read(HERE))

    def test_the_first_lines_are_the_same_on_every_machine(self):
        source = self.root / "chapters/03_pack/relu.cu"
        for said, first in [
            ("simt: note: harmless\nsimt: race: at global address 0x3f (byte 4 of (allocation 7))\n"
             "  in relu_kernel at /a/b/./build/breaks/c/relu.0123abcd.cu:23, thread (1,0,0)\nmore\n",
             ["simt: race: (byte 4 of)", "  in relu_kernel at relu.cu:23, thread (1,0,0)"]),
            ("Running.\n\nFAILED: relu handles it\n  y[0] is 1\n  (tests/relu_test.cpp:61)\n",
             ["FAILED: relu handles it", "  y[0] is 1"]),
            ("FAILED: it\n  n = 3\n  y[0] is 1\n  y[1] is 2\n", ["FAILED: it", "  n = 3", "  y[0] is 1"]),
            ("FAILED: it\n  " + "word " * 20 + "\n",
             ["FAILED: it", "  " + "word " * 14 + "word", "    " + "word " * 4 + "word"]),
        ]:
            with self.subTest(said):
                self.assertEqual(mutants.Run(True, 1, said).first_lines(source), first)
        with self.assertRaisesRegex(mutants.Problem, "does not say what is wrong"):
            mutants.Run(True, 1, "Segmentation fault\n").first_lines(source)
