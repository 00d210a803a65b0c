#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A possible error in the description of a rig, and its correction.
struct Hypothesis {
  std::string kind;               ///< machine-readable: "inverted-encoder", "zero-upside-down", …
  std::string channel;            ///< encoder, joint or motor
  std::string error_description;  ///< the encoder of joint "2" is inverted
  std::string remedy;             ///< the field of the rig file to change
  std::function<void(Mechanism&)> correct_mechanism = {};  ///< empty: the mechanism stays
  std::function<void(Segment&)> correct_segment = {};      ///< empty: the recordings stay
  /// Index of the freed parameter whose estimate is the size of the error; −1: none.
  int size_parameter = -1;
};

/// Returns the common description errors for such a mechanism, one at a time: inverted, shifted,
/// swapped or wrongly scaled encoders, absolute angles instead of relative ones and vice versa,
/// inverted or swapped motors, wrong sign of a joint position's coordinate, gravity pointing up.
std::vector<Hypothesis> common_description_errors(const Mechanism& mechanism);

/// Returns the description and the recordings with the error corrected.
Mechanism corrected(const Mechanism& mechanism, const Hypothesis& hypothesis);
std::vector<Recording> corrected(const std::vector<Recording>& recordings,
                                 const Hypothesis& hypothesis);

}  // namespace estimator
