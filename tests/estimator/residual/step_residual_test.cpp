#include "estimator/spook/step_residual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "estimator/spook/spook_stepper.hpp"
#include "tests/estimator/residual/step_cases.hpp"

namespace estimator {
namespace {

Eigen::VectorXd value(const Mechanism& mechanism, const StepSettings& settings,
                      const Transition& transition) {
  const auto residual = make_step_residual(mechanism, settings, {});
  Eigen::VectorXd r(6 * mechanism.body_count());
  residual->evaluate(transition.input(), r.data());
  return r;
}

/// Compares analytic derivatives with central differences. The residual's rows reach 1e2, so
/// differences with a step of 6e-6 are good to about 1e-5 of the largest entry of each column.
void expect_columns_match(const Eigen::MatrixXd& analytic, const Eigen::MatrixXd& numeric,
                          const std::string& what) {
  for (Eigen::Index j = 0; j < numeric.cols(); ++j) {
    const double scale = 1e-3 + numeric.col(j).cwiseAbs().maxCoeff();
    EXPECT_LT((analytic.col(j) - numeric.col(j)).cwiseAbs().maxCoeff() / scale, 2e-6)
        << what << " column " << j << "\nanalytic " << analytic.col(j).transpose() << "\nnumeric  "
        << numeric.col(j).transpose();
  }
}

using StepResidualTest = StepCaseTest;

// Catches a wrong or missing term in any derivative by a state, and a wrong frame.
TEST_P(StepResidualTest, StateDerivativesMatchCentralDifferences) {
  Random random(11);
  constexpr double kDelta = 6e-6;  // cube root of the round-off unit
  for (int round = 0; round < 5; ++round) {
    SCOPED_TRACE(round);
    const Transition at = random_transition(mechanism_, random, GetParam().slip);
    const auto residual = make_step_residual(mechanism_, settings_, {});
    StepDerivatives derivatives;
    residual->linearize(at.input(), derivatives);
    const Eigen::Index n = 6 * mechanism_.body_count();
    Eigen::MatrixXd along_q(n, n), along_v(n, n), along_w(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto central = [&](const auto& move) -> Eigen::VectorXd {
        Transition plus = at, minus = at;
        move(plus, kDelta);
        move(minus, -kDelta);
        return (value(mechanism_, settings_, plus) - value(mechanism_, settings_, minus)) /
               (2.0 * kDelta);
      };
      along_q.col(j) = central([&](Transition& t, double d) {
        Pose& pose = t.poses[static_cast<std::size_t>(j / 6)];
        pose = retract(pose, d * Eigen::Matrix<double, 6, 1>::Unit(j % 6));
      });
      along_v.col(j) = central([&](Transition& t, double d) { t.v[j] += d; });
      along_w.col(j) = central([&](Transition& t, double d) { t.w[j] += d; });
    }
    EXPECT_LT((derivatives.residual - value(mechanism_, settings_, at)).norm(), 1e-14);
    expect_columns_match(derivatives.along_configuration, along_q, "configuration");
    expect_columns_match(derivatives.along_velocity, along_v, "velocity");
    expect_columns_match(derivatives.along_next_velocity, along_w, "next velocity");
  }
}

// Catches a wrong or missing derivative of each parameter, by name.
TEST_P(StepResidualTest, ParameterDerivativesMatchCentralDifferences) {
  Random random(12);
  const std::vector<int> free = all_but_observation(mechanism_);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const Transition at = random_transition(mechanism_, random, GetParam().slip);
    const auto residual = make_step_residual(mechanism_, settings_, free);
    StepDerivatives derivatives;
    residual->linearize(at.input(), derivatives);
    for (std::size_t i = 0; i < free.size(); ++i) {
      const Parameter& parameter = mechanism_.parameters[i];
      if (parameter.name.ends_with(".delay")) continue;  // acts through the control, tested there
      // Row scales are constants of the problem: values change only by set_values.
      const auto at_value = [&](double x) {
        Mechanism moved = mechanism_;
        moved.parameters[i].value = x;
        residual->set_values(unpack(moved));
        Eigen::VectorXd r(6 * mechanism_.body_count());
        residual->evaluate(at.input(), r.data());
        return r;
      };
      // Parameters span many decades, so no single step suits all: round-off spoils the small ones,
      // truncation and the kinks of the L1 load friction the large ones. The best step must agree;
      // an inertia of 1e-5 kg·m² next to constraint impulses of 10 N·s leaves 1e-5 of noise.
      const Eigen::VectorXd analytic =
          derivatives.along_parameters.col(static_cast<Eigen::Index>(i));
      double best = std::numeric_limits<double>::infinity();
      for (const double relative : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
        const double delta = relative * (parameter.value == 0.0 ? 0.01 : std::abs(parameter.value));
        const Eigen::VectorXd numeric =
            (at_value(parameter.value + delta) - at_value(parameter.value - delta)) / (2.0 * delta);
        best = std::min(best, (analytic - numeric).cwiseAbs().maxCoeff() /
                                  (1e-3 + numeric.cwiseAbs().maxCoeff()));
      }
      EXPECT_LT(best, 1e-4) << parameter.name;
    }
    residual->set_values(unpack(mechanism_));
  }
}

// Residual and stepper are written independently. A step of one must be a zero of the other;
// otherwise parameters would be estimated for a simulator that does not exist.
TEST_P(StepResidualTest, VanishesOnTheStepsOfTheStepper) {
  if (GetParam().form == ResidualForm::kExplicit && GetParam().compliance == 0.0) return;
  Random random(13);
  for (const GyroscopicForm form : {GyroscopicForm::kOld, GyroscopicForm::kMean}) {
    settings_.gyroscopic = form;
    const auto residual = make_step_residual(mechanism_, settings_, {});
    SpookStepper stepper(mechanism_, settings_.step, form);
    for (int round = 0; round < 20; ++round) {
      // Near the constraints: far from them the bearing forces of load friction are unrealistic.
      Transition at = random_transition(mechanism_, random, GetParam().slip, 1e-6);
      State state{at.poses, at.v};
      ASSERT_EQ(stepper.step(state, at.control), StepOutcome::kOk);
      at.w = state.velocity;
      Eigen::VectorXd r(6 * mechanism_.body_count());
      residual->evaluate(at.input(), r.data());
      // Impulses are of order 1e-2 N·s; the weighting inertia of the rows is at most 1e2 of it.
      EXPECT_LT(r.cwiseAbs().maxCoeff(), 1e-9) << "round " << round;
    }
  }
}

// Arms side by side on the ground instead of in series.
Mechanism side_by_side(int links) {
  Mechanism mechanism = make_chain({.links = links});
  for (std::size_t j = 1; j < mechanism.joints.size(); ++j) {
    mechanism.joints[j].body_a = Joint::kGround;
    mechanism.joints[j].frame_a = mechanism.joints[0].frame_a;
  }
  return mechanism;
}

// Workspaces outlive a residual and are reused by the next of the same size, whose joints may
// connect other bodies. Values written where the other has zeros must be cleared. Each thread has
// its own workspace. Catches a service that answers one user from another's mechanism.
TEST(StepResidual, IsIndependentOfThePreviousMechanism) {
  Random random(14);
  for (const int links : {2, 3}) {
    SCOPED_TRACE(links);
    const Mechanism chain = make_chain({.links = links}), arms = side_by_side(links);
    for (const auto& [before, after] : {std::pair(chain, arms), std::pair(arms, chain)}) {
      const Transition at = random_transition(after, random, 1.0);
      Eigen::VectorXd fresh;
      std::thread([&] { fresh = value(after, {}, at); }).join();
      value(before, {}, random_transition(before, random, 1.0));
      EXPECT_EQ(value(after, {}, at), fresh);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, StepResidualTest, ::testing::ValuesIn(step_cases()), name_of);

}  // namespace
}  // namespace estimator
