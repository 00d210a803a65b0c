#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/study/arm.hpp"
#include "service/study/arm_model.hpp"
#include "service/study/arm_simulation.hpp"

namespace service {

/// A body of an arm: mass, centre, and second moments Σ about it, in the link's frame.
struct ArmBody {
  double mass = 0.0;                                     ///< [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();      ///< [m]
  Eigen::Matrix3d second = Eigen::Matrix3d::Identity();  ///< [kg·m²], positive definite

  ArmLink::Standard standard() const;
};

/// An arm drawn at random, and where its calibration starts.
struct DrawnArm {
  Arm arm;
  std::vector<ArmBody> bodies, start_bodies;
  Arm start;  ///< every parameter that is estimated off by the given share, up or down
};

/// Two links that swing in the vertical plane, or the first three to six of a manipulator: about
/// the vertical, shoulder, elbow, and three axes of a wrist. Lengths between joints and the gain of
/// the first motor are known; all ten parameters of every link, friction, other gains and the
/// shafts of all motors but the first are not.
/// @param links  from 2 to 6
/// @param wrong  how far the start is off, up or down, of each parameter [-], below 1
DrawnArm draw_arm(int links, double wrong, std::uint64_t seed, std::uint64_t start_seed);

/// A rig file that describes an arm, everything that is not known free.
/// @param noise  of controls [N·m]
std::string arm_rig_text(const Arm& arm, const std::vector<ArmBody>& bodies, double noise);

/// The same, read.
estimator::Mechanism arm_mechanism(const Arm& arm, const std::vector<ArmBody>& bodies,
                                   double noise = 0.0);

/// A run as it is recorded: white noise on angles [rad] and controls [N·m].
ArmRun recorded(const ArmRun& run, double noise, std::uint64_t seed);

/// A draw of a study.
DrawnArm draw_arm_of(const StudyArm& settings, std::uint64_t index);

/// The same with how it moves.
struct DrawnRun {
  DrawnArm drawn;
  ArmRun clean;
};
DrawnRun draw_run(const StudyArm& settings, double duration, std::uint64_t index);

/// What is recorded of it.
ArmRun recorded_draw(const StudyArm& settings, const ArmRun& clean, double noise,
                     std::uint64_t index);

/// For the estimator.
estimator::Recording recording_of(const ArmRun& run);

}  // namespace service
