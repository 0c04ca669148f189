#!/usr/bin/env bash
# What the linker must be told of objects that nvcc compiled with -rdc=true:
#
#   device_link.sh <gpu or cpu> <device.o> <objects> -- <nvcc and its words>
#
# prints words for the linker, and nothing where no object was compiled so. On a
# GPU, nvcc links their device code, into device.o. The executor does so itself,
# when the program begins; each object calls a function of its own name for that.
set -eu -o pipefail

readonly BACKEND=$1 LINKED=$2
shift 2
objects=()
while [[ $1 != -- ]]; do
  [[ $1 != *.o ]] || objects+=("$1")
  shift
done
shift

readonly CALLED=__cudaRegisterLinkedBinary
wanted=$(nm -u "${objects[@]}" | sed -n "s/^ *U \($CALLED\w\+\)$/\1/p")
[[ -n $wanted ]] || exit 0
if [[ $BACKEND == cpu ]]; then
  sed "s/.*/-Wl,--defsym=&=$CALLED/" <<<"$wanted"
else
  "$@" -dlink "${objects[@]}" -lcudadevrt -o "$LINKED" >&2
  echo "$LINKED -lcudadevrt"
fi
