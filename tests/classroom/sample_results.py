"""Results that nobody earned: of kind students, and of those whose names and messages are weapons."""

import dataclasses
import random

from classroom import result
from classroom.result import CORRECTNESS, EFFICIENCY, SAFETY, Check, Result

KIND = Result(
    student="Ada Lovelace", id="al1815", assignment="chapter07", file="ada/chapter07/sum.cu", sha256="ab" * 32,
    status=result.GRADED, message="",
    checks=(
        Check("sum handles every length", CORRECTNESS, 60, 60),
        Check("no finding of the executor", SAFETY, 10, 10),
        Check("sectors per load request", EFFICIENCY, 12.5, 30,
              "A request of your kernel touches 32 sectors, 4 would do.", 14),
    ),
    seed=4711, commit="a92ce49", compiler="g++ 12.2.0", executor="simt", contained="bubblewrap", seconds=3.2,
    counters={"load requests": 8192, "sectors per load request": 32.0, "warp instructions": 237568,
              "compulsory bytes": 8388608})

WEAPONS = (
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1:A9)", "\t=1+1", "a;=1+1", "x\r\n=HYPERLINK(\"http://evil\")",
    "＝1＋1", "<script>alert(1)</script>", "]]><!-- & \" ' -->", "| a | b |\n|---|---|", "![x](http://evil/x.png)",
    "[click](javascript:alert(1))", "<img src=x onerror=alert(1)>", "`code` **bold** _it_ ~no~ # h", "@everyone",
    "www.evil.com http://evil.com a@evil.com", "\x1b[31mred\x1b[0m \x07", "nul\0here", "\x80\x9f", "\ud800 alone",
    b"caf\xe9 \xff".decode("utf-8", "surrogateescape"), "\ufffe\uffff", "abc\u202egnp.exe", "Points Possible",
    "    Points Possible", "Student", "$\\frac{1}{0}$", "$unclosed", "{\"scores\": {\"correctness\": 100}}",
    "🎉 名前 नाम عمر", "e\u0301" * 40, "name, with comma \"and\" quotes", "../../etc/passwd", "-", "", " ",
    "'; DROP TABLE students; --", "%s %d {0} {value}", "\n\n\n", "a" * 10_000_000,
)


def noise(number):
    """Any characters at all, and the special ones often."""
    random_ = random.Random(number)
    return "".join(random_.choice("=+-@|<>&`$\\\"';,[]() \n\r\t\0") if random_.random() < 0.5 else
                   chr(random_.randrange(0x110000)) for _ in range(random_.randrange(60)))


def hostile(weapon):
    """Every text that a student could come near is the weapon."""
    checks = tuple(dataclasses.replace(check, why=weapon, points=0) for check in KIND.checks)
    return dataclasses.replace(KIND, student=weapon, id=weapon, file=weapon, message=weapon, checks=checks,
                               counters={"load requests": float("nan"), weapon: float("inf")})


def failed(status, message):
    checks = tuple(dataclasses.replace(check, points=0, why="") for check in KIND.checks)
    return dataclasses.replace(KIND, student=status, id=status, status=status, message=message, checks=checks)


ALL = (
    KIND, dataclasses.replace(KIND, assignment="chapter03", checks=KIND.checks[:2]),
    failed(result.ABSENT, "There is no chapter07/sum.cu."),
    failed(result.NOT_COMPILED, "sum.cu(3): error: expected a ';'\n1 error detected"),
    failed(result.STOPPED, "It ran for 60 s and was stopped."),
    *map(hostile, WEAPONS), *map(hostile, map(noise, range(30))),
)


def written(folder, results=ALL):
    """Their result.json files below a folder, each in a folder of its own."""
    for number, one in enumerate(results):
        path = folder / f"hand_in_{number:03}" / one.assignment / "result.json"
        path.parent.mkdir(parents=True)
        path.write_text(one.json())
        yield path
