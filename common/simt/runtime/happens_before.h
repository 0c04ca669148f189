// What comes before what: CUDA's rules about the order of work in streams, and
// of what the host does. The executor does nearly all work when it is issued;
// a GPU may do it in any order that these rules allow. Where two orders are
// allowed and give different results, observe/overlaps.h finds a race.
#pragma once
#include <cstdint>
#include <functional>

#include "common/simt/observe/overlaps.h"
#include "common/simt/runtime/tasks.h"

namespace simt {

struct Nature {
  const char* what;        // in a finding: "the copy"
  bool has_parts = false;  // it is a graph
  bool is_kernel = false;
  bool begins_early = false;  // maybe before the kernel in front of it is done
};

// Work that is issued from now on in this queue begins with this; null if it
// can meet no other.
OperationPointer begin_operation(const Queue& queue, const Nature& nature);
// The same for a node of a graph that is launched as `graph`, behind others.
OperationPointer begin_node(Operation& graph, uint64_t node,
                            const Nature& nature,
                            const std::vector<OperationPointer>& before);

// Does it, and compares what it touched with what others did.
void do_operation(const OperationPointer& operation,
                  const std::function<void()>& run);
// The same, later.
std::function<void()> as_operation(const OperationPointer& operation,
                                   const std::function<void()>& run);

// What this thread does; null outside of all.
Operation* current_operation();

// That reads or writes memory. `pattern` is what is stored everywhere.
void note_touched(const void* begin, size_t bytes, Use use,
                  const StoredValue& value = {}, const char* verb = nullptr);

// The same of all that.
void add_footprint(Footprint footprint);

// Events: what comes before what is issued now in this queue; and that this,
// too, is to come before what follows there.
Past past_of(const Queue& queue);
void come_behind(const Queue& queue, const Past& past);

// A function of the host's comes there: from then on the host may know what is
// before it, and what is behind it may have waited for anything.
void note_function(const Queue& queue);
// It begins. As a node of a graph it comes behind others of the graph: the host
// may go where those have been.
void begin_function();

// All that the device was given comes before what it will be given.
void order_device(int device);

// The host knows that it is done, or comes behind it by other means.
void note_awaited(const Past& past);
void note_awaited(const Queue& queue);
void note_awaited(int device);
// How often the host has waited, for whatever it may be; and whether it has
// given the device a kernel since.
struct Waits {
  uint64_t count = 0;
  bool kernel_since = false;
};
Waits host_waits();

// The host is about to free that memory.
void note_freed(uint64_t begin, uint64_t end);

// What the host did too early, as far as nobody has told it.
void tell_early();

}  // namespace simt
