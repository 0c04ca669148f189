// What a hand-in may ask of CUDA's runtime library.
#pragma once

#include "common/classroom/remote/messages.h"

namespace remote {

// Does what is asked for, if it can be done to nothing but GPU memory; the
// answer begins with an error. Throws Broken where the message has no such
// form.
Message answer_to(Message question);

}  // namespace remote
