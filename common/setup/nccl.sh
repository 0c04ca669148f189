#!/usr/bin/env bash
# Prints where NCCL is, the folder of nccl.h and then the library: in a system
# path, or as Python's nvidia-nccl package has it. Prints nothing if there is
# none; it is never installed unasked.
set -u

in_system() {
  local folder library
  for folder in "${NCCL_HOME:+$NCCL_HOME/include}" "${CUDA:-/usr/local/cuda}/include" /usr/include; do
    [[ -f $folder/nccl.h ]] || continue
    for library in "${folder%/include}"/{lib64,lib,lib/x86_64-linux-gnu,lib/aarch64-linux-gnu}/libnccl.so{,.2}; do
      [[ -f $library ]] && echo "$folder $library" && return
    done
  done
  return 1
}

in_python() {
  "${PYTHON:-python3}" - 2>/dev/null <<'CODE'
import importlib.util, pathlib
for folder in importlib.util.find_spec("nvidia.nccl").submodule_search_locations:
    header, library = (pathlib.Path(folder, *part) for part in (("include", "nccl.h"), ("lib", "libnccl.so.2")))
    if header.is_file() and library.is_file():
        print(header.parent, library)
        break
CODE
}

in_system || in_python || true
