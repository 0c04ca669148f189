// Takes the arguments of a kernel's runtime calls apart, and hands back what
// the runtime library answers.
#include "common/simt/isa/device_calls.h"

#include <map>

#include "common/simt/core/device.h"
#include "common/simt/core/device_calls.h"
#include "common/simt/isa/lane.h"

namespace simt {
namespace {

// A lane that calls.
struct Asking : Lane {
  Asking(Warp& warp, const Instruction& ins, int lane)
      : Lane(warp, ins, lane),
        caller{warp, ins, lane},
        runtime(*warp.block->grid->shape.calls) {}

  uint64_t number(size_t k) const { return argument<uint64_t>(k); }
  uint32_t word(size_t k) const { return argument<uint32_t>(k); }
  DeviceCalls::Extent extent(size_t k) const {
    return {word(k), argument<uint32_t>(k, 4), argument<uint32_t>(k, 8)};
  }

  const Caller caller;
  DeviceCalls& runtime;
};

// A handler that answers one lane after the other, with `answer(asking)`.
template <auto answer>
void each_lane(Warp& warp, const Instruction& ins, uint32_t mask) {
  warp.block->quiet = false;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const Asking lane(warp, ins, first_lane(rest));
    lane.result(answer(lane));
  }
}

// Of a call that answers by writing where its first argument points to.
template <class T, class Ask>
cudaError_t written(const Asking& lane, Ask ask) {
  T value = {};
  const cudaError_t error = ask(value);
  if (error == cudaSuccess) lane.write(lane.number(0), value);
  return error;
}

uint64_t begin_launch(const Asking& lane) {
  return lane.runtime.begin_launch(
      lane.caller, lane.number(0),
      {lane.extent(1), lane.extent(2), lane.word(3)});
}

cudaError_t launch(const Asking& lane) {
  return lane.runtime.launch(lane.caller, lane.number(0), lane.number(1));
}

template <bool forget>
cudaError_t last_error(const Asking& lane) {
  return lane.runtime.last_error(lane.caller, forget);
}

cudaError_t create_stream(const Asking& lane) {
  return written<uint64_t>(lane, [&](uint64_t& stream) {
    return lane.runtime.create_stream(lane.caller, stream, lane.word(1));
  });
}
cudaError_t destroy_stream(const Asking& lane) {
  return lane.runtime.destroy_stream(lane.caller, lane.number(0));
}
cudaError_t await(const Asking& lane) {
  return lane.runtime.await(lane.caller, lane.number(0), lane.number(1));
}

cudaError_t create_event(const Asking& lane) {
  return written<uint64_t>(lane, [&](uint64_t& event) {
    return lane.runtime.create_event(lane.caller, event, lane.word(1));
  });
}
cudaError_t destroy_event(const Asking& lane) {
  return lane.runtime.destroy_event(lane.caller, lane.number(0));
}
cudaError_t record(const Asking& lane) {
  return lane.runtime.record(lane.caller, lane.number(0), lane.number(1));
}

cudaError_t copy(const Asking& lane) {
  return lane.runtime.copy(lane.caller, lane.number(0), lane.number(1),
                           lane.number(2), lane.argument<int>(3),
                           lane.number(4));
}
cudaError_t fill(const Asking& lane) {
  return lane.runtime.fill(lane.caller, lane.number(0), lane.argument<int>(1),
                           lane.number(2), lane.number(3));
}

cudaError_t allocate(const Asking& lane) {
  return written<uint64_t>(lane, [&](uint64_t& address) {
    return lane.runtime.allocate(lane.caller, address, lane.number(1));
  });
}

cudaError_t attribute(const Asking& lane) {
  return written<int>(lane, [&](int& value) {
    return lane.runtime.attribute(lane.caller, value, lane.argument<int>(1),
                                  lane.argument<int>(2));
  });
}
cudaError_t attributes(const Asking& lane) {
  return written<cudaFuncAttributes>(lane, [&](cudaFuncAttributes& found) {
    return lane.runtime.attributes(lane.caller, found, lane.number(1));
  });
}
cudaError_t limit(const Asking& lane) {
  return written<uint64_t>(lane, [&](uint64_t& value) {
    return lane.runtime.limit(lane.caller, value, lane.argument<int>(1));
  });
}
cudaError_t device_number(const Asking& lane) {
  return written<int>(lane, [&](int& device) {
    device = lane.runtime.device_number();
    return cudaSuccess;
  });
}

cudaError_t device_count(const Asking& lane) {
  return written<int>(lane, [&](int& count) {
    count = simt::device_count();
    return cudaSuccess;
  });
}

template <bool name>
uint64_t error_text(const Asking& lane) {
  return lane.runtime.error_text(lane.argument<cudaError_t>(0), name);
}

const std::map<std::string, Handler>& handlers() {
  static const std::map<std::string, Handler> kAll = {
      {"GetParameterBufferV2", each_lane<begin_launch>},
      {"LaunchDeviceV2", each_lane<launch>},
      {"GetLastError", each_lane<last_error<true>>},
      {"PeekAtLastError", each_lane<last_error<false>>},
      {"StreamCreateWithFlags", each_lane<create_stream>},
      {"StreamDestroy", each_lane<destroy_stream>},
      {"StreamWaitEvent", each_lane<await>},
      {"EventCreateWithFlags", each_lane<create_event>},
      {"EventDestroy", each_lane<destroy_event>},
      {"EventRecord", each_lane<record>},
      {"MemcpyAsync", each_lane<copy>},
      {"MemsetAsync", each_lane<fill>},
      {"Malloc", each_lane<allocate>},
      {"DeviceGetAttribute", each_lane<attribute>},
      {"FuncGetAttributes", each_lane<attributes>},
      {"DeviceGetLimit", each_lane<limit>},
      {"GetDevice", each_lane<device_number>},
      {"GetDeviceCount", each_lane<device_count>},
      {"GetErrorString", each_lane<error_text<false>>},
      {"GetErrorName", each_lane<error_text<true>>}};
  return kAll;
}

}  // namespace

Handler device_call(const std::string& name) {
  const std::string mark = "__cudaCDP2", of_thread = "_ptsz";
  if (!name.starts_with(mark)) return nullptr;
  std::string call = name.substr(mark.size());
  // Device code has no other default stream per thread.
  if (call.ends_with(of_thread)) call.erase(call.size() - of_thread.size());
  const auto known = handlers().find(call);
  return known == handlers().end() ? nullptr : known->second;
}

}  // namespace simt
