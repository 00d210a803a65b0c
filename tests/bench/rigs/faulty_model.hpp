#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "firmware_iface/sim/plant.hpp"

namespace random_rigs {

/// Differences between a rig and its description that no wrong value explains. All are zero in a
/// rig without a fault.
struct RigFault {
  double cogging = 0.0;         ///< amplitude, relative to the largest torque of the motor [-]
  int cogging_order = 0;        ///< periods per turn
  double friction_drift = 0.0;  ///< relative change of all friction by the end of the recording [-]
  double gain_drift = 0.0;      ///< relative change of the motor gain by the end [-]
  double gain_sag = 0.0;        ///< relative decrease of the gain at the largest command [-]
  double vibration = 0.0;       ///< amplitude of the upward acceleration of the ground [m/s²]
  double frequency = 0.0;       ///< of the vibration [Hz]

  bool is_present() const {
    return cogging != 0.0 || friction_drift != 0.0 || gain_drift != 0.0 || gain_sag != 0.0 ||
           vibration != 0.0;
  }
};

/// A rig with a fault. Joint 0 has the motor.
class FaultyModel final : public firmware_iface::sim::RigModel {
 public:
  /// @param model       without fault
  /// @param weightless  the same without gravity
  /// @param torque      largest torque of the motor [N·m]
  /// @param command     largest command
  FaultyModel(std::unique_ptr<firmware_iface::sim::RigModel> model,
              std::unique_ptr<firmware_iface::sim::RigModel> weightless, const RigFault& fault,
              double torque, double command, double duration)
      : model_(std::move(model)),
        weightless_(std::move(weightless)),
        fault_(fault),
        torque_(torque),
        command_(command),
        duration_(duration) {
    for (int j = 0; j < joint_count(); ++j) friction_[j] = model_->friction(j);
  }

  /// Sets the time since the start of the recording [s].
  void set_time(double time) {
    time_ = time;
    for (int j = 0; j < joint_count(); ++j) {
      friction_[j] = model_->friction(j);
      friction_[j].coulomb *= friction_factor();
      friction_[j].stribeck_excess *= friction_factor();
    }
  }

  int joint_count() const override { return model_->joint_count(); }

  EquationTerms terms(const firmware_iface::sim::JointState& state,
                      double command) const override {
    const double ratio = command_ > 0.0 ? std::abs(command) / command_ : 0.0;
    const double factor =
        1.0 + fault_.gain_drift * time_ / duration_ - fault_.gain_sag * ratio;
    EquationTerms terms = model_->terms(state, factor * command);
    terms.force[0] += fault_.cogging * torque_ *
                      std::sin(fault_.cogging_order * state.angle_rad[0] + kPhase);
    for (int j = 0; j < joint_count(); ++j) {
      terms.force[j] +=
          (friction_factor() - 1.0) * model_->friction(j).smooth_torque(state.speed_rad_s[j]);
    }
    if (fault_.vibration != 0.0) {
      // The ground accelerates upward: gravity seems larger.
      const double share = fault_.vibration / kGravity *
                           std::sin(2.0 * M_PI * fault_.frequency * time_ + kPhase);
      const EquationTerms without = weightless_->terms(state, command);
      const EquationTerms with = model_->terms(state, command);
      for (int j = 0; j < joint_count(); ++j) {
        terms.force[j] += share * (with.force[j] - without.force[j]);
      }
    }
    return terms;
  }

  firmware_iface::sim::JointArray bearing_forces(
      const firmware_iface::sim::JointState& state,
      const firmware_iface::sim::JointArray& acceleration) const override {
    return model_->bearing_forces(state, acceleration);
  }
  firmware_iface::sim::BodyMotion compute_body_motion(
      int joint, const firmware_iface::sim::JointState& state,
      const firmware_iface::sim::JointArray& acceleration) const override {
    return model_->compute_body_motion(joint, state, acceleration);
  }
  const firmware_iface::sim::JointFriction& friction(int joint) const override {
    return friction_[joint];
  }
  const firmware_iface::sim::JointStops& stops(int joint) const override {
    return model_->stops(joint);
  }
  double energy(const firmware_iface::sim::JointState& state) const override {
    return model_->energy(state);
  }

 private:
  static constexpr double kPhase = 0.7;  // of cogging and vibration [rad]
  static constexpr double kGravity = 9.82;

  double friction_factor() const { return 1.0 + fault_.friction_drift * time_ / duration_; }

  std::unique_ptr<firmware_iface::sim::RigModel> model_, weightless_;
  RigFault fault_;
  double torque_, command_, duration_, time_ = 0.0;
  std::array<firmware_iface::sim::JointFriction, 2> friction_;
};

}  // namespace random_rigs
