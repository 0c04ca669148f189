"""A small repository in a temporary folder, in which tests plant drift."""

import importlib
import os
import pathlib
import sys
import tempfile
import traceback
import unittest

# The made-up trees build for the CPU, whatever the real one is tested for.
os.environ["BACKEND"] = "cpu"
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent


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


class TreeTest(unittest.TestCase):
    """Runs one tool of the repository on a tree; subclasses say which."""

    tool = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name):
        return (self.root / name).read_text()

    def edit(self, name, old, new):
        text = self.read(name)
        self.assertEqual(text.count(old), 1, f"'{old}' in {name}")
        self.write(name, text.replace(old, new))

    def run_tool(self, *arguments):
        """(exit status, what it said), of a copy of this process: it has read Python's
        modules already."""
        tool = importlib.import_module(self.tool)
        with tempfile.TemporaryFile("w+") as said:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                for stream in (1, 2):
                    os.dup2(said.fileno(), stream)
                sys.stdout = sys.stderr = open(1, "w", closefd=False)  # pytest's write elsewhere.
                sys.argv = [self.tool, *map(str, arguments), str(self.root)]
                os._exit(ended(tool.main))
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            output = said.read()
        self.assertNotIn("Traceback", output)
        return status, output

    def assert_green(self, *arguments):
        status, output = self.run_tool(*arguments)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"(?m)^[1-9]\d* passed, 0 failed\n\Z")

    def assert_red(self, *messages, arguments=()):
        status, output = self.run_tool(*arguments)
        self.assertEqual(status, 1, output)
        for message in messages:
            self.assertIn(message, output)
