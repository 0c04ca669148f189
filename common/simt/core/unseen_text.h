// What kernels have printed since the host last waited. A GPU keeps such text
// until then, and drops it when the program ends.
#pragma once
#include <string>

namespace simt {

// `place`: of the printf. Only the first is kept.
void note_printed(const std::string& place);
bool is_text_unseen();
void show_text();            // The host waits.
std::string unseen_place();  // "": all text has been seen

}  // namespace simt
