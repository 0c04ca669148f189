"""What the checks ask of the build: to make a target, and which nvcc it uses."""

import os
import re
import shutil
import subprocess

from pages import Problem


def make(root, backend, *arguments):
    """Run make quietly, on its own even below another make."""
    inherited = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    return subprocess.run(
        ["make", "--no-print-directory", "--silent", f"BACKEND={backend}", *arguments],
        cwd=root,
        env={k: v for k, v in os.environ.items() if k not in inherited},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def nvcc(root):
    """The compiler that the build uses."""
    chosen = root / ".toolchain" / "cpu.mk"
    found = (
        re.search(r"^NVCC \?= (.+)$", chosen.read_text(), re.M)
        if chosen.is_file()
        else None
    )
    for candidate in (os.environ.get("NVCC"), found and str(root / found[1]), "nvcc"):
        if candidate and shutil.which(candidate):
            return shutil.which(candidate)
    raise Problem("no nvcc: 'make doctor' says how to get one, or set NVCC to its path")
