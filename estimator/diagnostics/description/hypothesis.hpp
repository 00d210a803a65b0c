#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A possible error in a rig description, and its correction.
struct DescriptionHypothesis {
  Message message;      ///< such as: encoder of joint "2" is inverted
  std::string channel;  ///< encoder, joint or motor
  /// Corrects the mechanism; may be empty.
  std::function<void(Mechanism&)> correct_mechanism = {};
  std::function<void(Segment&)> correct_segment = {};  ///< corrects recordings; may be empty
  /// Index of the freed parameter that estimates the size of the error; −1 if there is none.
  int size_parameter = -1;
};

/// Returns one hypothesis for each common description error that is possible for a mechanism.
/// Errors of encoders: inverted, shifted, swapped, wrongly scaled, absolute angles instead of
/// relative ones and vice versa. Errors of motors: inverted, swapped. Other errors: wrong sign of a
/// joint position's coordinate, gravity pointing up, misplaced end stops.
/// @param recordings  their extreme readings are the initial positions of misplaced end stops
std::vector<DescriptionHypothesis> list_common_description_errors(
    const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Returns the mechanism with the hypothetical description error corrected.
Mechanism corrected_mechanism(const Mechanism& mechanism, const DescriptionHypothesis& hypothesis);

/// Returns the recordings with the hypothetical description error corrected.
std::vector<Recording> corrected_recordings(const std::vector<Recording>& recordings,
                                            const DescriptionHypothesis& hypothesis);

}  // namespace estimator
