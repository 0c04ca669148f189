"""Drifts planted in a small repository, and what a tool says of each.

tests/drifts/NAME.tree is the repository: `==> FILE`, then its lines; `*9 TEXT` stands for
nine lines. NAME.txt begins with the tool and its arguments; where what was built for one
drift is of no use to another, `fresh` follows. A blank line ends a drift:

    == What the drifts below it have in common
    @ FILE            is edited; without - and | lines, it is added to or new
    -a line           these lines stand in it side by side, once:
    |a line that stays
    +a line           this is what becomes of them
    < FILE            is deleted, or a folder
    ! a message       must be among what the tool says, and the tool fails; \\n ends a line
                      in it. Without any, the tool finds nothing wrong.
"""

import importlib
import os
import pathlib
import re
import shutil
import sys
import tempfile
import traceback

import pytest
from harness import built

PASSED = re.compile(r"^[1-9]\d* passed, 0 failed\n\Z", re.M)
REPEATED = re.compile(r"^([-+|]?)\*(\d+) (.*)$", re.M)


def said_by(tool, arguments):
    """(exit status, what it said) of a tool, in a copy of this process: it has read
    Python's modules already."""
    main = importlib.import_module(tool).main
    with tempfile.TemporaryFile("w+") as said:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            for stream in (1, 2):
                os.dup2(said.fileno(), stream)
            sys.stdout = sys.stderr = open(1, "w", closefd=False)  # pytest's write elsewhere.
            sys.argv = [tool, *map(str, arguments)]
            os._exit(ended(main))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return status, said.read()


def ended(main):
    """The exit status that a script would have."""
    status = 1
    try:
        status = main() or 0
    except SystemExit as end:
        status = end.code or 0
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def unrolled(text):
    return REPEATED.sub(lambda found: "\n".join([found[1] + found[3]] * int(found[2])), text)


def tree_of(text):
    """FILE -> its text"""
    _, *parts = re.split(r"^==> (.*)\n", unrolled(text), flags=re.M)
    return dict(zip(parts[::2], parts[1::2]))


def edited(tree, drift):
    """The tree with the drift in it. What no longer matches is an error."""
    tree = dict(tree)
    assert re.fullmatch(r"(?:[@<|+!-].*\n)*", drift), "a line begins with none of @ < - | + !"
    for step in re.findall(r"^[@<] .*\n(?:[-+|].*\n)*", drift, re.M):
        head, *lines = unrolled(step).splitlines()
        name = head[2:]
        if head[0] == "<":
            gone = [file for file in tree if f"{file}/".startswith(f"{name}/")]
            assert gone, f"there is no {name} to delete"
            for file in gone:
                del tree[file]
            continue
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[0] in kept) for kept in ("-|", "+|"))
        text = "\n" + tree.get(name, "")  # A line begins past the end of another.
        assert not old or text.count("\n" + old) == 1, f"not once in {name}:\n{old}"
        tree[name] = (text.replace("\n" + old, "\n" + new) if old else text + new)[1:]
    return tree


def laid_out(tree, root):
    """Change what differs: what was built of the rest is up to date."""
    for path in [path for path in root.rglob("*") if path.is_file()]:
        name = str(path.relative_to(root))
        if not name.startswith("build/") and name not in tree:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    for name, text in tree.items():
        built.write(root / name, text)


class Drifts(pytest.File):
    def collect(self):
        head, *sections = re.split(r"^== (.*)\n", self.path.read_text(), flags=re.M)
        self.tree = tree_of(self.path.with_suffix(".tree").read_text())
        self.command, *self.fresh = head.split("\n")[:-2]
        self.root = None
        for title, body in zip(sections[::2], sections[1::2]):
            for number, drift in enumerate(re.split(r"\n\n+", body.strip("\n")), 1):
                yield Drift.from_parent(self, name=f"{title} {number}", drift=drift + "\n")

    def planted(self, drift):
        if not self.root:
            self.root = pathlib.Path(tempfile.mkdtemp()).resolve()
            self.addfinalizer(lambda: shutil.rmtree(self.root))
        if self.fresh:
            shutil.rmtree(self.root / "build", ignore_errors=True)
        laid_out(edited(self.tree, drift), self.root)
        return self.root


class Drift(pytest.Item):
    def __init__(self, *, drift, **more):
        super().__init__(**more)
        self.drift = drift

    def runtest(self):
        tool, *arguments = self.parent.command.split()
        status, said = said_by(tool, [*arguments, self.parent.planted(self.drift)])
        wanted = re.findall(r"^! (.*)$", self.drift, re.M)
        missing = [message for message in wanted if message.replace("\\n", "\n") not in said]
        right = status == 1 if wanted else status == 0 and PASSED.search(said)
        if missing or not right or "Traceback" in said:
            raise AssertionError(f"It ended with status {status}, did not say {missing}, but:\n{said}")

    def repr_failure(self, failure):
        return f"{self.drift}\n{failure.value}"
