#!/usr/bin/env bash
# Writes the functions of the CUDA runtime API that no object defines, so
# that it is the executor that names them, and not the linker. The arguments are
# the objects; the headers come in, preprocessed.
#
# They take no arguments: on every machine that CUDA runs on, it is the caller
# who puts those into place and clears them away.
set -euo pipefail

declared() {
  grep -oE '\bcudaError_t +cuda[A-Za-z0-9_]+ *\(' | grep -oE 'cuda[A-Z][A-Za-z0-9_]+' | sort -u
}
defined() {
  nm -g --defined-only -- "$@" | awk 'NF == 3 { print $3 }' | sort -u
}

echo 'extern "C" {
int simt_refuse(const char*);'
comm -23 <(declared) <(defined "$@") |
  sed 's/.*/int &() { return simt_refuse("&"); }/'
echo '}'
