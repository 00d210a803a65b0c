#include "estimator/friction/friction_laws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/simulation/tree_program.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

Parameter& air_of(Mechanism& mechanism, int body, AirDragParameter quantity) {
  return mechanism
      .parameters[static_cast<std::size_t>(mechanism.air_drag_parameter_index(body, quantity))];
}

/// Contribution of drag to the generalised forces of a motion.
JointVector<double> resistance(const Mechanism& mechanism, const Eigen::VectorXd& angle,
                               const Eigen::VectorXd& rate) {
  Mechanism without = mechanism;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    air_of(without, body, AirDragParameter::kCoefficient).value = 0.0;
  }
  const JointVector<double> zero = JointVector<double>::Zero(angle.size());
  JointVector<double> held, free;
  TreeInverseDynamics<double>(mechanism, parameter_values(mechanism))
      .torque_residual(angle, rate, zero, zero, held);
  TreeInverseDynamics<double>(without, parameter_values(without))
      .torque_residual(angle, rate, zero, zero, free);
  return held - free;
}

/// Drag acts on arm and plate, each at its own point.
Mechanism plate_on_cart() {
  Mechanism mechanism = test_support::cart_with_plate();
  for (const int body : {1, 2}) {
    air_of(mechanism, body, AirDragParameter::kCoefficient).value = 0.3 * body;
    air_of(mechanism, body, AirDragParameter::kPointX).value = 0.04 * body;
    air_of(mechanism, body, AirDragParameter::kPointY).value = -0.07;
    air_of(mechanism, body, AirDragParameter::kPointZ).value = 0.02;
  }
  return mechanism;
}

Eigen::Vector3d held_point(Mechanism mechanism, int body, const Eigen::VectorXd& angle) {
  const Eigen::Vector3d point(air_of(mechanism, body, AirDragParameter::kPointX).value,
                              air_of(mechanism, body, AirDragParameter::kPointY).value,
                              air_of(mechanism, body, AirDragParameter::kPointZ).value);
  const Pose pose = place_bodies(mechanism, angle)[static_cast<std::size_t>(body)];
  return pose.r + pose.e.toRotationMatrix() * point;
}

// On a body hinged to the ground it equals quadratic drag of that joint, c r³ for a point at
// distance r from the axis, in both directions.
TEST(AirDrag, OfABodyAtAGroundJointEqualsJointDrag) {
  Mechanism mechanism = make_chain({.links = 1});
  air_of(mechanism, 0, AirDragParameter::kCoefficient).value = 0.4;
  const Eigen::VectorXd angle = Eigen::VectorXd::Constant(1, 0.6);
  const Eigen::Vector3d at = held_point(mechanism, 0, angle),
                        on_axis = place_bodies(mechanism, angle)[0].r +
                                  place_bodies(mechanism, angle)[0].e.toRotationMatrix() *
                                      joint_point(mechanism, 0, true);
  const double r = (at - on_axis).norm();
  ASSERT_GT(r, 0.01);
  for (const double rate : {-3.0, 2.0}) {
    EXPECT_NEAR(resistance(mechanism, angle, Eigen::VectorXd::Constant(1, rate))[0],
                0.4 * std::pow(r, 3) * std::abs(rate) * rate, 1e-9);
  }
  EXPECT_EQ(resistance(mechanism, angle, Eigen::VectorXd::Zero(1))[0], 0.0);
}

// Its generalised forces do the work of c |v| v along the point's path, computed from the bodies'
// poses alone.
TEST(AirDrag, DoesTheWorkOfItsForceAlongEveryJoint) {
  for (const bool from_child : {false, true}) {
    Mechanism mechanism = plate_on_cart();
    if (from_child) test_support::describe_from_child(mechanism, 1);
    ASSERT_TRUE(find_mechanism_errors(mechanism).empty());
    const Eigen::VectorXd angle = Eigen::Vector2d(0.4, from_child ? 0.9 : -0.9);
    for (const Eigen::Vector2d& rate : {Eigen::Vector2d(1.5, -4.0), Eigen::Vector2d(-0.8, -2.5)}) {
      Eigen::Vector2d work = Eigen::Vector2d::Zero();
      for (const int body : {1, 2}) {
        constexpr double kStep = 1e-6;
        Eigen::Matrix<double, 3, 2> along;
        for (int k = 0; k < 2; ++k) {
          const Eigen::VectorXd step = kStep * Eigen::Vector2d::Unit(k);
          along.col(k) = (held_point(mechanism, body, angle + step) -
                          held_point(mechanism, body, angle - step)) /
                         (2.0 * kStep);
        }
        const Eigen::Vector3d velocity = along * rate;
        work += along.transpose() * (0.3 * body * velocity.norm() * velocity);
      }
      EXPECT_LT((Eigen::Vector2d(resistance(mechanism, angle, rate)) - work).norm(), 1e-7);
      EXPECT_GT(work.dot(rate), 0.0);
    }
  }
}

TEST(AirDrag, HasNoEffectOnFixedBodies) {
  Mechanism mechanism = plate_on_cart();
  mechanism.fixed_joints[0].body_a = Joint::kGround;
  ASSERT_TRUE(find_mechanism_errors(mechanism).empty());
  air_of(mechanism, 1, AirDragParameter::kCoefficient).value = 0.0;
  const Eigen::VectorXd rate = Eigen::Vector2d(1.0, 2.0);
  EXPECT_EQ(resistance(mechanism, Eigen::Vector2d(0.1, 0.2), rate).norm(), 0.0);
}

// An absent payload has no drag, and its coefficient is not identifiable.
TEST(AirDrag, HasNoEffectOnAbsentBodies) {
  Mechanism mechanism = plate_on_cart();
  for (const int body : {1, 2}) air_of(mechanism, body, AirDragParameter::kCoefficient).free = true;
  air_of(mechanism, 2, AirDragParameter::kPointX).free = true;
  const ProgramVariants variants(mechanism, {}, {{}, {2}});
  const std::vector<int> groups = {0, 1};
  const std::vector<ProgramVariants::IntervalRun> runs = variants.runs(mechanism, groups);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_TRUE(runs[0].without_effect.empty());
  const std::vector<int>& motion_parameters = runs[1].program.motion_parameters();
  std::vector<int> without;
  for (const int place : runs[1].without_effect) {
    without.push_back(motion_parameters[static_cast<std::size_t>(place)]);
  }
  EXPECT_EQ(without,
            (std::vector<int>{mechanism.air_drag_parameter_index(2, AirDragParameter::kCoefficient),
                              mechanism.air_drag_parameter_index(2, AirDragParameter::kPointX)}));
  Mechanism gone = runs[1].values;
  EXPECT_EQ(air_of(gone, 2, AirDragParameter::kCoefficient).value, 0.0);
  EXPECT_EQ(air_of(gone, 1, AirDragParameter::kCoefficient).value, 0.3);
}

TEST(AirDrag, IsRejectedForSpookSimulators) {
  Mechanism mechanism = make_chain({.links = 2});
  EXPECT_NO_THROW(require_spook_support(mechanism));
  air_of(mechanism, 1, AirDragParameter::kCoefficient).value = 0.1;
  EXPECT_THROW(require_spook_support(mechanism), std::invalid_argument);
  air_of(mechanism, 1, AirDragParameter::kCoefficient).value = 0.0;
  air_of(mechanism, 1, AirDragParameter::kCoefficient).free = true;
  EXPECT_THROW(require_spook_support(mechanism), std::invalid_argument);
}

}  // namespace
}  // namespace estimator
