"""Wrong versions of engines, tests/wrong/engines/*.txt: each is caught by the check that it names.

    == HEADER in PART        what is edited, and the file that shows it: one of tests/any_<engine>
                             or, where a contract has the engine to itself, one beside the header
    What is wrong.
        'old' -> 'new'; red: CHECK
        'old' -> 'new'; red: FINDING; while: CHECK

tests/any_<engine>/ offers the engine by name, in parts that are compiled one by one;
tests/<engine>_test.cpp checks it. A wrong version is one of these parts, compiled with the
edited header and linked before the others, whose inline functions are then its own.
"""

import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import subprocess

import pytest
from harness import built, patches
from ladder import toolchain
from ladder.pages import ROOT

SECONDS = 120
FILES = sorted(ROOT.glob("tests/wrong/engines/*.txt"))
HEADS = re.compile(r"^== (\S+) in (\S+)\n", re.M)
WRONG = re.compile(r"^(?P<what>\S.*)\n(?P<edit>(?: .*\n)+)", re.M)
EDIT = re.compile(rf"\s*(?P<old>{patches.TEXT})\s*->\s*(?P<new>{patches.TEXT});"
                  r"\s*red: (?P<red>.+?)(?:; while: (?P<during>.+))?\n")


@dataclasses.dataclass(frozen=True)
class Wrong:
    what: str
    header: pathlib.Path  # From the root.
    part: str
    old: str
    new: str
    red: str  # A check by its name, or a finding.
    check: str  # To be run.

    def edited(self):
        return patches.edited((ROOT / self.header).read_text(), self.old, self.new, self.header)


class Engine:
    def __init__(self, file):
        self.name = file.stem
        _, *parts = HEADS.split(re.sub(r"^#.*\n", "", file.read_text(), flags=re.M))
        self.wrong = [_read(*found.group("what", "edit"), pathlib.Path(header), part)
                      for header, part, text in zip(parts[::3], parts[1::3], parts[2::3])
                      for found in WRONG.finditer(text)]
        self.folder = str(self.wrong[0].header.parent)
        self.by_name = f"tests/any_{self.name}"
        self.suite = f"build/cpu/tests/{self.name}_test"

    def place(self, wrong):
        texts = "".join(path.read_text() for folder in (self.folder, self.by_name)
                        for path in sorted((ROOT / folder).glob("*")) if path.suffix in (".h", ".cu"))
        return f"build/wrong_engine/{hashlib.sha256(f'{wrong}|{texts}'.encode()).hexdigest()[:12]}"

    def part(self, wrong):
        return f"build/cpu/{self.place(wrong)}/{self.by_name}/{wrong.part}.o"

    def targets(self):
        """What make has to build."""
        return [f"{self.suite}.checks", *map(self.part, self.wrong)]

    def plant(self, wrong):
        """The headers and the part, in a folder of their own that their includes name."""
        folders = {self.folder, self.by_name}
        for source in (*(path for folder in folders for path in (ROOT / folder).glob("*.h")),
                       ROOT / self.by_name / f"{wrong.part}.cu"):
            text = wrong.edited() if source == ROOT / wrong.header else source.read_text()
            text = re.sub(rf'#include "({"|".join(folders)})/', rf'#include "{self.place(wrong)}/\1/', text)
            built.write(ROOT / self.place(wrong) / source.relative_to(ROOT), text)

    def link(self, wrong):
        """The suite with that part in place of its own."""
        others = [path.stem for path in (ROOT / self.by_name).glob("*.cu") if path.stem != wrong.part]
        program = ROOT / self.place(wrong) / "wrong.checks"
        objects = [self.part(wrong), f"{self.suite}.o", *(f"build/cpu/{self.by_name}/{part}.o" for part in others),
                   "build/cpu/common/harness/checks/all.o", "build/cpu/common/harness/unmeasured.o",
                   "build/cpu/common/harness/show/all.o", "build/cpu/libsimt.a"]
        subprocess.run([os.environ.get("CXX", "g++"), *objects, "-pthread", "-o", program], cwd=ROOT, check=True)
        return program

    def said_by(self, wrong):
        """(exit status, output) of the suite's one check."""
        check = wrong.check.replace(",", "?")
        done = built.told([self.link(wrong), "--dt-exit", "--dt-reporters=console", f"--dt-test-case={check}"],
                          cwd=ROOT, env=os.environ | {"SIMT_COUNTERS": "off"}, timeout=SECONDS)
        return done.returncode, done.stdout


class OfContract(Engine):
    """An engine with one user: its parts are files beside it, which fulfil a contract."""

    def __init__(self, file):
        super().__init__(file)
        self.by_name = self.folder

    def program(self, wrong):
        return f"build/cpu/{self.place(wrong)}/{self.folder}/{wrong.part}.run"

    def targets(self):
        return list(map(self.program, self.wrong))

    def link(self, wrong):
        return ROOT / self.program(wrong)  # As make has linked it.


def _read(what, edit, header, part):
    found = EDIT.fullmatch(edit)
    assert found, f"{what} write: 'old' -> 'new'; red: CHECK or FINDING; while: CHECK"
    return Wrong(what, header, part, patches.unquoted(found["old"]), patches.unquoted(found["new"]), found["red"],
                 found["during"] or found["red"])


ENGINES = [(Engine if (ROOT / f"tests/any_{file.stem}").is_dir() else OfContract)(file) for file in FILES]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_each_is_caught(engine):
    for wrong in engine.wrong:
        engine.plant(wrong)
    toolchain.made(ROOT, "cpu", *engine.targets())
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(engine.said_by, engine.wrong))
    missed = [f"{wrong.what} It does not say '{wrong.red}':\n{said}"
              for wrong, (status, said) in zip(engine.wrong, found)
              if status == 0 or wrong.red not in said or "There is no such" in said]
    assert not missed, "\n\n".join(missed)
