#include "estimator/spook/spook_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "estimator/model/mechanisms/chain.hpp"
#include "estimator/spook/step_residual.hpp"
#include "tests/estimator/dynamics/dense_step.hpp"
#include "tests/support/alloc_counter.hpp"
#include "tests/support/mechanisms/furuta.hpp"
#include "tests/support/mechanisms/pendulum.hpp"
#include "tests/support/mechanisms/rollout.hpp"

namespace estimator {
namespace {

const Eigen::VectorXd kNoControl(0);
const Eigen::VectorXd kZeroControl = Eigen::VectorXd::Zero(1);

Mechanism with_joints(Mechanism mechanism, double compliance, double damping_time) {
  for (Joint& joint : mechanism.joints) {
    joint.compliance_linear = joint.compliance_angular = compliance;
    joint.damping_time = damping_time;
  }
  return mechanism;
}

double kinetic_energy(const ModelValues& values, const State& state) {
  double energy = 0.0;
  for (std::size_t i = 0; i < values.bodies.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(6 * i);
    const Eigen::Vector3d omega_B =
        state.poses[i].e.conjugate() * state.velocity.segment<3>(at + 3);
    energy += 0.5 * values.bodies[i].mass * state.velocity.segment<3>(at).squaredNorm() +
              0.5 * omega_B.dot(values.bodies[i].inertia * omega_B);
  }
  return energy;
}

double potential_energy(const ModelValues& values, const State& state) {
  double energy = 0.0;
  for (std::size_t i = 0; i < values.bodies.size(); ++i) {
    energy -= values.bodies[i].mass * values.gravity.dot(state.poses[i].r);
  }
  return energy;
}

// Largest |E(t) − E(0)| of the undriven motion.
double energy_drift(const Mechanism& mechanism, const State& start, double duration, double h) {
  const ModelValues values = unpack(mechanism);
  SpookStepper stepper(mechanism, h);
  State state = start;
  const double initial = kinetic_energy(values, state) + potential_energy(values, state);
  double drift = 0.0;
  const Eigen::VectorXd control = Eigen::VectorXd::Zero(1);
  for (int k = 0; k < static_cast<int>(std::lround(duration / h)); ++k) {
    EXPECT_EQ(stepper.step(state, control), StepOutcome::kOk);
    const double energy = kinetic_energy(values, state) + potential_energy(values, state);
    drift = std::max(drift, std::abs(energy - initial));
  }
  return drift;
}

// In a free swing the energy error is proportional to the step: halving h halves it.
TEST(SpookStepper, FreeFurutaConservesEnergyToFirstOrder) {
  const Mechanism mechanism = make_furuta();
  const State start = assemble_state(mechanism, unpack(mechanism), Eigen::Vector2d(0.0, 2.0),
                                     Eigen::Vector2d(1.0, 0.0));
  const double coarse = energy_drift(with_joints(mechanism, 0.0, 1e-3), start, 3.0, 5e-4);
  const double fine = energy_drift(with_joints(mechanism, 0.0, 5e-4), start, 3.0, 2.5e-4);
  EXPECT_NEAR(coarse / fine, 2.0, 0.2);
  EXPECT_LT(fine, 0.02 * 0.428 * 9.82 * 0.092);  // 2 % of the energy exchanged
}

TEST(SpookStepper, ChainOfFiveConservesEnergyToFirstOrder) {
  const Mechanism mechanism = make_chain({.links = 5});
  Eigen::VectorXd angles(5);
  angles << 1.0, 0.3, -0.2, 0.4, -0.3;
  const State start =
      assemble_state(mechanism, unpack(mechanism), angles, Eigen::VectorXd::Zero(5));
  const double coarse = energy_drift(with_joints(mechanism, 0.0, 4e-4), start, 1.0, 2e-4);
  const double fine = energy_drift(with_joints(mechanism, 0.0, 2e-4), start, 1.0, 1e-4);
  EXPECT_NEAR(coarse / fine, 2.0, 0.2);
}

// Dry friction, viscous friction, drag and shaft may only remove kinetic energy from a step,
// compared with the same step without them. States are on the constraints, where ε = 0 makes the
// joints do no work. A wrong sign of any of them adds energy.
TEST(SpookStepper, FrictionOnlyRemovesEnergy) {
  std::mt19937 engine(5);
  const JointQuantity quantities[] = {
      JointQuantity::kViscous,       JointQuantity::kQuadraticDrag,
      JointQuantity::kCoulombTorque, JointQuantity::kStribeckTorque,
      JointQuantity::kLoadFriction,  JointQuantity::kLoadFrictionAngular};
  for (const Mechanism& rig : {make_furuta(), make_chain({.links = 4})}) {
    const Mechanism free = with_joints(rig, 0.0, 0.0);
    const ModelValues values = unpack(free);
    SpookStepper free_stepper(free, 5e-3);
    for (const JointQuantity quantity : quantities) {
      Mechanism mechanism = free;
      for (int j = 0; j < mechanism.joint_count(); ++j) {
        mechanism.joint_parameter(j, quantity).value = 5e-3;
      }
      SpookStepper stepper(mechanism, 5e-3);
      int took_energy = 0;
      for (int trial = 0; trial < 200; ++trial) {
        SCOPED_TRACE(::testing::Message() << rig.name << static_cast<int>(quantity) << trial);
        State with = random_state(mechanism, engine, 2.0, trial % 2 ? 0.01 : 2.0, 0.0);
        State without = with;
        ASSERT_EQ(stepper.step(with, kZeroControl), StepOutcome::kOk);
        ASSERT_EQ(free_stepper.step(without, kZeroControl), StepOutcome::kOk);
        const double energy = kinetic_energy(values, without);
        // The energies are measured at slightly different orientations: J_w changes by h Δω.
        EXPECT_LT(kinetic_energy(values, with), energy * (1.0 + 1e-6) + 1e-12);
        took_energy += kinetic_energy(values, with) < energy * (1.0 - 1e-4);
      }
      // No moment bends the joints of a planar chain.
      const bool acts = quantity != JointQuantity::kLoadFrictionAngular || rig.name == "furuta";
      EXPECT_TRUE(took_energy > 50 || !acts) << rig.name << static_cast<int>(quantity);
    }
  }
}

// Compares with the period of a large swing by the elliptic integral, T = 2π / (agm(1, cos(θ0/2))
// ω0). Extrapolation from h and h/2 removes the step's first-order error, leaving O(h²).
TEST(SpookStepper, PendulumHasThePeriodOfTheClosedForm) {
  constexpr double kStart = 2.0;
  double a = 1.0, b = std::cos(0.5 * kStart);
  for (int i = 0; i < 8; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  const double omega_0 = std::sqrt(0.428 * 9.82 * 0.092 / (3.96e-3 + 0.428 * 0.092 * 0.092));
  const double expected = 2.0 * std::numbers::pi / (a * omega_0);
  const auto period = [&](double h) {
    const Mechanism mechanism = with_joints(make_pendulum(), 0.0, 2.0 * h);
    const Eigen::MatrixXd theta =
        rollout(mechanism, Eigen::VectorXd::Constant(1, kStart), Eigen::VectorXd::Zero(1),
                Eigen::MatrixXd::Zero(static_cast<int>(2.0 / h), 0), h);
    // Time from the first downward to the next downward zero crossing.
    double first = -1.0;
    for (Eigen::Index k = 0; k + 1 < theta.rows(); ++k) {
      if (!(theta(k, 0) > 0.0 && theta(k + 1, 0) <= 0.0)) continue;
      const double fraction = theta(k, 0) / (theta(k, 0) - theta(k + 1, 0));
      const double time = (static_cast<double>(k) + fraction) * h;
      if (first >= 0.0) return time - first;
      first = time;
    }
    return -1.0;
  };
  const double extrapolated = 2.0 * period(1e-4) - period(2e-4);
  EXPECT_NEAR(extrapolated, expected, 1e-5 * expected);
}

// A joint at rest yields by ε·f, for any damping time. Tests Σ against the right-hand side, the
// unit of λ (an impulse) and the two compliances of a joint.
TEST(SpookStepper, CompliantJointRestsAtComplianceTimesForce) {
  constexpr double g = 9.82, h = 1e-3, kLinear = 1e-4, kAngular = 3e-4;
  for (const double damping_time : {0.002, 0.01}) {
    SCOPED_TRACE(damping_time);
    Mechanism mechanism = make_furuta();
    for (Joint& joint : mechanism.joints) {
      joint.compliance_linear = kLinear;
      joint.compliance_angular = kAngular;
      joint.damping_time = damping_time;
    }
    mechanism.joint_parameter(0, JointQuantity::kViscous).value = 0.1;
    mechanism.joint_parameter(1, JointQuantity::kViscous).value = 0.05;
    const ModelValues values = unpack(mechanism);
    State state =
        assemble_state(mechanism, values, Eigen::Vector2d::Zero(), Eigen::Vector2d::Zero());
    SpookStepper stepper(mechanism, h);
    for (int k = 0; k < 20000; ++k) {
      ASSERT_EQ(stepper.step(state, kZeroControl), StepOutcome::kOk);
    }
    EXPECT_LT(state.velocity.norm(), 1e-9);
    const Eigen::VectorXd violation = constraint_violation(mechanism, values, state.poses);
    // Ground − arm at joint 1 carries both weights, arm − pendulum at joint 2 one. The rest point
    // differs from ε f by the tilt of the compliant arm, a relative 1e-3 squared.
    EXPECT_NEAR(violation[5 * 0 + 1], kLinear * (0.238 + 0.428) * g, 1e-8);
    EXPECT_NEAR(violation[5 * 1 + 1], kLinear * 0.428 * g, 1e-8);
    // The weights' moment about joint 1 bends it about the horizontal axis across the arm.
    const double moment = (0.238 * 0.128 + 0.428 * 0.376) * g;
    const double bend = violation.segment<2>(3).norm();
    EXPECT_NEAR(bend, kAngular * moment, 2e-3 * kAngular * moment);
    // The multiplier is the reaction's impulse over the step.
    EXPECT_NEAR(stepper.multipliers()[1][1], -h * 0.428 * g, 1e-9);
  }
}

// Total momentum changes by gravity and the ground's reaction alone, to round-off: joint 2 must
// push both bodies equally.
TEST(SpookStepper, InternalForcesAreEqualAndOpposite) {
  std::mt19937 engine(11);
  const Mechanism mechanism = make_furuta();
  const ModelValues values = unpack(mechanism);
  SpookStepper stepper(mechanism, 5e-3);
  const auto momentum = [&](const State& state) -> Eigen::Vector3d {
    return values.bodies[0].mass * state.velocity.segment<3>(0) +
           values.bodies[1].mass * state.velocity.segment<3>(6);
  };
  for (int trial = 0; trial < 100; ++trial) {
    State state = random_state(mechanism, engine, 2.0, 3.0, 1e-4);
    const Eigen::Vector3d before = momentum(state);
    ASSERT_EQ(stepper.step(state, kZeroControl), StepOutcome::kOk);
    const Eigen::Vector3d gravity =
        5e-3 * (values.bodies[0].mass + values.bodies[1].mass) * values.gravity;
    // Joint 1's rows act on the arm, its body b, with −λ.
    const Eigen::Vector3d expected = before + gravity - stepper.multipliers()[0].head<3>();
    EXPECT_LT((momentum(state) - expected).norm(), 1e-11 * (1.0 + expected.norm()));
  }
}

// No moment acts on a free Furuta pendulum about its vertical joint: angular momentum about y is
// conserved to the order of the step.
TEST(SpookStepper, ConservesAngularMomentumAboutTheFreeVerticalJoint) {
  const auto drift = [](double h) {
    const Mechanism mechanism = with_joints(make_furuta(), 0.0, 2.0 * h);
    const ModelValues values = unpack(mechanism);
    State state =
        assemble_state(mechanism, values, Eigen::Vector2d(0.2, 2.5), Eigen::Vector2d(2.0, 1.0));
    const auto momentum = [&] {
      Eigen::Vector3d total = Eigen::Vector3d::Zero();
      for (std::size_t i = 0; i < 2; ++i) {
        const auto at = static_cast<Eigen::Index>(6 * i);
        const Eigen::Matrix3d R = state.poses[i].e.toRotationMatrix();
        total += values.bodies[i].mass * state.poses[i].r.cross(state.velocity.segment<3>(at)) +
                 R * values.bodies[i].inertia * R.transpose() * state.velocity.segment<3>(at + 3);
      }
      return total.y();
    };
    SpookStepper stepper(mechanism, h);
    const double initial = momentum();
    double largest = 0.0;
    for (int k = 0; k < static_cast<int>(std::lround(2.0 / h)); ++k) {
      EXPECT_EQ(stepper.step(state, kZeroControl), StepOutcome::kOk);
      largest = std::max(largest, std::abs(momentum() - initial));
    }
    return largest / std::abs(initial);
  };
  const double coarse = drift(1e-3), fine = drift(1e-4);
  EXPECT_LT(coarse, 0.05);
  EXPECT_NEAR(std::log10(coarse / fine), 1.0, 0.15);
}

// A four-bar's loop may open by the compliance times the joint force, and no more. Measured at
// rest, where damping has no effect.
TEST(SpookStepper, LoopClosesWithinComplianceTimesForce) {
  constexpr double h = 2e-3, kCompliance = 1e-5;
  Mechanism mechanism =
      with_joints(make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)}),
                  kCompliance, 2.0 * h);
  for (int j = 0; j < 4; ++j) {
    mechanism.joint_parameter(j, JointQuantity::kViscous).value = 0.01;
  }
  const ModelValues values = unpack(mechanism);
  State state = assemble_state(mechanism, values, Eigen::Vector4d(0.1, 1.4, 1.5, 0.0),
                               Eigen::Vector4d::Zero());
  SpookStepper stepper(mechanism, h);
  double largest = 0.0;
  for (int k = 0; k < 10000; ++k) {
    ASSERT_EQ(stepper.step(state, kNoControl), StepOutcome::kOk);
    largest = std::max(largest,
                       constraint_violation(mechanism, values, state.poses).cwiseAbs().maxCoeff());
  }
  // In motion, forces stay below twice the weight of 0.6 kg and lag by the damping time.
  EXPECT_LT(largest, 2.0 * kCompliance * 0.6 * 9.82);
  const Eigen::VectorXd rest = constraint_violation(mechanism, values, state.poses);
  for (int j = 0; j < 4; ++j) {
    const Eigen::Matrix<double, 5, 1> force =
        stepper.multipliers()[static_cast<std::size_t>(j)] / h;
    // λ = −g/ε at rest.
    EXPECT_LT((rest.segment<5>(5 * j) + kCompliance * force).norm(), 1e-10) << j;
  }
}

TEST(SpookStepper, ReportsARigidLoopAsSingularAndKeepsTheState) {
  const Mechanism mechanism = with_joints(
      make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)}), 0.0, 0.01);
  State state = assemble_state(mechanism, unpack(mechanism), Eigen::Vector4d(0.1, 1.4, 1.5, 0.0),
                               Eigen::Vector4d::Zero());
  const Eigen::Vector3d before = state.poses[1].r;
  SpookStepper stepper(mechanism, 1e-3);
  EXPECT_EQ(stepper.step(state, kNoControl), StepOutcome::kSingular);
  EXPECT_EQ(state.poses[1].r, before);
  const Eigen::MatrixXd angles = rollout(mechanism, state, Eigen::MatrixXd::Zero(3, 0), 1e-3);
  EXPECT_TRUE(angles.row(0).allFinite());
  EXPECT_TRUE(angles.bottomRows(3).array().isNaN().all());
}

// Forward and inverse dynamics are written separately but must be the same equations. The residual
// is an impulse: compare with the momentum of the step.
TEST(SpookStepper, ItsStepsHaveNoImpulseResidual) {
  std::mt19937 engine(3);
  Mechanism rigs[] = {make_furuta(), make_chain({.links = 3})};
  for (Mechanism& mechanism : rigs) {
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      mechanism.joint_parameter(j, JointQuantity::kViscous).value = 1e-3;
      mechanism.joint_parameter(j, JointQuantity::kCoulombTorque).value = 5e-3;
      mechanism.joint_parameter(j, JointQuantity::kLoadFriction).value = 1e-3;
      mechanism.joint_parameter(j, JointQuantity::kShaftInertia).value = 1e-4;
      mechanism.joint_parameter(j, JointQuantity::kStiffness).value = 0.02;
      // Sticking makes the law steep, B/s: this keeps round-off in ω⁺ harmless.
      mechanism.joints[static_cast<std::size_t>(j)].stick_speed = 0.05;
    }
    mechanism.joint_parameter(0, JointQuantity::kMotorGain).value = 0.07;
    const double h = 5e-3;
    SpookStepper stepper(mechanism, h);
    for (const ResidualForm form : {ResidualForm::kExplicit, ResidualForm::kImplicit}) {
      const auto residual =
          make_step_residual(mechanism, StepSettings{.step = h, .form = form}, {});
      for (int trial = 0; trial < 100; ++trial) {
        SCOPED_TRACE(::testing::Message() << mechanism.name << " trial " << trial);
        State state = random_state(mechanism, engine, 1.0, trial % 2 ? 0.05 : 2.0, 1e-5);
        const State before = state;
        const Eigen::VectorXd control = Eigen::VectorXd::Constant(1, 0.5);
        ASSERT_EQ(stepper.step(state, control), StepOutcome::kOk);
        Eigen::VectorXd r(state.velocity.size());
        residual->evaluate({.poses = before.poses.data(),
                            .velocity = before.velocity.data(),
                            .next_velocity = state.velocity.data(),
                            .control = control.data()},
                           r.data());
        // The explicit form multiplies the velocities' round-off by Σ⁻¹, 1e3 kg at this compliance.
        EXPECT_LT(r.cwiseAbs().maxCoeff(), 1e-9);
      }
    }
  }
}

TEST(SpookStepper, StepDoesNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (Mechanism mechanism : {make_furuta(), make_chain({.links = 8})}) {
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      mechanism.joint_parameter(j, JointQuantity::kViscous).value = 1e-3;
      mechanism.joint_parameter(j, JointQuantity::kCoulombTorque).value = 5e-3;
      mechanism.joint_parameter(j, JointQuantity::kLoadFriction).value = 1e-3;
    }
    SpookStepper stepper(mechanism, 1e-3);
    State state = assemble_state(mechanism, unpack(mechanism),
                                 Eigen::VectorXd::Constant(mechanism.joint_count(), 0.3),
                                 Eigen::VectorXd::Zero(mechanism.joint_count()));
    const test_support::AllocCounter allocations;
    for (int k = 0; k < 200; ++k) {
      ASSERT_EQ(stepper.step(state, kZeroControl), StepOutcome::kOk);
    }
    EXPECT_EQ(allocations.count(), 0) << mechanism.name;
  }
}

// A motor spins the arm over many turns: a wrapped angle would jump by 2π.
TEST(Rollout, IsContinuousOverTurnsAndStartsAtTheGivenAngles) {
  Mechanism mechanism = make_furuta();
  mechanism.joint_parameter(0, JointQuantity::kMotorGain).value = 1.0;
  mechanism.joint_parameter(0, JointQuantity::kViscous).value = 0.02;
  const Eigen::Vector2d start(7.0, 0.1);  // more than one turn
  const Eigen::MatrixXd angles = rollout(mechanism, start, Eigen::Vector2d::Zero(),
                                         Eigen::MatrixXd::Constant(4000, 1, 0.2), 1e-3);
  ASSERT_EQ(angles.rows(), 4001);
  EXPECT_LT((angles.row(0).transpose() - start).norm(), 1e-12);
  EXPECT_GT(angles(4000, 0) - angles(0, 0), 4.0 * std::numbers::pi);
  for (Eigen::Index k = 0; k < 4000; ++k) {
    ASSERT_LT((angles.row(k + 1) - angles.row(k)).cwiseAbs().maxCoeff(), 0.1);
  }
}

TEST(Rollout, FromAStateIsTheRolloutFromItsAngles) {
  const Mechanism mechanism = make_furuta();
  const Eigen::Vector2d angles(0.4, -1.0), rates(1.0, 2.0);
  const Eigen::MatrixXd control = Eigen::MatrixXd::Zero(50, 1);
  const State state = assemble_state(mechanism, unpack(mechanism), angles, rates);
  EXPECT_LT(
      (rollout(mechanism, angles, rates, control, 0.01) - rollout(mechanism, state, control, 0.01))
          .cwiseAbs()
          .maxCoeff(),
      1e-12);
}

}  // namespace
}  // namespace estimator
