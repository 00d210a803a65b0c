#pragma once

#include "firmware_iface/sim/plant.hpp"

namespace random_rigs {

/// Two links in the vertical plane, one carrying the other. Angles: link 1 from hanging, link 2
/// relative to link 1. Lagrange's equations in these coordinates; a motor drives joint 1.
struct DoublePendulumParameters {
  double m_1 = 0.3, l_1 = 0.12, L_1 = 0.25, J_1 = 2e-3;  ///< J about the centre of mass
  double m_2 = 0.2, l_2 = 0.12, J_2 = 1e-3;
  double motor_gain = 0.0;
  firmware_iface::sim::JointFriction friction_1, friction_2;
  double gravity = 9.82;
};

/// Two joints with load-independent friction, and no inertial sensors.
class PlanarModel : public firmware_iface::sim::RigModel {
 public:
  int joint_count() const override { return 2; }
  firmware_iface::sim::JointArray bearing_forces(
      const firmware_iface::sim::JointState&,
      const firmware_iface::sim::JointArray&) const override {
    return {};
  }
  firmware_iface::sim::BodyMotion compute_body_motion(
      int, const firmware_iface::sim::JointState&,
      const firmware_iface::sim::JointArray&) const override {
    return {};
  }
};

class DoublePendulumModel final : public PlanarModel {
 public:
  explicit DoublePendulumModel(const DoublePendulumParameters& parameters) : p_(parameters) {}
  EquationTerms terms(const firmware_iface::sim::JointState& state, double command) const override;
  const firmware_iface::sim::JointFriction& friction(int joint) const override {
    return joint == 0 ? p_.friction_1 : p_.friction_2;
  }
  double energy(const firmware_iface::sim::JointState& state) const override;

 private:
  DoublePendulumParameters p_;
};

/// A cart on a level rail with a pole. Coordinates: the cart's position [m], the pole's angle from
/// hanging, positive toward the cart's positive direction; a motor drives the cart.
struct CartPoleParameters {
  double m_cart = 0.6, m_pole = 0.12, l = 0.2, J = 2e-3;  ///< J about the centre of mass
  double motor_gain = 1.0;                                ///< [N/unit]
  firmware_iface::sim::JointFriction rail, pivot;
  double gravity = 9.82;
};

class CartPoleModel final : public PlanarModel {
 public:
  explicit CartPoleModel(const CartPoleParameters& parameters) : p_(parameters) {}
  EquationTerms terms(const firmware_iface::sim::JointState& state, double command) const override;
  const firmware_iface::sim::JointFriction& friction(int joint) const override {
    return joint == 0 ? p_.rail : p_.pivot;
  }
  double energy(const firmware_iface::sim::JointState& state) const override;

 private:
  CartPoleParameters p_;
};

}  // namespace random_rigs
