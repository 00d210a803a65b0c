#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Changes to what a rig file says, from the command line. Applied in this order.
struct ParameterEdits {
  std::vector<std::string> start;          ///< "NAME=VALUE": another value, freedom as in the file
  std::vector<std::string> free;           ///< "NAME": estimated
  std::vector<std::string> fix;            ///< "NAME" or "NAME=VALUE": kept
  std::vector<std::string> withhold = {};  ///< "NAME": readings of this encoder are not used
};

/// The parameter of that name, which an option gives.
/// @throws InputError naming the option, with the names that come close, for one that the rig does
///         not have or that follows from others by a tie
estimator::Parameter& named_parameter(const std::string& option, const std::string& name,
                                      estimator::Mechanism& mechanism);

/// Applies the edits.
/// @throws InputError naming the option, with the names that come close, for an unknown parameter
///         or encoder, a value that is no number or lies outside the bounds
void apply_edits(const ParameterEdits& edits, estimator::Mechanism& mechanism);

}  // namespace service
