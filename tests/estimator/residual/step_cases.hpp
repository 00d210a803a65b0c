#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <random>
#include <string>
#include <vector>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/step_residual.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {

/// A random pair of states before and after a step, near but not on the constraints.
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

/// @param slip       typical joint speed [rad/s]
/// @param violation  typical distance from the constraints [m | rad]
inline Transition random_transition(const Mechanism& mechanism, Random& random, double slip,
                                    double violation = 1e-3) {
  const ModelParameterValues values = unpack_parameters(mechanism);
  const Eigen::VectorXd angles = random.vector(mechanism.joint_count(), 1.5);
  const Eigen::VectorXd rates = random.vector(mechanism.joint_count(), slip);
  State state = assemble_state(mechanism, values, angles, rates);
  Transition transition;
  for (Pose& pose : state.poses) pose = apply_pose_increment(pose, random.vector(6, violation));
  transition.poses = state.poses;
  transition.v = state.velocity + random.vector(state.velocity.size(), 10.0 * violation);
  transition.w = transition.v + random.vector(state.velocity.size(), 1e-2);
  transition.control = random.vector(mechanism.joint_count(), 1.0);
  transition.slope = random.vector(mechanism.joint_count(), 1.0);
  return transition;
}

/// Gives every differentiated quantity a value, so that no term is tested at zero.
inline void excite_all_terms(Mechanism& mechanism, bool load_friction) {
  for (int i = 0; i < mechanism.body_count(); ++i) {
    mechanism.parameter(i, BodyParameter::kJxy).value = 1e-5;
    mechanism.parameter(i, BodyParameter::kJxz).value = -2e-5;
    mechanism.parameter(i, BodyParameter::kJyz).value = 3e-5;
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const auto set = [&](JointParameter quantity, double value) {
      mechanism.joint_parameter(j, quantity).value = value;
    };
    set(JointParameter::kViscous, 1e-3);
    set(JointParameter::kQuadraticDrag, 2e-3);
    set(JointParameter::kCoulombTorque, 4e-3);
    set(JointParameter::kStribeckTorque, 2e-3);
    set(JointParameter::kStribeckRate, 1.5);
    set(JointParameter::kConstantTorque, 1e-2);
    set(JointParameter::kStiffness, 5e-2);
    set(JointParameter::kRestAngle, 0.3);
    set(JointParameter::kMotorGain, 7e-2);
    set(JointParameter::kShaftInertia, 4e-4);
    set(JointParameter::kBackEmf, 2e-2);
    if (load_friction) {
      set(JointParameter::kLoadFriction, 3e-3);
      set(JointParameter::kLoadFrictionAngular, 2e-2);
    }
    mechanism.joints[static_cast<std::size_t>(j)].motor.present = true;
    mechanism.joints[static_cast<std::size_t>(j)].spook.stick_speed = 0.05;
  }
  mechanism.parameter(GravityParameter::kTiltX).value = 0.1;
  mechanism.parameter(GravityParameter::kTiltZ).value = -0.2;
}

inline Mechanism mechanism_named(const std::string& name) {
  if (name == "pendulum") return make_pendulum();
  if (name == "furuta") return make_furuta();
  return make_chain({.links = 3});
}

/// Returns the indices of the parameters.
inline std::vector<int> all_but_observation(const Mechanism& mechanism) {
  std::vector<int> indices;
  for (int i = 0; i < static_cast<int>(mechanism.parameters.size()); ++i) indices.push_back(i);
  return indices;
}

/// A step under test: mechanism, residual form and regime.
struct StepCase {
  std::string mechanism;
  ResidualForm form;
  double compliance;
  bool load_friction;
  double slip;  ///< typical joint speed: large slips, small sticks [rad/s]
};

inline std::string name_of(const ::testing::TestParamInfo<StepCase>& info) {
  const StepCase& c = info.param;
  return c.mechanism + (c.form == ResidualForm::kExplicit ? "Explicit" : "Implicit") +
         (c.compliance == 0.0 ? "Rigid" : "Compliant") + (c.load_friction ? "Load" : "") +
         (c.slip < 0.01 ? "Stick" : "Slip");
}

inline std::vector<StepCase> step_cases() {
  constexpr auto kExplicit = ResidualForm::kExplicit;
  constexpr auto kImplicit = ResidualForm::kImplicit;
  return {{"pendulum", kImplicit, 1e-4, false, 1.0}, {"furuta", kImplicit, 1e-4, false, 1.0},
          {"furuta", kImplicit, 0.0, false, 1.0},    {"furuta", kImplicit, 1e-4, false, 1e-3},
          {"furuta", kImplicit, 1e-4, true, 1.0},    {"furuta", kImplicit, 0.0, true, 1.0},
          {"furuta", kExplicit, 1e-4, false, 1.0},   {"furuta", kExplicit, 1e-4, true, 1.0},
          {"chain", kImplicit, 1e-5, false, 1.0},    {"chain", kImplicit, 1e-5, true, 1.0},
          {"chain", kExplicit, 1e-4, false, 1.0}};
}

class StepCaseTest : public ::testing::TestWithParam<StepCase> {
 protected:
  void SetUp() override {
    mechanism_ = mechanism_named(GetParam().mechanism);
    excite_all_terms(mechanism_, GetParam().load_friction);
    for (Joint& joint : mechanism_.joints) {
      joint.spook.compliance_linear = GetParam().compliance;
      joint.spook.compliance_angular = 2.0 * GetParam().compliance;
    }
    settings_.form = GetParam().form;
  }
  Mechanism mechanism_;
  StepSettings settings_;
};

}  // namespace estimator
