#include "estimator/dynamics/step_residual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "estimator/dynamics/spook_stepper.hpp"
#include "estimator/model/kinematics.hpp"
#include "estimator/model/mechanisms/chain.hpp"
#include "estimator/model/mechanisms/furuta.hpp"
#include "estimator/model/mechanisms/pendulum.hpp"

namespace estimator {
namespace {

/// A random transition near, but not on, the constraints.
struct Transition {
  Configuration poses;
  Eigen::VectorXd v, w, control, slope;

  StepInput input() const {
    return {poses.data(), v.data(), w.data(), control.data(), slope.data()};
  }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Eigen::VectorXd vector(Eigen::Index size, double scale) {
    std::normal_distribution<double> normal;
    Eigen::VectorXd x(size);
    for (double& value : x) value = scale * normal(engine_);
    return x;
  }

 private:
  std::mt19937 engine_;
};

/// @param slip       typical hinge speed [rad/s]
/// @param violation  typical distance from the constraints [m | rad]
Transition random_transition(const Mechanism& mechanism, Random& random, double slip,
                             double violation = 1e-3) {
  const ModelValues values = unpack(mechanism);
  const Eigen::VectorXd angles = random.vector(mechanism.hinge_count(), 1.5);
  const Eigen::VectorXd rates = random.vector(mechanism.hinge_count(), slip);
  State state = assemble_state(mechanism, values, angles, rates);
  Transition transition;
  for (Pose& pose : state.poses) pose = retract(pose, random.vector(6, violation));
  transition.poses = state.poses;
  transition.v = state.velocity + random.vector(state.velocity.size(), 10.0 * violation);
  transition.w = transition.v + random.vector(state.velocity.size(), 1e-2);
  transition.control = random.vector(mechanism.hinge_count(), 1.0);
  transition.slope = random.vector(mechanism.hinge_count(), 1.0);
  return transition;
}

/// Gives every quantity that has a derivative a value, so that no term is tested at zero.
void excite_all_terms(Mechanism& mechanism, bool load_friction) {
  for (int i = 0; i < mechanism.body_count(); ++i) {
    mechanism.parameter(i, BodyQuantity::kJxy).value = 1e-5;
    mechanism.parameter(i, BodyQuantity::kJxz).value = -2e-5;
    mechanism.parameter(i, BodyQuantity::kJyz).value = 3e-5;
  }
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const auto set = [&](HingeQuantity quantity, double value) {
      mechanism.hinge_parameter(j, quantity).value = value;
    };
    set(HingeQuantity::kViscous, 1e-3);
    set(HingeQuantity::kQuadraticDrag, 2e-3);
    set(HingeQuantity::kCoulombTorque, 4e-3);
    set(HingeQuantity::kStribeckTorque, 2e-3);
    set(HingeQuantity::kStribeckRate, 1.5);
    set(HingeQuantity::kConstantTorque, 1e-2);
    set(HingeQuantity::kStiffness, 5e-2);
    set(HingeQuantity::kRestAngle, 0.3);
    set(HingeQuantity::kMotorGain, 7e-2);
    set(HingeQuantity::kShaftInertia, 4e-4);
    set(HingeQuantity::kBackEmf, 2e-2);
    if (load_friction) {
      set(HingeQuantity::kLoadFriction, 3e-3);
      set(HingeQuantity::kLoadFrictionAngular, 2e-2);
    }
    mechanism.hinges[static_cast<std::size_t>(j)].motorised = true;
    mechanism.hinges[static_cast<std::size_t>(j)].stick_speed = 0.05;
  }
  mechanism.parameter(WorldQuantity::kTiltX).value = 0.1;
  mechanism.parameter(WorldQuantity::kTiltZ).value = -0.2;
}

Mechanism mechanism_named(const std::string& name) {
  if (name == "pendulum") return make_pendulum();
  if (name == "furuta") return make_furuta();
  return make_chain({.links = 3});
}

std::vector<int> all_but_observation(const Mechanism& mechanism) {
  std::vector<int> indices;
  for (int i = 0; i < static_cast<int>(mechanism.parameters.size()); ++i) indices.push_back(i);
  return indices;
}

Eigen::VectorXd value(const Mechanism& mechanism, const StepSettings& settings,
                      const Transition& transition) {
  const auto residual = make_step_residual(mechanism, settings, {});
  Eigen::VectorXd r(6 * mechanism.body_count());
  residual->evaluate(transition.input(), r.data());
  return r;
}

/// Compares analytic against central differences. The residual's rows reach 1e2, so differences
/// with a step of 6e-6 are good to about 1e-5 of the largest entry of each column.
void expect_columns_match(const Eigen::MatrixXd& analytic, const Eigen::MatrixXd& numeric,
                          const std::string& what) {
  for (Eigen::Index j = 0; j < numeric.cols(); ++j) {
    const double scale = 1e-3 + numeric.col(j).cwiseAbs().maxCoeff();
    EXPECT_LT((analytic.col(j) - numeric.col(j)).cwiseAbs().maxCoeff() / scale, 2e-6)
        << what << " column " << j << "\nanalytic " << analytic.col(j).transpose() << "\nnumeric  "
        << numeric.col(j).transpose();
  }
}

struct Case {
  std::string mechanism;
  ResidualForm form;
  double compliance;
  bool load_friction;
  double slip;  ///< typical hinge speed: large slips, small sticks [rad/s]
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return c.mechanism + (c.form == ResidualForm::kExplicit ? "Explicit" : "Implicit") +
         (c.compliance == 0.0 ? "Rigid" : "Compliant") + (c.load_friction ? "Load" : "") +
         (c.slip < 0.01 ? "Stick" : "Slip");
}

class StepResidualTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    mechanism_ = mechanism_named(GetParam().mechanism);
    excite_all_terms(mechanism_, GetParam().load_friction);
    for (Hinge& hinge : mechanism_.hinges) {
      hinge.compliance_linear = GetParam().compliance;
      hinge.compliance_angular = 2.0 * GetParam().compliance;
    }
    settings_.form = GetParam().form;
  }
  Mechanism mechanism_;
  StepSettings settings_;
};

// Catches a wrong or missing term in any derivative along states, and a frame mixed up.
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

// Catches a parameter whose derivative is wrong or forgotten, one by one and by name.
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
      // Row scales are constants of the problem: values change through set_values alone.
      const auto at_value = [&](double x) {
        Mechanism moved = mechanism_;
        moved.parameters[i].value = x;
        residual->set_values(unpack(moved));
        Eigen::VectorXd r(6 * mechanism_.body_count());
        residual->evaluate(at.input(), r.data());
        return r;
      };
      // Parameters span many decades, so no one step suits all: round-off spoils the small ones,
      // truncation and the kinks of the L1 load friction the large ones. The best must agree; an
      // inertia of 1e-5 kg·m² beside constraint impulses of 10 N·s leaves 1e-5 of noise.
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

// The residual and the stepper are written independently; a step of the one must be a zero of the
// other, or parameters would be estimated for a simulator nobody has.
TEST_P(StepResidualTest, VanishesOnTheStepsOfTheStepper) {
  if (GetParam().form == ResidualForm::kExplicit && GetParam().compliance == 0.0) return;
  Random random(13);
  for (const GyroscopicForm form : {GyroscopicForm::kOld, GyroscopicForm::kMean}) {
    settings_.gyroscopic = form;
    const auto residual = make_step_residual(mechanism_, settings_, {});
    SpookStepper stepper(mechanism_, settings_.step, form);
    for (int round = 0; round < 20; ++round) {
      // Near the constraints: far off them the bearing forces of load friction are absurd.
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

constexpr auto kExplicit = ResidualForm::kExplicit;
constexpr auto kImplicit = ResidualForm::kImplicit;
INSTANTIATE_TEST_SUITE_P(Mechanisms, StepResidualTest,
                         ::testing::Values(Case{"pendulum", kImplicit, 1e-4, false, 1.0},
                                           Case{"furuta", kImplicit, 1e-4, false, 1.0},
                                           Case{"furuta", kImplicit, 0.0, false, 1.0},
                                           Case{"furuta", kImplicit, 1e-4, false, 1e-3},
                                           Case{"furuta", kImplicit, 1e-4, true, 1.0},
                                           Case{"furuta", kImplicit, 0.0, true, 1.0},
                                           Case{"furuta", kExplicit, 1e-4, false, 1.0},
                                           Case{"furuta", kExplicit, 1e-4, true, 1.0},
                                           Case{"chain", kImplicit, 1e-5, false, 1.0},
                                           Case{"chain", kImplicit, 1e-5, true, 1.0},
                                           Case{"chain", kExplicit, 1e-4, false, 1.0}),
                         name_of);

}  // namespace
}  // namespace estimator
