"""What chapter 16 cannot do, it says, and ends the program."""

import subprocess

import pytest
from ladder import toolchain
from ladder.pages import ROOT


@pytest.mark.parametrize("asked, sentence", [
    ("no_mask", "bn_relu: with ReLU, the mask is a null pointer.\n"), ("no_type", "bn_relu: there is no element 7.\n")])
def test_it_refuses_with_a_sentence(asked, sentence):
    program = toolchain.built(ROOT, "build/cpu/tests/python/programs/bn_relu_refused.program")
    run = subprocess.run([program, asked], capture_output=True, text=True)
    assert run.returncode != 0
    assert run.stderr == sentence
