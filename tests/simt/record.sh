#!/bin/bash
# Runs the executor's suite on a GPU, where its expectations come from.
#
#   tests/simt/record.sh DIRECTORY
#
# builds and judges every program of tests/simt and tests/programs, and writes
# to DIRECTORY what each one said (NAME.log), the answers of the arithmetic
# programs (arithmetic/NAME.h200.txt; copy them over those in
# tests/simt/arithmetic after a look at the differences), the bits of all their
# results (arithmetic/NAME.bits.gz, for `NAME --against`), and the answer to each
# form of PTX that the executor accepts (forms.h200.txt, for tests/simt). Exits
# non-zero when a program fails.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${1:?say where to: tests/simt/record.sh DIRECTORY}
nvcc=${NVCC:-nvcc}
nvidia-smi -L || { echo "record.sh needs an NVIDIA GPU and its driver"; exit 2; }
mkdir -p "$out/arithmetic" || exit 2
out=$(cd "$out" && pwd)
programs=$(mktemp -d) || exit 2
trap 'rm -rf "$programs"' EXIT

linked_with() {  # linked_with SOURCE: if its device code is linked, how
  case $1 in tests/simt/linked/*)
    echo -rdc=true
    ls "${1%.cu}"/*.cu 2> /dev/null
  esac
}

linked_with_library() {  # linked_with_library SOURCE: NCCL is no part of CUDA
  local library
  for library in cublas curand; do
    grep -qE "^#include <$library(_v2)?\.h>" "$1" && echo "-l$library"
  done
  grep -q '^#include <nccl\.h>' "$1" && echo "$nccl"
}

build() {  # build SOURCE: the program, or a log and no program
  local name
  name=$(basename "$1" .cu)
  "$nvcc" -std=c++20 -O3 -lineinfo -arch=native -I. -o "$programs/$name" "$1" \
    $(linked_with "$1") $(linked_with_library "$1") \
    > "$out/$name.log" 2>&1
}

judge() {  # judge SOURCE: a line of verdict; the status says the same
  local name status expected=${1%.cu}.expected
  name=$(basename "$1" .cu)
  if [ ! -x "$programs/$name" ]; then
    echo "FAIL  $1 does not compile: see $name.log"
    return 1
  fi
  timeout 120 "$programs/$name" > "$programs/$name.out" 2> "$out/$name.log"
  status=$?
  cat "$programs/$name.out" >> "$out/$name.log"
  if [ "$status" = 0 ] && [ -f "$expected" ]; then
    diff "$expected" "$programs/$name.out" >> "$out/$name.log" || status=1
  fi
  if [ "$status" != 0 ]; then
    echo "FAIL  $1 (status $status)"
    tail -n 20 "$out/$name.log" | sed 's/^/      /'
    return 1
  fi
  echo "ok    $1: $(tail -n 1 "$programs/$name.out")"
}

record() {  # record SOURCE: the answers of an arithmetic program
  local name
  name=$(basename "$1" .cu)
  "$programs/$name" --hashes > "$out/arithmetic/$name.h200.txt" &&
    "$programs/$name" --bits "$programs/$name.bits" &&
    gzip -c "$programs/$name.bits" > "$out/arithmetic/$name.bits.gz"
}

shopt -s nullglob
arithmetic=(tests/simt/arithmetic/*.cu)
suite=(tests/simt/*.cu tests/simt/linked/*.cu tests/programs/*.cu "${arithmetic[@]}")
nccl=$(common/setup/nccl.sh)
nccl=${nccl:+-I${nccl% *} ${nccl#* } -Xlinker -rpath=$(dirname "${nccl#* }")}
export -f build linked_with linked_with_library
export nccl nvcc out programs
printf '%s\n' "${suite[@]}" |
  xargs -P "$(nproc)" -I{} bash -c 'build "$1"' _ {}

passed=0 failed=0
for source in "${suite[@]}"; do
  if judge "$source"; then ((++passed)); else ((++failed)); fi
done
for source in "${arithmetic[@]}"; do
  record "$source" || { echo "FAIL  $source: not recorded"; ((++failed)); }
done
PYTHONPATH=docs:common "${PYTHON:-python3}" tests/forms.py --record "$out/forms.h200.txt" ||
  { echo "FAIL  tests/forms.py: not recorded"; ((++failed)); }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
