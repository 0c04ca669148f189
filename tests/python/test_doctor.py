"""The doctor, on machines that are made up: one mismatch each."""

import os
import pathlib
import subprocess

import doctor
import pytest
from ladder.pages import ROOT

NVCC = "/usr/local/cuda/bin/nvcc"
SMI = "nvidia-smi"
PIN = "matplotlib==3.10.3\n"


class Machine:
    """A machine with an H200, on which everything is right."""

    def __init__(self):
        self.environ = {}
        self.python_version = (3, 11, 2)
        self.gcc = "12.2.0"
        self.cuda = {NVCC: "13.0"}
        self.newest_gcc = 15
        self.architectures = (75, 80, 90, 100, 121)
        self.headers = {"doctest/doctest.h", "benchmark/benchmark.h"}
        self.matplotlib = "3.10.3"
        self.nccl = "/usr/include /usr/lib/libnccl.so.2\n"
        self.smi = (0, "NVIDIA H200, 9.0, 580.159.03\n")
        self.driver_cuda = "13.0"
        self.files = {"/dev/nvidia0": "", "/proc/version": "Linux version 6.1"}

    def which(self, name):
        return f"/usr/bin/{name}" if name == "g++" else None

    def glob(self, pattern):
        everything = [*self.files, *self.cuda]
        return sorted(p for p in everything if pathlib.PurePath(p).match(pattern))

    def read(self, path):
        if str(path).endswith("python.txt"):
            return PIN
        if str(path).endswith("host_config.h"):
            return f"#if __GNUC__ > {self.newest_gcc}\n#error\n"
        return self.files.get(str(path), "")

    def run(self, program, *arguments, stdin=""):
        if program in self.cuda:
            return self._nvcc(program, arguments[0])
        if program == SMI:
            if arguments or not self.smi:
                return self.smi
            return 0, f"| Driver Version: 1   CUDA Version: {self.driver_cuda} |"
        if program.endswith("nccl.sh"):
            return 0, self.nccl
        if "matplotlib" in arguments[-1]:
            return (0, self.matplotlib + "\n") if self.matplotlib else (1, "")
        if program == "g++" and self.gcc:
            if arguments == ("-dumpfullversion",):
                return 0, self.gcc + "\n"
            return (0, "") if any(h in stdin for h in self.headers) else (1, "")
        return None

    def _nvcc(self, program, argument):
        if argument == "--version":
            return 0, f"Cuda compilation tools, release {self.cuda[program]}, V1\n"
        if argument == "--dryrun":
            return 0, f"#$ TOP={pathlib.PurePath(program).parent}/..\n"
        return 0, "".join(f"compute_{number}\n" for number in self.architectures)


def examined(**changes):
    """The machine's findings, and the exit status."""
    machine = Machine()
    for name, value in changes.items():
        assert hasattr(machine, name)
        setattr(machine, name, value)
    findings = list(doctor.examine(machine))
    return findings, doctor.status(findings)


# What differs, the exit status, what is wrong, a part of how it is, and of the way out.
CARD = "/sys/bus/pci/devices/0000:01:00.0"
WSL = {"/proc/version": "Linux 5.15-Microsoft-standard-WSL2"}
WSL_DRIVER = WSL | {"/usr/lib/wsl/lib/libcuda.so.1": ""}
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\n"
FAULTS = [
    ({"gcc": "10.2.1"}, 2, "compiler", "10.2.1", "CXX=g++-11"),
    ({"gcc": "14.2.0", "newest_gcc": 13}, 2, "toolkit", "g++ 13 at most", "CXX=g++-13"),
    ({"headers": {"benchmark/benchmark.h"}}, 2, "doctest/doctest.h", "not found", "install -y doctest-dev"),
    # No benchmark matters to the GPU only.
    ({"headers": {"doctest/doctest.h"}}, 1, "benchmark/benchmark.h", "not found", "install -y libbenchmark-dev"),
    ({"python_version": (3, 9, 2)}, 2, "python", "3.9.2", "PYTHON=python3.11"),
    ({"cuda": {}}, 2, "toolkit", "there is no nvcc", ".toolchain"),
    ({"cuda": {NVCC: "11.8"}}, 2, "toolkit", "11.8, older than 12.0", ".toolchain"),
    ({"environ": {"CUDA": "/nowhere"}}, 2, "toolkit", "/nowhere/bin/nvcc does not run", "unset"),
    ({"driver_cuda": "12.4"}, 1, "driver for toolkit", "knows CUDA 12.4", "580.65.06"),
    ({"driver_cuda": "12.4"}, 1, "driver for toolkit", "toolkit is 13.0", "CUDA=/usr/local/cuda-12"),
    ({"smi": (0, "Tesla V100, 7.0, 580.1\n")}, 1, "GPU", "sm_75 and newer only", "CUDA=/usr/local/cuda-12"),
    ({"smi": (0, "Tesla K80, 3.7, 580.1\n")}, 1, "GPU", "Tesla K80, sm_37", "BACKEND=cpu"),
    ({"smi": (0, "NVIDIA Z1, 13.0, 999.1\n")}, 1, "GPU", "newer than CUDA 13.0", "newest CUDA toolkit"),
    ({"files": {"/proc/driver/nvidia/version": "NVRM 580", "/proc/version": "Linux"}},  # In a container.
     1, "device", "no /dev/nvidia0", "--gpus all"),
    ({"files": {f"{CARD}/vendor": "0x10de\n", f"{CARD}/class": "0x030200\n"}},
     1, "device", "no driver is loaded", "nvidia-driver"),
    ({"smi": (18, MISMATCH)}, 1, "driver", "version mismatch", "reboot"),
    ({"smi": None}, 1, "driver", "not there", "utility"),
    ({"files": WSL_DRIVER}, 1, "device", "no /dev/dxg", "wsl --update"),
]


@pytest.mark.parametrize("changes, status, subject, state, fix", FAULTS)
def test_one_thing_is_wrong_and_this_is_the_way_out(changes, status, subject, state, fix):
    findings, ends = examined(**changes)
    bad, = (finding for finding in findings if finding.bad)
    assert (ends, bad.subject) == (status, subject)
    assert state in bad.state
    assert fix in bad.fix


# What differs, and a part of what is told of it.
SOUND = {f"{CARD}/vendor": "0x10de\n", f"{CARD}/class": "0x040300\n"}  # NVIDIA's, and no GPU.
OWN_NVCC = str(doctor.OWN_CUDA / "bin" / "nvcc")
WELL = [
    ({}, "NVIDIA H200, sm_90"),
    ({"files": {"/proc/version": "Linux"}, "smi": None, "headers": {"doctest/doctest.h"}}, "none"),
    ({"python_version": (3, 14, 0)}, "Python 3.14.0"),
    ({"python_version": (3, 15, 0)}, "PYTHON=python3.14"),
    ({"matplotlib": ""}, "make plots"),
    ({"nccl": ""}, "nvidia-nccl-cu13"),
    ({"cuda": {OWN_NVCC: "13.5"}}, OWN_NVCC),
    ({"cuda": {NVCC: "12.8"}}, ""),  # The driver is newer.
    ({"files": SOUND}, ""), ({"files": WSL}, ""), ({"files": WSL_DRIVER | {"/dev/dxg": ""}}, ""),
]


@pytest.mark.parametrize("changes, told", WELL)
def test_that_is_no_fault(changes, told):
    findings, ends = examined(**changes)
    assert ends == 0 and (changes or not any(finding.bad for finding in findings))
    assert told in " ".join(f"{finding.state} {finding.fix}" for finding in findings)


def test_no_compiler():
    findings, ends = examined(gcc="")
    assert ends == 2
    assert "sudo apt-get install -y g++" in findings[0].fix


def test_the_report_fits_80_columns(capsys):
    findings, _ = examined(smi=(0, "NVIDIA Z1, 13.0, 999.1\n"), python_version=(3, 15, 0), driver_cuda="12.4",
                           environ={"CUDA": "/nowhere"}, headers=set(), matplotlib="")
    doctor.report(findings)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("files, found", [
    ([], False), (["include/nccl.h"], False), (["lib/libnccl.so.2"], False),
    (["include/nccl.h", "lib/libnccl.so.2"], True)])
def test_nccl_is_found_where_its_header_and_its_library_are(tmp_path, files, found):
    for name in files:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    said = subprocess.run([ROOT / "common/setup/nccl.sh"], text=True, capture_output=True, check=True,
                          env=os.environ | {"NCCL_HOME": str(tmp_path)}).stdout
    assert (said == f"{tmp_path}/include {tmp_path}/lib/libnccl.so.2\n") == found, said
