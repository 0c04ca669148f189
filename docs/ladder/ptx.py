"""What the executor's parser reads of the PTX that nvcc makes: functions, loops, lines.

docs/ptx.cpp prints it.
"""

import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess

from ladder import counts, toolchain
from ladder.pages import ROOT, Problem

PROGRAM = "build/cpu/docs/ptx.program"
FLAGS = ["-std=c++20", "-O3", "-lineinfo", "-arch=compute_90", "-ptx"]
PARSER = ("docs/ptx.cpp", "common/simt/core/*", "common/simt/decode/*")
EMBEDDED = re.compile(rb"\.version \d[^\0]*")  # In an object that the build made.


class Kernel:
    """One function of a PTX module: its instructions and its loops."""

    def __init__(self, found):
        self.opcodes = [opcode for opcode, *_ in found["code"]]
        self.lines = [set(map(tuple, lines)) for _, *lines in found["code"]]  # Callers' included.
        self.repeated = set(found["repeated"])
        self.loops = found["loops"]

    def in_loops_of(self, line):
        """The instructions of every loop that a branch of this line leaves."""
        return {i for loop in self.loops if any(line in self.lines[e] for e in loop["exits"])
                for i in loop["inside"]}

    def of_line(self, line):
        return {i for i, lines in enumerate(self.lines) if line in lines}


class Module:
    """The PTX of one source file."""

    def __init__(self, text):
        found = json.loads(text)
        self.files = {pathlib.Path(path).resolve(): n for n, path in enumerate(found["files"]) if path}
        self.functions = found["functions"]

    def kernel(self, wanted):
        """The one function called `wanted`, template arguments and all. A template answers
        to its bare name too, as long as it is the only one."""
        arguments = "" if "<" in wanted else "(?:<.*>)?"
        name = re.compile(rf"(?:.*::)?{re.escape(re.sub(' ', '', wanted))}{arguments}")
        found = [f for n, f in self.functions.items() if name.fullmatch(re.sub(" ", "", n))]
        if len(found) != 1:
            raise Problem(f"{len(found)} functions in the PTX answer to '{wanted}', need exactly 1; "
                          f"there are: {', '.join(sorted(self.functions)) or 'none'}")
        return Kernel(found[0])


@functools.cache
def module(root, path):
    """The Module of a source file. What was read of it is kept in build/claims/."""
    kept = root / f"build/claims/{_key(root, path)}.json"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        compiled = kept.with_suffix(f".{os.getpid()}.ptx")
        part = kept.with_suffix(f".{os.getpid()}")
        _compile(root, path, compiled)
        part.write_text(parsed(compiled))
        compiled.unlink()
        part.replace(kept)
    return Module(kept.read_text())


def _compile(root, path, compiled):
    """Of our own tree the build has done so, for ./run."""
    if root == ROOT:
        found, = EMBEDDED.findall(counts.built(root, path, ".o").read_bytes())
        compiled.write_bytes(found)
        return
    made = subprocess.run([*_command(root), path, "-o", compiled], capture_output=True, text=True)
    if made.returncode:
        raise Problem(f"{path.name} does not compile:\n{made.stderr.strip()}")


def _key(root, path):
    """A digest of everything that the answer depends on."""
    headers = [p for p in path.parent.iterdir() if p.suffix in (".h", ".cuh")]
    headers += (root / "common").rglob("*.h")
    parser = [p for place in PARSER for p in ROOT.glob(place)]
    digest = hashlib.sha256(" ".join([str(path), *_command(root)]).encode())
    for p in [path, *sorted(headers), *sorted(parser)]:
        digest.update(p.read_bytes())
    return digest.hexdigest()[:32]


def _command(root):
    return [toolchain.nvcc(root), *FLAGS, f"-I{root}"]


def parsed(path):
    """What the program says of a file of PTX."""
    said = subprocess.run([toolchain.built(ROOT, PROGRAM), path], capture_output=True, text=True)
    if said.returncode:
        raise Problem(f"{PROGRAM} cannot read this PTX: {said.stderr.strip()}")
    return said.stdout
