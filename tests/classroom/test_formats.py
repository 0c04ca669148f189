"""Every format is what its readers document, whatever students are called and whatever they say."""

import csv
import dataclasses
import datetime
import io
import itertools
import json
import os
import pathlib
import re
import unicodedata
from xml.etree import ElementTree

import jsonschema
import pytest
import sample_results

from classroom import formats, result, roster
from classroom.assignment import Problem
from classroom.formats import (
    autolab, classroom50, figure, gradescope, junit, markdown, tables, terminal, text)

SCHEMAS = pathlib.Path(__file__).resolve().parent / "schemas"
RUNNER = {"CLASSROOM": "gpu", "ASSIGNMENT": "chapter07", "ASSIGNMENT_TYPE": "individual", "OWNER": "ada",
          "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d", "COMMIT_URL": "https://example.com/c",
          "RELEASE_URL": "https://example.com/r", "REVIEW_URL": "https://example.com/v"}
NOW = datetime.datetime(2026, 6, 1, 14, 33, 11, tzinfo=datetime.timezone.utc)
CLEAN = [text.cleaned(one) for one in sample_results.ALL]
EVERY = pytest.mark.parametrize("one", CLEAN, ids=lambda one: ascii(one.student[:20]))


def validate(document, schema):
    rules = json.loads((SCHEMAS / f"{schema}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(rules)
    jsonschema.Draft202012Validator(rules).validate(document)


def strictly(written):
    """Parsed as UTF-8 JSON with no NaN in it."""
    def refuse(word):
        raise ValueError(word)
    return json.loads(written.encode("utf-8"), parse_constant=refuse)


# ---- One hand-in ------------------------------------------------------------


@EVERY
def test_gradescope(one):
    document = strictly(gradescope.of_result(one))
    validate(document, "gradescope")
    assert document["score"] == text.points(one.points)
    assert all(test["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
               for test in document["tests"])
    # Nothing that a student wrote is rendered as HTML.
    assert document["output_format"] == "text"
    assert {test[word] for test in document["tests"] for word in ("name_format", "output_format")} <= {"text"}


@pytest.mark.parametrize("schema, broken", [
    ("gradescope", {"score": 1, "grade": 2}), ("gradescope", {"tests": [{"name": "no score"}]}),
    ("gradescope", {"score": 1, "visibility": "never"}), ("autolab", {}), ("autolab", {"scores": {"a": "1"}}),
    ("autolab", {"scores": {}}), ("classroom50", {}),
])
def test_the_schemas_refuse(schema, broken):
    with pytest.raises(jsonschema.ValidationError):
        validate(broken, schema)


@EVERY
def test_classroom50(one):
    document = classroom50.document(one, RUNNER, NOW)
    validate(strictly(json.dumps(document)), "classroom50")
    assert document["score"] == sum(test["score"] for test in document["tests"]) <= document["max-score"]
    assert document["max-score"] == round(one.of)
    assert all(test["score"] <= test["max-score"] for test in document["tests"])
    assert document["datetime"] == "2026-06-01T14:33:11Z"


def test_classroom50_refuses_fractions():
    document = classroom50.document(CLEAN[0], RUNNER, NOW)
    for wrong in ({"score": 82.5}, {"submission": "main"}, {"datetime": "2026-06-01 14:33:11"}, {"extra": 1}):
        with pytest.raises(jsonschema.ValidationError):
            validate(document | wrong, "classroom50")


def test_points_that_are_fractions_stay_whole_in_sum():
    assert classroom50.whole([60 / 7] * 7) == [9, 8, 9, 8, 9, 8, 9]
    check = dataclasses.replace(sample_results.KIND.checks[0], points=60 / 7, of=60 / 7)
    lost = dataclasses.replace(check, points=60 / 7 - 0.01)
    tests = list(classroom50.tests(dataclasses.replace(sample_results.KIND, checks=(check,) * 6 + (lost,))))
    assert [test["passed"] for test in tests] == [True] * 6 + [False]
    assert tests[-1]["score"] < tests[-1]["max-score"]


def test_classroom50_is_written_where_its_runner_is(monkeypatch):
    for name in RUNNER:
        monkeypatch.delenv(name, raising=False)
    assert classroom50.of_result(CLEAN[0]) is None
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    validate(strictly(classroom50.of_result(CLEAN[0])), "classroom50")


@EVERY
def test_autolab(one):
    line = autolab.of_result(one)
    assert line.count("\n") == 1 and line.isascii()
    document = strictly(line)
    validate(document, "autolab")
    assert sum(document["scores"].values()) == pytest.approx(one.points)


# ---- The class --------------------------------------------------------------

# What junit-10.xsd of Jenkins' xunit-plugin allows, as far as it is used: element ->
# (attributes that must be there, that may be there, children in their order).
JUNIT = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors"}, {"time", "skipped", "timestamp", "hostname", "id"},
                  ["properties", "testcase", "system-out", "system-err"]),
    "properties": (set(), set(), ["property"]),
    "property": ({"name", "value"}, set(), []),
    "testcase": ({"name"}, {"classname", "time", "assertions"}, ["skipped", "error", "failure"]),
    "failure": (set(), {"type", "message"}, []),
    "error": (set(), {"type", "message"}, []),
    "skipped": (set(), {"type", "message"}, []),
}


def junit_problems(element):
    must, may, children = JUNIT[element.tag]
    yield from (f"{element.tag} has no {name}" for name in must - set(element.keys()))
    yield from (f"{element.tag} has a {name}" for name in set(element.keys()) - must - may)
    places = [children.index(child.tag) if child.tag in children else -1 for child in element]
    if -1 in places or places != sorted(places):
        yield f"{element.tag} holds {[child.tag for child in element]}"
    for child in element:
        yield from junit_problems(child)


def test_junit():
    root = ElementTree.fromstring(junit.of_results(CLEAN))
    assert not list(junit_problems(root))
    assert len(root) == len(CLEAN)
    for suite, one in zip(root, CLEAN):
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases) == len(one.checks)
        for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(count)) == len(suite.findall(f"testcase/{tag}"))
        assert re.fullmatch(r"\d+\.\d+", suite.get("time"))
    kinds = {one.status: [child.tag for child in suite.iter() if child.tag in ("failure", "error", "skipped")]
             for suite, one in zip(root, CLEAN[:5])}
    assert kinds["absent"] == ["skipped"] * 3 and kinds["not compiled"] == ["error"] * 3
    assert [child.tag for child in root[0].iter() if child.tag in ("failure", "error")] == ["failure"]


def test_the_rules_for_junit_refuse():
    for broken in ("<testsuite name='a'/>", "<testsuites><testcase name='a'/></testsuites>",
                   "<testcase name='a'><failure/><error/></testcase>", "<testcase name='a' points='1'/>"):
        assert list(junit_problems(ElementTree.fromstring(broken)))


def test_markdown():
    page = markdown.of_results(CLEAN)
    lines = page.split("\n")
    assert len(lines) == 2 + 2 + len(CLEAN) + 1  # So no name begins a line of its own.
    for row in lines[4:-1]:
        assert len(row.strip("|").split("|")) == 5
        plain = re.sub(r"&#\d+;", "", row)
        assert not re.search(r"[<>\[\]`*_~#!@:/\\&$]|www\.|http:", plain)
    assert "Ada Lovelace" in page


def test_markdown_is_cut_below_a_mebibyte():
    many = [text.cleaned(sample_results.hostile("é" * 5000))] * 300
    page = markdown.of_results(many)
    assert 900_000 < len(page.encode()) < 1 << 20
    rows = page.count("\n| é")
    assert f"these are the first {rows} of 300" in page
    assert "these are the first" not in markdown.of_results(many[:3])


def parsed(written):
    return list(csv.reader(io.StringIO(written, newline=""), strict=True))


def no_formula(cell):
    pieces = re.split(r"[;,|\t]", cell)
    return not any(re.match(r"\s*[=+\-@＝＋－＠\r]", piece) for piece in pieces)


def test_summary():
    rows = parsed(tables.summary(CLEAN))
    assert rows[0] == list(tables.SUMMARY) and len(rows) == 1 + len(CLEAN)
    assert all(len(row) == len(rows[0]) for row in rows)
    assert all(map(no_formula, itertools.chain(*rows)))
    first = dict(zip(rows[0], rows[1]))
    assert (first["points"], first["of"], first["efficiency"]) == ("82.5", "100", "12.5")
    assert first["message"] == "Line 14: A request of your kernel touches 32 sectors, 4 would do."


def test_canvas():
    rows = parsed(tables.canvas([(one.student, one) for one in CLEAN], {}))
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "chapter03", "chapter07"]
    assert rows[1] == ["Points Possible", "", "", "", "", "70", "100"]
    assert rows[2] == ["Ada Lovelace", "", "al1815", "al1815", "", "70", "82.5"]
    assert all(len(row) == len(rows[0]) for row in rows)
    assert all(map(no_formula, itertools.chain(*rows)))
    # Canvas takes any line with these words for what assignments are worth.
    assert not [row for row in rows[2:] if "Points Possible" in row[0]]


def test_terminal():
    written = terminal.of_results(CLEAN)
    assert max(text.width(line) for line in written.splitlines()) <= 80
    assert not [c for c in written if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
    assert written.count("\n") == len(CLEAN) + 2
    for one in CLEAN:
        alone = terminal.of_results([one])
        assert max(text.width(line) for line in alone.splitlines()) <= 80
    assert "Line 14: A request" in terminal.of_results(CLEAN[:1])


def test_figure_shows_the_hardest_checks_of_many():
    checks = {("chapter01", f"check {k}"): float(k) for k in range(60)}
    shown = figure.hardest(dict(reversed(checks.items())))
    assert list(shown.values()) == [float(k) for k in reversed(range(figure.MOST_CHECKS))]


def test_figure():
    drawn = figure.of_results(CLEAN)
    ElementTree.fromstring(drawn)
    assert drawn == figure.of_results(CLEAN)
    assert b"chapter07: sectors per load request" in drawn
    ElementTree.fromstring(figure.of_results([]))
    odd = dataclasses.replace(CLEAN[0], checks=(dataclasses.replace(CLEAN[0].checks[0], name="$\\nonsense$"),))
    assert b"$\\nonsense$" in figure.of_results([odd])  # As mathematics it would be refused.


# ---- All of them ------------------------------------------------------------


def test_write_all(tmp_path):
    paths = list(sample_results.written(tmp_path))
    students = {"hand_in_000": roster.Student("hand_in_000", "Ada", "al1815", "A")}
    results = formats.write_all(paths, tmp_path, students)
    assert results[0].student == result.load(paths[0]).student == "Ada"
    assert len(results) == len(paths) == len(sample_results.ALL)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == set(formats.OF_THE_CLASS)
    for path in paths:
        validate(strictly(path.with_name("gradescope.json").read_text()), "gradescope")
        validate(strictly(path.with_name("autolab.json").read_text()), "autolab")
    found = strictly((tmp_path / "results.json").read_text())
    assert [one["student"] for one in found] == ["Ada", *(one.student for one in CLEAN[1:])] and found[0]["points"] == 82.5
    rows = parsed((tmp_path / "canvas.csv").read_text())
    assert [row[:5] for row in rows[2:]] == [["Ada", "", "al1815", "al1815", "A"]], "one of another folder, with her id, is not she"
    assert sum(path.stat().st_size for path in tmp_path.iterdir() if path.is_file()) < 2_000_000
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    formats.write_all(formats.below(tmp_path), tmp_path, students)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}


@pytest.mark.parametrize("broken", ["", "{", "[]", "{}", '{"points": 1, "of": 2, "checks": [], "x": 1}'])
def test_a_broken_result_is_named(tmp_path, broken):
    path = next(sample_results.written(tmp_path))
    path.write_text(broken)
    with pytest.raises(Problem, match=r"hand_in_000/chapter07/result.json is no result of ours"):
        formats.write_all([path], tmp_path)


def test_no_two_students_share_a_folder_and_none_is_a_file():
    names = ["ada", "ada_", "a.json", "a.json_", "a.json__", "session.json"]
    folders = [*map(result.folder_of, names)]
    assert len({*folders}) == len(names) and folders[:2] == names[:2] and "session.json" not in folders


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "summary.csv"
    text.write(path, "before")

    def stopped(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        text.write(path, "after")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("summary.csv", "before")]


def test_clean():
    assert text.clean("a\r\nb\x1b[1m\0") == "a\nb\ufffd[1m\ufffd"
    assert text.clean("x" * 10_000_000, 5) == "xxxxx ... (cut here)"
    assert text.line(" a\n\tb ") == "a b"
    assert (text.points(1.0), text.points(0.1 + 0.2), text.points(100)) == (1, 0.3, 100)
    assert list(text.wrapped("one two\n名前名前 three", 7)) == ["one two", "名前名", "前", "three"]
    assert text.fitted("名前です", 5) == "名前…" and text.fitted("ab", 4) == "ab  "
