#pragma once

#include <string>
#include <vector>

#include "estimator/design/design.hpp"
#include "estimator/model/mechanism.hpp"

namespace service {

/// How well a parameter is to be known.
struct Precision {
  std::string name;
  int index = 0;           ///< of the mechanism's parameters
  double deviation = 0.0;  ///< [unit of the parameter]; 0: as well as possible
};

/// Reads "NAME", "NAME:0.002" (in the parameter's unit) and "NAME:2%".
/// @param option  that gives them, for messages
/// @throws proto::InputError for a parameter that the rig does not have or that is not free, a
///         precision that is none, or a percentage of zero
std::vector<Precision> read_precisions(const std::string& option,
                                       const std::vector<std::string>& texts,
                                       estimator::Mechanism& mechanism);

/// Where nothing is asked for: all free parameters, as well as possible, but for those of which a
/// share means nothing, since they are zero or count from a zero that someone chose (angles and the
/// offsets of encoders).
std::vector<Precision> usual_precisions(const estimator::Mechanism& mechanism);

/// What counts as one deviation: what is asked for; else a hundredth of the value, of an angle a
/// thousandth of a radian.
/// @throws proto::InputError for a parameter at zero whose precision is not stated
double wanted_deviation(const Precision& precision, const estimator::Mechanism& mechanism);

/// As targets among the free parameters.
std::vector<estimator::DesignTarget> targets_of(const std::vector<Precision>& precisions,
                                                const estimator::Mechanism& mechanism);

}  // namespace service
