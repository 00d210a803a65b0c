#include "estimator/simulation/statics/equilibrium.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "estimator/model/placement.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kGravity = 9.82;
// Stiffnesses are central differences of an exact gradient, off by about 1e-10.
constexpr double kRelative = 1e-8;

void expect_rates(const std::optional<Equilibrium>& pose, const std::vector<double>& squared) {
  ASSERT_TRUE(pose.has_value());
  ASSERT_EQ(pose->modes.size(), squared.size());
  for (std::size_t k = 0; k < squared.size(); ++k) {
    const double expected = squared[k];
    EXPECT_NEAR(pose->modes[k].rate_squared, expected,
                kRelative * std::max(1.0, std::abs(expected)))
        << "mode " << k;
  }
}

double& value(Mechanism& mechanism, int joint, JointParameter quantity) {
  return mechanism.joint_parameter(joint, quantity).value;
}

// ω² = m g l / (J + m l²), hanging; with opposite sign upright. Catches an error in the mass
// matrix, the gradient or the sign of gravity.
TEST(Equilibrium, APendulumHangsAndStandsUpright) {
  const PendulumDescription rod;
  const Mechanism mechanism = make_pendulum(rod);
  const double weight = rod.mass * kGravity * rod.distance;
  const double inertia = rod.inertia_swing + rod.mass * rod.distance * rod.distance;
  const auto rest = find_stable_equilibrium(mechanism);
  expect_rates(rest, {weight / inertia});
  EXPECT_NEAR(rest->coordinates[0], 0.0, 1e-9);
  const auto top = find_highest_equilibrium(mechanism, *rest);
  expect_rates(top, {-weight / inertia});
  EXPECT_NEAR(top->coordinates[0], M_PI, 1e-9);
}

// With the zero mark upside down the search starts at the top, where the gradient is zero.
TEST(Equilibrium, IgnoresAnUnstableEquilibrium) {
  Mechanism mechanism = make_pendulum();
  mechanism.joints[0].frame_a =
      make_joint_frame(Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitY());
  const auto rest = find_stable_equilibrium(mechanism);
  ASSERT_TRUE(rest.has_value());
  EXPECT_NEAR(std::abs(rest->coordinates[0]), M_PI, 1e-9);
  EXPECT_GT(rest->modes[0].rate_squared, 0.0);
}

// A tilt moves the rest position by its angle. A shaft and a spring add inertia and stiffness. At
// rest k (θ − θ_rest) + m g l sin(θ − tilt) − τ = 0.
TEST(Equilibrium, SpringTiltAndConstantTorqueShiftIt) {
  Mechanism mechanism = make_pendulum();
  const PendulumDescription rod;
  const double weight = rod.mass * kGravity * rod.distance;
  const double inertia = rod.inertia_swing + rod.mass * rod.distance * rod.distance + 2e-3;
  mechanism.parameter(GravityParameter::kTiltZ).value = 0.2;
  value(mechanism, 0, JointParameter::kStiffness) = 0.3;
  value(mechanism, 0, JointParameter::kRestAngle) = 0.7;
  value(mechanism, 0, JointParameter::kConstantTorque) = 0.05;
  value(mechanism, 0, JointParameter::kShaftInertia) = 2e-3;
  const auto rest = find_stable_equilibrium(mechanism);
  ASSERT_TRUE(rest.has_value());
  const double angle = rest->coordinates[0];
  EXPECT_NEAR(0.3 * (angle - 0.7) + weight * std::sin(angle - 0.2) - 0.05, 0.0, 1e-9);
  expect_rates(rest, {(0.3 + weight * std::cos(angle - 0.2)) / inertia});
}

// Two equal rods, by hand: with the angles from the vertical M = [J + m l² + m L², m l L; m l L,
// J + m l²], K = m g diag(l + L, l). Relative angles have the same frequencies.
TEST(Equilibrium, ADoublePendulumHasTheModesOfItsTwoEquations) {
  ChainDescription chain;
  chain.links = 2;
  const double m = chain.mass, L = chain.length, l = 0.5 * L, J = chain.inertia_swing;
  Eigen::Matrix2d M, K;
  M << J + m * l * l + m * L * L, m * l * L, m * l * L, J + m * l * l;
  K << m * kGravity * (l + L), 0.0, 0.0, m * kGravity * l;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::Matrix2d> solver(K, M);
  const auto rest = find_stable_equilibrium(make_chain(chain));
  expect_rates(rest, {solver.eigenvalues()[0], solver.eigenvalues()[1]});
  for (Eigen::Index k = 0; k < 2; ++k) {
    const Eigen::Vector2d absolute = solver.eigenvectors().col(k);
    const Eigen::VectorXd& shape = rest->modes[static_cast<std::size_t>(k)].shape;
    EXPECT_NEAR(shape[1] / shape[0], absolute[1] / absolute[0] - 1.0, 1e-6);
  }
}

// Gravity is along the arm's axis, so the arm turns freely and the pendulum swings against it: ω² =
// m g l / (J − (m l L)² / J_arm).
TEST(Equilibrium, AFurutaArmTurnsFreely) {
  const FurutaDescription rig;
  const double l = rig.distance_B, L = rig.arm_length, m = rig.mass_B;
  const double J = rig.inertia_B.y() + m * l * l, coupling = m * l * L;
  const double arm = rig.inertia_A.z() + rig.mass_A * rig.distance_A * rig.distance_A + m * L * L +
                     rig.inertia_B.x();
  const auto rest = find_stable_equilibrium(make_furuta(rig));
  expect_rates(rest, {0.0, m * kGravity * l / (J - coupling * coupling / arm)});
  EXPECT_TRUE(is_neutral_mode(rest->modes[0], rest->modes));
  EXPECT_FALSE(is_neutral_mode(rest->modes[1], rest->modes));
}

Mechanism make_cart(double rail_slope) {
  Mechanism mechanism;
  mechanism.bodies = {{"cart"}};
  Joint rail;
  rail.name = "rail";
  rail.kind = JointKind::kPrismatic;
  rail.frame_a = rail.frame_b =
      make_joint_frame({std::cos(rail_slope), std::sin(rail_slope), 0.0}, Eigen::Vector3d::UnitZ());
  mechanism.joints = {rail};
  make_parameters(mechanism);
  mechanism.parameter(0, BodyParameter::kMass).value = 0.6;
  return mechanism;
}

// ω² = k / m, with the rest position where the spring carries the weight along the rail.
TEST(Equilibrium, ACartOnASpringSwingsWithItsMass) {
  Mechanism mechanism = make_cart(0.3);
  value(mechanism, 0, JointParameter::kStiffness) = 40.0;
  value(mechanism, 0, JointParameter::kRestAngle) = 0.05;
  const auto rest = find_stable_equilibrium(mechanism);
  expect_rates(rest, {40.0 / 0.6});
  EXPECT_NEAR(rest->coordinates[0], 0.05 - 0.6 * kGravity * std::sin(0.3) / 40.0, 1e-9);
}

// Nothing holds it, so no pose is returned.
TEST(Equilibrium, DoesNotExistForACartOnAnIncline) {
  EXPECT_FALSE(find_stable_equilibrium(make_cart(0.3)).has_value());
  const auto level = find_stable_equilibrium(make_cart(0.0));
  expect_rates(level, {0.0});
}

// A closed loop: three equal links between two points one link apart hang as a parallelogram, whose
// coupler acts as a point mass at the cranks' ends: ω² = 2 m g L / (2 (J + m L²/4) + m L²).
TEST(Equilibrium, AClosedLoopHangsAsAParallelogram) {
  ChainDescription chain;
  chain.links = 3;
  chain.closing_point = Eigen::Vector3d(chain.length, 0.0, 0.0);
  const double m = chain.mass, L = chain.length, J = chain.inertia_swing;
  const Mechanism mechanism = make_chain(chain);
  const auto rest = find_stable_equilibrium(mechanism);
  expect_rates(rest, {2.0 * m * kGravity * L / (2.0 * (J + 0.25 * m * L * L) + m * L * L)});
  const Configuration poses = place_bodies(mechanism, rest->coordinates);
  EXPECT_NEAR(poses[0].r.y(), -0.5 * L, 1e-7);
  EXPECT_NEAR(poses[1].r.y(), -L, 1e-7);
  EXPECT_NEAR(poses[2].r.y(), -0.5 * L, 1e-7);
  // The joint that closes the loop measures the last link's angle from hanging. Half a turn off,
  // the closure equations hold as well.
  EXPECT_TRUE(are_loop_orientations_consistent(mechanism, rest->coordinates));
  Eigen::VectorXd flipped = rest->coordinates;
  flipped[3] += M_PI;
  EXPECT_FALSE(are_loop_orientations_consistent(mechanism, flipped));
}

// The first link rests at its stop. The second hangs vertically from there, if its stops allow.
TEST(Equilibrium, IsAtEndStops) {
  ChainDescription chain;
  chain.links = 2;
  Mechanism mechanism = make_chain(chain);
  mechanism.joints[0].stops.lower = true;
  value(mechanism, 0, JointParameter::kStopLower) = 0.4;
  const auto rest = find_stable_equilibrium(mechanism);
  ASSERT_TRUE(rest.has_value());
  Eigen::VectorXd q = find_equilibrium_within_stops(mechanism, *rest);
  EXPECT_EQ(q[0], 0.4);
  EXPECT_NEAR(q[1], -0.4, 1e-5);
  // A second stop, which the second link reaches only because of the first.
  mechanism.joints[1].stops.lower = true;
  value(mechanism, 1, JointParameter::kStopLower) = -0.1;
  q = find_equilibrium_within_stops(mechanism, *rest);
  EXPECT_EQ(q[0], 0.4);
  EXPECT_EQ(q[1], -0.1);
  // With stops on both sides, a full turn apart, it can hang there.
  mechanism.joints[0].stops.upper = true;
  value(mechanism, 0, JointParameter::kStopLower) = 2.0 * M_PI - 0.5;
  value(mechanism, 0, JointParameter::kStopUpper) = 2.0 * M_PI + 0.5;
  mechanism.joints[1].stops.lower = false;
  q = find_equilibrium_within_stops(mechanism, *rest);
  EXPECT_NEAR(q[0], 2.0 * M_PI, 1e-8);
  EXPECT_NEAR(q[1], 0.0, 1e-8);
}

TEST(Equilibrium, DoesNotChangeWithoutStops) {
  const Mechanism mechanism = make_pendulum();
  const auto rest = find_stable_equilibrium(mechanism);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(find_equilibrium_within_stops(mechanism, *rest), rest->coordinates);
}

}  // namespace
}  // namespace estimator
