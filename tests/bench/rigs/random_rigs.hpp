#pragma once

#include <map>
#include <optional>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "tests/bench/rigs/faulty_model.hpp"

namespace random_rigs {

/// Friction terms: viscous; viscous and dry; these and quadratic drag, or a Stribeck excess.
enum class Law { kViscous, kDry, kDrag, kStribeck };

/// Properties that are not random.
struct RigChoice {
  double clip = 1.0;         ///< largest command, as a fraction of the plan's peak
  double shortest = 5.0;     ///< recording [s]
  bool counts_only = false;  ///< otherwise white noise in three of ten
  /// Of the rig; unset: viscous and dry, in half of the rigs with terms that the description lacks.
  std::optional<Law> law = {};
  std::optional<Law> described = {};  ///< of the description; unset: that of the rig
  /// Whether the recorded motion of the first joint is prescribed, and its force unknown.
  bool prescribed = false;
  RigFault fault = {};  ///< of driven rigs
  bool coarse = false;  ///< whether the first joint's encoder has 200 counts per turn or per 0.2 m
};

/// A random rig with a correct description except for the start values of free parameters, and its
/// encoders' recording.
struct RandomRig {
  std::string kind;  ///< "pendulum", "double", "furuta", "cartpole"
  RigChoice choice;
  bool driven = false;
  bool other_law = false;                ///< its friction also has terms that the description lacks
  double noise = 0.0;                    ///< white, in addition to quantization [rad]
  std::map<std::string, double> truths;  ///< of the free parameters, by name
  estimator::Mechanism mechanism;
  estimator::Recording recording;
};

/// Masses, lengths, friction, excitation, encoders (1000 to 20 000 counts per turn), rates (100 Hz
/// to 1 kHz) and lengths (to 20 s) are drawn with the seed; start values are up to 70 % off.
/// Recorded by simulators in minimal coordinates that share no code with the estimator.
RandomRig draw_rig(const std::string& kind, unsigned seed, const RigChoice& choice = {});

}  // namespace random_rigs
