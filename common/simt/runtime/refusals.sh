#!/usr/bin/env bash
# Writes the functions of the CUDA runtime and driver API that no object defines,
# so that it is the executor that names them, and not the linker; and the list of
# the driver's functions that one does define. The arguments are the objects; the
# headers come in, preprocessed.
#
# They take no arguments: on every machine that CUDA runs on, it is the caller
# who puts those into place and clears them away.
set -euo pipefail

declared() {
  grep -oE '\b(cudaError_t|CUresult) +cu[A-Za-z0-9_]+ *\(' | sed -E 's/.* (cu[A-Za-z0-9_]+) *\(/\1/' | sort -u
}
defined() {
  nm -g --defined-only -- "$@" | awk 'NF == 3 { print $3 }' | sort -u
}
calls() {
  defined "$@" | grep -E '^cu[A-Z]' | sort -V
}

echo 'extern "C" {
int simt_refuse(const char*);'
comm -23 <(declared) <(defined "$@") |
  sed 's/.*/int &() { return simt_refuse("&"); }/'
calls "$@" | sed 's/.*/void &();/'
echo 'extern const struct { const char* name; void (*call)(); } simt_driver_calls[] = {'
calls "$@" | sed -E 's/(.*)(_v[0-9]+)$/{"\1", \1\2},/; t; s/.*/{"&", &},/'
echo '{nullptr, nullptr}};
}'
