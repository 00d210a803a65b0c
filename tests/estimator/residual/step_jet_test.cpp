// Compares analytic derivatives of the step with automatic ones of another implementation.

#include <ceres/jet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "estimator/spook/step_residual.hpp"
#include "tests/estimator/residual/scalar_step.hpp"
#include "tests/estimator/residual/step_cases.hpp"

namespace estimator {
namespace {

using namespace test_support;

/// A transition and its parameters in the scalar type T.
template <typename T, int kBodies>
struct ScalarTransition {
  std::array<ScalarPose<T>, kBodies> q;
  Eigen::Matrix<T, 6 * kBodies, 1> v, w;
  Eigen::Matrix<T, Eigen::Dynamic, 1> control, chi;
};

template <typename T, int kBodies>
ScalarTransition<T, kBodies> scalar_transition(const Transition& at, const Mechanism& mechanism) {
  ScalarTransition<T, kBodies> out;
  for (std::size_t i = 0; i < kBodies; ++i) {
    out.q[i] = {at.poses[i].r.cast<T>(), at.poses[i].e.cast<T>()};
  }
  out.v = at.v.cast<T>();
  out.w = at.w.cast<T>();
  out.control = at.control.cast<T>();
  out.chi.resize(static_cast<Eigen::Index>(mechanism.parameters.size()));
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    out.chi[static_cast<Eigen::Index>(i)] = T(mechanism.parameters[i].value);
  }
  return out;
}

/// Infinitesimal rotation of a pose about world axis `axis`: exp(δ) = (1, δ/2) to first order.
template <typename T>
void turn(ScalarPose<T>& pose, int axis, int direction) {
  Eigen::Quaternion<T> half(T(1.0), T(0.0), T(0.0), T(0.0));
  half.vec()[axis].v[direction] = 0.5;
  pose.e = half * pose.e;
}

template <int kBodies, int kJoints>
class Comparison {
 public:
  static constexpr int kV = 6 * kBodies;
  using Tangent = ceres::Jet<double, kV>;

  Comparison(const Mechanism& mechanism, const StepSettings& settings)
      : mechanism_(mechanism),
        reference_(mechanism, settings, all_but_observation(mechanism)),
        residual_(make_step_residual(mechanism, settings, all_but_observation(mechanism))) {}

  void compare(const Transition& at) {
    StepDerivatives derivatives;
    residual_->linearize(at.input(), derivatives);
    compare_values(at, derivatives.residual);
    Eigen::VectorXd alone(kV);
    residual_->evaluate(at.input(), alone.data());
    EXPECT_LT((derivatives.residual - alone).norm(), 1e-14);
    compare_states(at, derivatives);
    compare_parameters(at, derivatives.along_parameters);
  }

 private:
  template <typename T>
  Eigen::Matrix<T, kV, 1> evaluate(const ScalarTransition<T, kBodies>& t) const {
    return reference_.residual(t.q, t.v, t.w, t.control.data(), t.chi.data());
  }

  // Round-off only, relative to the cancelling terms of a residual, of order 1.
  void compare_values(const Transition& at, const Eigen::VectorXd& analytic) const {
    const auto transition = scalar_transition<double, kBodies>(at, mechanism_);
    EXPECT_LT((evaluate(transition) - analytic).cwiseAbs().maxCoeff(),
              1e-11 * (1.0 + analytic.cwiseAbs().maxCoeff()));
  }

  void compare_states(const Transition& at, const StepDerivatives& analytic) const {
    const auto constant = scalar_transition<Tangent, kBodies>(at, mechanism_);
    auto along_q = constant, along_v = constant, along_w = constant;
    for (int j = 0; j < kV; ++j) {
      ScalarPose<Tangent>& pose = along_q.q[static_cast<std::size_t>(j / 6)];
      if (j % 6 < 3) {
        pose.r[j % 6].v[j] = 1.0;
      } else {
        turn(pose, j % 6 - 3, j);
      }
      along_v.v[j].v[j] = 1.0;
      along_w.w[j].v[j] = 1.0;
    }
    compare_columns(evaluate(along_q), analytic.along_configuration, "configuration");
    compare_columns(evaluate(along_v), analytic.along_velocity, "velocity");
    compare_columns(evaluate(along_w), analytic.along_next_velocity, "next velocity");
  }

  // As many parameters at a time as a Jet has parts. A delay acts through the controls only, with
  // the given slope.
  void compare_parameters(const Transition& at, const Eigen::MatrixXd& analytic) const {
    const auto constant = scalar_transition<Tangent, kBodies>(at, mechanism_);
    const auto count = static_cast<int>(mechanism_.parameters.size());
    for (int first = 0; first < count; first += kV) {
      auto moved = constant;
      const int end = std::min(first + kV, count);
      for (int i = first; i < end; ++i) moved.chi[i].v[i - first] = 1.0;
      for (int j = 0; j < kJoints; ++j) {
        const int delay = mechanism_.joint_parameter_index(j, JointParameter::kInputDelay);
        if (delay >= first && delay < end) moved.control[j].v[delay - first] = at.slope[j];
      }
      const auto r = evaluate(moved);
      for (int i = first; i < end; ++i) {
        expect_close(analytic.col(i), part(r, i - first), kParameterTolerance,
                     mechanism_.parameters[static_cast<std::size_t>(i)].name);
      }
    }
  }

  static void compare_columns(const Eigen::Matrix<Tangent, kV, 1>& r,
                              const Eigen::MatrixXd& analytic, const std::string& what) {
    for (int j = 0; j < kV; ++j) {
      expect_close(analytic.col(j), part(r, j), kStateTolerance,
                   what + " column " + std::to_string(j));
    }
  }

  static Eigen::VectorXd part(const Eigen::Matrix<Tangent, kV, 1>& r, int index) {
    Eigen::VectorXd parts(kV);
    for (int row = 0; row < kV; ++row) parts[row] = r[row].v[index];
    return parts;
  }

  // Both are exact up to round-off, which S⁻¹ amplifies: some hundredfold along states. Next to
  // constraint impulses of 10 N·s a link's J_xx of 1e-5 kg·m² amplifies it another thousandfold.
  static constexpr double kStateTolerance = 1e-10;
  static constexpr double kParameterTolerance = 1e-7;

  static void expect_close(const Eigen::VectorXd& analytic, const Eigen::VectorXd& automatic,
                           double tolerance, const std::string& what) {
    EXPECT_LT((analytic - automatic).cwiseAbs().maxCoeff(),
              tolerance * (1.0 + automatic.cwiseAbs().maxCoeff()))
        << what << "\nanalytic  " << analytic.transpose() << "\nautomatic "
        << automatic.transpose();
  }

  const Mechanism& mechanism_;
  ScalarStep<kBodies, kJoints> reference_;
  std::unique_ptr<StepResidual> residual_;
};

using StepResidualJets = StepCaseTest;

// Catches a wrong frame, a small term missing in a derivative,
// and one that is wrong in both the residual and its derivative.
TEST_P(StepResidualJets, ResidualAndDerivativesMatchJets) {
  Random random(17);
  for (const GyroscopicForm gyroscopic : {GyroscopicForm::kMean, GyroscopicForm::kOld}) {
    settings_.gyroscopic = gyroscopic;
    for (int round = 0; round < 10; ++round) {
      SCOPED_TRACE(round);
      const Transition at = random_transition(mechanism_, random, GetParam().slip);
      if (GetParam().mechanism == "pendulum") {
        Comparison<1, 1>(mechanism_, settings_).compare(at);
      } else if (GetParam().mechanism == "furuta") {
        Comparison<2, 2>(mechanism_, settings_).compare(at);
      } else {
        Comparison<3, 3>(mechanism_, settings_).compare(at);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, StepResidualJets, ::testing::ValuesIn(step_cases()), name_of);

}  // namespace
}  // namespace estimator
