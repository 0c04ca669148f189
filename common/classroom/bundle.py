"""Writes the archive that a Gradescope autograder is made from: setup.sh, run_autograder, this repository.

    python -m classroom.bundle 07 build/gradescope-07.zip      `make gradescope NN=07` calls it so
"""

import io
import pathlib
import shlex
import subprocess
import sys
import zipfile

from harness import built, script

from classroom import assignment
from classroom.assignment import ROOT, Problem
from classroom.formats import text

SCRIPTS = pathlib.Path(__file__).resolve().parent / "gradescope"
MARCH = "x86-64-v3"  # The machine that grades need not be the one that built the image.


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"the archive holds what git knows of, and git says: {done.stderr.strip()}")
    return done.stdout


def settings(chosen):
    """What both scripts read. There is no .git in the archive, so it names the commit."""
    changed = "+" if git("status", "--porcelain") else ""
    is_chapter = chosen.name.startswith("chapter")
    variables = {
        "ASSIGNMENT": chosen.name,
        "CHAPTER": chosen.name.removeprefix("chapter"),
        "FIRST_BUILD": chosen.name if is_chapter else "chapter01",  # Either needs the executor.
        "BACKEND": "cpu",
        "MARCH": MARCH,
        "COMMIT": git("rev-parse", "--short", "HEAD").strip() + changed,
    }
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


def contents(chosen):
    """(name, data, whether it is a program) of each file in the archive."""
    for program in ("setup.sh", "run_autograder"):
        yield program, (SCRIPTS / program).read_bytes(), True
    yield "settings.sh", settings(chosen).encode(), False
    for path in built.tracked(ROOT):
        yield f"ladder/{path.relative_to(ROOT)}", path.read_bytes(), bool(path.stat().st_mode & 0o100)


def zipped(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, is_program in files:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, data)
    return file.getvalue()


def main(name, path):
    text.write(pathlib.Path(path), zipped(contents(assignment.find(name))))
    print(f"{path}: upload it as the autograder of a programming assignment.")


if __name__ == "__main__":
    script("gradescope", main, *sys.argv[1:])
