#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Why the loops of a mechanism are none that move: they cannot be closed, joints leave each other
/// no freedom, or bodies are fixed to one another twice. One sentence that names a joint of the
/// loop; empty where something moves and where there are no loops.
std::string find_loop_fault(const Mechanism& mechanism);

}  // namespace estimator
