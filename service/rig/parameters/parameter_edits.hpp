#pragma once

#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Changes to the parameters of a rig file. They are applied in the order of the members. A name of
/// a parameter may be a pattern for several: "arm.*", "*.offset".
struct ParameterEdits {
  std::vector<std::string> start;          ///< "NAME=VALUE": set the initial value only
  std::vector<std::string> free;           ///< "NAME": estimate this parameter
  std::vector<std::string> fix;            ///< "NAME" or "NAME=VALUE": fix the parameter
  std::vector<std::string> hold_out = {};  ///< "NAME": do not fit this sensor's readings
  bool from_python = false;                ///< given in Python, not on the command line
};

/// Returns the parameter of the mechanism with this name.
///
/// @param asked   option or argument for messages, e.g. "--free arm.m"
/// @param lister  command that lists all parameters
/// @throws InputError naming the option and similar names, for an unknown or dependent parameter
estimator::Parameter& require_parameter(const std::string& asked, const std::string& name,
                                        estimator::Mechanism& mechanism,
                                        const char* lister = "rigcal info RIG");

/// Applies changes to the parameters and the held-out sensors of a mechanism.
/// @throws InputError naming the option, for an unknown parameter or sensor, or a value that is not
///         a number or is out of bounds
void apply_edits(const ParameterEdits& edits, estimator::Mechanism& mechanism);

/// Returns a sentence about each parameter that differs in value or freedom from the rig file.
std::vector<std::string> describe_changes(const estimator::Mechanism& file,
                                          const estimator::Mechanism& changed);

/// Checks that a mechanism can be fitted after its parameters were changed.
/// @throws std::invalid_argument with all errors of the mechanism
void require_valid(const estimator::Mechanism& mechanism);

}  // namespace service
