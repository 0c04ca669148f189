// The contract of a sum whose numbers lie on several GPUs.
//
// A team is 1 to 8 devices of this machine, each of them once. Device i of the
// team has a part of the numbers: n floats, at x. sum_all() gives every device
//
//   *out = the sum of all parts
//
// and the same bits to each. The additions are float's, in an order that
// depends on the team's devices and on each part's length and address alone, so
// the same parts there give the same bits in every run. As long as no sum on
// the way overflows, and with n the longest part,
//
//   |*out - exact sum| <= (n / 2^19 + 64) * 2^-24 * (the sum of all |x|).
//
// A NaN, or infinities of both signs, give NaN. A part may be empty, and its x
// null; nothing but empty parts gives +0. *out is written, not added to; x is
// never written to. Both are their device's, from cudaMalloc(), and may start
// at any float.
//
// Part i's work is queued on its stream, which is one of its device. *out is
// there for what is queued on that stream afterwards. Once a call has warmed
// up, nothing waits on the host, and a CUDA graph can record it. Calls of one
// team come one after the other: on the same streams, or on streams that wait
// for them. Teams of their own may add up at the same time, on the same
// devices, too.
//
// A function that cannot do its work says why in a sentence, with the device;
// `said` is empty where all is well. An error that comes to light only as the
// GPU works is the stream's, as CUDA has it. Whichever device was current
// before a call is so afterwards.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

constexpr int kMostDevices = 8;

struct SumAllDevices {
  int count;
  int device[kMostDevices];  // Numbered as cudaSetDevice() does.
};

struct SumAllPart {
  const float* x;
  int64_t n;
  float* out;
  cudaStream_t stream;
};

struct SumAllParts {
  SumAllPart of[kMostDevices];  // In the order of the team's devices.
};

struct SumAllError {
  char said[256];
};

struct SumAllTeam {};  // What a file keeps for a team, behind this.

struct SumAllJoined {
  SumAllTeam* team;  // Null where something is said.
  SumAllError error;
};

// Takes what the devices need to add up together, and may wait for them.
SumAllJoined sum_all_join(SumAllDevices devices);

SumAllError sum_all(SumAllTeam* team, SumAllParts parts);

// Gives back what join took, once the team's work is done. Peer access between
// devices stays as it is: it belongs to the whole program.
void sum_all_leave(SumAllTeam* team);
