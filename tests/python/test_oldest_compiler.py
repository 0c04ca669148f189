"""The executor compiles with the oldest g++ that set-up takes, which Ubuntu 22.04 and Colab have: where that is here."""

import concurrent.futures
import os
import re
import shutil
import subprocess

import pytest
from ladder import toolchain
from ladder.pages import ROOT

OLDEST = re.search(r"(g\+\+) (\d+) or newer", (ROOT / "common/setup/ensure.sh").read_text())
COMPILER = "-".join(OLDEST.groups())
APART = ROOT / "common/simt/isa"  # Whose files are compiled one by one; other folders, in one go.


def units():
    """Each as one text."""
    for folder in sorted({path.parent for path in ROOT.glob("common/simt/**/*.cpp")}):
        files = [f'#include "{path.relative_to(ROOT)}"\n' for path in sorted(folder.glob("*.cpp"))]
        yield from files if folder == APART else ["".join(files)]


def errors_of(unit):
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-march=native", "-w", "-I.",
               f"-isystem{toolchain.headers(ROOT)}", "-xc++", "-"]
    return subprocess.run(command, cwd=ROOT, input=unit, text=True, stderr=subprocess.PIPE).stderr


def test_it_compiles_the_executor():
    if not shutil.which(COMPILER):
        pytest.skip(f"{COMPILER} is not here")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        assert "".join(pool.map(errors_of, units())) == ""
