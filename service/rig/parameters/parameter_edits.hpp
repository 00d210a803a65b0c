#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Requested changes to the parameters of a rig, applied in the order of the fields. A name can be
/// a pattern for several parameters, e.g. "arm.*" or "*.offset".
struct ParameterEdits {
  std::vector<std::string> start;          ///< "NAME=VALUE": set the initial value only
  std::vector<std::string> free;           ///< "NAME": estimate this parameter
  std::vector<std::string> fix;            ///< "NAME" or "NAME=VALUE": fix the parameter
  std::vector<std::string> hold_out = {};  ///< "NAME": do not fit this sensor's readings
  bool from_python = false;                ///< whether given in Python, not on the command line
};

/// Returns the parameter of a mechanism with this name, or throws an error.
/// @param asked   option or argument for messages, e.g. "--free arm.m"
/// @param lister  command that lists all parameters
/// @throws InputError naming the option and similar names, for an unknown or dependent parameter
estimator::Parameter& find_required_parameter(const std::string& asked, const std::string& name,
                                              estimator::Mechanism& mechanism,
                                              const char* lister = "rigcal info RIG");

/// Applies requested changes to the parameters and the held-out sensors of a mechanism.
/// @throws InputError naming the option, for an unknown parameter or sensor, or a value that is not
///         a number or is out of bounds
void apply_parameter_edits(const ParameterEdits& edits, estimator::Mechanism& mechanism);

/// Returns sentences on parameters whose value or free/fixed state differs from the rig file.
std::vector<std::string> describe_parameter_changes(const estimator::Mechanism& file,
                                                    const estimator::Mechanism& changed);

/// Throws an error if a mechanism is invalid, for example after changes to its parameters.
/// @throws std::invalid_argument with all errors of the mechanism
void require_valid_mechanism(const estimator::Mechanism& mechanism);

}  // namespace service
