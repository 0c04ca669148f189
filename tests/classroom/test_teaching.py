"""What docs/teaching.md prints works as printed, as far as that can be tried here."""

import dataclasses
import json
import os
import re
import shlex
import subprocess

import pytest
import tree
import yaml
from form import typed

from classroom import assignment, bundle, formats, roster
from classroom.assignment import ROOT

PAGE = (ROOT / "docs/teaching.md").read_text()
AUTOGRADER = ROOT / "common/classroom/classroom50/autograder.py"


def blocks(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    assert found
    return found


def rows(heading):
    """The cells of the table whose head begins so."""
    table = re.search(rf"^\| {re.escape(heading)}.*\n\|[-:| ]+\|\n((?:\|.*\n)+)", PAGE, re.M)[1]
    return [[cell.strip() for cell in row.strip("|").split(" |")] for row in table.splitlines()]


def words(cell):
    return re.findall(r"`(\w+)`", cell)


def test_the_sample_is_an_assignment(tmp_path):
    (tmp_path / assignment.NAME).write_text(*blocks("toml"))
    found = assignment.read(tmp_path)
    assert (found.points, len(found.bars), len(found.questions), len(found.bugs)) == (100, 1, 1, 1)
    assert found.bars[0].holds(4) and not found.bars[0].holds(5)
    given = {"bar": found.bars[0], "question": found.questions[0], "bug": found.bugs[0]}
    for kind, one in given.items():  # The sample shows each word, and no default hides a misspelt one.
        left_out = {field.name for field in dataclasses.fields(one)
                    if getattr(one, field.name) == field.default} - {"at_least", "within"}
        assert not left_out, (kind, left_out)


def test_every_word_of_an_assignment_is_explained():
    explained = {(word, kind) for cells in rows("word | in ") for word in words(cells[0]) for kind in cells[1].split(", ")}
    kinds = {"bar": assignment.Bar, "question": assignment.Question, "bug": assignment.Bug}
    assert explained == {(field.name, kind) for kind, of in kinds.items() for field in dataclasses.fields(of)}
    case = next(cells for cells in rows("word | in ") if cells[0] == "`case`")
    assert {field.name for field in dataclasses.fields(assignment.Case)} <= set(words(case[2]))
    known = refused("none = 1\n").partition("it takes ")[2].split(", ")
    assert {word for cells in rows("word | what") for word in words(cells[0])} == set(known)


def refused(text):
    """Why such an assignment is refused."""
    folder = ROOT / "build/refused"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / assignment.NAME).write_text(text)
    with pytest.raises(assignment.Problem) as problem:
        assignment.read.__wrapped__(folder)
    return str(problem.value)


@pytest.mark.parametrize("right, wrong, told", [
    ("safety = 10", "safety = 10\nefficiency = 30", "points: there is no 'efficiency'"),
    ("offset = 0", "ofset = 0", "case: there is no 'ofset'"),
    ('at_most = "4"', 'at_most = "4 +"', "'4 +' has no result"),
    ('finding = "race"', 'finding = "rase"', "bug: 'rase' is none of its choices"),
])
def test_a_slip_is_refused(right, wrong, told):
    sample, = blocks("toml")
    assert told in refused(sample.replace(right, wrong))


def test_every_file_that_is_written_is_listed():
    listed = re.findall(r"^\| `(\w+\.\w+)` \|", PAGE, re.M)
    assert listed == [*formats.OF_A_HAND_IN, *listed[len(formats.OF_A_HAND_IN):]]
    assert set(listed[len(formats.OF_A_HAND_IN):]) == set(formats.OF_THE_CLASS)


def test_the_roster():
    text = re.search(r"^folder,name,id,section\n(?:.+,.+\n)+", PAGE, re.M)[0]
    assert roster.students("roster.csv", text)["charles"].name == "Babbage, Charles"


def targets_of(script):
    """What the lines of a shell script ask make for."""
    for line in script.splitlines():
        command = shlex.split(line, comments=True)
        if command[:1] == ["make"]:
            yield from (word for word in command[1:] if "=" not in word)


def test_the_workflow():
    workflow = yaml.safe_load(*blocks("yaml"))
    assert workflow["name"] and workflow[True] == ["push"]  # YAML 1.1 takes `on` for a truth, GitHub does not.
    asked = set()
    for job in workflow["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-")
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step) and step.keys() <= {"run", "uses", "with", "name"}
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1"))
            subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)
            # What a student chose is no part of a script's text.
            assert "${{" not in step.get("run", "")
            asked |= set(targets_of(step.get("run", "")))
    assert asked == {"grade"} and asked <= typed.goals(ROOT)


@pytest.mark.parametrize("script", blocks("sh"))
def test_commands(script):
    subprocess.run(["bash", "-n", "-c", script], check=True)
    assert set(targets_of(script)) <= typed.goals(ROOT)


def test_json_parses():
    for block in blocks("json"):
        assert json.loads(block)["python"] == "3.12"  # Of those that set-up has packages for.


# ---- Images -----------------------------------------------------------------


def packages(path):
    """What an image's recipe installs."""
    text = path.read_text().replace("\\\n", " ")
    found = re.search(r"packages=\(([^)]*)\)|no-install-recommends\s+(.*?)&&", text)
    return set((found[1] or found[2]).split())


def test_the_images_hold_the_same():
    image = packages(ROOT / ".devcontainer/Dockerfile")
    assert image == packages(bundle.SCRIPTS / "setup.sh") and "g++" in image
    lines = (ROOT / ".devcontainer/Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("FROM ")] == ["FROM debian:12"]


def test_the_devcontainer():
    described = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / described["build"]["dockerfile"]).is_file()
    assert set(targets_of(described["postCreateCommand"])) & typed.goals(ROOT)


# ---- Classroom 50's autograder ----------------------------------------------

FAKES = {
    "git": """#!/bin/sh
        echo "git $*" >> "$CALLS"
        case "$1" in clone) mkdir "$4" ;; esac
        """,
    "make": """#!/bin/sh
        echo "make $3 $(ls "${4#DIR=}") $5 $6" >> "$CALLS"
        echo noise
        mkdir -p "$2/results/ada/chapter07" && echo '{"score": 3}' > "$2/results/ada/chapter07/classroom50.json"
        [ -z "$FAILS" ]
        """,
    "sudo": "#!/bin/sh\nexit 1\n",
}


def graded(tmp_path, **environment):
    for name, script in FAKES.items():
        tree.script(tmp_path / "bin" / name, script)
    (tmp_path / "work/mine/chapter07").mkdir(parents=True)
    (tmp_path / "work/mine/chapter07/sum.cu").touch()
    calls = tmp_path / "calls"
    done = subprocess.run(
        ["python3", AUTOGRADER], cwd=tmp_path / "work", capture_output=True, text=True,
        env=os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "CALLS": str(calls),
                          "ASSIGNMENT": "chapter07", "OWNER": "ada"} | environment)
    return done, calls.read_text().splitlines(), tmp_path / "work/result.json"


def test_the_autograder(tmp_path):
    done, calls, result = graded(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [call.split()[:2] for call in calls] == [["git", "clone"], ["git", "-C"], ["make", "grade"]]
    assert calls[-1] == "make grade ada CHAPTER=07 BACKEND=cpu"
    assert result.read_text() == '{"score": 3}\n'


def test_an_autograder_that_fails_leaves_no_result(tmp_path):
    done, _, result = graded(tmp_path, FAILS="1")
    assert done.returncode != 0 and not result.exists()
