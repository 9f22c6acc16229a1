// The table of every environment variable: its name, default, meaning, and the field it sets.
#pragma once

#include <vector>

#include "horovodx/runtime/setting.h"

namespace horovodx::runtime {

// What a value that cannot be read does.
enum class Garbage {
  kRefuse,       // init fails
  kRefuseQuiet,  // init fails, and the value is not repeated
  kWarn,         // a warning, and the default
  kError,        // an error in the log, and the default: what Horovod does for the affinity
};

struct Variable {
  const char* name;
  const char* default_value;
  const char* meaning;
  Garbage garbage;
  Setting setting;
};

// In the order in which they are documented and read.
std::vector<Variable> Variables();

}  // namespace horovodx::runtime
