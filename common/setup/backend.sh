#!/usr/bin/env bash
# Prints `gpu` or `cpu`, and why. Only looks for the device's file where that
# is enough: a driver takes up to seconds to answer, and make asks each time.
set -u

device=$(compgen -G '/dev/nvidia[0-9]*' | head -n 1)
wsl_driver=/usr/lib/wsl/lib/libcuda.so.1

if [[ -n $device ]]; then
  echo "gpu $device is there"
elif [[ -e /dev/dxg && -e $wsl_driver ]]; then
  echo "gpu WSL's /dev/dxg and NVIDIA's driver for it are there"
elif nvidia-smi -L >/dev/null 2>&1; then
  echo "gpu nvidia-smi lists one"
else
  echo "cpu no NVIDIA device is there"
fi
