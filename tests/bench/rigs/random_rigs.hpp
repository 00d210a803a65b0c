#pragma once

#include <map>
#include <optional>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace random_rigs {

/// Parts of friction: viscous; that and dry; these and quadratic drag, or a Stribeck excess.
enum class Law { kViscous, kDry, kDrag, kStribeck };

/// What is not left to chance.
struct RigChoice {
  double clip = 1.0;         ///< share of the largest command that the motor gets at most
  double shortest = 5.0;     ///< recording [s]
  bool counts_only = false;  ///< else white noise in three of ten
  /// Of the rig; unset: viscous and dry, in half of the rigs with parts that the description does
  /// not know.
  std::optional<Law> law = {};
  std::optional<Law> described = {};  ///< the description's; unset: that of the rig
};

/// A rig drawn at random, described as it is but for the start values of what is free, and what
/// its encoders recorded.
struct RandomRig {
  std::string kind;  ///< "pendulum", "double", "furuta", "cartpole"
  RigChoice choice;
  bool driven = false;
  bool other_law = false;  ///< its friction also has parts that the description does not know
  double noise = 0.0;      ///< white, beside the counts [rad]
  std::map<std::string, double> truths;  ///< of what is free, by name
  estimator::Mechanism mechanism;
  estimator::Recording recording;
};

/// Masses, lengths, friction, excitation, encoders (1000 to 20 000 counts a turn), rates (100 Hz to
/// 1 kHz) and lengths (to 20 s) from the seed; start values up to 70 % off. Recorded by
/// simulators in minimal coordinates that share nothing with the estimator.
RandomRig draw_rig(const std::string& kind, unsigned seed, const RigChoice& choice = {});

}  // namespace random_rigs
