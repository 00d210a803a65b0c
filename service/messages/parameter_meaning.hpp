#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Returns a parameter in words, such as "Coulomb friction of joint 1" for "1.tau_c"; empty for the
/// name of a quantity that the rig file defines itself. Viscous friction includes the back EMF of a
/// motor if it is not modelled; the text then mentions this.
std::string describe_parameter(const estimator::Mechanism& mechanism, const std::string& name);

}  // namespace service
