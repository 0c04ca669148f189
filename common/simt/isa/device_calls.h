// The calls of the runtime library that device code makes.
#pragma once
#include <string>

#include "common/simt/core/code.h"

namespace simt {

// By their names in PTX, such as __cudaCDP2LaunchDeviceV2; null if there is no
// such call.
Handler device_call(const std::string& name);

}  // namespace simt
