// The environment variables SIMT_*: every one of them, read here alone.
//
// Each function throws Error for a value that its variable cannot have. They
// are read anew at each call: a test may set one for a while.
#pragma once
#include <optional>
#include <string>

namespace simt::settings {

bool checks();       // SIMT_CHECKS=off: no races, no unwritten memory
bool counters();     // SIMT_COUNTERS=off: nothing is counted
bool ptxas_model();  // SIMT_PTXAS=off: the PTX as it is
constexpr int kMostDevices = 16;
int devices();  // SIMT_DEVICES=n, up to that many; else 1
// SIMT_THREADS=n, 1 to 1024; 0: as many as there are cores where that cannot be
// told from one (machine/all_cores.h).
int host_threads();
bool backwards();  // SIMT_ORDER=backwards: the last block begins first
bool turns();      // SIMT_ORDER=turns: blocks take turns where they may talk
bool late();       // SIMT_ORDER=late: streams work when somebody waits for it
// SIMT_PATIENCE=n, the processor time that a block may take without the end of
// any of its threads, in seconds and parts of one; 0: any
double patience();
// SIMT_SECONDS=n, the processor time that all kernels together may take; 0: any
int seconds();
bool leaks();          // SIMT_LEAKS=1: memory never freed is told at the end
std::string device();  // SIMT_DEVICE; empty: the first model
std::optional<int> multiprocessors();  // SIMT_SMS=n, 1 to 1024
const char* report_path();             // SIMT_REPORT=file.json, or null
const char* trace_path();              // SIMT_TRACE=file.json, or null
std::string trace_line();              // SIMT_TRACE_LINE=relu.cu:28
int trace_block();                     // SIMT_TRACE_BLOCK=n, 0 if unset

// Throws Error if the environment has a SIMT_ variable that is none of these,
// or a value that its variable cannot have.
void require_valid();

}  // namespace simt::settings
