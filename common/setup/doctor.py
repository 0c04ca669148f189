#!/usr/bin/env python3
"""Say what is there to build and run with, what is missing, and how to mend it.

Exit status: 0 all that this machine can have works; 1 the CPU backend does,
but not the GPU that is there; 2 nothing can be built.
"""

import dataclasses
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OWN_CUDA = ROOT / ".toolchain" / "cuda" / "nvidia" / "cu13"
VENV_PYTHON = ROOT / ".toolchain" / "venv" / "bin" / "python"

OLDEST_GCC = 11
OLDEST_CUDA = (12, 0)
OLDEST_PYTHON, NEWEST_PYTHON = (3, 10), (3, 14)  # Those with pinned packages.
OLDEST_DRIVER = {12: "525.60.13", 13: "580.65.06"}  # For each CUDA release.
OLDEST_GPU = {12: (5, 0), 13: (7, 5)}  # That each CUDA release builds for.

EVERYTHING, GPU_ONLY, NOTHING = "everything", "the GPU", "nothing"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the report. `breaks` says what cannot run because of it."""

    subject: str
    state: str
    breaks: str = NOTHING
    fix: str = ""

    @property
    def bad(self):
        return self.breaks != NOTHING


class System:
    """All that the doctor may ask of the machine; the tests have another."""

    environ = os.environ
    python_version = sys.version_info[:3]

    def run(self, *command, stdin=""):
        """(exit status, output), or None if there is no such program."""
        try:
            done = subprocess.run(command, input=stdin, text=True, errors="replace", timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.returncode, done.stdout

    def which(self, name):
        return shutil.which(name)

    def glob(self, pattern):
        return sorted(glob.glob(pattern))

    def read(self, path):
        try:
            return pathlib.Path(path).read_text(errors="replace")
        except OSError:
            return ""


# ---- Compiler and packages --------------------------------------------------


def compiler(system):
    name = system.environ.get("CXX") or "g++"
    answer = system.run(name, "-dumpfullversion")
    if answer is None or answer[0]:
        return None, Finding("compiler", f"{name} is missing", EVERYTHING, apt("g++"))
    version = numbers(answer[1])
    text = f"{name} {dotted(version)} ({system.which(name)})"
    if version < (OLDEST_GCC,):
        fix = f"install g++ {OLDEST_GCC} or newer and say `make CXX=g++-{OLDEST_GCC} ...`"
        return version, Finding("compiler", f"{text} is too old: no C++20", EVERYTHING, fix)
    return version, Finding("compiler", text)


def header(system, name, package, breaks):
    command = [system.environ.get("CXX") or "g++", "-std=c++20", "-x", "c++", "-fsyntax-only", "-"]
    command[1:1] = system.environ.get("CPPFLAGS", "").split()
    answer = system.run(*command, stdin=f"#include <{name}>\n")
    if answer is None:
        return Finding(name, "cannot be tried without a compiler", breaks, apt("g++", package))
    if answer[0]:
        fix = apt(package) + ", or say where it is: CPPFLAGS=-I..."
        return Finding(name, "is not found", breaks, fix)
    return Finding(name, "found")


def python(system):
    """The Python that runs this, which is the one that make takes."""
    version = system.python_version
    text = f"Python {dotted(version)}"
    if version[:2] < OLDEST_PYTHON:
        fix = "install Python 3.11 and say `make PYTHON=python3.11 ...`"
        return Finding("python", f"{text} is too old for the tests", EVERYTHING, fix)
    if version[:2] > NEWEST_PYTHON:
        return Finding("python", f"{text}; the pinned figure packages end with "
                                 f"{dotted(NEWEST_PYTHON)}: `make PYTHON=python{dotted(NEWEST_PYTHON)} test`")
    return Finding("python", text)


def figures(system):
    pins = system.read(ROOT / "common/setup/python.txt")
    pin = re.search(r"^matplotlib==(\S+)", pins, re.M)[1]
    probe = "import matplotlib; print(matplotlib.__version__)"
    for path in (sys.executable, str(VENV_PYTHON)):
        answer = system.run(path, "-c", probe)
        if answer and answer[0] == 0 and answer[1].strip() == pin:
            return Finding("figures", f"matplotlib {pin} ({path})")
    return Finding("figures", f"matplotlib {pin} is not there; `make test` and "
                              "`make plots` install it")


# ---- Toolkit ----------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Toolkit:
    nvcc: str
    version: tuple
    newest_gcc: int | None  # The newest host compiler that nvcc accepts.
    architectures: tuple  # (7, 5), (8, 0), ...


def toolkit(system, gcc):
    """The nvcc that set-up would take, and what there is to say of it."""
    passed_over, another = [], ""
    for nvcc in nvcc_candidates(system):
        answer = system.run(nvcc, "--version")
        version = re.search(r"release (\d+)\.(\d+)", answer[1]) if answer else None
        if not version:
            passed_over.append(f"{nvcc} does not run")
            continue
        release = int(version[1]), int(version[2])
        if release < OLDEST_CUDA:
            passed_over.append(f"{nvcc} is CUDA {dotted(release)}, older than {dotted(OLDEST_CUDA)}")
            continue
        found = Toolkit(nvcc, release, newest_gcc(system, nvcc), architectures(system, nvcc))
        if not gcc or not found.newest_gcc or gcc[0] <= found.newest_gcc:
            return found, Finding("toolkit", f"CUDA {dotted(release)} ({nvcc})")
        passed_over.append(f"{nvcc} is CUDA {dotted(release)}, which accepts g++ {found.newest_gcc} at most; "
                           f"here is g++ {gcc[0]}")
        another = f"; or install g++-{found.newest_gcc} and say `make CXX=g++-{found.newest_gcc} ...`"
    told = "; ".join(passed_over) or "there is no nvcc"
    fix = f"any build (`make chapter01`) installs CUDA 13 into .toolchain, without root{another}"
    if system.environ.get("NVCC") or system.environ.get("CUDA"):
        fix = "unset NVCC and CUDA, or let them name CUDA 12 or 13"
    return None, Finding("toolkit", told, EVERYTHING, fix)


def nvcc_candidates(system):
    """In the order of ensure.sh."""
    if system.environ.get("NVCC"):
        return [system.environ["NVCC"]]
    if system.environ.get("CUDA"):
        return [f"{system.environ['CUDA']}/bin/nvcc"]
    on_path = system.which("nvcc")
    usual = ["/usr/local/cuda/bin/nvcc", str(OWN_CUDA / "bin" / "nvcc")]
    return ([on_path] if on_path else []) + [path for path in usual if system.glob(path)]


def newest_gcc(system, nvcc):
    """From the header that makes nvcc refuse newer ones."""
    answer = system.run(nvcc, "--dryrun", "-c", "x.cu")
    top = re.search(r"^#\$ TOP=(.*)$", answer[1], re.M) if answer else None
    text = system.read(f"{top[1].strip()}/include/crt/host_config.h") if top else ""
    limit = re.search(r"__GNUC__ > (\d+)", text)
    return int(limit[1]) if limit else None


def architectures(system, nvcc):
    answer = system.run(nvcc, "--list-gpu-arch")
    found = re.findall(r"compute_(\d+)(\d)\b", answer[1]) if answer else []
    return tuple((int(major), int(minor)) for major, minor in found)


# ---- GPU --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Gpu:
    name: str
    capability: tuple
    driver: str
    driver_cuda: tuple | None  # The newest CUDA that the driver knows.


def is_wsl(system):
    return "microsoft" in system.read("/proc/version").lower()


def has_nvidia_card(system):
    vendors = system.glob("/sys/bus/pci/devices/*/vendor")
    classes = (path.replace("/vendor", "/class") for path in vendors
               if system.read(path).strip() == "0x10de")
    return any(system.read(path).startswith("0x03") for path in classes)


def device_node(system):
    """None if this machine has no NVIDIA GPU at all; else about its file."""
    nodes = system.glob("/dev/nvidia[0-9]*")
    if nodes:
        return Finding("device", nodes[0])
    if is_wsl(system):
        if not system.glob("/usr/lib/wsl/lib/libcuda.so.1"):
            return None
        if system.glob("/dev/dxg"):
            return Finding("device", "/dev/dxg (WSL)")
        return Finding("device", "WSL has no /dev/dxg", GPU_ONLY,
                       "in Windows: wsl --update, then wsl --shutdown; it must be WSL 2")
    if system.read("/proc/driver/nvidia/version"):
        return Finding("device", "the driver is loaded, but there is no /dev/nvidia0", GPU_ONLY,
                       "in a container: start it with --gpus all; else: sudo nvidia-modprobe -u -c 0")
    if has_nvidia_card(system):
        return Finding("device", "an NVIDIA card is there, but no driver is loaded", GPU_ONLY,
                       "install NVIDIA's driver (Debian: sudo apt-get install -y nvidia-driver; "
                       "Ubuntu: sudo ubuntu-drivers install), then reboot")
    return None


def gpu(system):
    """(Gpu or None, Finding), once there is a device to ask for."""
    query = "--query-gpu=name,compute_cap,driver_version"
    answer = system.run("nvidia-smi", query, "--format=csv,noheader")
    if answer is None:
        return None, Finding("driver", "nvidia-smi is not there to ask", GPU_ONLY,
                             "install nvidia-smi with NVIDIA's driver (in a container: "
                             "NVIDIA_DRIVER_CAPABILITIES=compute,utility)")
    first = answer[1].strip().splitlines()[0] if answer[1].strip() else ""
    if answer[0] or first.count(",") < 2:
        fix = "reboot, so that the new driver is loaded" if "mismatch" in answer[1] else \
            "install the driver anew, or reboot; `nvidia-smi` must list the GPU"
        return None, Finding("driver", f"nvidia-smi fails: {first}", GPU_ONLY, fix)
    name, capability, driver = (field.strip() for field in first.rsplit(",", 2))
    knows = re.search(r"CUDA (?:UMD )?Version\s*:\s*(\d+)\.(\d+)", system.run("nvidia-smi")[1])
    found = Gpu(name, numbers(capability), driver,
                (int(knows[1]), int(knows[2])) if knows else None)
    knows_text = f", knows CUDA {dotted(found.driver_cuda)}" if knows else ""
    return found, Finding("driver", f"{driver}{knows_text}")


def fit_of_driver(card, kit):
    if card.driver_cuda and card.driver_cuda[0] < kit.version[0]:
        needed = OLDEST_DRIVER.get(kit.version[0])
        newer = f"update the driver to {needed} or newer" if needed else "update the driver"
        return Finding("driver for toolkit", f"the driver knows CUDA {dotted(card.driver_cuda)} at "
                       f"most, and the toolkit is {dotted(kit.version)}", GPU_ONLY,
                       f"{newer}; or install CUDA {card.driver_cuda[0]} and say "
                       f"`make CUDA=/usr/local/cuda-{card.driver_cuda[0]} ...`")
    return Finding("driver for toolkit", "new enough")


def fit_of_gpu(card, kit):
    text = f"{card.name}, sm_{card.capability[0]}{card.capability[1]}"
    if not kit.architectures or card.capability in kit.architectures:
        return Finding("GPU", text)
    if card.capability < min(kit.architectures):
        fitting = [cuda for cuda, oldest in OLDEST_GPU.items() if card.capability >= oldest]
        fix = (f"install CUDA {max(fitting)} and say `make CUDA=/usr/local/cuda-{max(fitting)} ...`"
               if fitting else "no CUDA that this project can use does: BACKEND=cpu runs")
        return Finding("GPU", f"{text}: CUDA {dotted(kit.version)} builds for "
                       f"sm_{''.join(map(str, min(kit.architectures)))} and newer only", GPU_ONLY, fix)
    if card.capability > max(kit.architectures):
        return Finding("GPU", f"{text} is newer than CUDA {dotted(kit.version)}", GPU_ONLY,
                       "install the newest CUDA toolkit and say `make CUDA=/usr/local/cuda ...`")
    return Finding("GPU", text)


def nccl(system, kit):
    """Nothing breaks without it: what includes its header is left out."""
    answer = system.run(str(ROOT / "common/setup/nccl.sh"))
    if answer and answer[0] == 0 and answer[1].strip():
        return Finding("NCCL", answer[1].split()[-1])
    cuda = kit.version[0] if kit else max(OLDEST_DRIVER)
    return Finding("NCCL", "is not found: what sums over several GPUs with it is left out", NOTHING,
                   f"python3 -m pip install nvidia-nccl-cu{cuda} (300 MB), or NVIDIA's package libnccl-dev")


# ---- Report -----------------------------------------------------------------


def examine(system):
    gcc, found = compiler(system)
    yield found
    kit, found = toolkit(system, gcc)
    yield found
    yield header(system, "doctest/doctest.h", "doctest-dev", EVERYTHING)
    yield python(system)
    yield figures(system)

    device = device_node(system)
    if device is None:
        yield Finding("GPU", "none: the chapters run on the CPU executor")
        return
    yield device
    yield header(system, "benchmark/benchmark.h", "libbenchmark-dev", GPU_ONLY)
    yield nccl(system, kit)
    if device.bad:
        return
    card, found = gpu(system)
    yield found
    if card and kit:
        yield fit_of_driver(card, kit)
        yield fit_of_gpu(card, kit)


def status(findings):
    breaks = {finding.breaks for finding in findings}
    return 2 if EVERYTHING in breaks else 1 if GPU_ONLY in breaks else 0


def in_columns(head, text):
    """Lines of 80 columns, but for a path that is longer."""
    return textwrap.fill(text, 80, initial_indent=head, subsequent_indent=" " * len(head),
                         break_long_words=False, break_on_hyphens=False)


def report(findings):
    for finding in findings:
        print(in_columns(f"{'MEND' if finding.bad else 'ok  '}  {finding.subject:22} ", finding.state))
        if finding.fix:
            print(in_columns(f"{'':29}-> ", finding.fix))
    has_gpu = any(finding.subject == "device" for finding in findings)
    print({0: "Everything runs" + (", on the GPU and without it." if has_gpu else
                                   " that can without a GPU."),
           1: "BACKEND=cpu runs; the GPU does not yet.",
           2: "Nothing can be built yet. `make chapter01` installs what it may."}[status(findings)])


def apt(*packages):
    return f"sudo apt-get install -y {' '.join(packages)}"


def numbers(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def dotted(version):
    return ".".join(map(str, version))


def main():
    findings = list(examine(System()))
    report(findings)
    sys.exit(status(findings))


if __name__ == "__main__":
    main()
