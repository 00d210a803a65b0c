#pragma once

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/joint_friction.hpp"

// Members of TreeInverseDynamics, included by tree_inverse_dynamics.cpp: torques along joints, of
// motors, springs and friction.

namespace estimator {

template <typename T>
void TreeInverseDynamics<T>::make_joint_axes(const Mechanism& mechanism,
                                             const std::vector<T>& parameters) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const auto value = [&](JointParameter quantity) {
      return parameters[mechanism.joint_parameter_index(j, quantity)];
    };
    JointAxis axis;
    axis.friction =
        FrictionLaws::make<T>([&](int place) { return value(friction_parameter_at(place)); });
    FrictionLaws::each([&]<typename Law>(int law) {
      axis.acts[law] = Law::kInSpook || has_friction_law(mechanism, j, law);
    });
    axis.constant_torque = value(JointParameter::kConstantTorque);
    axis.stiffness = value(JointParameter::kStiffness);
    axis.rest_angle = value(JointParameter::kRestAngle);
    axis.play = value(JointParameter::kSpringPlay);
    axis.has_play =
        has_effect(mechanism, mechanism.joint_parameter_index(j, JointParameter::kSpringPlay));
    axis.motor_gain = value(JointParameter::kMotorGain);
    axis.shaft_inertia = value(JointParameter::kShaftInertia);
    axis.back_emf = value(JointParameter::kBackEmf);
    axis.gain_drift = value(JointParameter::kGainDrift);
    axis.gain_sag = value(JointParameter::kGainSag);
    axis.friction_drift = value(JointParameter::kFrictionDrift);
    axis.cogging_sine = value(JointParameter::kCoggingSine);
    axis.cogging_cosine = value(JointParameter::kCoggingCosine);
    axis.cogging_order = mechanism.joints[j].motor.cogging_order;
    const auto acts = [&](JointParameter quantity) {
      return has_effect(mechanism, mechanism.joint_parameter_index(j, quantity));
    };
    axis.has_drifting_friction = acts(JointParameter::kFrictionDrift);
    axis.has_variable_gain = acts(JointParameter::kGainDrift) || acts(JointParameter::kGainSag);
    axis.has_cogging = acts(JointParameter::kCoggingSine) || acts(JointParameter::kCoggingCosine);
    axis.load_force = axis.load_moment = T(0.0);
    axis.torque = axis.motor_torque = axis.passive_torque = T(0.0);
    axis.transition_speed = mechanism.joints[j].transition_speed;
    axis.gear_ratio = mechanism.joints[j].motor.gear_ratio;
    axis.is_prescribed = mechanism.joints[j].motor.is_prescribed;
    load_dependent_ |= has_load_proportional_friction(mechanism, j);
    axes_.push_back(axis);
  }
}

/// Returns the ratio of the friction to that at the start of the recording.
template <typename T>
T TreeInverseDynamics<T>::friction_factor(const JointAxis& axis) const {
  return T(1.0) + axis.friction_drift * time_;
}

/// Returns the control that acts on the motor, relative to its gain at the start of the recording
/// without load.
template <typename T>
T TreeInverseDynamics<T>::applied_control(const JointAxis& axis, const T& control) const {
  using std::abs;
  if (!axis.has_variable_gain) return control;
  return control * (T(1.0) + axis.gain_drift * time_ - axis.gain_sag * T(abs(control)));
}

/// Returns the torque imbalance of a joint.
/// @param of_links  load along the joint due to the links' motion
template <typename T>
T TreeInverseDynamics<T>::joint_torque_imbalance(const Link& link, const T& angle, const T& rate,
                                                 const T& acceleration, const T& control,
                                                 const T& of_links) {
  using std::abs;
  using std::cos;
  using std::sin;
  JointAxis& axis = axes_[link.joint];
  const T speed = abs(rate);
  T stretch = angle - axis.rest_angle;
  if (link.wraps) stretch -= T(2.0 * M_PI * round_to_nearest(T(stretch / (2.0 * M_PI))));
  if (axis.has_play) {
    const T half = T(0.5) * axis.play;
    stretch -= T(0.5) * (T(abs(T(stretch + half))) - T(abs(T(stretch - half))));
  }
  axis.passive_torque = axis.constant_torque - axis.stiffness * stretch;
  if (axis.has_cogging) {
    const T phase = T(axis.cogging_order) * angle;
    axis.passive_torque += axis.cogging_sine * sin(phase) + axis.cogging_cosine * cos(phase);
  }
  if (axis.is_prescribed) {
    axis.torque = of_links;
    axis.motor_torque = of_links - axis.passive_torque;
    return axis.shaft_inertia * (acceleration - control);
  }
  axis.torque = of_links + axis.shaft_inertia * acceleration;
  axis.motor_torque = axis.motor_gain * (applied_control(axis, control) - axis.back_emf * rate);
  T friction(0.0);
  FrictionLaws::each([&]<typename Law>(int place) {
    if (!axis.acts[place]) return;
    const auto& law = std::get<typename Law::template LawParameterValues<T>>(axis.friction);
    if constexpr (MultipliesRate<Law>) friction += law.rate_factor(speed) * rate;
    if constexpr (IsContinuous<Law>) friction += law.torque(rate);
  });
  if (axis.has_drifting_friction) friction = friction * friction_factor(axis);
  return axis.torque + friction - axis.passive_torque - axis.motor_torque;
}

template <typename T>
T TreeInverseDynamics<T>::dry_friction_bound(int joint, const T& rate) const {
  const JointAxis& axis = axes_[joint];
  T bound(0.0);
  FrictionLaws::each([&]<typename Law>(int place) {
    if (!axis.acts[place]) return;
    const auto& law = std::get<typename Law::template LawParameterValues<T>>(axis.friction);
    if constexpr (JumpsAtRest<Law>) bound += law.bound(rate);
    if constexpr (DependsOnLoad<Law>) {
      if (load_dependent_) bound += law.bound(axis.load_force, axis.load_moment);
    }
  });
  if (axis.has_drifting_friction) bound = bound * friction_factor(axis);
  return bound;
}

template <typename T>
T TreeInverseDynamics<T>::friction_slope_at_rest(int joint) const {
  const JointAxis& axis = axes_[joint];
  T steepness(0.0);
  FrictionLaws::each([&]<typename Law>(int) {
    if constexpr (IsContinuous<Law>) {
      steepness +=
          std::get<typename Law::template LawParameterValues<T>>(axis.friction).slope_at_rest();
    }
  });
  return steepness;
}

template <typename T>
T TreeInverseDynamics<T>::smoothed_friction_fraction(int joint, const T& rate) const {
  return generic_tanh(T(rate * (1.0 / axes_[joint].transition_speed)));
}

}  // namespace estimator
