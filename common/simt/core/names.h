// Names as the reader of a message knows them, and whose a source file is.
#pragma once
#include <string>

namespace simt {

// "_Z10sum_kernelILi4EEvPKfi" -> "sum_kernel<4>"; what is not mangled, as a
// function's name in extern "C", stays.
std::string function_name(const std::string& mangled);
// The same with its parameters: "sum_kernel<4>(float const*, int)".
std::string full_name(const std::string& mangled);

// For the terminal: a name whose arguments take more than two or three lines
// becomes "device_kernel<...>".
std::string short_name(const std::string& name);

// "_ZN5outer5innerE" -> "inner"
std::string variable_name(const std::string& mangled);

// Is this a header of the CUDA toolkit or of the system? Their code, inlined
// into a kernel, is reported at the line of the program that called it. The
// answer is yes only where it is certain.
bool is_toolkit_file(const std::string& path);

}  // namespace simt
