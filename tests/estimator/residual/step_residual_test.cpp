#include "estimator/spook/step_residual.hpp"

#include <gtest/gtest.h>

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

using StepResidualTest = StepCaseTest;

// Residual and stepper are written independently. A step of one must be a zero of the other;
// otherwise parameters would be estimated for a simulator that does not exist.
TEST_P(StepResidualTest, VanishesForStepsOfTheStepper) {
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
