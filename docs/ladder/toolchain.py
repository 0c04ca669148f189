"""What the checks ask of the build: to make a target, and which nvcc it uses."""

import functools
import os
import pathlib
import re
import shutil
import subprocess

from harness.built import alone, make, make_each  # Callers ask toolchain for these, too.
from ladder import pages


def made(root, backend, *targets):
    """All of them, by one make that no other disturbs; Problem says what make said."""
    with alone(root):
        run = make(root, backend, *targets)
    if run.returncode:
        raise pages.Problem(f"{' '.join(map(str, targets[:1]))}{', ...' * (len(targets) > 1)} "
                            f"cannot be built:\n{run.stdout}")


def said_by(command, root=None, **environment):
    """What a program prints; Problem tells how it ended, if not well."""
    run = subprocess.run(command, cwd=root, text=True, capture_output=True,
                         env=os.environ | environment)
    if run.returncode:
        raise pages.Problem(f"{' '.join(map(str, command))} ended with status {run.returncode}:\n"
                            f"{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return run.stdout


@functools.cache
def built(root, program):
    """A program of ours, which make has looked at once."""
    made(root, "cpu", program)
    return root / program


@functools.cache
def has_nccl(root):
    """Whether this machine has NCCL for its GPUs."""
    return bool(subprocess.run([root / "common/setup/nccl.sh"], stdout=subprocess.PIPE, text=True).stdout.strip())


@functools.cache
def has_library(root, name):
    """The same of one that comes with the toolkit, but not with all packages of it."""
    found = re.search(r"^CUDA \?= (.*)", (root / ".toolchain/gpu.mk").read_text(), re.M)
    return pathlib.Path(root, os.environ.get("CUDA") or found[1], "lib64", f"lib{name}.so").exists()


def is_left_out(root, backend, path):
    """What includes a library's header, where GPUs lack the library: the Makefile leaves it out, too."""
    if backend != "gpu":
        return False
    wanted = re.findall(r"^#include <(nccl|cublas|curand)(?:_v2)?\.h>$", path.read_text(), re.M)
    return not all(has_nccl(root) if name == "nccl" else has_library(root, name) for name in wanted)


def folder(backend):
    """Where the Makefile builds for it."""
    return f"build/{backend}" + (".sanitized" if os.environ.get("SANITIZE") else "")


def nvcc(root):
    """The compiler that the build uses; of a made-up tree too, ours is it."""
    candidates = [os.environ.get("NVCC"), *chosen("NVCC", root), *chosen("NVCC", pages.ROOT), "nvcc"]
    for candidate in filter(None, candidates):
        if found := shutil.which(candidate):
            return found
    raise pages.Problem("no nvcc: 'make doctor' says how to get one, or set NVCC to its path")


@functools.cache
def is_pinned(root):
    """Whether the build uses the release of CUDA that set-up would install first."""
    pins = (pages.ROOT / "common/setup/cuda.txt").read_text()
    release = re.search(r"^nvidia-cuda-nvcc==(\d+\.\d+)\.", pins, re.M)[1]
    return f"release {release}," in said_by([nvcc(root), "--version"])


def headers(root):
    """The folder of CUDA's headers. It is not always beside nvcc, so set-up asks nvcc for it."""
    for folder in [*chosen("CUDA", root), *chosen("CUDA", pages.ROOT)]:
        if os.path.isfile(f"{folder}/include/cuda_runtime_api.h"):
            return f"{folder}/include/"
    raise pages.Problem("CUDA's headers are not found: 'make doctor' says how to get them; make looks for them")


def chosen(name, root):
    """What the set-up of a tree has found, or nothing."""
    for written in root.glob(".toolchain/[cg]pu.mk"):
        found = re.search(rf"^{name} \?= (.+)$", written.read_text(), re.M)
        if found:
            yield str(root / found[1])
