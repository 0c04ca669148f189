"""What chapter 16 cannot do, it says, and ends the program."""

import subprocess
import unittest

from ladder import toolchain
from ladder.pages import ROOT

FOLDER = "build/bn_relu_refused"
PROGRAM = """#include "chapters/16_bn_relu/bn_relu.planned.cu"

int main() {{
  BnRelu what = {{1, 1, 1, 1, false, Element::kFloat, true, 1e-5f, 0.1f}};
  {change};
  bn_relu_backward(what, {{}}, nullptr, nullptr);
}}
"""
REFUSED = {"no_mask": ("what.relu = true", "bn_relu: with ReLU, the mask is a null pointer.\n"),
           "no_type": ("what.element = static_cast<Element>(7)", "bn_relu: there is no element 7.\n")}


class Refused(unittest.TestCase):
    def test_with_a_sentence(self):
        (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
        for name, (change, _) in REFUSED.items():
            (ROOT / FOLDER / f"{name}.cu").write_text(PROGRAM.format(change=change))
        targets = {name: f"build/cpu/{FOLDER}/{name}.program" for name in REFUSED}
        with toolchain.alone(ROOT):
            built = toolchain.make(ROOT, "cpu", *targets.values())
        self.assertEqual(built.returncode, 0, built.stdout)
        for name, (_, sentence) in REFUSED.items():
            with self.subTest(name):
                run = subprocess.run([ROOT / targets[name]], capture_output=True, text=True)
                self.assertNotEqual(run.returncode, 0)
                self.assertEqual(run.stderr, sentence)


if __name__ == "__main__":
    unittest.main()
