"""Times on a GPU are information: asked for, refused where there is none, and worth no point.

No GPU is needed here. A C++ program stands in for the benchmark and says the time that the hand-in
wants; a script stands in for the solution.
"""

import dataclasses
import json
import os
import subprocess

import pytest
import sample_results
import tree

from classroom import assignment, contain, formats, grade, result, times
from classroom.assignment import ROOT, Problem
from classroom.formats import gradescope, terminal, text
from classroom.leaderboard import rankable

TIME = {"ratio": 1.034, "us": 126.5, "solution_us": 122.34, "n": times.N, "gpu": "NVIDIA H200"}
RECORD = '{"context": {"gpu": "H200"}, "benchmarks": [{"p50_us": %s}]}'
HARNESS = r"""
#include <fstream>
#include <string>
std::string record();
int main(int, char** options) {
  if (std::string(options[1]) != "--checked") return 1;
  std::ofstream(std::string(options[2]).substr(9)) << record();
}
"""
# A GPU's stand-in: no room has it by itself.
DEVICE = next((f"/dev/{name}" for name in ("autofs", "fuse", "hwrng", "kmsg", "loop-control")
               if os.path.exists(f"/dev/{name}")), "")


def says(words):
    return f'#include <string>\nstd::string record() {{ return R"({words})"; }}\n'


@pytest.fixture
def one():
    return assignment.find("03")


@pytest.fixture
def session(tmp_path, monkeypatch, one):
    """What times with the stand-ins, in the first container that works here."""
    build = tmp_path / "gpu/grade"
    program = tmp_path / "gpu" / one.solution.relative_to(ROOT).with_suffix(".run")
    build.mkdir(parents=True)
    subprocess.run(["g++", "-x", "c++", "-c", "-", "-o", build / "relu.parts"], input=HARNESS, text=True, check=True)
    tree.script(program, f"#!/bin/sh\necho '{RECORD % 100}' > \"${{2#--record=}}\"\n")
    monkeypatch.setattr(times, "BUILD", build)
    monkeypatch.setattr(times.Timing, "build", build)
    tools = contain.Tools("g++ -x c++", "g++", (), devices=(DEVICE,) if DEVICE else ())
    try:
        container = contain.choose("", tools)
    except Problem:
        container = contain.NO
    return grade.Session(tmp_path, 5, "c", "g++", "simt", container, 5, tools)


def timed(session, one, source):
    hand_in = grade.HandIn(one, "ada", session.hand_ins / "relu.cu")
    return times.compared(session, session.tools, hand_in, source.encode())


def test_the_ratio_to_the_solution(session, one):
    assert timed(session, one, says(RECORD % 103.4)) == {
        "ratio": 1.034, "us": 103.4, "solution_us": 100, "n": times.N, "gpu": "H200"}


@pytest.mark.parametrize("words", ["", "{}", "[1]", "null", "0", RECORD % "NaN", RECORD % "Infinity", RECORD % -1,
                                   RECORD % '"x"', RECORD % "1e999", RECORD % 10**400, "[" * 100_000])
def test_what_is_no_time_is_none(words):
    assert times.microseconds(words.encode()) == 0


def test_no_time_is_told_of(session, one):
    assert timed(session, one, says("junk")) == {"why": "It ran, but left no time. It said:\n[It ended with exit status 0.]"}
    assert "does not compile for the GPU. It said:" in timed(session, one, "error")["why"]
    assert timed(session, one, says("").replace("{ ", "{ for (volatile int i = 0;; i = i + 1) {} "))["why"].startswith(
        "It took more than 5 seconds.")


@pytest.mark.parametrize("devices, seen", [((DEVICE,), True), ((), False)])
def test_devices_are_in_the_room_where_it_is_timed(session, one, devices, seen):
    if session.contained not in ("bubblewrap", "unshare"):
        pytest.skip(f"{session.contained} hides no device")
    if not DEVICE:
        pytest.skip("this machine has no device but those of every room")
    session = dataclasses.replace(session, tools=dataclasses.replace(session.tools, devices=devices))
    looks = "#include <filesystem>\n" + says("").replace(
        'R"()"', f"""std::filesystem::exists("{DEVICE}") ? R"({RECORD % 2})" : R"({RECORD % 1})" """)
    assert timed(session, one, looks)["us"] == (2 if seen else 1)


def test_a_driver_may_reserve_addresses_and_nobody_else():
    assert not any(word.startswith("--as") for word in contain.limits(contain.Tools("", "", (), devices=(DEVICE,))))
    assert f"--as={contain.MEMORY}" in contain.limits(contain.Tools("", "", ()))


def test_a_solution_that_cannot_be_timed_says_why(session, one):
    times.program_of(one).write_text("#!/bin/sh\necho no GPU answers\nexit 1\n")
    with pytest.raises(Problem, match="the solution of chapter03 cannot be timed here:\nno GPU answers\n"):
        times.solution(one)


def test_a_room_without_time_is_refused_before_grading(session, one, tmp_path):
    stand_in = grade.HandIn(one, "", tmp_path / "solution.cu")
    stand_in.path.write_text(says(RECORD % 100))
    times.try_solutions(session, session.tools, [stand_in])
    stand_in.path.write_text("#include <what_this_room_lacks.h>")
    with pytest.raises(Problem, match="(?s)the solution of chapter03 has no time. It does not compile.*what_this_room_lacks"):
        times.try_solutions(session, session.tools, [stand_in])


def test_refusals(monkeypatch, tmp_path):
    monkeypatch.setenv("TIMES", "maybe")
    with pytest.raises(Problem, match="TIMES=maybe: it is yes or no"):
        times.wanted()
    monkeypatch.setenv("TIMES", "")
    assert not times.wanted()
    monkeypatch.setenv("TIMES", "yes")
    monkeypatch.setattr(times, "ROOT", tmp_path)
    for said in ("cpu no NVIDIA device is there", "gpu /dev/nvidia0 is there"):
        tree.script(tmp_path / "common/setup/backend.sh", f"#!/bin/sh\necho {said}\n")
        if said.startswith("gpu"):
            assert times.wanted()
        else:
            with pytest.raises(Problem, match="on a GPU, and no NVIDIA device is there. Leave it out"):
                grade.main(tmp_path)  # Before anything else: the folder is empty.


def test_right_hand_ins_are_timed_once_and_points_stay(session, one, monkeypatch):
    hand_ins = [grade.HandIn(one, name, session.hand_ins / f"{name}.cu") for name in ("right", "wrong")]
    for hand_in in hand_ins:
        kept = sample_results.KIND if hand_in.student == "right" else sample_results.failed(result.GRADED, "")
        hand_in.path.write_text(says(RECORD % 150))
        text.write(hand_in.folder(session.hand_ins) / grade.NAME, kept.json())
    before = [result.load(h.folder(session.hand_ins) / grade.NAME) for h in hand_ins]
    for _ in range(2):
        grade.time_all(session, session.tools, session.hand_ins, hand_ins)
        monkeypatch.setattr(times, "compared", lambda *_: pytest.fail("timed twice"))
    after = [result.load(h.folder(session.hand_ins) / grade.NAME) for h in hand_ins]
    assert [one.time.get("ratio") for one in after] == [1.5, None]
    assert [dataclasses.replace(one, time={}) for one in after] == before


def test_formats_show_it_without_points(tmp_path):
    timed, untimed = dataclasses.replace(sample_results.KIND, time=TIME), sample_results.KIND
    first, second = map(gradescope.document, (timed, untimed))
    assert first["score"] == second["score"] and first["tests"][:-1] == second["tests"]
    assert first["tests"][-1]["output"].startswith("time: 1.03 x the solution (126.5 us, 122.34 us; n = 67,108,864; ")
    assert not {"score", "max_score"} & first["tests"][-1].keys()
    assert "  time: 1.03 x the solution (126.5 us" in terminal.of_results([timed])
    assert "time: 1.03 x the solution" in terminal.of_results([timed, untimed]).splitlines()[0]
    assert "time" not in terminal.of_results([untimed, untimed])
    written = formats.write_all(list(sample_results.written(tmp_path, [timed])), tmp_path)
    assert json.loads((tmp_path / "results.json").read_text())[0]["time"] == TIME == written[0].time
    assert not rankable("time") and "1.03" not in (tmp_path / "canvas.csv").read_text()
    hostile = text.cleaned(dataclasses.replace(untimed, time={"why": "\x1b[31m" + "x" * 10**6}))
    assert "\x1b" not in terminal.of_results([hostile]) and len(text.time(hostile)) < 5000


@pytest.mark.skipif(os.environ.get("BACKEND") == "gpu", reason="there is a GPU, so nothing is refused")
def test_make_refuses_before_it_grades(tmp_path):
    done = subprocess.run(["make", "--silent", "grade", "TIMES=yes", f"DIR={tmp_path}", f"RESULTS={tmp_path}/results"],
                          cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and "TIMES=yes times hand-ins on a GPU, and" in done.stderr
    assert not list(tmp_path.iterdir())
