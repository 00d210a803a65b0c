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

/// Body of an arm in the frame of its link: mass, centre of mass, and second moments Σ about this
/// centre.
struct ArmBody {
  double mass = 0.0;                                     ///< [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();      ///< [m]
  Eigen::Matrix3d second = Eigen::Matrix3d::Identity();  ///< [kg·m²], positive definite

  ArmLink::Standard standard() const;
};

/// Randomly drawn arm with the initial values of its calibration.
struct RandomArm {
  Arm arm;
  std::vector<ArmBody> bodies, start_bodies;
  Arm start;  ///< initial values; each has the given relative error, up or down
};

/// Draws a random arm. An arm of two links swings in the vertical plane. Arms of three to six links
/// have the first axes of a manipulator: rotation about the vertical, shoulder, elbow, and three
/// wrist axes. Lengths between joints and the gain of the first motor are known. All ten inertial
/// parameters of each link, friction, the other gains, and the rotor inertias of all motors but the
/// first are unknown.
/// @param links          number of links, from 2 to 6
/// @param initial_error  relative error of the initial values, up or down [-], below 1
RandomArm make_random_arm(int links, double initial_error, std::uint64_t seed,
                          std::uint64_t start_seed);

/// Returns the rig file of an arm in which every unknown parameter is free.
/// @param noise  standard deviation of the controls [N·m]
std::string arm_rig_text(const Arm& arm, const std::vector<ArmBody>& bodies, double noise);

/// Returns the mechanism of the rig file that arm_rig_text writes.
estimator::Mechanism arm_mechanism(const Arm& arm, const std::vector<ArmBody>& bodies,
                                   double noise = 0.0);

/// Returns a run with white noise added to the angles [rad] and controls [N·m].
ArmRun with_noise(const ArmRun& run, double noise, std::uint64_t seed);

/// Returns the random arm with a number in a study.
RandomArm make_study_arm(const StudyArm& settings, std::uint64_t index);

/// Randomly drawn arm and its simulated motion.
struct RandomArmRun {
  RandomArm drawn;
  ArmRun clean;
};
RandomArmRun draw_run(const StudyArm& settings, double duration, std::uint64_t index);

/// Returns the simulated recording of a random arm with noise.
ArmRun recorded_draw(const StudyArm& settings, const ArmRun& clean, double noise,
                     std::uint64_t index);

/// Converts a run of an arm to a recording for the estimator.
estimator::Recording recording_of(const ArmRun& run);

}  // namespace service
