#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace mistakes {

/// A rig drawn at random, described as it is but for the start values of what is free, and what
/// its encoders recorded.
struct RandomRig {
  std::string kind;  ///< "pendulum", "double", "furuta", "cartpole"
  bool driven = false;
  bool other_law = false;  ///< its friction also has parts that the description does not know
  double noise = 0.0;      ///< white, beside the counts [rad]
  double clip = 1.0;       ///< share of the largest command that the motor gets at most
  estimator::Mechanism mechanism;
  estimator::Recording recording;
};

/// Masses, lengths, friction, excitation, encoders (1000 to 20 000 counts a turn), rates (100 Hz to
/// 1 kHz) and lengths (5 to 20 s) from the seed; start values up to 70 % off. Recorded by
/// simulators in minimal coordinates that share nothing with the estimator.
///
/// @param clip  share of the largest command beyond which the motor gets no more
RandomRig draw_rig(const std::string& kind, unsigned seed, double clip = 1.0);

}  // namespace mistakes
