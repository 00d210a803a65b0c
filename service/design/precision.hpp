#pragma once

#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "estimator/model/mechanism.hpp"

namespace service {

/// Requested precision of a parameter.
struct Precision {
  std::string name;
  int index = 0;           ///< index in the mechanism's parameters
  double deviation = 0.0;  ///< standard deviation [unit of the parameter]; 0: as small as possible
};

/// Parses "NAME", "NAME:0.002" (in the parameter's unit) and "NAME:2%".
/// @param option  name of the command-line option, for messages
/// @throws proto::InputError for a parameter that the rig does not have or that is not free, an
///         invalid precision, or a percentage of zero
std::vector<Precision> parse_precisions(const std::string& option,
                                        const std::vector<std::string>& texts,
                                        estimator::Mechanism& mechanism);

/// Returns the default targets: all free parameters, as precise as possible, except those for which
/// a relative precision is meaningless. These are zero values, angles and encoder offsets, whose
/// zero is arbitrary.
std::vector<Precision> default_precisions(const estimator::Mechanism& mechanism);

/// Returns the standard deviation that a target is scaled by: the requested one, else 1 % of the
/// value, or 0.001 rad for an angle.
/// @throws proto::InputError for a zero-valued parameter without a requested precision
double target_deviation(const Precision& precision, const estimator::Mechanism& mechanism);

/// Converts precisions to targets among the free parameters.
std::vector<estimator::DesignTarget> design_targets(const std::vector<Precision>& precisions,
                                                    const estimator::Mechanism& mechanism);

}  // namespace service
