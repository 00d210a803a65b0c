#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Changes to a rig file's parameters, applied in this order.
struct ParameterEdits {
  std::vector<std::string> start;          ///< "NAME=VALUE": initial value; freedom as in the file
  std::vector<std::string> free;           ///< "NAME": estimate
  std::vector<std::string> fix;            ///< "NAME" or "NAME=VALUE": do not estimate
  std::vector<std::string> hold_out = {};  ///< "NAME": hold out this sensor
  bool from_python = false;                ///< from Python arguments, not from options
};

/// Returns the parameter of that name.
///
/// @param asked   the option or argument, for messages: "--free arm.m"
/// @param lister  command that lists all parameters
/// @throws InputError with the option and similar names, for an unknown or dependent parameter
estimator::Parameter& require_parameter(const std::string& asked, const std::string& name,
                                        estimator::Mechanism& mechanism,
                                        const char* lister = "rigcal info RIG");

/// Applies the edits.
/// @throws InputError with the option and similar names, for an unknown parameter or encoder, or a
///         value that is not a number or is out of bounds
void apply_edits(const ParameterEdits& edits, estimator::Mechanism& mechanism);

}  // namespace service
