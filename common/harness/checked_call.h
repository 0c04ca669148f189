// The call that is counted of a hand-in: tests/<op>_test.cpp defines it.
#pragma once

#include "common/harness/count.h"

// As counted_call(), on numbers that nobody knows before, within a check of its
// results.
void checked_call(const Case& one);
