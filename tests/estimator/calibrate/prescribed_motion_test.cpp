// Joints whose motion is recorded and whose force is unknown (Motor::is_prescribed).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/signal/prescribed_acceleration.hpp"
#include "estimator/simulation/interval/joint_dynamics.hpp"
#include "tests/support/mechanisms/controlled_arm.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/ode_solver.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kGravity = 9.82;
constexpr double kMass = 0.12, kDistance = 0.2, kInertia = 2e-3;  // of the pendulum
constexpr double kViscous = 4e-4;                                 // of the pivot [N·m·s/rad]
constexpr double kCartMass = 0.6, kRailViscous = 1.5;

/// A pendulum on a cart on a level rail along world x. It hangs at the angle zero.
Mechanism make_cart(double cart_mass = kCartMass) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism cart;
  cart.bodies = {{.name = "cart"}, {.name = "pole"}};
  cart.joints.resize(2);
  Joint& rail = cart.joints[0];
  Joint& pivot = cart.joints[1];
  rail.name = "rail";
  rail.kind = JointKind::kPrismatic;
  rail.body_b = 0;
  rail.frame_a = rail.frame_b = make_joint_frame(x, y);
  pivot.name = "pivot";
  pivot.body_a = 0;
  pivot.body_b = 1;
  pivot.frame_a = make_joint_frame(z, -y);
  pivot.frame_b = make_joint_frame(z, x);
  make_parameters(cart);
  cart.parameter(0, BodyParameter::kMass).value = cart_mass;
  cart.parameter(1, BodyParameter::kMass).value = kMass;
  set_inertia(cart, 1, {1e-3, 2e-3, kInertia});
  set_joint_points(cart, 1, Eigen::Vector3d::Zero(), -kDistance * x);
  cart.joint_parameter(1, JointParameter::kViscous).value = kViscous;
  return cart;
}

/// Records a cart that an unknown force moves: a sum of sines with random phases. The simulation
/// solves Lagrange's equations of cart and pendulum and shares no code with the estimator.
/// @param quanta  of the encoders [m], [rad]
Recording record_cart(const Eigen::Vector2d& quanta, unsigned seed) {
  constexpr double kPeriod = 0.005;
  constexpr int kRows = 1600;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  double phases[4], disc[2];
  for (double& phase : phases) phase = 2.0 * std::numbers::pi * uniform(random);
  for (double& phase : disc) phase = uniform(random);
  double force = 0.0;
  const double weight = kMass * kDistance, about = kInertia + weight * kDistance;
  const OdeFunction rates = [&](const Eigen::VectorXd& y) {
    Eigen::Matrix2d M;
    M << kCartMass + kMass, weight * std::cos(y[1]), weight * std::cos(y[1]), about;
    const Eigen::Vector2d torques(
        force - kRailViscous * y[2] + weight * std::sin(y[1]) * y[3] * y[3],
        -weight * kGravity * std::sin(y[1]) - kViscous * y[3]);
    const Eigen::Vector2d a = M.inverse() * torques;
    return Eigen::VectorXd(Eigen::Vector4d(y[2], y[3], a[0], a[1]));
  };
  OdeSolver solver;
  Eigen::VectorXd state = Eigen::Vector4d(0.0, 0.4, 0.0, 0.0);
  Segment segment;
  segment.period = kPeriod;
  segment.angles.resize(kRows, 2);
  for (int k = 0; k < kRows; ++k) {
    for (int i = 0; i < 2; ++i) {
      segment.angles(k, i) =
          quanta[i] * (std::floor(state[i] / quanta[i] + disc[i]) + 0.5 - disc[i]);
    }
    force = 0.0;
    for (int s = 0; s < 4; ++s) {
      force += 1.2 * std::sin(2.0 * std::numbers::pi * (0.5 + 0.55 * s) * k * kPeriod + phases[s]);
    }
    state = solver.advance(rates, state, kPeriod);
  }
  return {"cart", {segment}};
}

/// Makes the recorded motion of a joint prescribed.
void prescribe(int joint, int motor, Mechanism& mechanism, Recording& recording) {
  prescribe_motion(mechanism, joint);
  for (Segment& segment : recording.segments) {
    const PrescribedAcceleration motion = estimate_prescribed_acceleration(segment, joint);
    if (segment.controls.cols() == 0) segment.controls.resize(segment.sample_count(), 1);
    segment.controls.col(motor) = motion.values;
    segment.control_noise.setZero(segment.controls.cols());
    segment.control_noise[motor] = motion.noise;
  }
}

Mechanism free_pendulum() {
  Mechanism cart = make_cart();
  for (const int index : {cart.index(1, BodyParameter::kJzz),
                          cart.joint_parameter_index(1, JointParameter::kViscous)}) {
    cart.at(index).free = true;
    cart.at(index).value *= 0.4;
  }
  return cart;
}

// The pendulum moves with the acceleration of its support, whatever force that needs: Lagrange's
// equation of the pendulum alone. Its weight does not move the cart, and the force on the cart is
// that of both bodies. Catches a heavy cart in place of a prescribed one.
TEST(PrescribedMotion, ReplacesTheForceBalanceOfItsJoint) {
  constexpr double kAngle = 0.7, kRate = -1.3, kAcceleration = 4.0;
  for (const double mass : {0.6, 60.0}) {
    Mechanism cart = make_cart(mass);
    cart.parameter(GravityParameter::kGravity).value = kGravity;
    prescribe_motion(cart, 0);
    const Eigen::Vector2d q(0.1, kAngle), v(0.5, kRate), u(kAcceleration, 0.0);
    const Eigen::VectorXd a = JointDynamics(cart).accelerations({q, v, u.head(1)});
    const double weight = kMass * kDistance, about = kInertia + weight * kDistance;
    const double expected = (-weight * kGravity * std::sin(kAngle) - kViscous * kRate -
                             weight * std::cos(kAngle) * kAcceleration) /
                            about;
    EXPECT_DOUBLE_EQ(a[0], kAcceleration);
    EXPECT_NEAR(a[1], expected, 1e-12 * std::abs(expected));
    TreeInverseDynamics<double> dynamics(cart, parameter_values(cart));
    JointVector<double> residual;
    dynamics.torque_residual(q, v, a, u, residual);
    const double force = (mass + kMass) * kAcceleration +
                         weight * (std::cos(kAngle) * a[1] - std::sin(kAngle) * kRate * kRate);
    EXPECT_NEAR(dynamics.joint_loads(0)[static_cast<int>(JointLoad::kMotorTorque)], force,
                1e-12 * force);
  }
}

// The estimates of 20 recordings are within three standard deviations, and their mean has no bias.
// Catches readings of the cart that count as exact: errors in variables.
class PrescribedCart : public ::testing::TestWithParam<Eigen::Vector2d> {};

TEST_P(PrescribedCart, IdentifiesThePendulum) {
  constexpr int kSeeds = 20;
  const double truths[] = {kInertia, kViscous};
  double sums[2] = {}, squares[2] = {};
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    Mechanism given = free_pendulum();
    given.parameter(GravityParameter::kGravity).value = kGravity;
    Recording recording = record_cart(GetParam(), seed);
    prescribe(0, 0, given, recording);
    const Calibration result = calibrate(given, {recording});
    ASSERT_TRUE(result.converged()) << seed;
    ASSERT_EQ(result.parameters.size(), 2U);
    for (int i = 0; i < 2; ++i) {
      const ParameterEstimate& estimate = result.parameters[static_cast<std::size_t>(i)];
      const double score = (estimate.value - truths[i]) / estimate.standard_deviation;
      EXPECT_LT(std::abs(score), 3.0) << seed << " " << estimate.name << " " << estimate.value
                                      << " ± " << estimate.standard_deviation;
      EXPECT_LT(estimate.standard_deviation, 0.2 * truths[i]) << seed << " " << estimate.name;
      sums[i] += score;
      squares[i] += score * score;
    }
    EXPECT_LE(judge_model(result).kind, VerdictKind::kDoubtful) << seed;
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_LT(std::abs(sums[i]) / kSeeds, 3.0 / std::sqrt(kSeeds)) << i;
    EXPECT_LT(squares[i] / kSeeds, 2.0) << i;
    EXPECT_GT(squares[i] / kSeeds, 0.4) << i;  // too wide intervals
  }
}

INSTANTIATE_TEST_SUITE_P(Encoders, PrescribedCart,
                         ::testing::Values(Eigen::Vector2d(5e-5, 2.0 * M_PI / 4096),
                                           Eigen::Vector2d(1e-3, 2.0 * M_PI / 4096),
                                           Eigen::Vector2d(1e-3, 2.0 * M_PI / 200)));

// The mass of the cart and a spring on the rail do not affect the motion: they are reported as
// parameters without effect. Catches estimates of what nothing determines.
TEST(PrescribedMotion, LeavesItsOwnParametersUnidentified) {
  Mechanism given = free_pendulum();
  for (const char* const name : {"cart.m", "rail.k_s"}) {
    given.at(given.find_parameter(name)).free = true;
    given.at(given.find_parameter(name)).value = 2.0;
  }
  Recording recording = record_cart({5e-5, 2.0 * M_PI / 4096}, 1);
  prescribe(0, 0, given, recording);
  const Calibration result = calibrate(given, {recording});
  ASSERT_EQ(result.parameters.size(), 4U);
  for (const ParameterEstimate& estimate : result.parameters) {
    const bool is_own = estimate.name == "cart.m" || estimate.name == "rail.k_s";
    EXPECT_EQ(std::isfinite(estimate.standard_deviation), !is_own) << estimate.name;
    if (is_own) EXPECT_EQ(estimate.value, 2.0) << estimate.name;
  }
}

// An arm of two links on a turning base, whose motor torque is not recorded. Catches a motion that
// is prescribed in the plane only.
TEST(PrescribedMotion, IdentifiesAnArmOnATurningBase) {
  const Mechanism truth = make_arm(3);
  Recording recording = record_arm(truth, {.duration = 4.0, .torque_noise = {0.0}});
  Mechanism given = free_arm(truth, 1.3);
  for (const JointParameter friction : {JointParameter::kViscous, JointParameter::kCoulombTorque}) {
    given.joint_parameter(0, friction).value = 0.0;
    given.joint_parameter(0, friction).free = false;
  }
  prescribe(0, 0, given, recording);
  const Calibration result = calibrate(given, {recording});
  EXPECT_TRUE(result.converged());
  int identified = 0;
  for (const ParameterEstimate& estimate : result.parameters) {
    if (!std::isfinite(estimate.standard_deviation)) continue;
    const double value = truth.at(truth.find_parameter(estimate.name)).value;
    EXPECT_LT(std::abs(estimate.value - value), 4.0 * estimate.standard_deviation)
        << estimate.name << " " << estimate.value << " instead of " << value;
    ++identified;
  }
  EXPECT_GE(identified, 5);
}

}  // namespace
}  // namespace estimator
