"""Where a hand-in is compiled and run: a room of its own, whose door is a socket.

In it are the compiler, the contract's headers and a folder in memory that ends with it.
No network, no other process, nothing of the grader; limits on time, memory, files and
processes. Whoever enters last is bash with the script below: it compiles, then starts
the hand-in once for each socket that it was given, and the next when one has ended.
"""

import contextlib
import dataclasses
import functools
import itertools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from classroom.assignment import ROOT, Problem

# What a hand-in may take: bytes, seconds of processor time, processes.
FOLDER, FILE, MEMORY, CPU, PROCESSES = 512 << 20, 256 << 20, 4 << 30, 100, 64
OUTPUT = 64 << 10  # Bytes that we keep of what it prints,
MOST_OUTPUT = 64 << 20  # and that it may print.
LEAST_LEFT = 1 / 16  # Of the machine's memory: below, whoever runs is stopped,
OUT_OF_MEMORY = "This machine ran out of memory while it ran."  # whoever took it.
FIRST_USER = 61000  # Of those that nobody has; one for each room.
NO = "no"
WITHOUT_IPC = [sys.executable, "-I", "-S", str(pathlib.Path(__file__).with_name("no_ipc.py"))]

LIMITS = {"nproc": PROCESSES, "as": MEMORY, "cpu": CPU, "fsize": FILE, "core": 0, "nofile": 256}
# What does not compile with UNUSED is compiled without, and then says why not.
# $1: where to say whether it compiled; then the sockets. The hand-in gets one of them, as
# number 3, and nothing else: what it does not have it cannot write to. What it leaves
# running is ended before the next begins. The shell says nothing of its own.
SCRIPT = r"""
said=$1; shift
cd "$HOME" || exit
if { { $COMPILE $UNUSED -c "$SOURCE" -o hand_in.o >/dev/null 2>&1 || $COMPILE -c "$SOURCE" -o hand_in.o; } &&
  $LINK hand_in.o "$PARTS" $LIBRARIES -pthread -o hand_in; } 2>&1
then echo compiled >&$said; else echo failed >&$said; exit; fi
others="$said>&-"
for socket; do others="$others $socket>&-"; done
exec 2>/dev/null
for socket; do
  eval "$RUN 3<&$socket $others </dev/null 2>&1"
  status=$?
  if ((status > 128)) && name=$(kill -l $status); then status="$status: SIG$name"; fi
  echo "[It ended with exit status $status.]"
  eval "exec $socket>&-"
  $SWEEP
  echo ended >&$said
done
"""
# As root of a user namespace: $1 is an empty folder, $2 the folder's size, then pairs of
# what is to be seen, and where; then --, and what is to be run. DEVICES are in it, too.
MAKE_ROOM = r"""
set -e
root=$1; size=$2; shift 2
mount -t tmpfs -o "size=$size,mode=755" tmpfs "$root"
while [[ $1 != -- ]]; do
  if [[ -d $1 ]]; then mkdir -p "$root$2"; else mkdir -p "$root${2%/*}"; : > "$root$2"; fi
  mount --rbind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2" 2>/dev/null || mount -o remount,bind,ro,nosuid,nodev "$root$2"
  shift 2
done
shift
mkdir -p "$root/dev" "$root/proc" "$root/old" "$root/room"
for device in /dev/{null,zero,urandom} $DEVICES; do : > "$root$device"; mount --bind $device "$root$device"; done
for link in bin lib lib64 sbin; do [[ ! -L /$link ]] || ln -s "$(readlink /$link)" "$root/$link"; done
mount -t proc proc "$root/proc"
echo 0 > "$root/proc/sys/user/max_user_namespaces"  # Whoever is root of one can mount what no limit counts.
cd "$root"
pivot_root . old
umount -l old
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
"""


@dataclasses.dataclass(frozen=True)
class Tools:
    """How a hand-in is compiled, by programs and headers in these folders."""
    compile: str
    link: str
    folders: tuple
    unused: str = ""  # Leaves out what few hand-ins need of headers: a quarter of the compiler's time.
    libraries: str = ""  # Linked behind a hand-in,
    devices: tuple = ()  # and what it may open, where it is timed on a GPU.


def gpu_devices():
    """NVIDIA's device files, WSL's for it included."""
    found = (path for name in ("nvidia*", "dxg") for path in pathlib.Path("/dev").glob(name))
    return tuple(str(path) for path in sorted(found) if path.is_char_device())


def limits(tools, *unlimited):
    """The command that sets them. A driver's addresses reach farther than any memory, so where there
    is one its process is watched instead: Room.excess."""
    unlimited += ("as",) if tools.devices else ()
    return ["prlimit", *(f"--{name}={most}" for name, most in LIMITS.items() if name not in unlimited), "--"]


def system_folders(tools):
    """What programs need; the links to them are made anew. A compiler has its own folders beside its bin."""
    compiler = pathlib.Path(shutil.which(tools.link.partition(" ")[0]) or "/usr/bin/g++").resolve()
    wanted = ["/usr", "/etc/alternatives", "/etc/ld.so.cache", *tools.folders, str(compiler.parent.parent)]
    wanted += [f"/{name}" for name in ("bin", "lib", "lib64", "sbin") if not os.path.islink(f"/{name}")]
    found = [pathlib.Path(p) for p in dict.fromkeys(wanted) if os.path.exists(p)]
    return [p for p in found if not any(q in p.parents for q in found)]


def bubblewrap(room, tools, environment):
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv",
               "--proc", "/proc", "--dev", "/dev",
               *(word for device in tools.devices for word in ("--dev-bind", device, device)), "--remount-ro", "/dev",
               "--perms", "755", "--size", str(FOLDER), "--tmpfs", "/room", *no_more_namespaces()]
    for folder in system_folders(tools):
        command += ["--ro-bind", str(folder), str(folder)]
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{name}"):
            command += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
    for path, seen in room.seen.items():
        command += ["--ro-bind", str(path), seen]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    command += ["--remount-ro", "/"]  # Which has no size.
    return [*as_nobody(room, tools), *command, *limits(tools)]


@functools.cache
def no_more_namespaces():
    """Else a hand-in becomes root of one, and mounts what no limit counts. Bubblewrap can forbid it from 0.8 on."""
    known = subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout
    return ["--unshare-user", "--disable-userns"] if "--disable-userns" in known else []


def only(environment):
    return ["env", "-i", *(f"{name}={value}" for name, value in environment.items())]


def unshare(room, tools, environment):
    pairs = [(str(folder), str(folder)) for folder in system_folders(tools)]
    pairs += [(str(path), seen) for path, seen in room.seen.items()]
    return [*as_nobody(room, tools), *DIES_WITH_GRADER, *only(environment | {"DEVICES": " ".join(tools.devices)}),
            "unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child=KILL", "--mount", "--net",
            "--ipc", "--uts", "bash", "-c", MAKE_ROOM, "room", str(room.folder / "root"), str(FOLDER),
            *(part for pair in pairs for part in pair), "--", *limits(tools)]


def another_user(room, tools, environment):
    """Without namespaces: the network and other processes are seen, but cannot be harmed."""
    return [*become(FIRST_USER + room.number), "--no-new-privs", *DIES_WITH_GRADER, *only(environment), *limits(tools)]


DIES_WITH_GRADER = ["setpriv", "--pdeathsig", "KILL"]  # As bubblewrap does by itself.
MINE = socket.socket(socket.AF_UNIX)  # Its name says that a grader is at work.
CONTAINERS = {"bubblewrap": bubblewrap, "unshare": unshare, "user": another_user}


def become(user):
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


def may_enter(user, folder):
    return subprocess.run([*become(user), "test", "-r", folder, "-o", "-x", folder]).returncode == 0


def as_nobody(room, tools):
    """Root's processes are not limited in number, so root becomes somebody else first; but it
    stays root where only root can read the compiler, or there is nobody else to become."""
    user = FIRST_USER + room.number
    needed = {folder for path in map(pathlib.Path, tools.folders) for folder in (path, *path.parents)}
    can_read = all(folder.stat().st_mode & 0o5 == 0o5 for folder in needed if folder.exists())
    return become(user) if os.geteuid() == 0 and exists(user) and can_read else []


def exists(user):
    """Whether this user namespace has a user of that number."""
    ranges = [map(int, line.split()) for line in pathlib.Path("/proc/self/uid_map").read_text().splitlines()]
    return any(first <= user < first + count for first, _, count in ranges)


REMEDY = """No way was found to keep hand-ins from harming this machine:
{tried}
Install bubblewrap (sudo apt-get install -y bubblewrap). On Ubuntu 24.04, where AppArmor
forbids user namespaces, allow them: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0
In a container, start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined.
If you trust every hand-in, CONTAINED=no grades without; then each result says so."""


def choose(wanted, tools, *private):
    """The first container that works here and hides these folders, or the one that is wanted."""
    if wanted == NO:
        return NO
    if wanted and wanted not in CONTAINERS:
        raise Problem(f"CONTAINED={wanted}: it is one of {', '.join(CONTAINERS)} and {NO}")
    for folder in system_folders(tools):
        if hidden := [str(path) for path in (ROOT, *private) if folder in path.parents]:
            raise Problem(f"Hand-ins see what is in {folder}, {hidden[0]} too: move it elsewhere")
    tried = []
    for name in [wanted] if wanted else CONTAINERS:
        with Room(name, tools, 0, {}) as room:
            said = room.try_out(private)
        if not said:
            if name == "user":
                wait_for_other_graders()
            return name
        tried.append(f"  {name}: {said}")
    raise Problem(REMEDY.format(tried="\n".join(tried)))


def wait_for_other_graders(name="\0kernel-ladder.grader"):
    """Each ends what its users have left running, and theirs are the same. The system forgets the
    name, which is no file's, when its owner ends."""
    for attempt in itertools.count():
        with contextlib.suppress(OSError):
            MINE.bind(name)
            return
        if attempt == 0:
            print("Another grader is at work as these users: waiting until it has ended.", flush=True)
        time.sleep(1)


class Room:
    """A room for one hand-in; `seen` maps files and folders to where they are seen in it."""

    def __init__(self, container, tools, number, seen):
        self.container, self.tools, self.number, self.seen = container, tools, number, seen
        self.output, self.printed = bytearray(), 0
        self.process, self.reader = None, None

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="room."))
        (self.folder / "root").mkdir()
        for folder in (self.folder, self.folder / "root"):
            folder.chmod(0o755)  # For whoever root becomes.
        if self.container == "user" and os.geteuid() == 0:
            os.chown(self.folder / "root", FIRST_USER + self.number, FIRST_USER + self.number)
            (self.folder / "root").chmod(0o700)  # The others are other users.
        return self

    def __exit__(self, *_):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def inside(self):
        """Where its folder is, for what runs in it."""
        return str(self.folder / "root") if self.container in (NO, "user") else "/room"

    def command(self, more):
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.inside,
                       "TMPDIR": self.inside, "LC_ALL": "C.UTF-8"} | more
        if self.tools.devices and (driver := os.environ.get("LD_LIBRARY_PATH")):  # Some containers keep it there.
            environment["LD_LIBRARY_PATH"] = driver
        if self.container == NO:
            return ["env", *(f"{name}={value}" for name, value in environment.items()), *limits(self.tools, "nproc")]
        refusing = [] if self.tools.devices else WITHOUT_IPC  # Nobody has tried what a driver wants.
        return [*refusing, *CONTAINERS[self.container](self, self.tools, environment)]

    def try_out(self, private=()):
        """Why no hand-in can be compiled in it, away from these folders; '' if one can."""
        if self.container == "user":
            if os.geteuid() != 0:
                return "only root can become another user"
            if may_enter(FIRST_USER, ROOT / "chapters"):
                return f"it could read the solutions: chmod go-rwx {ROOT}/*"
            if seen := [str(folder) for folder in private if may_enter(FIRST_USER, folder)]:
                return f"it could read what it is not to see: chmod go-rwx {' '.join(seen)}"
        asks = " && ".join(f"{command.split()[0]} --version >/dev/null" for command in (self.tools.compile, self.tools.link))
        try:
            done = subprocess.run([*self.command({}), "sh", "-c", f'cd "$HOME" && {asks}'], capture_output=True,
                                  text=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it fails"])[-1]

    def start(self, sockets, environment):
        """Compile SOURCE, link it with PARTS and run it: the script above. Returns the end of
        a pipe that says whether it compiled, and then of each time that it ended."""
        told, say = os.pipe()
        sweep = "" if self.container == NO else "kill -KILL -1"
        self.process = subprocess.Popen(
            [*self.command(environment | {"SWEEP": sweep}), "bash", "-c", SCRIPT, "room", str(say), *map(str, sockets)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
            pass_fds=[say, *sockets], start_new_session=True)
        os.close(say)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        return told

    def read(self):
        """Everything, so that it never waits for us; kept is the beginning."""
        with contextlib.suppress(OSError, ValueError):
            while part := self.process.stdout.read(1 << 16):
                self.output += part[:max(0, OUTPUT - len(self.output))]
                self.printed += len(part)

    def said(self):
        return printable(self.output.decode(errors="replace"))

    def excess(self):
        """What it takes too much of, or ''."""
        processes = list(descendants(self.process.pid))
        if len(processes) > PROCESSES + 8:  # Ours among them.
            return f"It started more than {PROCESSES} processes."
        if sum(map(resident, processes)) + sum(hidden_files(processes).values()) > MEMORY:
            return f"It took more than {MEMORY >> 30} GB of memory."
        if self.printed > MOST_OUTPUT:
            return f"It printed more than {MOST_OUTPUT >> 20} MB."
        if memory_left() < LEAST_LEFT:
            return OUT_OF_MEMORY
        return ""

    def end(self):
        """The first process in the room takes all others with it."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.container == "user":
            subprocess.run([*become(FIRST_USER + self.number), "kill", "-KILL", "-1"], stderr=subprocess.DEVNULL)
        self.process.wait()
        self.reader.join(timeout=5)
        self.process.stdout.close()


def printable(text):
    """Without what a terminal would obey, and what is no text."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def resident(pid):
    """Bytes that a process has in memory."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def hidden_files(processes):
    """Open files that no folder holds, by their number: those in memory are in no process's."""
    found = {}
    for pid in processes:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    file = entry.stat()
                    if file.st_nlink == 0:
                        found[file.st_dev, file.st_ino] = file.st_blocks * 512
    return found


def memory_left():
    """The part of this machine's memory that is free."""
    lines = (line.split() for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    kilobytes = {words[0]: int(words[1]) for words in lines}
    return kilobytes["MemAvailable:"] / kilobytes["MemTotal:"]


def descendants(pid):
    yield pid
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from descendants(int(child))
