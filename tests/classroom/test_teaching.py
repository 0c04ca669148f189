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


def read(folder, text):
    """Such an assignment, with an exercise."""
    (folder / assignment.NAME).write_text(text)
    (folder / "sum.exercise.cu").write_text("__global__ void sum_kernel();\n")
    return assignment.read.__wrapped__(folder)


def test_the_sample_is_an_assignment(tmp_path):
    found = read(tmp_path, *blocks("toml"))
    assert (found.points, len(found.bars), len(found.questions), len(found.bugs)) == (100, 1, 1, 1)
    assert found.bars[0].holds(4) and not found.bars[0].holds(5)
    given = {"bar": found.bars[0], "question": found.questions[0], "bug": found.bugs[0]}
    for kind, one in given.items():  # The sample shows each word, and no default hides a misspelt one.
        left_out = {field.name for field in dataclasses.fields(one)
                    if getattr(one, field.name) == field.default} - {"at_least", "within"}
        assert not left_out, (kind, left_out)


def test_every_word_of_an_assignment_is_explained(tmp_path):
    explained = {(word, kind) for cells in rows("word | in ") for word in words(cells[0]) for kind in cells[1].split(", ")}
    kinds = {"bar": assignment.Bar, "question": assignment.Question, "bug": assignment.Bug}
    assert explained == {(field.name, kind) for kind, of in kinds.items() for field in dataclasses.fields(of)}
    case = next(cells for cells in rows("word | in ") if cells[0] == "`case`")
    assert {field.name for field in dataclasses.fields(assignment.Case)} <= set(words(case[2]))
    with pytest.raises(assignment.Problem) as problem:
        read(tmp_path, "".join(["none = 1\n", *blocks("toml")]))
    known = str(problem.value).partition("it takes ")[2].split(", ")
    assert {word for cells in rows("word | what") for word in words(cells[0])} == set(known)


@pytest.mark.parametrize("right, wrong, told", [
    ("safety = 10", "safety = 10\nefficiency = 30", "points: there is no 'efficiency'"),
    ("offset = 0", "ofset = 0", "case: there is no 'ofset'"),
    ('at_most = "4"', 'at_most = "4 +"', "'4 +' has no result"),
    ('finding = "race"', 'finding = "rase"', "bug: 'rase' is none of its choices"),
    ('counter = "sectors', 'countr = "sectors', "bar: there is no 'countr'; it takes counter, case, "),
    ("points = 30", 'points = "30"', "bar: 'points' is a number from 0 on, not '30'"),
    ("lines = 12", "lines = true", "words: 'lines' is a whole number from 0 on, not True"),
    ("lines = [24, 25]", "lines = [24, -1]", "bug: 'lines' is a whole number from 0 on, not -1"),
    ('hints = ["', 'hints = [1, "', "words: 'hints' is a text in quotes, not 1"),
    ("n = 1048576", "n = 1.5", "case: 'n' is a whole number from 0 on, not 1.5"),
    ("case = {", "case = 5 # {", "case: there is no '5'; it takes n, offset"),
    ("{value}", "{vale}", "bar: why: there is no 'vale'; it takes {value} and {bar}"),
    ('kernel = "sum_kernel"', 'kernel = "sum_kern"', "there is no sum_kern in sum.exercise.cu nor in sum.cu"),
    ('op = "sum"', 'op = "summ"', "op: there is no summ.exercise.cu beside it"),
    ("block = [256, 512]", "blok = [256, 512]", "question: draw: nothing uses 'blok'; edit takes {blok}"),
    ("n = [4096, 8192]", "offset = [0, 1]", "question: draw: 'n' is missing"),
    ("A sum of {n}", "A sum of {m}", "question: text: {m} is not drawn; there are n, block"),
    ("barrier_missing", "barier_missing", "bug: there is no sum.barier_missing.cu in tests/wrong"),
    ("[[bar]]", "[bar]", "words: 'bar' is a list, in which [[ ]] begins each, not {"),
    ('hints = [', 'hints = "x" # ', "words: 'hints' is a list of texts in quotes, not 'x'"),
    ("draw = {", "draw = 5 # ", "question: 'draw' is a table, not 5"),
])
def test_a_slip_is_refused(tmp_path, right, wrong, told):
    sample, = blocks("toml")
    assert right in sample
    with pytest.raises(assignment.Problem, match=re.escape(told)):
        read(tmp_path, sample.replace(right, wrong))


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
