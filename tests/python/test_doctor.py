"""The doctor, on machines that are made up: one mismatch each."""

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest

import doctor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

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


class DoctorTest(unittest.TestCase):
    def examine(self, **changes):
        machine = Machine()
        for name, value in changes.items():
            self.assertTrue(hasattr(machine, name))
            setattr(machine, name, value)
        self.findings = list(doctor.examine(machine))
        return doctor.status(self.findings)

    def assert_mends(self, subject, state, fix):
        """Exactly one thing is wrong: this, and this is the way out."""
        bad = [finding for finding in self.findings if finding.bad]
        self.assertEqual([finding.subject for finding in bad], [subject])
        self.assertIn(state, bad[0].state)
        self.assertIn(fix, bad[0].fix)

    def test_all_is_well(self):
        self.assertEqual(self.examine(), 0)
        self.assertFalse([finding for finding in self.findings if finding.bad])
        self.assertIn("NVIDIA H200, sm_90", [finding.state for finding in self.findings])

    def test_no_gpu_is_no_fault(self):
        files = {"/proc/version": "Linux"}
        self.assertEqual(self.examine(files=files, smi=None, headers={"doctest/doctest.h"}), 0)
        self.assertIn("none", self.findings[-1].state)

    def test_the_report_fits_80_columns(self):
        self.examine(smi=(0, "NVIDIA Z1, 13.0, 999.1\n"), python_version=(3, 14, 0), driver_cuda="12.4",
                     environ={"CUDA": "/nowhere"}, headers=set(), matplotlib="")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            doctor.report(self.findings)
        self.assertLessEqual(max(map(len, said.getvalue().splitlines())), 80, said.getvalue())

    # Compiler and packages.

    def test_no_compiler(self):
        self.assertEqual(self.examine(gcc=""), 2)
        self.assertIn("sudo apt-get install -y g++", self.findings[0].fix)

    def test_compiler_too_old(self):
        self.assertEqual(self.examine(gcc="10.2.1"), 2)
        self.assert_mends("compiler", "10.2.1", "CXX=g++-11")

    def test_compiler_too_new_for_nvcc(self):
        self.assertEqual(self.examine(gcc="14.2.0", newest_gcc=13), 2)
        self.assert_mends("compiler for nvcc", "up to 13", "CXX=g++-13")

    def test_no_doctest(self):
        self.assertEqual(self.examine(headers={"benchmark/benchmark.h"}), 2)
        self.assert_mends("doctest/doctest.h", "not found", "install -y doctest-dev")

    def test_no_benchmark_matters_to_the_gpu_only(self):
        self.assertEqual(self.examine(headers={"doctest/doctest.h"}), 1)
        self.assert_mends("benchmark/benchmark.h", "not found", "install -y libbenchmark-dev")

    def test_python_too_old(self):
        self.assertEqual(self.examine(python_version=(3, 9, 2)), 2)
        self.assert_mends("python", "3.9.2", "PYTHON=python3.11")

    def test_python_newer_than_the_pins_is_told(self):
        self.assertEqual(self.examine(python_version=(3, 14, 0)), 0)
        self.assertIn("PYTHON=python3.13", " ".join(f.state for f in self.findings))

    def test_no_matplotlib_is_told(self):
        self.assertEqual(self.examine(matplotlib=""), 0)
        self.assertIn("make plots", " ".join(f.state for f in self.findings))

    def test_no_nccl_is_told(self):
        self.assertEqual(self.examine(nccl=""), 0)
        self.assertIn("nvidia-nccl-cu13", " ".join(f.fix for f in self.findings))

    def test_nccl_is_found_where_its_header_and_its_library_are(self):
        for files, found in (((), False), (("include/nccl.h",), False), (("lib/libnccl.so.2",), False),
                             (("include/nccl.h", "lib/libnccl.so.2"), True)):
            with tempfile.TemporaryDirectory() as folder:
                for path in (pathlib.Path(folder, name) for name in files):
                    path.parent.mkdir(exist_ok=True)
                    path.touch()
                said = subprocess.run([ROOT / "common/setup/nccl.sh"], text=True, capture_output=True, check=True,
                                      env=os.environ | {"NCCL_HOME": folder}).stdout
                self.assertEqual(said == f"{folder}/include {folder}/lib/libnccl.so.2\n", found, said)

    # Toolkit.

    def test_no_toolkit(self):
        self.assertEqual(self.examine(cuda={}), 2)
        self.assert_mends("toolkit", "there is no nvcc", ".toolchain")

    def test_toolkit_too_old(self):
        self.assertEqual(self.examine(cuda={NVCC: "11.8"}), 2)
        self.assert_mends("toolkit", "11.8, older than 12.0", ".toolchain")

    def test_named_toolkit_is_not_there(self):
        self.assertEqual(self.examine(environ={"CUDA": "/nowhere"}), 2)
        self.assert_mends("toolkit", "/nowhere/bin/nvcc does not run", "unset")

    def test_own_toolkit_is_found(self):
        nvcc = str(doctor.OWN_CUDA / "bin" / "nvcc")
        self.assertEqual(self.examine(cuda={nvcc: "13.0"}), 0)
        self.assertIn(nvcc, self.findings[1].state)

    # GPU.

    def test_driver_older_than_toolkit(self):
        self.assertEqual(self.examine(driver_cuda="12.4"), 1)
        self.assert_mends("driver for toolkit", "knows CUDA 12.4", "580.65.06")
        self.assert_mends("driver for toolkit", "toolkit is 13.0", "CUDA=/usr/local/cuda-12")

    def test_driver_newer_than_toolkit_is_well(self):
        self.assertEqual(self.examine(cuda={NVCC: "12.8"}), 0)

    def test_toolkit_dropped_the_gpu(self):
        self.assertEqual(self.examine(smi=(0, "Tesla V100, 7.0, 580.1\n")), 1)
        self.assert_mends("GPU", "sm_75 and newer only", "CUDA=/usr/local/cuda-12")

    def test_no_usable_toolkit_knows_the_gpu(self):
        self.assertEqual(self.examine(smi=(0, "Tesla K80, 3.7, 580.1\n")), 1)
        self.assert_mends("GPU", "Tesla K80, sm_37", "BACKEND=cpu")

    def test_gpu_newer_than_toolkit(self):
        self.assertEqual(self.examine(smi=(0, "NVIDIA Z1, 13.0, 999.1\n")), 1)
        self.assert_mends("GPU", "newer than CUDA 13.0", "newest CUDA toolkit")

    def test_no_device_node_in_a_container(self):
        files = {"/proc/driver/nvidia/version": "NVRM 580", "/proc/version": "Linux"}
        self.assertEqual(self.examine(files=files), 1)
        self.assert_mends("device", "no /dev/nvidia0", "--gpus all")

    def test_card_without_driver(self):
        card = "/sys/bus/pci/devices/0000:01:00.0"
        files = {f"{card}/vendor": "0x10de\n", f"{card}/class": "0x030200\n"}
        self.assertEqual(self.examine(files=files), 1)
        self.assert_mends("device", "no driver is loaded", "nvidia-driver")

    def test_nvidia_sound_is_no_gpu(self):
        card = "/sys/bus/pci/devices/0000:01:00.1"
        files = {f"{card}/vendor": "0x10de\n", f"{card}/class": "0x040300\n"}
        self.assertEqual(self.examine(files=files), 0)

    def test_driver_and_library_differ(self):
        self.assertEqual(self.examine(smi=(18, "Failed to initialize NVML: Driver/library "
                                               "version mismatch\n")), 1)
        self.assert_mends("driver", "version mismatch", "reboot")

    def test_no_nvidia_smi(self):
        self.assertEqual(self.examine(smi=None), 1)
        self.assert_mends("driver", "not there", "utility")

    def test_wsl(self):
        wsl = {"/proc/version": "Linux 5.15-Microsoft-standard-WSL2"}
        driver = {**wsl, "/usr/lib/wsl/lib/libcuda.so.1": ""}
        self.assertEqual(self.examine(files=wsl), 0)
        self.assertEqual(self.examine(files={**driver, "/dev/dxg": ""}), 0)
        self.assertEqual(self.examine(files=driver), 1)
        self.assert_mends("device", "no /dev/dxg", "wsl --update")
