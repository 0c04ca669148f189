#!/usr/bin/env bash
# Makes sure that what the build needs is there, and installs what is not:
#
#   ensure.sh cpu|gpu    compiler, headers, CUDA toolkit -> .toolchain/cpu.mk
#   ensure.sh python     Python with what draws figures -> .toolchain/python.mk
#
# make includes the file that this writes. It ends with all that was found, so
# that the next call has only to look whether it is still the same.
set -u -o pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8 # So that tools say NO_SPACE as it is written here.

readonly GOAL=$1
readonly RESULT=.toolchain/$GOAL.mk
readonly LOG=.toolchain/setup.log
readonly CXX=${CXX:-g++}
readonly PYTHON=${PYTHON:-python3}
readonly OWN_CUDA=.toolchain/cuda
readonly VENV=.toolchain/venv
readonly PINS=common/setup/python.txt
# What the pages are checked with; then what knows newer compilers and C libraries.
readonly CUDA_PINS=(common/setup/cuda.txt common/setup/cuda_newer.txt)
readonly NO_SPACE='No space left on device'
readonly NO_COMPILER="$CXX is no C++20 compiler: g++ 11 or newer is needed \
(make CXX=g++-12 takes another)."

say() { printf '%s\n' "$*" | fold -s -w 80; }

fail() {
  if [[ $* == *"$LOG"* ]] && grep -q "$NO_SPACE" "$LOG"; then
    set -- "The disk is full: make room, then make again. The log is in $LOG."
  fi
  say $'\n'"$*" >&2
  exit 1
}

# cannot_write <folder> <the tool's complaint>
cannot_write() {
  [[ $2 != *"$NO_SPACE"* ]] || fail "The disk is full: set-up cannot write in
$(realpath -m "$1")"
  fail "Set-up cannot write in this folder (${2##*: }):
$(realpath -m "$1")"
}

# A compiler that cannot write would pass for none, so this is tried first.
need_room() {
  local why
  why=$({ mkdir -p "$1" && head -c 1M /dev/zero >"$1/room"; } 2>&1) ||
    { rm -f "$1/room" && cannot_write "$1" "$why"; }
  rm -f "$1/room" # Another set-up, at the same time, may have done it.
}

# ---- Has anything changed since the last call? ------------------------------

# Whatever decides which tools are taken.
choices() {
  echo "CXX=$CXX $(type -P "$CXX") PYTHON=$(type -P "$PYTHON")" \
    "NVCC=${NVCC-} CUDA=${CUDA-} $(type -P nvcc)" "$(compgen -G /usr/local/cuda/bin/nvcc)" \
    "CPPFLAGS=${CPPFLAGS-} LDFLAGS=${LDFLAGS-} CPATH=${CPATH-}"
}

states() { stat -L -c 'found %s %Y %n' "$@" 2>/dev/null; }

is_done() {
  [[ -f $RESULT ]] || return
  local lines files
  mapfile -t lines < <(sed -n 's/^# \(chosen\|found\) /\1 /p' "$RESULT")
  [[ ${lines[0]-} == "chosen $(choices)" ]] || return
  mapfile -t files < <(printf '%s\n' "${lines[@]:1}" | cut -d ' ' -f 4-)
  [[ "$(printf '%s\n' "${lines[@]:1}")" == "$(states "${files[@]}")" ]]
}

# finish <variables> <files that were found>
finish() {
  local why variables=$1
  shift
  variables+="
# chosen $(choices)
$(states "$0" "$@" | sed 's/^/# /')"
  # Were only a part of it written, make would start anew for ever.
  why=$({ echo "$variables" >"$RESULT.new" && mv "$RESULT.new" "$RESULT"; } 2>&1) ||
    cannot_write .toolchain "$why"
}

# ---- Probes: try, do not ask the package manager ----------------------------

# compiles <flags...> < source: does g++ make a program of it?
compiles() {
  # shellcheck disable=SC2086
  "$CXX" ${CPPFLAGS-} -std=c++20 -x c++ - -x none ${LDFLAGS-} "$@" \
    -o "$SCRATCH/probe" >>"$LOG" 2>&1
}

has_compiler() {
  compiles <<<'#include <bit>
    #if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 11
    #error older than g++ 11
    #endif
    int main() {}'
}
has_doctest() {
  compiles <<<'#define DOCTEST_CONFIG_DISABLE  // All of it takes seconds.
    #include <doctest/doctest.h>
    int main() {}'
}
has_benchmark() {
  compiles -lbenchmark -pthread <<<'#include <benchmark/benchmark.h>
    BENCHMARK_MAIN();'
}
# taken <flag>: the flag, if programs are made with it.
taken() {
  compiles "$1" <<<'#include <stdexcept>
    int main(int n, char**) { if (n > 9) throw std::runtime_error("n"); }' && echo "$1"
}
has_python() {
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
    >>"$LOG" 2>&1
}
has_venv() { "$PYTHON" -c 'import ensurepip, venv' >>"$LOG" 2>&1; }

# works <nvcc>: does it, with the compiler here, make an object?
works() {
  local probe=$SCRATCH/probe
  cat >"$probe.cu" <<<'#include <cuda_fp16.h>
    #if __CUDACC_VER_MAJOR__ < 12
    #error CUDA 12 or newer is needed
    #endif
    __global__ void twice(__half* x) { *x = __hadd(*x, *x); }'
  # nvcc 12.4 compiles what is left out here. Without a GPU, a newer one is had.
  [[ $GOAL != cpu ]] || cat >>"$probe.cu" <<<'
    struct One { __device__ void take(int) const {} };
    template <class T, int kMany>
    concept takes = requires(T t, const int (&some)[kMany]) { t.take(some); };
    template <int kMany, class T> __global__ void all(T t) {
      const auto each = [&](auto) {
        if constexpr (kMany > 1 && takes<T, kMany>) {
          int some[kMany] = {};
          t.take(some);
        }
      };
      each(1);
    }
    template __global__ void all<1>(One);'
  { "$1" -ccbin "$CXX" -std=c++20 -gencode arch=compute_90,code=compute_90 \
    -c "$probe.cu" -o "$probe.o"; } >"$probe.log" 2>&1 && return
  cat "$probe.log" >>"$LOG"
  return 1
}

# ---- System packages --------------------------------------------------------

# may_install: sets AS_ROOT to what must stand before apt-get.
may_install() {
  type -P apt-get >/dev/null || return
  AS_ROOT=()
  ((EUID == 0)) && return
  type -P sudo >/dev/null || return
  AS_ROOT=(sudo)
  [[ -t 0 ]] || sudo -n true 2>/dev/null
}

# install_packages <package...>
install_packages() {
  (($#)) || return 0
  may_install || fail "These system packages are missing, and neither root nor \
sudo is here to install them:

    sudo apt-get install -y $*

Run that (or what installs the same on this system), then make again."

  say "Set-up installs system packages with apt: $*"
  # A fresh system may be updating itself: wait for its lock.
  local apt=("${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; } \
    >>"$LOG" 2>&1 && return
  tail -n 5 "$LOG" >&2
  fail "apt could not install them. Is the network there? On Ubuntu, is the \
component 'universe' enabled? To try by hand:

    sudo apt-get update && sudo apt-get install -y $*

The whole log is in $LOG."
}

# need <probe> <package>: adds to MISSING what the probe does not find.
need() { "$1" || MISSING+=("$2"); }

# must <probe> <message>: after the installation.
must() { "$1" || fail "$2 The log of the attempt is in $LOG."; }

# ---- Python packages --------------------------------------------------------

# pip_install <what it is for> <pip's arguments...>
pip_install() {
  local purpose=$1
  shift
  "$VENV/bin/python" -m pip install -q --disable-pip-version-check \
    --only-binary :all: --no-deps "$@" >>"$LOG" 2>&1 && return
  tail -n 5 "$LOG" >&2
  fail "pip could not install $purpose. Is the network there? Behind a proxy, \
set https_proxy. Then make again; the whole log is in $LOG."
}

make_venv() {
  "$VENV/bin/python" -m pip --version >>"$LOG" 2>&1 && return
  "$PYTHON" -m venv --clear "$VENV" >>"$LOG" 2>&1 ||
    fail "$PYTHON -m venv failed: see $LOG."
}

# ---- The CUDA toolkit -------------------------------------------------------

candidates() {
  if [[ -n ${NVCC-} ]]; then
    echo "$NVCC"
  elif [[ -n ${CUDA-} ]]; then
    echo "$CUDA/bin/nvcc"
  else
    type -aP nvcc
    [[ ! -x /usr/local/cuda/bin/nvcc ]] || echo /usr/local/cuda/bin/nvcc
  fi | awk '!seen[$0]++'
}

# Takes the first nvcc that works; empty if there is none.
choose_nvcc() {
  local nvcc
  while read -r nvcc; do
    works "$nvcc" && echo "$nvcc" && return
    pass_over "$nvcc"
  done < <(candidates)
}

pass_over() {
  say "Set-up passes over $1, which does not compile a small kernel:" >&2
  grep -m 1 -i 'error' "$SCRATCH/probe.log" >&2 ||
    tail -n 1 "$SCRATCH/probe.log" >&2
}

cuda_root() {
  local top
  top=$("$1" --dryrun -c x.cu 2>&1 | sed -n 's/^#\$ TOP=//p')
  readlink -f "${top:-$(dirname "$(dirname "$(readlink -f "$1")")")}"
}

# take_own_cuda <its nvcc>: the one that is in OWN_CUDA, or the first that works.
take_own_cuda() {
  local pins
  for pins in "${CUDA_PINS[@]}"; do
    cmp -s "$pins" "$OWN_CUDA/cuda.txt" && works "$1" && return
  done
  for pins in "${CUDA_PINS[@]}"; do
    install_cuda "$pins"
    works "$1" && return
    pass_over "$(grep -m 1 nvcc "$pins")"
  done
  return 1
}

# install_cuda <pins>
install_cuda() {
  say "Set-up installs NVIDIA's CUDA compiler and headers, which are not" \
    "here, into $OWN_CUDA (100 MB to fetch, 280 MB on disk):"
  sed -n 's/^nvidia/    nvidia/p' "$1"
  make_venv
  rm -rf "$OWN_CUDA" "$OWN_CUDA.part"
  pip_install "the CUDA compiler" --target "$OWN_CUDA.part" -r "$1"
  # A toolkit that was installed the usual way has these names too.
  ln -s lib "$OWN_CUDA.part/nvidia/cu13/lib64"
  ln -s libcudart.so.13 "$OWN_CUDA.part/nvidia/cu13/lib/libcudart.so"
  cp "$1" "$OWN_CUDA.part/cuda.txt"
  mv "$OWN_CUDA.part" "$OWN_CUDA"
}

# ---- Goals ------------------------------------------------------------------

ensure_build() {
  local nvcc root
  MISSING=()
  # Only the usual compiler is installed; one that was asked for is there.
  [[ $CXX == g++ ]] || must has_compiler "$NO_COMPILER"
  need has_compiler g++
  need has_doctest doctest-dev # Not found either where there is no compiler.
  [[ $GOAL == cpu ]] || need has_benchmark libbenchmark-dev
  [[ -n $(candidates) ]] || need has_venv python3-venv
  install_packages "${MISSING[@]}"
  must has_compiler "$NO_COMPILER"
  must has_doctest "The header doctest/doctest.h is not found (CPPFLAGS=-I... \
tells where)."
  [[ $GOAL == cpu ]] || must has_benchmark "Google Benchmark is not found \
(CPPFLAGS=-I... and LDFLAGS=-L... tell where)."

  nvcc=$(choose_nvcc)
  if [[ -z $nvcc ]]; then
    [[ -z ${NVCC-}${CUDA-} ]] || fail "NVCC=${NVCC-} CUDA=${CUDA-} names no \
nvcc that works with $CXX. Leave both unset, and make finds or installs one."
    has_venv || install_packages python3-venv
    nvcc=$OWN_CUDA/nvidia/cu13/bin/nvcc
    take_own_cuda "$nvcc" || fail "The CUDA compiler in $OWN_CUDA does not \
work with $CXX. 'make doctor' says more; to install it anew, remove .toolchain and make again."
    root=$OWN_CUDA/nvidia/cu13
  else
    root=$(cuda_root "$nvcc")
  fi

  finish "NVCC ?= $nvcc
CUDA ?= $root
TOOLS := $("$CXX" --version | head -n 1); $("$nvcc" --version | tail -n 1)
GOLD := $(taken -fuse-ld=gold)" \
    "$(type -P "$CXX")" "$nvcc" "$root/include/cuda_runtime_api.h" \
    $(headers)
}

# Where the headers were found, to notice that they are gone.
headers() {
  local code='#include <doctest/doctest.h>'
  [[ $GOAL == cpu ]] || code+=$'\n#include <benchmark/benchmark.h>'
  # shellcheck disable=SC2086
  "$CXX" ${CPPFLAGS-} -std=c++20 -x c++ -M - <<<"$code" | tr ' ' '\n' |
    grep -E '/(doctest|benchmark)\.h$'
}

# complete <python>: has it the pinned packages that we call, and do they work?
complete() {
  MPLBACKEND=svg "$1" - "$PINS" >>"$LOG" 2>&1 <<'CODE'
import importlib.metadata, io, sys
from matplotlib import pyplot
pins = dict(line.strip().split("==") for line in open(sys.argv[1]) if "==" in line)
for name in ("matplotlib", "clang-format", "pytest", "pytest-xdist", "jsonschema", "PyYAML"):
    assert importlib.metadata.version(name) == pins[name], name
pyplot.plot([0, 1])
pyplot.savefig(io.BytesIO(), format="svg")
CODE
}

ensure_python() {
  local python=$PYTHON
  if ! complete "$PYTHON"; then
    python=$VENV/bin/python
    complete "$python" || install_python_packages
  fi
  finish "CHECK_PYTHON := $python" "$(type -P "$python")" "$PINS"
}

install_python_packages() {
  MISSING=()
  need has_venv python3-venv
  install_packages "${MISSING[@]}"
  must has_python "$PYTHON is not Python 3.10 or newer (make PYTHON=python3.12 \
takes another)."
  say "Set-up installs what draws the figures, judges the code's format and" \
    "runs the checks into $VENV (30 MB to fetch):"
  grep '==' "$PINS" | sed 's/^/    /'
  make_venv
  pip_install "what draws the figures (for Python 3.10 to 3.14; here is \
$("$PYTHON" --version))" -r "$PINS"
  complete "$VENV/bin/python" || fail "What draws the figures was installed, \
but does not work: see the end of $LOG. To begin anew: rm -rf .toolchain"
}

is_done && exit
need_room .toolchain
exec 9>.toolchain/lock
flock 9 # Two builds at once: one sets up, the other waits for it.
is_done && exit
SCRATCH=$(mktemp -d) || exit
trap 'rm -rf "$SCRATCH"' EXIT
need_room "$SCRATCH"
: >"$LOG"
case $GOAL in
  cpu | gpu) ensure_build ;;
  python) ensure_python ;;
esac
