"""The roster, and the leaderboard."""

import dataclasses
import sys

import pytest
import sample_results
from harness import built

from classroom import leaderboard, roster
from classroom.assignment import Problem

ADA, BOB = "ada,Ada Lovelace,al1815", "bob,\"Babbage, Charles\",cb1791"


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return roster.read(path)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_roster(tmp_path, newline, encoding):
    found = read(tmp_path, newline.join(["folder,name,id", ADA, "", BOB, ""]), encoding)
    assert found == {"ada": roster.Student("ada", "Ada Lovelace", "al1815"),
                     "bob": roster.Student("bob", "Babbage, Charles", "cb1791")}


def test_a_name_may_hold_what_python_takes_for_the_end_of_a_line(tmp_path):
    assert read(tmp_path, "folder,name,id\nada,A\u2028B\x85C,a1\n")["ada"].name == "A\u2028B\x85C"


def test_columns_in_any_order_and_sections(tmp_path):
    found = read(tmp_path, " ID ,Section,folder,name\nal1815,B,ada,名前\n")
    assert found["ada"] == roster.Student("ada", "名前", "al1815", "B")


@pytest.mark.parametrize("text, said", [
    ("", "line 1: the header is ''"),
    ("folder,name\nada,Ada\n", "line 1: the header is 'folder,name', but should be 'folder,name,id'"),
    ("folder,name,id,id\n", "line 1"),
    ("folder,name,id,mail\n", "line 1"),
    ("folder,name,id\n", "names no student"),
    (f"folder,name,id\n{ADA}\n{BOB}\nada,Other,o1\n", "line 4: the folder 'ada' stands in line 2 already"),
    (f"folder,name,id\n{ADA}\nbob,Bob,AL1815\n", "line 3: the id 'AL1815' stands in line 2 already"),
    ("folder,name,id\nada,Lovelace, Ada,al1815\n", "line 2: there are 4 cells under 3 columns"),
    ("folder,name,id\nada,,al1815\n", "line 2: the name is empty"),
    ("folder,name,id\n../bob,Bob,b1\n", "line 2: '../bob' is no name of a folder"),
    ("folder,name,id\n..,Bob,b1\n", "line 2: '..' is no name of a folder"),
    ("folder,name,id\nada,\"Ada,a1\n", "line 2: unexpected end of data"),
    ("folder,name,id\nada,\"Ada\"x,a1\n", "line 2"),
])
def test_what_a_roster_may_not_be(tmp_path, text, said):
    with pytest.raises(Problem) as problem:
        read(tmp_path, text)
    assert f"{tmp_path}/roster.csv" in str(problem.value) and said in str(problem.value)


def test_a_roster_in_latin_1(tmp_path):
    with pytest.raises(Problem, match="not UTF-8: save the roster as 'CSV UTF-8'"):
        read(tmp_path, "folder,name,id\nada,Adèle,a1\n", "latin-1")


def test_no_roster(tmp_path):
    with pytest.raises(Problem, match="cannot be read: No such file"):
        roster.read(tmp_path / "none.csv")


# ---- Leaderboard ------------------------------------------------------------


def hand_in(student, **counters):
    right = tuple(dataclasses.replace(check, points=check.of) for check in sample_results.KIND.checks)
    named = {name.replace("_", " "): value for name, value in counters.items()}
    return dataclasses.replace(sample_results.KIND, student=student, checks=right, counters=named)


def test_ties_share_a_rank():
    found = [hand_in("d", load_requests=9), hand_in("b", load_requests=4), hand_in("a", load_requests=4),
             hand_in("c", load_requests=5), hand_in("none")]
    assert leaderboard.board(found, "chapter07", "load requests") == [
        (1, "a", 4), (1, "b", 4), (3, "c", 5), (4, "d", 9)]


def test_who_is_wrong_is_not_ranked():
    wrong = dataclasses.replace(hand_in("fast", load_requests=1), checks=sample_results.failed("graded", "").checks)
    slow = dataclasses.replace(hand_in("slow", load_requests=7), checks=sample_results.KIND.checks)
    assert leaderboard.board([wrong, slow], "chapter07", "load requests") == [(1, "slow", 7)]


@pytest.mark.parametrize("counter, good", [
    ("load requests", True), ("wavefronts of shared loads", True), ("warp instructions", True),
    ("sectors per load request", False), ("microseconds", False), ("compulsory bytes", False),
    ("active threads per warp instruction", False), ("bytes moved by all requests", False), ("time of requests", False),
])
def test_what_ranks(counter, good):
    assert leaderboard.rankable(counter) == good


def test_never_by_time():
    with pytest.raises(Problem, match="'seconds' ranks nothing here; these do: load requests"):
        leaderboard.board([hand_in("a", load_requests=4, seconds=1)], "chapter07", "seconds")


def test_the_command(tmp_path, capsys):
    list(sample_results.written(tmp_path, [hand_in("Ada", load_requests=4), hand_in("Bob", load_requests=4000)]))
    leaderboard.main(tmp_path, "chapter07", "load requests")
    assert capsys.readouterr().out.split() == ["1", "Ada", "4", "2", "Bob", "4,000"]
    command = [sys.executable, "-m", "classroom.leaderboard", tmp_path / "none", "chapter07", "load requests"]
    done = built.told(command)
    assert done.returncode == 1 and done.stdout.startswith("leaderboard: there is no result in ")
