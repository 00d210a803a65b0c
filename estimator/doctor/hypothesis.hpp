#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A mistake that the description of a rig may hold, and what undoes it.
struct Hypothesis {
  std::string kind;     ///< for programs: "inverted-encoder", "zero-upside-down", …
  std::string channel;  ///< encoder, joint or motor
  std::string mistake;  ///< "the encoder of hinge '2' is inverted"
  std::string remedy;   ///< the field of the rig file to change
  std::function<void(Mechanism&)> mend_mechanism = {};  ///< none: the mechanism stays
  std::function<void(Segment&)> mend_segment = {};      ///< none: recordings stay
  /// Index of the parameter that the mistake frees, whose estimate is how large it is; −1: none.
  int size_parameter = -1;
};

/// Mistakes that people make with such a mechanism, each by itself: inverted, shifted, swapped or
/// wrongly scaled encoders, absolute angles taken for relative ones and the reverse, inverted or
/// swapped motors, the sign of a hinge point's coordinate, gravity pointing up.
std::vector<Hypothesis> likely_mistakes(const Mechanism& mechanism);

/// The description and the recordings without the mistake.
Mechanism mended(const Mechanism& mechanism, const Hypothesis& hypothesis);
std::vector<Recording> mended(const std::vector<Recording>& recordings,
                              const Hypothesis& hypothesis);

}  // namespace estimator
