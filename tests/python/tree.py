"""A small repository in a temporary folder, in which tests plant drift."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import time

import planted
import pytest
from ladder import toolchain

# The made-up trees build for the CPU, whatever the real one is tested for.
os.environ["BACKEND"] = "cpu"
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent


@contextlib.contextmanager
def borrowed_run(folder):
    """./run is one for all tests, and somebody may work with it: until the test ends it is the
    test's, then it is again what it was, which lies in the folder until then."""
    (REPOSITORY / "build").mkdir(exist_ok=True)
    run, kept = REPOSITORY / "run", None
    with open(REPOSITORY / "build/run.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if run.is_symlink() or run.exists():
            kept = shutil.copy2(run, folder / "run", follow_symlinks=False)
        try:
            yield
        finally:
            run.unlink(missing_ok=True)
            if kept:
                shutil.copy2(kept, run, follow_symlinks=False)


def script(path, text):
    """A program, in a folder that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Folder:
    """A folder of files, self.root, below which tests write."""

    @pytest.fixture(autouse=True)
    def in_a_folder_of_its_own(self, tmp_path):
        self.root = tmp_path.resolve()

    def write(self, name, text):
        """Returns where that is."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def script(self, name, text):
        return script(self.root / name, text)

    def read(self, name):
        return (self.root / name).read_text()

    def edit(self, name, old, new):
        text = self.read(name)
        assert text.count(old) == 1, f"'{old}' in {name}"
        self.write(name, text.replace(old, new))


def hand_over_executor(there, solution):
    """What is built here of the executor and beside it, for another tree's folder, in which its
    settings are: all of one age, so that make compiles none of it again."""
    here = REPOSITORY / "build/cpu"
    toolchain.made(REPOSITORY, "cpu", "build/cpu" / solution.relative_to(REPOSITORY).with_suffix(".run"))
    shutil.copytree(here / "common", there / "common")
    shutil.copy(here / "libsimt.a", there)
    now = time.time()
    for path in there.rglob("*"):
        os.utime(path, (now, now))


def drifts_tree(name):
    """FILE -> its text, of the repository that tests/drifts/NAME.tree is."""
    return planted.tree_of((REPOSITORY / f"tests/drifts/{name}.tree").read_text())


class TreeTest(Folder):
    """Runs one tool of the repository on a tree; subclasses say which, and which of
    tests/drifts/NAME.tree the tree begins with."""

    tool = tree = ""

    @pytest.fixture(autouse=True)
    def in_its_tree(self, in_a_folder_of_its_own):
        if self.tree:
            planted.laid_out(drifts_tree(self.tree), self.root)

    def run_tool(self, *arguments):
        """(exit status, what it said)"""
        status, output = planted.said_by(self.tool, [*arguments, self.root])
        assert "Traceback" not in output
        return status, output

    def assert_green(self, *arguments):
        status, output = self.run_tool(*arguments)
        assert status == 0 and planted.PASSED.search(output), output

    def assert_red(self, *messages, arguments=()):
        status, output = self.run_tool(*arguments)
        assert status == 1, output
        for message in messages:
            assert message in output
