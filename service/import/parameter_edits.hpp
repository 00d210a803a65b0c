#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Changes to what a rig file says. Applied in this order.
struct ParameterEdits {
  std::vector<std::string> start;          ///< "NAME=VALUE": another value, freedom as in the file
  std::vector<std::string> free;           ///< "NAME": estimated
  std::vector<std::string> fix;            ///< "NAME" or "NAME=VALUE": kept
  std::vector<std::string> withhold = {};  ///< "NAME": readings of this sensor are not used
  bool of_program = false;                 ///< asked for by arguments of Python, and not by options
};

/// The parameter of that name.
///
/// @param asked   by what it was named: "--free arm.m"
/// @param lister  what lists all parameters
/// @throws InputError naming what asked, with the names that come close, for one that the rig does
///         not have or that follows from others by a tie
estimator::Parameter& named_parameter(const std::string& asked, const std::string& name,
                                      estimator::Mechanism& mechanism,
                                      const char* lister = "rigcal info RIG");

/// Applies the edits.
/// @throws InputError naming the option or argument, with the names that come close, for an unknown
/// parameter
///         or encoder, a value that is no number or lies outside the bounds
void apply_edits(const ParameterEdits& edits, estimator::Mechanism& mechanism);

}  // namespace service
