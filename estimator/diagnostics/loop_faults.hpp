#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns one sentence on why the loops of a mechanism cannot move: they cannot be closed, the
/// joints have no degree of freedom left, or bodies are fixed to one another twice. The sentence
/// names a joint of the loop. Empty if something moves or there are no loops.
std::string find_loop_fault(const Mechanism& mechanism);

}  // namespace estimator
