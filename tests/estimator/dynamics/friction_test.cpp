#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <random>

#include "estimator/math/lemke.hpp"
#include "estimator/spook/spook_stepper.hpp"
#include "tests/estimator/dynamics/pair_formulation.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr unsigned kSeed = 77;

struct Comparison {
  int sticking = 0, slipping = 0, failures = 0;
  double largest_difference = 0.0;  // of v⁺, relative to 1 + |v⁺|
};

// Compares the stepper with Lemke's algorithm on random states. Rates near zero make joints stick,
// violations make constraint forces far larger than gravity.
Comparison compare_with_lemke(const Mechanism& mechanism, int count, double h) {
  std::mt19937 engine(kSeed);
  std::normal_distribution<double> normal;
  SpookStepper stepper(mechanism, h, GyroscopicForm::kOld);
  Eigen::Index motors = 0;
  for (const Joint& joint : mechanism.joints) motors += joint.motor.present;
  Comparison comparison;
  for (int trial = 0; trial < count; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " trial " << trial);
    const double rate = trial % 3 == 0 ? 1e-3 : trial % 3 == 1 ? 0.1 : 3.0;
    const double spread = trial % 3 == 2 ? 2.0 : 0.02;  // near hanging, gravity lets joints stick
    State state = random_state(mechanism, engine, spread, rate, trial % 2 ? 1e-4 : 0.0);
    const Eigen::VectorXd control =
        0.1 * Eigen::VectorXd::NullaryExpr(motors, [&] { return normal(engine); });
    const DenseStep dense(mechanism, state, control, h);
    const State before = state;
    if (stepper.step(state, control) != StepOutcome::kOk) {
      ++comparison.failures;
      continue;
    }
    // Σ_t = s/B with the stepper's own B: if Lemke then returns the stepper's velocities, B is the
    // matching bound.
    const Eigen::VectorXd sigma_t = dense.stick_speed.cwiseQuotient(stepper.friction_bounds());
    const PairFormulation pair = make_pair_formulation(mechanism, before, dense, sigma_t);
    const ComplementaritySolution solution = solve_linear_complementarity(pair.H, pair.q);
    if (solution.outcome != ComplementarityOutcome::kSolved) {
      ADD_FAILURE() << "Lemke failed";
      continue;
    }
    const Eigen::VectorXd expected =
        pair.M_inverse * (dense.p + pair.rows.transpose() * solution.z);
    comparison.largest_difference =
        std::max(comparison.largest_difference,
                 (state.velocity - expected).norm() / (1.0 + expected.norm()));
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      const double bound = stepper.friction_bounds()[j];
      const double impulse = std::abs(stepper.friction_impulses()[j]);
      EXPECT_LE(impulse, bound * (1.0 + 1e-12));
      const double oracle = solution.z[13 * j + 10] - solution.z[13 * j + 11];
      EXPECT_NEAR(stepper.friction_impulses()[j], oracle, 1e-7 * bound);
      ++(impulse < bound * (1.0 - 1e-9) ? comparison.sticking : comparison.slipping);
    }
  }
  return comparison;
}

// The Lemke problem's condition is about Σ_max/(1/M) ~ 1e4 · (s/B) ~ 1e3, so 1e-8 is round-off with
// a margin. Constant torque and Stribeck only: catches a wrong stick/slip decision on any joint.
TEST(JointFriction, AgreesWithLemkeOnConstantBounds) {
  for (const double h : {1e-3, 1e-2}) {
    const Comparison furuta = compare_with_lemke(with_friction(make_furuta(), 0.0, 0.0), 3000, h);
    EXPECT_LT(furuta.largest_difference, 1e-8) << h;
    EXPECT_EQ(furuta.failures, 0);
    EXPECT_GT(furuta.sticking, 500);
    EXPECT_GT(furuta.slipping, 500);
  }
}

// The paper's law: the bound depends on the multipliers, the multipliers on the friction. At
// rμ = 3 mm (a journal of 1 cm at μ = 0.3) the friction is far above any rig's.
TEST(JointFriction, AgreesWithLemkeOnLoadProportionalBounds) {
  for (const double load : {1e-4, 1e-3, 3e-3}) {
    const Comparison furuta =
        compare_with_lemke(with_friction(make_furuta(), load, 0.1 * load), 2000, 5e-3);
    EXPECT_LT(furuta.largest_difference, 1e-8) << load;
    EXPECT_EQ(furuta.failures, 0) << load;
    EXPECT_GT(furuta.sticking, 300) << load;
    EXPECT_GT(furuta.slipping, 300) << load;
  }
}

TEST(JointFriction, AgreesWithLemkeOnPendulumChainAndLoop) {
  const Mechanism four_bar =
      make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)});
  for (const Mechanism& mechanism : {make_pendulum(), make_chain({.links = 5}), four_bar}) {
    const Comparison comparison =
        compare_with_lemke(with_friction(mechanism, 1e-3, 1e-3), 500, 5e-3);
    EXPECT_LT(comparison.largest_difference, 1e-8) << mechanism.name;
    EXPECT_EQ(comparison.failures, 0) << mechanism.name;
  }
}

// ε = 0 has no pair formulation; the free rows of the mixed problem are then eliminated, and the
// box of constant bounds is its complementarity part.
TEST(JointFriction, AgreesWithLemkeOnRigidJoints) {
  Mechanism mechanism = with_friction(make_furuta(), 0.0, 0.0);
  for (Joint& joint : mechanism.joints)
    joint.spook.compliance_linear = joint.spook.compliance_angular = 0.0;
  constexpr double h = 5e-3;
  std::mt19937 engine(kSeed);
  SpookStepper stepper(mechanism, h, GyroscopicForm::kOld);
  for (int trial = 0; trial < 2000; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " trial " << trial);
    State state =
        random_state(mechanism, engine, trial % 2 ? 0.02 : 2.0, trial % 3 ? 0.02 : 2.0, 1e-5);
    const Eigen::VectorXd control = Eigen::VectorXd::Constant(1, 0.3);
    const DenseStep dense(mechanism, state, control, h);
    ASSERT_EQ(stepper.step(state, control), StepOutcome::kOk);

    const Eigen::Index n = 2, a = 10;
    Eigen::MatrixXd rows(a + 3 * n, 12);
    rows << dense.A, dense.A_bar, -dense.A_bar, Eigen::MatrixXd::Zero(n, 12);
    Eigen::MatrixXd S = rows * dense.M_hat.inverse() * rows.transpose();
    Eigen::VectorXd b = rows * dense.M_hat.inverse() * dense.p;
    b.head(a) -= dense.c;
    b.tail(n) = dense.dry_bound;
    for (Eigen::Index j = 0; j < n; ++j) {
      for (const Eigen::Index k : {a + j, a + n + j}) {
        S(k, k) += dense.stick_speed[j] / dense.dry_bound[j];
        S(k, a + 2 * n + j) = 1.0;
        S(a + 2 * n + j, k) = -1.0;
      }
    }
    const Eigen::LDLT<Eigen::MatrixXd> free(S.topLeftCorner(a, a));
    const Eigen::MatrixXd coupling = S.topRightCorner(a, 3 * n),
                          back = S.bottomLeftCorner(3 * n, a);
    const ComplementaritySolution solution = solve_linear_complementarity(
        S.bottomRightCorner(3 * n, 3 * n) - back * free.solve(coupling),
        b.tail(3 * n) - back * free.solve(b.head(a)));
    ASSERT_EQ(solution.outcome, ComplementarityOutcome::kSolved);
    Eigen::VectorXd lambda(a + 3 * n);
    lambda << -free.solve(b.head(a) + coupling * solution.z), solution.z;
    const Eigen::VectorXd expected = dense.M_hat.inverse() * (dense.p + rows.transpose() * lambda);
    ASSERT_LT((state.velocity - expected).norm(), 1e-9 * (1.0 + expected.norm()));
  }
}

// Without dry friction the step is a linear system: the block elimination and the rank-one
// treatment of D against a dense solve, for trees and loops, stiff and soft, on and off the
// constraints. Tolerance: round-off times the condition of the system (1e4 at ε = 0).
TEST(SpookStepper, SolvesTheKktSystem) {
  const Mechanism four_bar =
      make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)});
  std::mt19937 engine(kSeed);
  for (Mechanism mechanism : {make_pendulum(), make_furuta(), make_chain({.links = 6}), four_bar}) {
    const bool loop = mechanism.joint_count() > mechanism.body_count();
    mechanism = with_friction(mechanism, 0.0, 0.0);
    set_all(mechanism, JointParameter::kCoulombTorque, 0.0);
    set_all(mechanism, JointParameter::kStribeckTorque, 0.0);
    set_all(mechanism, JointParameter::kStiffness, 0.03);
    set_all(mechanism, JointParameter::kConstantTorque, -0.01);
    mechanism.joint_parameter(mechanism.joint_count() - 1, JointParameter::kViscous).value = 0.0;
    mechanism.parameter(GravityParameter::kTiltX).value = 0.1;
    mechanism.parameter(0, BodyParameter::kJxy).value = 2e-5;
    for (const double compliance : {1e-3, 1e-6, 0.0}) {
      if (loop && compliance == 0.0) continue;
      for (Joint& joint : mechanism.joints) {
        joint.spook.compliance_linear = joint.spook.compliance_angular = compliance;
      }
      SpookStepper stepper(mechanism, 5e-3, GyroscopicForm::kOld);
      for (int trial = 0; trial < 100; ++trial) {
        SCOPED_TRACE(::testing::Message() << mechanism.name << mechanism.joint_count() << " eps "
                                          << compliance << " trial " << trial);
        State state = random_state(mechanism, engine, 2.0, 3.0, 1e-3);
        const Eigen::VectorXd control = Eigen::VectorXd::Constant(1, -0.4);
        const Eigen::VectorXd expected =
            DenseStep(mechanism, state, control, 5e-3).solve_without_dry_friction();
        ASSERT_EQ(stepper.step(state, control), StepOutcome::kOk);
        const Eigen::Index v = state.velocity.size();
        ASSERT_LT((state.velocity - expected.head(v)).norm(), 1e-9 * expected.head(v).norm());
        for (int j = 0; j < mechanism.joint_count(); ++j) {
          ASSERT_LT((stepper.constraint_impulses()[static_cast<std::size_t>(j)] -
                     expected.segment<5>(v + 5 * j))
                        .norm(),
                    1e-8 * expected.tail(expected.size() - v).norm());
        }
      }
    }
  }
}

}  // namespace
}  // namespace estimator
