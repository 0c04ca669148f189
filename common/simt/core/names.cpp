// Demangles names, and knows the toolkit's files.
#include "common/simt/core/names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace simt {
namespace {

// Where device code is linked, nvcc puts a file's name before what that file
// has for itself: "__nv_static_9__1_4_a_cu_name", with 9 for the length of
// "_1_4_a_cu".
std::string without_file(const std::string& name) {
  const std::string mark = "__nv_static_";
  if (!name.starts_with(mark)) return name;
  char* behind = nullptr;
  const size_t length = std::strtoul(&name[mark.size()], &behind, 10);
  const size_t begin = behind - name.data() + 1 + length + 1;
  return begin < name.size() ? name.substr(begin) : name;
}

// And it makes a namespace of it.
void erase_file(std::string& name) {
  const std::string mark = "_INTERNAL_";
  for (size_t at; (at = name.find(mark)) != name.npos;) {
    const size_t end = name.find("::", at);
    name.erase(at, end == name.npos ? mark.size() : end + 2 - at);
  }
}

// "outer::inner<...>" of what a demangler does not understand: the library's
// knows not all that nvcc makes of templates within templates.
std::string beginning(const std::string& mangled) {
  std::string name;
  size_t at = mangled.starts_with("_ZN") ? 3 : 2;
  while (at < mangled.size() && std::isdigit(mangled[at])) {
    char* behind = nullptr;
    const size_t length = std::strtoul(&mangled[at], &behind, 10);
    at = behind - mangled.data();
    name += (name.empty() ? "" : "::") + mangled.substr(at, length);
    at += length;
  }
  return name.empty() ? mangled : name + "<...>";
}

// The demangler takes a plain name for that of a type: "s" for "short".
std::string demangled(const std::string& given) {
  const std::string mangled = without_file(given);
  if (!mangled.starts_with("_Z")) return mangled;
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : beginning(mangled);
  std::free(text);
  return name;
}

// Does `path`, behind some folders, go as `pattern` does? "*" is any one
// folder.
bool contains_folders(const std::vector<std::string>& path,
                      std::initializer_list<std::string_view> pattern) {
  const auto same = [](const std::string& folder, std::string_view wanted) {
    return wanted == "*" || folder == wanted;
  };
  return std::search(path.begin(), path.end(), pattern.begin(), pattern.end(),
                     same) != path.end();
}

}  // namespace

std::string full_name(const std::string& mangled) {
  std::string name = demangled(mangled);
  const std::string anonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(anonymous)) != name.npos;)
    name.erase(at, anonymous.size());
  erase_file(name);
  return name;
}

std::string function_name(const std::string& mangled) {
  const std::string name = full_name(mangled);
  int depth = 0;
  size_t begin = 0, end = 0;
  for (; end < name.size(); ++end) {
    const char c = name[end];
    depth += (c == '<') - (c == '>');
    if (depth == 0 && c == ' ') begin = end + 1;
    if (depth == 0 && c == '(') break;
  }
  return name.substr(begin, end - begin);
}

std::string short_name(const std::string& name) {
  constexpr size_t kMost = 200;
  const size_t open = name.find('<'), close = name.rfind('>');
  if (name.size() <= kMost || open >= close) return name;
  return name.substr(0, open) + "<..." + name.substr(close);
}

std::string variable_name(const std::string& mangled) {
  const std::string name = demangled(mangled);
  const size_t scope = name.rfind("::");
  return scope == name.npos ? name : name.substr(scope + 2);
}

bool is_toolkit_file(const std::string& path) {
  const auto normal = std::filesystem::path(path).lexically_normal();
  for (const char* system :
       {"/usr/include/", "/usr/lib/", "/usr/local/cuda/", "/usr/local/cuda-"})
    if (normal.string().starts_with(system)) return true;
  const std::vector<std::string> folders(normal.begin(), normal.end());
  const auto anywhere = [&](std::initializer_list<std::string_view> pattern) {
    return contains_folders(folders, pattern);
  };
  return anywhere({"targets", "x86_64-linux", "include"}) ||
         anywhere({"targets", "aarch64-linux", "include"}) ||
         anywhere({"targets", "sbsa-linux", "include"}) ||
         anywhere({"site-packages", "nvidia", "*", "include"}) ||
         anywhere({"dist-packages", "nvidia", "*", "include"}) ||
         anywhere({"nvidia", "cu13", "include"}) ||
         anywhere({"nvidia", "cuda_runtime", "include"}) ||
         anywhere({"nvidia", "cuda_cccl", "include"});
}

}  // namespace simt
