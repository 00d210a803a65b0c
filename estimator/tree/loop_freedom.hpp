#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Why the loops of a mechanism are none that move: joints that leave each other no freedom, or
/// bodies that are fixed to one another twice. One sentence that names a joint of the loop; empty
/// where something moves, where there are no loops, and where no way to close them was found, which
/// a recording's first readings tell better.
std::string find_lost_freedom(const Mechanism& mechanism);

}  // namespace estimator
