"""One hand-in, in its room, before its judges: what they write is what it is graded by."""

import contextlib
import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import time

from harness import KEEPS_FREED_MEMORY

from classroom import contain, handout
from classroom.assignment import ROOT, Problem

BUILD = pathlib.Path(os.environ.get("JUDGES", "build/cpu/grade"))  # Elsewhere with MARCH=.
SECONDS_ON_GPU = 20  # Of processor time, for all kernels of a try.
TRIES = 16  # A process that ends within a check gets another for the checks behind it.
NO_REPORT = 3  # A judge's exit status.
MOST_REPORT = 64 << 20
TICK = 0.25  # Seconds between two looks at what a hand-in takes.


def reported(path):
    """What a judge wrote: lines of JSON, the last one perhaps cut."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            with contextlib.suppress(ValueError):
                yield json.loads(line)


def judge_command(one, report, session_seed):
    command = [str(ROOT / BUILD / f"{one.op}.judge"), f"--report={report}"]
    command += [f"--case={n},{offset}" for n, offset in sorted({(b.case.n, b.case.offset) for b in one.bars})]
    more = {"CHECK_SEED": str(session_seed), "SIMT_SECONDS": str(SECONDS_ON_GPU)}
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SIMT_")}  # Grades are for all.
    return command, ours | KEEPS_FREED_MEMORY | more


def excess_of(judge, report):
    """What a hand-in makes its judge take too much of, or ''."""
    if contain.resident(judge) > contain.MEMORY:
        return f"It made the judge take more than {contain.MEMORY >> 30} GB of memory."
    if report.is_file() and report.stat().st_size > MOST_REPORT:
        return f"It made the judge write more than {MOST_REPORT >> 20} MB."
    return ""


def headers_of(one):
    """What a hand-in may include: what chapters share, and what its exercise includes."""
    shared = {path.relative_to(ROOT) for path in (ROOT / "common").glob("*.h")}
    return shared | (handout.included([one.exercise]) - {one.exercise})


class Trial:
    """One hand-in, in its room, before its judges."""
    build, tries = BUILD, TRIES

    def __init__(self, session, hand_in, source, number):
        self.session, self.hand_in, self.source, self.number = session, hand_in, source, number
        self.one = hand_in.assignment
        self.file_name = f"{self.one.op}.cu"
        self.checks, self.findings, self.counts = {}, [], []
        self.trouble = ""  # Why it was stopped.
        self.heard = b""  # What its room has said.

    def run(self):
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trial.")))
            folder.chmod(0o755)
            seen = self.lay_out(folder)
            room = stack.enter_context(
                contain.Room(self.session.contained, self.session.tools, self.number, seen))
            pairs = [socket.socketpair() for _ in range(self.tries)]
            for pair in pairs:
                for end in pair:
                    stack.callback(end.close)
            contract = seen[folder / "contract"]
            self.deadline = time.monotonic() + self.session.limit
            tools = self.session.tools
            told = room.start([theirs.fileno() for _, theirs in pairs], {
                "COMPILE": f"{tools.compile} -I{contract}", "UNUSED": tools.unused, "LINK": tools.link,
                "SOURCE": seen[folder / self.file_name], "PARTS": f"{contract}/parts.o", "LIBRARIES": tools.libraries,
                "RUN": self.command()})
            for _, theirs in pairs:
                theirs.close()
            stack.callback(os.close, told)
            self.wait_for_compiler(room, told)
            for number, (ours, _) in enumerate(pairs):
                if not self.compiled or self.trouble or not self.try_once(room, folder, number, ours, told):
                    break
            room.end()
            self.output = room.said()

    def command(self):
        return "./hand_in"

    def lay_out(self, folder):
        """What the room holds: path -> where it is seen there."""
        contract, source = folder / "contract", folder / self.file_name
        for header in headers_of(self.one):
            (contract / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / header, contract / header)
        shutil.copy(ROOT / self.build / f"{self.one.op}.parts", contract / "parts.o")
        source.write_bytes(self.source)
        for path in (*folder.rglob("*"), folder):
            path.chmod(0o755 if path.is_dir() else 0o644)
        if self.session.contained == "user":
            os.chown(folder, -1, contain.FIRST_USER + self.number)
            folder.chmod(0o750)  # The other hand-ins are other users.
        if self.session.contained in (contain.NO, "user"):
            return {contract: str(contract), source: str(source)}
        return {contract: "/contract", source: f"/{self.file_name}"}

    def watch(self, room):
        """What must end the trial now, or ''."""
        if time.monotonic() > self.deadline:
            return f"It took more than {self.session.limit} seconds."
        return room.excess()

    def wait_for_compiler(self, room, told):
        """Until the room has said a word, or nobody is left who could."""
        while not self.trouble and not self.hears(told, TICK):
            self.trouble = self.watch(room)

    @property
    def compiled(self):
        return self.heard.startswith(b"compiled")

    def hears(self, told, seconds):
        """Whether the room says something, or is gone, within so many seconds."""
        if not select.select([told], [], [], seconds)[0]:
            return False
        self.heard += os.read(told, 1 << 10)
        return True

    def try_once(self, room, folder, number, ours, told):
        """Runs the checks that no judge has begun; whether there is need of another try."""
        report = folder / f"report.{number}"
        command, environment = judge_command(self.one, report, self.session.seed)
        command += [f"--hand-in={ours.fileno()}", f"--dt-first={len(self.checks) + 1}"]
        # In a session of its own: Ctrl-C ends the grader, and fails no check.
        with subprocess.Popen(command, env=environment, pass_fds=[ours.fileno()], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as judge:
            try:
                while judge.poll() is None and not self.trouble:
                    self.trouble = self.watch(room) or excess_of(judge.pid, report)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        judge.wait(TICK)
                    self.hears(told, 0)
                    if self.heard.count(b"ended") > number:  # The room may still hold its end, so its judge waits.
                        ours.shutdown(socket.SHUT_RDWR)
            finally:
                judge.kill()  # Whatever happened: it would wait for a hand-in for ever, and we for it.
        ours.close()
        if judge.returncode == NO_REPORT:
            raise Problem(f"the judge cannot write below {folder.parent}: is the disk full? Make room, and grade on")
        return self.take(report)

    def take(self, report):
        """Adds what a judge wrote; whether it was cut short within a check."""
        whole, begun, check = False, len(self.checks), {}
        for line in reported(report):
            if "check" in line:
                check = self.checks[line["check"]] = line
            elif "finding" in line:
                self.findings.append(line)
                if check.get("state") == "begun":  # The last one will have ended it.
                    check["found"] = line
            elif "counters" in line:
                self.counts.append(line)
            whole = whole or "whole" in line
        return not whole and len(self.checks) > begun
