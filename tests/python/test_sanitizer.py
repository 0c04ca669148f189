"""What compute-sanitizer finds in some programs, beside what it found in the others before."""

import pytest
from ladder.measured import sanitizer


def report(date, commit, tool="compute-sanitizer 1", **programs):
    return {"gpu": "G", "tool": tool, "date": date, "commit": commit, "programs": programs}


def test_later_programs_say_when():
    known = report("2026-01-01", "old", a={"memcheck": ""}, b={"memcheck": ""})
    both = sanitizer.beside(known, report("2026-01-02", "new", b={"memcheck": "x"}, c={"memcheck": "y"}))
    later = {"date": "2026-01-02", "commit": "new"}
    assert both == report("2026-01-01", "old", a={"memcheck": ""}, b={"memcheck": "x", "later": later},
                          c={"memcheck": "y", "later": later})


def test_another_tool_has_to_run_them_all():
    with pytest.raises(SystemExit, match="name no programs"):
        sanitizer.beside(report("2026-01-01", "old"), report("2026-01-02", "new", "compute-sanitizer 2"))
