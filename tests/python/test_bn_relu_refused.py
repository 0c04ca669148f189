"""What chapter 16 cannot do, it says, and ends the program."""

import subprocess

from ladder import toolchain
from ladder.pages import ROOT

PROGRAM = "build/bn_relu_refused/refused"
TEXT = """#include <string_view>

#include "chapters/16_bn_relu/bn_relu.planned.cu"

int main(int, char** argv) {{
  BnRelu what = {{1, 1, 1, 1, false, Element::kFloat, true, 1e-5f, 0.1f}};
{changes}
  bn_relu_backward(what, {{}}, nullptr, nullptr);
}}
"""
CHANGE = '  if (std::string_view(argv[1]) == "{name}") {change};'
REFUSED = {"no_mask": ("what.relu = true", "bn_relu: with ReLU, the mask is a null pointer.\n"),
           "no_type": ("what.element = static_cast<Element>(7)", "bn_relu: there is no element 7.\n")}


def test_it_refuses_with_a_sentence():
    source = ROOT / f"{PROGRAM}.cu"
    source.parent.mkdir(parents=True, exist_ok=True)
    changes = (CHANGE.format(name=name, change=change) for name, (change, _) in REFUSED.items())
    source.write_text(TEXT.format(changes="\n".join(changes)))
    program = toolchain.built(ROOT, f"build/cpu/{PROGRAM}.program")
    for name, (_, sentence) in REFUSED.items():
        run = subprocess.run([program, name], capture_output=True, text=True)
        assert run.returncode != 0
        assert run.stderr == sentence

