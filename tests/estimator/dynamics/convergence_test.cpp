#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <vector>

#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/mechanisms/rollout.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kSample = 0.01;  // both are compared on this grid [s]

// Rigid joints whose violations decay over two steps, as SPOOK is commonly used.
Mechanism made_rigid(Mechanism mechanism, double h) {
  for (Joint& joint : mechanism.joints) {
    joint.spook.compliance_linear = joint.spook.compliance_angular = 0.0;
    joint.spook.damping_time = 2.0 * h;
  }
  return mechanism;
}

// Largest angle error of a rollout against the reference, whose rows lie kSample apart. Controls
// are given per sample.
double angle_error(const Mechanism& mechanism, const Eigen::VectorXd& angles,
                   const Eigen::VectorXd& rates, const Eigen::MatrixXd& controls,
                   const Eigen::MatrixXd& reference, double h) {
  const auto stride = static_cast<Eigen::Index>(std::lround(kSample / h));
  const Eigen::Index samples = reference.rows() - 1;
  Eigen::MatrixXd held(samples * stride, controls.cols());
  for (Eigen::Index k = 0; k < held.rows(); ++k) held.row(k) = controls.row(k / stride);
  const Eigen::MatrixXd simulated = rollout(made_rigid(mechanism, h), angles, rates, held, h);
  double error = 0.0;
  for (Eigen::Index k = 0; k <= samples; ++k) {
    error = std::max(error, (simulated.row(k * stride) - reference.row(k)).cwiseAbs().maxCoeff());
  }
  return error;
}

// Prints the errors at step h, and checks that a ten times smaller step gives a tenth of the error,
// up to the next order's contribution (measured: 9.0 to 11). A wrong sign of the gyroscopic torque,
// of h(f + f_g) or a body-frame quaternion update leaves an error that does not shrink with h.
void expect_first_order(const char* title, const std::vector<double>& steps,
                        const std::function<double(double)>& error_at) {
  std::printf("%s\n", title);
  double before = 0.0;
  for (const double h : steps) {
    const double error = error_at(h);
    std::printf("  h = %.0e s   largest angle error %.3e rad", h, error);
    if (before > 0.0) {
      std::printf("   order %.3f", std::log10(before / error));
      EXPECT_NEAR(std::log10(before / error), 1.0, 0.1) << title << " h = " << h;
    }
    std::printf("\n");
    before = error;
  }
}

const std::vector<double> kSteps = {1e-3, 1e-4, 1e-5};

TEST(SpookConvergence, FreeFurutaIsOfFirstOrder) {
  const Eigen::Vector4d start(0.0, 2.0, 0.0, 0.0);
  const Eigen::MatrixXd reference =
      test_support::simulate(ReferenceFuruta(), start, Eigen::VectorXd::Zero(300), kSample)
          .leftCols(2);
  expect_first_order("Furuta, no friction, 3 s", kSteps, [&](double h) {
    return angle_error(make_furuta(), start.head<2>(), start.tail<2>(),
                       Eigen::MatrixXd::Zero(300, 1), reference, h);
  });
}

// All forces on a joint at once: motor, shaft, back-EMF, viscous and dry friction, and tilted
// gravity. The reference uses the same regularised dry friction.
TEST(SpookConvergence, DrivenFurutaWithFrictionAndTiltIsOfFirstOrder) {
  constexpr double kStickSpeed = 0.05;
  ReferenceFuruta rig{.J_shaft = 4e-4,
                      .b_1 = 1e-3,
                      .b_2 = 1e-4,
                      .tau_c1 = 4e-3,
                      .tau_c2 = 9e-4,
                      .K = 0.0729,
                      .k_e = 0.08,
                      .tilt = {0.06, 0.0, -0.04},
                      .friction = DryFriction::kClamp,
                      .smoothing_speed = kStickSpeed};

  Mechanism mechanism = mechanism_of(rig);
  for (Joint& joint : mechanism.joints) joint.spook.stick_speed = kStickSpeed;

  Eigen::VectorXd u(300);
  for (int k = 0; k < 300; ++k) u[k] = 1.5 * std::sin(0.05 * k) + std::cos(0.13 * k);
  const Eigen::Vector4d start(0.3, 0.8, -0.5, 1.0);
  const Eigen::MatrixXd reference = test_support::simulate(rig, start, u, kSample).leftCols(2);
  expect_first_order("Furuta, motor, friction, tilt, 3 s", kSteps, [&](double h) {
    return angle_error(mechanism, start.head<2>(), start.tail<2>(), u, reference, h);
  });
}

// Stribeck friction and drag, compared with exact stick-slip. Regularisation: far below the speeds.
TEST(SpookConvergence, PendulumWithStribeckFrictionAndDragIsOfFirstOrder) {
  ReferencePendulum rig{
      .J = 3.96e-3, .b = 2e-4, .c = 1e-4, .tau_c = 6e-3, .tau_s = 8e-3, .zeta = 4.0};
  Mechanism mechanism = pendulum_of(rig);
  mechanism.joints[0].spook.stick_speed = 1e-6;
  const Eigen::Vector2d start(2.8, 0.0);
  const Eigen::MatrixXd reference = test_support::simulate(rig, start, kSample, 400).leftCols(1);
  expect_first_order("Pendulum, Stribeck friction and drag, 4 s", kSteps, [&](double h) {
    return angle_error(mechanism, start.head<1>(), start.tail<1>(), Eigen::MatrixXd::Zero(400, 0),
                       reference, h);
  });
}

TEST(SpookConvergence, ThreeLinkChainIsOfFirstOrder) {
  const ReferenceChain chain{.links = 3};
  Eigen::VectorXd start(6);
  start << 0.9, 0.4, -0.2, 0.0, 1.0, -1.0;                               // absolute
  const Eigen::Vector3d angles(0.9, -0.5, -0.6), rates(0.0, 1.0, -2.0);  // relative
  Eigen::MatrixXd reference = test_support::simulate(chain, start, kSample, 150).leftCols(3);
  reference.col(2) -= reference.col(1);
  reference.col(1) -= reference.col(0);
  expect_first_order("Chain of three, 1.5 s", kSteps, [&](double h) {
    return angle_error(make_chain({.links = 3}), angles, rates, Eigen::MatrixXd::Zero(150, 0),
                       reference, h);
  });
}

// A parallelogram four-bar equals a pendulum: the coupler only translates. With cranks of length l
// the inertia is 2 (J + m l²/4) + m l² and the torque of gravity 2 m g l sin θ. Its constraints are
// redundant, so the joints are compliant; that moves the cranks by ε·force, far below h.
TEST(SpookConvergence, ParallelogramFourBarSwingsAsItsEquivalentPendulum) {
  const ChainDescription description{
      .links = 3, .length = 0.3, .closing_point = Eigen::Vector3d(0.3, 0.0, 0.0)};
  const double m = description.mass, l = description.length, J = description.inertia_swing;
  ReferencePendulum rig;
  rig.m = 2.0 * m;
  rig.l = l;
  rig.J = 2.0 * (J + 0.25 * m * l * l) + m * l * l - rig.m * l * l;
  Mechanism mechanism = make_chain(description);
  const double start = 0.8, right_angle = 0.5 * std::numbers::pi;
  const Eigen::MatrixXd reference =
      test_support::simulate(rig, {start, 0.0}, kSample, 200).leftCols(1);
  expect_first_order("Parallelogram four-bar, 2 s", {1e-3, 1e-4}, [&](double h) {
    for (Joint& joint : mechanism.joints) {
      joint.spook.compliance_linear = joint.spook.compliance_angular = 1e-9;
      joint.spook.damping_time = 2.0 * h;
    }
    // Crank at θ, coupler horizontal, second crank back up: θ + π from hanging.
    const Eigen::Vector4d angles(start, right_angle - start, right_angle + start, 0.0);
    const auto stride = static_cast<Eigen::Index>(std::lround(kSample / h));
    const Eigen::MatrixXd simulated = rollout(mechanism, angles, Eigen::Vector4d::Zero(),
                                              Eigen::MatrixXd::Zero(200 * stride, 0), h);
    double error = 0.0;
    for (Eigen::Index k = 0; k <= 200; ++k) {
      error = std::max(error, std::abs(simulated(k * stride, 0) - reference(k, 0)));
    }
    return error;
  });
}

}  // namespace
}  // namespace estimator
