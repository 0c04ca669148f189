// From a kernel's text to its program; and where a module has functions.
#include "common/simt/decode/decode.h"

#include <algorithm>
#include <mutex>

#include "common/simt/core/error.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/decoder.h"

namespace simt {

uint64_t Module::function_address(const std::string& name) const {
  const auto it =
      std::lower_bound(function_names.begin(), function_names.end(), name);
  if (it == function_names.end() || *it != name) return 0;
  const auto number = static_cast<uint64_t>(it - function_names.begin());
  return kFunctionWindow | number * kFunctionBytes;
}

const std::string* Module::function_at(uint64_t address) const {
  const uint64_t offset = address ^ kFunctionWindow;
  const uint64_t number = offset / kFunctionBytes;
  return offset % kFunctionBytes == 0 && number < function_names.size()
             ? &function_names[number]
             : nullptr;
}

std::string Program::location(SourceLine where) const {
  return location_of(where, module->text.files);
}

const Program& program_of(Kernel& kernel) {
  std::call_once(kernel.decoded, [&] {
    kernel.program = decode(*kernel.module, *kernel.text);
  });
  return *kernel.program;
}

std::unique_ptr<Program> decode(Module& module, const FunctionText& kernel) {
  const std::lock_guard lock(module.reading);
  auto program = std::make_unique<Program>();
  program->module = &module;
  Decoder decoder(module, *program);
  program->entry = decoder.decode_entry(kernel);
  decoder.decode_addressable();
  program->by_site.resize(program->sites);
  for (const auto& [name, function] : program->functions) {
    program->waits_for_memory |= function.waits_for_memory;
    for (const Instruction& ins : function.code)
      program->by_site[ins.site] = {&function, &ins};
  }
  return program;
}

}  // namespace simt
