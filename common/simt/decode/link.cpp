// Finds which names of several files mean the same.
#include "common/simt/decode/link.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "common/simt/core/error.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/parse.h"
#include "common/simt/isa/collectives.h"

namespace simt {
namespace {

using Names = std::set<std::string>;

// What kernels call of the runtime library begins so.
constexpr std::string_view kOfRuntime = "__cudaCDP2";

Names names_of(const ModuleText& module) {
  Names names;
  for (const auto& [name, function] : module.functions) names.insert(name);
  for (const Declaration& d : module.variables) names.insert(d.name);
  return names;
}

Names own_names_of(const ModuleText& module) {
  Names names;
  for (const auto& [name, function] : module.functions)
    if (function.linkage == Linkage::kOwnFile) names.insert(name);
  for (const Declaration& d : module.variables)
    if (d.linkage == Linkage::kOwnFile) names.insert(d.name);
  return names;
}

// Options as nvcc and -Xptxas write them: "--fmad false", "-fmad=false", "-O0".
// Debuggers want PTX as it is written, too.
void read_options(Unit& unit, std::string text) {
  std::ranges::replace(text, '=', ' ');
  std::istringstream words(text);
  for (std::string last, word; words >> word; last = word) {
    if (last.ends_with("-fmad")) unit.fuses = word == "true";
    if (last == "-O" || last == "--opt-level") unit.level = word[0] - '0';
    if (word.starts_with("-O") && word.size() == 3) unit.level = word[2] - '0';
    if (word == "-g" || word == "--device-debug") unit.level = 0;
  }
}

// What this file has for itself, and another has, too, gets its number.
Unit unit_of(const ModuleText& file, const PtxFile& ptx, size_t number,
             const std::map<std::string, int>& owners) {
  Unit unit;
  read_options(unit, std::string(ptx.options));
  for (const std::string& name : own_names_of(file))
    if (owners.at(name) > 1)
      unit.own_names[name] = name + "." + std::to_string(number + 1);
  return unit;
}

// How a file is called in messages: by its source, as nvcc was told.
std::string file_name(const ModuleText& module, uint32_t unit) {
  const auto& files = module.files;
  const size_t end = unit + 1 < module.units.size()
                         ? module.units[unit + 1].first_file
                         : files.size();
  for (size_t k = module.units[unit].first_file; k < end; ++k)
    if (!files[k].empty() && !is_toolkit_file(files[k])) return files[k];
  return "file " + std::to_string(unit + 1) + " of device code";
}

[[noreturn]] void undefined(const ModuleText& module, const std::string& name,
                            uint32_t unit) {
  if (name.starts_with(kOfRuntime))
    throw Error("the executor has no cuda" + name.substr(kOfRuntime.size()) +
                " for kernels, which " + file_name(module, unit) + " calls");
  throw Error("undefined reference to '" + full_name(name) + "' in " +
              file_name(module, unit) +
              ": no file of the program defines it in device code");
}

void require_functions(const ModuleText& module) {
  for (const auto& [name, function] : module.functions)
    if (function.linkage == Linkage::kExternal && !system_call(name))
      undefined(module, name, function.unit);
}

void require_variables(const ModuleText& module) {
  for (const Declaration& d : module.variables)
    if (d.linkage == Linkage::kExternal && d.space != "shared")
      undefined(module, d.name, d.unit);
}

}  // namespace

ModuleText link(const std::vector<PtxFile>& ptx) {
  std::vector<ModuleText> files;
  std::map<std::string, int> owners;
  for (const PtxFile& one : ptx) {
    files.push_back(parse_outline(one.text));
    for (const std::string& name : names_of(files.back())) ++owners[name];
  }
  ModuleText module;
  for (size_t k = 0; k < ptx.size(); ++k)
    add_unit(module, ptx[k].text, unit_of(files[k], ptx[k], k, owners));
  // Of a file alone, a kernel that calls what is missing says so itself.
  if (ptx.size() > 1) require_functions(module);
  require_variables(module);
  return module;
}

}  // namespace simt
