#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/arm/arm_model.hpp"
#include "tests/studies/arm/arm_simulation.hpp"

namespace service {

/// A body of an arm: mass, centre, and second moments Σ about it, in the link's frame.
struct ArmBody {
  double mass = 0.0;                                     ///< [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();      ///< [m]
  Eigen::Matrix3d second = Eigen::Matrix3d::Identity();  ///< [kg·m²], positive definite

  ArmLink::Standard standard() const;
};

/// A randomly drawn arm and the initial values of its calibration.
struct RandomArm {
  Arm arm;
  std::vector<ArmBody> bodies, start_bodies;
  Arm start;  ///< every estimated parameter has the given relative error, up or down
};

/// Draws two links that swing in the vertical plane, or the first three to six of a manipulator:
/// rotation about the vertical, shoulder, elbow, and three wrist axes. Lengths between joints and
/// the gain of the first motor are known. Unknown are all ten parameters of each link, friction,
/// the other gains, and the rotor inertias of all motors but the first.
/// @param links  from 2 to 6
/// @param wrong  relative error of the initial values, up or down [-], below 1
RandomArm make_random_arm(int links, double initial_error, std::uint64_t seed,
                          std::uint64_t start_seed);

/// Returns a rig file of an arm in which every unknown parameter is free.
/// @param noise  of the controls [N·m]
std::string arm_rig_text(const Arm& arm, const std::vector<ArmBody>& bodies, double noise);

/// Returns the mechanism of that rig file.
estimator::Mechanism arm_mechanism(const Arm& arm, const std::vector<ArmBody>& bodies,
                                   double noise = 0.0);

/// Adds white noise to the angles [rad] and controls [N·m] of a run.
ArmRun with_noise(const ArmRun& run, double noise, std::uint64_t seed);

/// Returns a draw of a study.
RandomArm make_study_arm(const StudyArm& settings, std::uint64_t index);

/// A drawn arm and its motion.
struct RandomArmRun {
  RandomArm drawn;
  ArmRun clean;
};
RandomArmRun draw_run(const StudyArm& settings, double duration, std::uint64_t index);

/// Returns the recording of a draw, with noise.
ArmRun recorded_draw(const StudyArm& settings, const ArmRun& clean, double noise,
                     std::uint64_t index);

/// Converts a run for the estimator.
estimator::Recording recording_of(const ArmRun& run);

}  // namespace service
