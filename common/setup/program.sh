#!/usr/bin/env bash
# Builds a program of any sources and points ./run at it:
#
#   program.sh <ending> <objects and libraries that are linked with it>
#   program.sh check    only sees whether what was asked for makes sense
#
# make passes its variables: GOAL, what it was asked for; SRC, the sources; STD,
# FLAGS for nvcc; ARGS for ./run; BUILD, NVCC, CUDA, CXX, COMPILE and LINK, as for
# any other program; ARCHITECTURE, which of those flags is another one, HOPPER,
# for sm_90a; STAND_INS, the libraries that are linked only with what calls them, and
# MAKE, which builds those. Names may hold what a Makefile's rules could not, so
# what has changed is found out here.
set -u -o pipefail

readonly ENDING=$1
shift
stand_ins=()

fail() {
  printf '%s\n' "$*" | fold -s -w 80 >&2
  exit 1
}

refuse_architecture() {
  fail "FLAGS: leave $1 out; without a GPU the PTX for compute_90 is executed, \
or with -arch=sm_90a that for Hopper alone; on one make ARCH=sm_90 chooses."
}

# words <array> <variable>: as a shell splits it, but nothing in it is carried out
words() {
  local -n into=$1
  local rest=${!2} word='' open=''
  into=()
  while [[ -n $rest ]]; do
    if [[ $rest =~ ^[[:space:]]+ ]]; then
      [[ -z $open ]] || into+=("$word")
      word='' open=
    elif [[ $rest =~ ^\'([^\']*)\' || $rest =~ ^\\(.) || $rest =~ ^([^[:space:]\'\"\\]+) ]]; then
      word+=${BASH_REMATCH[1]} open=yes
    elif [[ $rest =~ ^\"(([^\"\\]|\\.)*)\" ]]; then
      word+=$(sed -E 's/\\([\\"$`])/\1/g' <<<"${BASH_REMATCH[1]}") open=yes
    else
      fail "$2=${!2}: a quote in it has no partner. If it is
part of a word, write a backslash before it: $2=\"it\\'s\""
    fi
    rest=${rest#"${BASH_REMATCH[0]}"}
  done
  [[ -z $open ]] || into+=("$word")
}

# ---- What was asked for -----------------------------------------------------

rm -f run # Where nothing is built, no older one stays.
declare -a sources flags arguments compile link
if [[ -f $SRC ]]; then sources=("$SRC"); else words sources SRC; fi
words flags FLAGS
words arguments ARGS

((${#sources[@]})) || fail "Say which file: make $GOAL SRC=path/to/file.cu,
or several: SRC=\"a.cu b.cpp\". A name with spaces among several wants quotes of
its own: SRC=\"'my file.cu' b.cpp\""
for file in "${sources[@]}"; do
  [[ -f $file && $file =~ \.(cu|cpp|cc|cxx|c)$ ]] ||
    fail "SRC=$file: there is no such .cu, .cpp, .cc, .cxx or .c file."
done

standard=(-std=c++"${STD#c++}")
optimise=(-O3)
linked=()
own=()
last=
for flag in "${flags[@]}"; do
  # Such as -fopenmp: the host's compiler wants it for linking, too.
  case $last in -Xcompiler | --compiler-options)
    IFS=, read -ra host <<<"$flag"
    linked+=("${host[@]}")
    own+=("$flag")
    last=
    continue
    ;;
  -Xlinker | --linker-options)
    linked+=("-Wl,$flag")
    last=
    continue
    ;;
  -cudart | --cudart | -maxrregcount | --maxrregcount) flag=$last=$flag last= ;;
  -l | -L) flag=$last$flag last= ;;
  esac
  case $last in -gencode | --generate-code)
    [[ $flag == arch=compute_90a,* ]] || refuse_architecture "$last $flag"
    COMPILE=${COMPILE/"$ARCHITECTURE"/$HOPPER}
    last=
    continue
    ;;
  esac
  last=$flag
  case $flag in
    -Xcompiler=* | --compiler-options=*)
      IFS=, read -ra host <<<"${flag#*=}"
      linked+=("${host[@]}")
      own+=("$flag")
      ;;
    -dc | --device-c) own+=(-rdc=true) ;; # Compiling is a step of its own anyway,
    -dlink | --device-link)               # and so is this.
      fail "FLAGS: leave $flag out; with -rdc=true device code is linked by itself."
      ;;
    -dlto | --dlink-time-opt*)
      fail "FLAGS: leave $flag out; -rdc=true alone links device code as well."
      ;;
    -ptx | --ptx | -cubin | --cubin | -fatbin | --fatbin | -E | --preprocess | -lib | --lib)
      fail "FLAGS: leave $flag out; it makes no program."
      ;;
    # For what only Hopper has: wgmma, setmaxnreg.
    -arch=sm_90a | --gpu-architecture=sm_90a | -gencode=*90a | --generate-code=*90a)
      COMPILE=${COMPILE/"$ARCHITECTURE"/$HOPPER}
      ;;
    # What these say comes next.
    -gencode | --generate-code | -Xlinker | --linker-options) ;;
    -cudart | --cudart | -maxrregcount | --maxrregcount) ;;
    -arch* | --gpu-architecture* | -gencode* | --generate-code* | -code*)
      refuse_architecture "$flag"
      ;;
    -Xlinker=* | --linker-options=*) linked+=("-Wl,${flag#*=}") ;;
    -cudart=* | --cudart=*) ;; # The runtime is chosen already: the executor, or CUDA's.
    -std=* | --std=*) standard=() own+=("$flag") ;;
    -O* | --optimize*) optimise=() own+=("$flag") ;;
    -G | --device-debug) COMPILE=${COMPILE/-lineinfo/} own+=("$flag") ;;
    # Says nothing to the PTX; nvcc would have it warned about.
    -maxrregcount=* | --maxrregcount=*) [[ $BUILD == */cpu ]] || own+=("$flag") ;;
    -lcud* | -lcu[bfrsp]* | -lnpp* | -lnv[jrm]* | -lnvidia-ml)
      # Without a GPU they would not help; what is missing then, explain tells.
      [[ $BUILD == */cpu ]] || linked+=("$flag")
      ;;
    -lineinfo | -link | --link) ;; # It is done so anyway.
    -l | -L) ;;   # Which one comes next.
    -l* | -L*) linked+=("$flag") ;;
    *) own+=("$flag") ;;
  esac
done
read -ra compile <<<"$COMPILE"
read -ra link <<<"$LINK"
# The user's folders come before the repository's.
compile=("${standard[@]}" "${optimise[@]}" "${own[@]}" "${compile[@]}")

[[ $ENDING != check ]] || exit 0

# ---- Building ---------------------------------------------------------------

folder=$BUILD/programs/$(realpath -- "${sources[@]}" | sha256sum | cut -c 1-12)
first=${sources[0]##*/}
program=$folder/${first%.*}$ENDING
program=${program//[^A-Za-z0-9._\/-]/_}
mkdir -p "$folder"

# What an object was made of, as the compiler listed it.
dependencies() {
  echo "$BUILD/settings"
  sed -E -e '1s/^[^ ]* *: //' -e 's/\\$//' "$1" | xargs printf '%s\n'
}

# is_current <file> <command>: the file is there, made by this command, and no
# older than what it was made of (on standard input)
is_current() {
  local from
  [[ -f $1 && -f $1.made && $(<"$1.made") == "$2" ]] || return
  while read -r from; do
    [[ -e $from && ! $from -nt $1 ]] || return
  done
}

# What stands before a name that is missing, in the linker's words and the compiler's.
readonly MISSED='undefined reference to .|undefined symbol: |(find|find library) -l|identifier "|fatal error: '
# Says in a sentence what the compiler or the linker missed, as far as it is known.
explain() {
  local pattern what
  if grep -q 'requires separate compilation mode' "$1"; then
    echo "The program launches kernels from kernels (dynamic parallelism): add
FLAGS=-rdc=true." >&2
  fi
  if grep -qE "not supported on .target 'sm_90'" "$1"; then
    echo "The program uses what only Hopper has (wgmma, setmaxnreg): add
FLAGS=-arch=sm_90a." >&2
  fi
  [[ $BUILD == */cpu ]] || return
  while read -r pattern what; do
    if grep -qE "($MISSED)$pattern" "$1"; then
      echo "The program $what."
    fi
  done <<'END' | fold -s -w 80 >&2
main' has no main function; name the file with it in SRC, too
cublasLt uses cuBLASLt, which needs a GPU; cublasGemmEx works without one
cublasXt uses cuBLASXt, which needs several GPUs; <cublas_v2.h> works without one
cublas[A-KM-WYZ] uses a call of cuBLAS that the executor does not have; <cublas_v2.h> there lists those it has
cufft uses cuFFT, which needs a GPU; a transform of your own, as a kernel, works without one
curand_kernel uses <curand_kernel.h>, which this toolkit lacks; pip's nvidia-curand has it, FLAGS=-Ifolder tells where
curand[A-Z] uses a call of cuRAND that the executor does not have; <curand.h> there lists those it has
cusparse uses cuSPARSE, which needs a GPU; a product of your own, as a kernel, works without one
cusolver uses cuSOLVER, which needs a GPU; cublasStrsm works without one
cudnn uses cuDNN, which needs a GPU; layers of your own, as kernels, work without one
nccl uses a call of NCCL that the executor does not know
nvrtc uses a call of NVRTC that this toolkit does not have; pip's nvidia-cuda-nvrtc has the library
nvJitLink uses nvJitLink, which makes machine code; cuLinkAddData with PTX works without a GPU
npp uses NPP, which needs a GPU; filters of your own, as kernels, work without one
nvjpeg uses nvJPEG, which needs a GPU; read the picture on the host
nvml uses NVML, which asks a GPU's driver; cudaGetDeviceProperties works without one
nvToolsExt uses NVTX's old library; <nvtx3/nvToolsExt.h> is a header and works
cupti uses CUPTI, which watches a GPU; the executor counts by itself, see docs/counters.md
omp_ uses OpenMP, for which the host's compiler wants FLAGS="-Xcompiler -fopenmp"
(cuda|cub|thrust|nv)/ includes a header of CCCL that this toolkit does not have
cu([A-Z]|da(:|$)) uses a call of the CUDA driver API that the executor does not have
END
  if grep -qE '(undefined reference to .|undefined symbol: )cuda[A-Z]' "$1"; then
    echo "The program uses a call of the CUDA runtime that the executor does not know."
  elif grep -qE 'identifier "cuda[A-Z]' "$1"; then
    echo "This CUDA Toolkit has no such name. Is it spelt so, or is it an older one's?
cudaThreadSynchronize is cudaDeviceSynchronize now, and textures are objects."
  fi >&2
}

# compile_one <source> <object>
compile_one() {
  local command=("$NVCC" "${compile[@]}" -MMD -MF "$2.from" -c "$1" -o "$2")
  is_current "$2" "${command[*]}" < <(dependencies "$2.from" 2>/dev/null) && return
  echo "nvcc  $1"
  rm -f "$2.made"
  if "${command[@]}" 2>"$2.log"; then
    printf '%s\n' "${command[*]}" >"$2.made"
    cat "$2.log" >&2
  else
    cat "$2.log" >&2
    explain "$2.log"
    return 1
  fi
}

objects=()
jobs=()
for ((i = 0; i < ${#sources[@]}; ++i)); do
  objects+=("$folder/$i.o")
  compile_one "${sources[i]}" "$folder/$i.o" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
[[ -z ${failed-} ]] || exit 1

# What the objects call of the libraries that the executor has stand-ins for.
called=$(nm -u "${objects[@]}" 2>/dev/null)
for library in ${STAND_INS-}; do
  grep -qE " ${library}[A-Z]" <<<"$called" && stand_ins+=("$BUILD/lib$library.a")
done
if ((${#stand_ins[@]})); then # By a make of its own: it has none of the other's jobs.
  MAKEFLAGS=$(sed -E 's/ ?(-j[0-9]*|--jobserver[^ ]*)//g' <<<"${MAKEFLAGS-}") \
    "$MAKE" "${stand_ins[@]}" || exit 1
fi
# Of the toolkit's own libraries, what needs no GPU: NVRTC, and the tables of cuRAND. NVRTC looks
# for another library of its own, and an old tag shows it where, too.
from_toolkit() { # <library> <what is called of it> <what goes between>
  [[ $BUILD == */cpu && -e $CUDA/lib64/$1 ]] && grep -qE " U $2" <<<"$called" &&
    linked+=("${BASH_SOURCE[0]%/*}/$3" "-Wl,--disable-new-dtags,-rpath,$(realpath "$CUDA/lib64")")
}
from_toolkit libnvrtc.so nvrtc nvrtc.cpp && linked+=("$CUDA/lib64/libnvrtc.so")
from_toolkit libcurand.so 'curandGet(Direction|Scramble)' curand.cpp && linked+=(-ldl)
readonly PARTS=("${stand_ins[@]}" "$@")

# As nvlink does with device code.
readonly DEVICE_LINK=${BASH_SOURCE[0]%/*}/device_link.sh
backend=gpu
[[ $BUILD != *cpu* ]] || backend=cpu
told=$("$DEVICE_LINK" "$backend" "$folder/device.o" "${objects[@]}" -- "$NVCC" "${compile[@]}") || exit 1
read -ra device <<<"${told//$'\n'/ }"

command=("$CXX" "${objects[@]}" "${device[@]}" "${PARTS[@]}" "${linked[@]}" "${link[@]}" -o "$program")
if ! is_current "$program" "${command[*]}" < <(printf '%s\n' "${objects[@]}" "${PARTS[@]}"); then
  echo "link  $program"
  rm -f "$program.made"
  if ! "${command[@]}" 2>"$folder/link.log"; then
    cat "$folder/link.log" >&2
    explain "$folder/link.log"
    exit 1
  fi
  printf '%s\n' "${command[*]}" >"$program.made"
fi

# ---- ./run ------------------------------------------------------------------

if ((${#arguments[@]})); then
  {
    echo '#!/usr/bin/env bash'
    echo '# Arguments of your own replace those that make was given.'
    printf '(($#)) || set --'
    printf ' %q' "${arguments[@]}"
    printf '\nexec "$(dirname "$0")/%s" "$@"\n' "$program"
  } >run
  chmod +x run
else
  ln -s "$program" run
fi
echo "./run is $program${ARGS:+, with $ARGS}"
