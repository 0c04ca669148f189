"""Wrong versions of an engine: an edit of one of its headers, and the check that notices.

tests/any_<engine>/ offers the engine by name, in parts that are compiled one by one;
tests/<engine>_test.cpp checks it. A wrong version is one of these parts, compiled with the
edited header and linked before the others, whose inline functions are then its own.
"""

import concurrent.futures
import dataclasses
import hashlib
import os
import re
import subprocess

import pytest
from ladder import pages, toolchain
from ladder.pages import ROOT

SECONDS = 120

takes_minutes = pytest.mark.skipif(
    not pages.CLASSROOM, reason="takes minutes: make test-classroom builds and judges them")


@dataclasses.dataclass(frozen=True)
class Wrong:
    what: str
    header: str
    old: str
    new: str
    part: str  # The file of tests/any_<engine>, or of the chapter, that shows it.
    red: str  # A check by its name, or a finding.
    where: str = ""  # The check to run, where a finding is red.


@dataclasses.dataclass(frozen=True)
class Engine:
    name: str  # As in tests/<name>_test.cpp.
    folder: str  # Of the chapter.

    @property
    def by_name(self):
        return f"tests/any_{self.name}"

    @property
    def suite(self):
        return f"build/cpu/tests/{self.name}_test"

    def text(self):
        return "".join(path.read_text() for folder in (self.folder, self.by_name)
                       for path in sorted((ROOT / folder).iterdir()) if path.suffix in (".h", ".cu"))

    def place(self, wrong):
        digest = hashlib.sha256(f"{wrong}|{self.text()}".encode()).hexdigest()[:12]
        return f"build/wrong_engine/{digest}"

    def part(self, wrong):
        return f"build/cpu/{self.place(wrong)}/{self.by_name}/{wrong.part}.o"

    def targets(self, all_wrong):
        """What make has to build."""
        return [f"{self.suite}.checks", *map(self.part, all_wrong)]

    def wanted(self, wrong):
        return [*(ROOT / self.folder).glob("*.h"), *(ROOT / self.by_name).glob("*.h"),
                ROOT / self.by_name / f"{wrong.part}.cu"]

    def plant(self, wrong):
        """The headers and the part, in a folder of their own that their includes name."""
        for source in self.wanted(wrong):
            text = source.read_text()
            if source.name == wrong.header:
                assert text.count(wrong.old) == 1, f"{wrong.what}: '{wrong.old}' occurs {text.count(wrong.old)} times"
                text = text.replace(wrong.old, wrong.new)
            text = re.sub(rf'#include "({self.folder}|{self.by_name})/', rf'#include "{self.place(wrong)}/\1/', text)
            path = ROOT / self.place(wrong) / source.relative_to(ROOT)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_text() != text:
                path.write_text(text)

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
        check = (wrong.where or wrong.red).replace(",", "?")
        done = subprocess.run([self.link(wrong), "--dt-exit", "--dt-reporters=console", f"--dt-test-case={check}"],
                              cwd=ROOT, env=os.environ | {"SIMT_COUNTERS": "off"}, timeout=SECONDS,
                              text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


class OfContract(Engine):
    """An engine with one user, <name>.cu beside it, which fulfils the contract <name>."""

    @property
    def by_name(self):
        return self.folder

    def program(self, wrong):
        return f"build/cpu/{self.place(wrong)}/{self.folder}/{wrong.part}.run"

    def targets(self, all_wrong):
        return list(map(self.program, all_wrong))

    def wanted(self, wrong):
        return [*(ROOT / self.folder).glob("*.h"), ROOT / self.folder / f"{wrong.part}.cu"]

    def link(self, wrong):
        return ROOT / self.program(wrong)  # As make has linked it.


def judge(engine, all_wrong):
    """Fails for each that nothing notices, or something else than it says."""
    for wrong in all_wrong:
        engine.plant(wrong)
    with toolchain.alone(ROOT):
        built = toolchain.make(ROOT, "cpu", *engine.targets(all_wrong))
    assert built.returncode == 0, built.stdout
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(engine.said_by, all_wrong))
    missed = [f"{wrong.what}: it does not say '{wrong.red}':\n{said}" for wrong, (status, said) in zip(all_wrong, found)
              if status == 0 or wrong.red not in said or "There is no such" in said]
    assert not missed, "\n\n".join(missed)
