#pragma once

#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "estimator/model/mechanism.hpp"

namespace service {

/// Precision that an experiment should reach for a parameter.
struct Precision {
  std::string name;
  int index = 0;           ///< index of the parameter in the mechanism's parameters
  double deviation = 0.0;  ///< standard deviation [unit of the parameter]; 0: as small as possible
};

/// Parses requested precisions of parameters: "NAME", "NAME:0.002" (in the parameter's unit) or
/// "NAME:2%".
/// @param option  name of the command-line option, for messages
/// @throws proto::InputError for a parameter that the rig does not have or that is not free, an
///         invalid precision, or a percentage of zero
std::vector<Precision> parse_precisions(const std::string& option,
                                        const std::vector<std::string>& texts,
                                        estimator::Mechanism& mechanism);

/// Returns the default targets of an experiment: all free parameters, as precise as possible. Omits
/// parameters for which a relative precision is meaningless: those with value zero, angles, and
/// encoder offsets, because the zero of these is arbitrary.
std::vector<Precision> default_precisions(const estimator::Mechanism& mechanism);

/// Returns the standard deviation by which the design scales a target's predicted standard
/// deviation. It is the requested standard deviation, or else 1 % of the value, or 0.001 rad for an
/// angle.
/// @throws proto::InputError for a zero-valued parameter without a requested precision
double target_deviation(const Precision& precision, const estimator::Mechanism& mechanism);

/// Converts requested precisions to design targets, which refer to indices among the free
/// parameters.
std::vector<estimator::DesignTarget> design_targets(const std::vector<Precision>& precisions,
                                                    const estimator::Mechanism& mechanism);

}  // namespace service
