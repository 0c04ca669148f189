// What kernels have printed since the host last waited. On a GPU such text is
// lost if the program ends before its kernel does.
#pragma once
#include <string>

namespace simt {

// `place`: of the printf. Only the first is kept.
void note_printed(const std::string& place);
bool is_text_unseen();
void show_text();            // The host waits.
std::string unseen_place();  // "": all text has been seen

}  // namespace simt
