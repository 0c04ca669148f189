// What the stand-ins for NVIDIA's libraries share.
#include "common/simt/library/library.h"

#include <optional>
#include <sstream>

#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// What ended the work of a call.
struct Ended {
  cudaError_t code;
};

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

bool is_empty(const Shape& shape) {
  return shape.rows <= 0 || shape.columns <= 0;
}

// The first element that is not before `limit`, or -1.
int64_t first_from(int64_t limit, const Shape& s) {
  const bool is_between = limit % s.step >= s.rows;
  const int64_t column = limit / s.step + is_between;
  if (column >= s.columns) return -1;
  return is_between ? column * s.step : limit;
}

Work work_of(const char* call, int device, const Compute& compute) {
  return {cudaGraphNodeTypeHost, [=] {
            try {
              compute(Operands(call, device));
            } catch (const Ended& ended) {
              set_sticky_error(ended.code);
            }
          }};
}

void require_own(cudaStream_t stream, int device) {
  const int other = queue_of(stream).device;
  require(other == device, cudaErrorInvalidResourceHandle,
          "the handle is device ", device, "'s, and its stream device ", other,
          "'s");
}

}  // namespace

OnDevice::OnDevice(int device) : before_(current_device()) {
  set_current_device(device);
}

OnDevice::~OnDevice() { set_current_device(before_); }

std::string Operands::place(const Array& array, uint64_t address) const {
  const Shape& s = array.shape;
  const int64_t element = (address - address_of(array.at)) / array.bytes;
  std::ostringstream out;
  out << "element ";
  if (s.rows > 1) out << '(' << element % s.step << ", ";
  out << element / s.step << (s.rows > 1 ? ")" : "") << " of " << array.name
      << ", " << array.bytes << " bytes at global address 0x" << std::hex
      << address << ": " << allocations().describe(address);
  return out.str();
}

void Operands::refuse(const Array& array, uint64_t address,
                      const std::string& kind, cudaError_t code) const {
  say(text(kind, ": ", place(array, address), "\n  in ", call_));
  note_finding();
  throw Ended{code};
}

void Operands::require_accessible(const Array& array, Access access) const {
  const uint64_t begin = address_of(array.at);
  const auto found = allocations().find(begin);
  if (begin % array.bytes != 0)
    refuse(array, begin, "misaligned", cudaErrorMisalignedAddress);
  if (found && found->freed)
    refuse(array, begin, "use after free", cudaErrorIllegalAddress);
  if (!found) refuse(array, begin, "out of bounds", cudaErrorIllegalAddress);
  if (found->is_device_only() && !peers().may_access(device_, found->device))
    refuse(array, begin,
           text("no access to a peer without cudaDeviceEnablePeerAccess(",
                found->device, ", 0)"),
           cudaErrorIllegalAddress);
  if (access == kWrite && found->read_only)
    refuse(array, begin, "write to an input", cudaErrorIllegalAddress);
  const uint64_t fit = (found->end - begin) / array.bytes;
  if (const int64_t outside = first_from(fit, array.shape); outside >= 0)
    refuse(array, begin + outside * array.bytes, "out of bounds",
           cudaErrorIllegalAddress);
}

// The call goes on, as a kernel would.
void Operands::require_written(const Array& array) const {
  const Shape& s = array.shape;
  const auto is_written = [&](int64_t first, int64_t count) {
    return allocations().is_written(address_of(array.at) + first * array.bytes,
                                    count * array.bytes);
  };
  if (is_written(0, (s.columns - 1) * s.step + s.rows)) return;
  for (int64_t column = 0; column < s.columns; ++column) {
    if (is_written(column * s.step, s.rows)) continue;
    int64_t row = 0;
    while (is_written(column * s.step + row, 1)) ++row;
    const uint64_t address =
        address_of(array.at) + (column * s.step + row) * array.bytes;
    say(text("uninitialised read: ", place(array, address), "\n  in ", call_,
             ", which takes a value that nobody has written"));
    return note_finding();
  }
}

void Operands::note_written(const Array& array) const {
  const Shape& s = array.shape;
  const uint64_t begin = address_of(array.at);
  if (s.rows == s.step)
    return allocations().note_written(begin, s.rows * s.columns * array.bytes);
  for (int64_t column = 0; column < s.columns; ++column)
    allocations().note_written(begin + column * s.step * array.bytes,
                               s.rows * array.bytes);
}

void Operands::note_touched(const Array& array, Access access) const {
  const Shape& s = array.shape;
  const char* const begin = static_cast<const char*>(array.at);
  for (int64_t column = 0; column < s.columns; ++column)
    simt::note_touched(begin + column * s.step * array.bytes,
                       s.rows * array.bytes,
                       access == kRead ? Use::kLoad : Use::kStore);
}

void* Operands::open(const Array& array, Access access) const {
  if (is_empty(array.shape)) return nullptr;
  require_accessible(array, access);
  if (access == kRead)
    require_written(array);
  else
    note_written(array);
  note_touched(array, access);
  return allocations().open(address_of(array.at));
}

void enqueue(const char* call, int device, cudaStream_t stream,
             const Compute& compute) {
  const OnDevice there(device);
  require_own(stream, device);
  issue(stream, work_of(call, device, compute));
}

void compute_now(const char* call, int device, cudaStream_t stream,
                 const Compute& compute) {
  const OnDevice there(device);
  require_own(stream, device);
  require_waitable(stream);
  Work work = work_of(call, device, compute);
  work.is_pageable = true;  // So it is done when this returns.
  work.is_awaited = true;
  do_work(stream, work);
}

}  // namespace simt
