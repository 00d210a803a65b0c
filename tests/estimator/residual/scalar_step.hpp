#pragma once

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "estimator/spook/step_residual.hpp"
#include "tests/estimator/residual/scalar_rig.hpp"

namespace test_support {

/// Independent implementation of the impulse residual of estimator::StepResidual from its
/// definition
///
///    r = M_w (w − φ),   M_w = M + Aᵀ Σ_w⁻¹ A,   [M −Aᵀ; A Σ][φ; λ] = [p; c],
///
/// in any scalar type. A user who fits a rig with Ceres would write it like this: blocks and cross
/// products instead of dense rows, computing only terms that the rig has.
template <int kBodies, int kJoints>
class ScalarStep : public ScalarRig<kBodies, kJoints> {
  using Base = ScalarRig<kBodies, kJoints>;

 public:
  template <typename T>
  using Vector = typename Base::template Vector<T>;
  template <typename T>
  using Rows = typename Base::template Rows<T>;
  template <typename T>
  using Poses = typename Base::template Poses<T>;
  using Base::value;

  /// @param mechanism  fixed parameters, and the inertias that scale the weighting compliance
  /// @param free       indices of the parameters given by χ
  ScalarStep(const estimator::Mechanism& mechanism, const estimator::StepSettings& settings,
             const std::vector<int>& free)
      : Base(mechanism, free), settings_(settings) {
    int motor = 0;
    for (int j = 0; j < kJoints; ++j) {
      motor_[at(j)] = mechanism.joints[at(j)].motor.present ? motor++ : -1;
      set_row_scales(j);
    }
  }

  /// @param v, w     velocities before and after the step, (v, ω) per body in the world frame
  /// @param control  mean control of each motorised joint
  /// @param chi      free parameters
  template <typename T>
  Vector<T> residual(const Poses<T>& q, const Vector<T>& v, const Vector<T>& w, const T* control,
                     const T* chi) const {
    Bodies<T> bodies;
    Joints<T> joints;
    for (int i = 0; i < kBodies; ++i) bodies[at(i)] = body_terms(i, q[at(i)], v, w, chi);
    for (int j = 0; j < kJoints; ++j) joints[at(j)] = joint_terms(j, q, bodies, v, w, chi);
    Rows<T> c;
    std::array<T, kJoints> torque;
    for (int j = 0; j < kJoints; ++j) {
      const T u = motor_[at(j)] < 0 ? T(0.0) : control[motor_[at(j)]];
      torque[at(j)] = axis_impulse(j, joints[at(j)], q, u, chi);
      const Row5<T> rate = apply(j, joints[at(j)].geometry, v);
      c.template segment<5>(5 * j) =
          gamma_[at(j)] * (rate - (4.0 / settings_.step) * joints[at(j)].geometry.g);
    }
    const Eigen::LLT<Eigen::Matrix<T, 5 * kJoints, 5 * kJoints>> S(delassus(bodies, joints));
    Vector<T> unconstrained;  // M⁻¹ p
    const auto multipliers = [&]() -> Rows<T> {
      unconstrained = unconstrained_motion(bodies, joints, torque, chi);
      return S.solve(c - apply_all(joints, unconstrained));
    };
    Rows<T> lambda = multipliers();
    if (has_load_friction()) {
      const std::array<T, kJoints> unloaded = torque;
      for (int round = 0; round < kLoadRounds; ++round) {
        const Rows<T> bearing = bearing_multipliers(joints, w, c, lambda);
        for (int j = 0; j < kJoints; ++j) {
          const Row5<T> load = bearing.template segment<5>(5 * j);
          torque[at(j)] = unloaded[at(j)] - load_impulse(j, joints[at(j)], load, chi);
        }
        lambda = multipliers();
      }
    }
    const Vector<T> miss = w - unconstrained - response(bodies, joints, lambda);  // w − φ
    return weigh(bodies, joints, miss);
  }

  /// Returns the inertia that each constraint row constrains, which scales the row's weight.
  const Eigen::Matrix<double, 5 * kJoints, 1>& row_inertia() const { return row_inertia_; }

 private:
  using BodyParameter = estimator::BodyParameter;
  using JointParameter = estimator::JointParameter;
  using GravityParameter = estimator::GravityParameter;
  template <typename T>
  using Vector3 = typename Base::template Vector3<T>;
  template <typename T>
  using Matrix3 = typename Base::template Matrix3<T>;
  template <typename T>
  using Row5 = typename Base::template Row5<T>;
  using Base::acts, Base::joint_acts, Base::joint_value, Base::mechanism_, Base::at;
  using Base::apply, Base::add_reaction, Base::body_of, Base::sign_of;

  static constexpr int kLoadRounds = 60;  ///< values and derivatives converge long before

  template <typename T>
  struct Body {
    T mass;
    Matrix3<T> R, J, J_inverse;  ///< inertia in the world frame
    Vector3<T> v, omega;
    Vector3<T> partner;  ///< of ω in the gyroscopic torque
  };
  template <typename T>
  using Bodies = std::array<Body<T>, kBodies>;

  template <typename T>
  struct Joint {
    typename Base::template Geometry<T> geometry;
    T omega, omega_next;
  };
  template <typename T>
  using Joints = std::array<Joint<T>, kJoints>;

  bool has_load_friction() const {
    for (int j = 0; j < kJoints; ++j) {
      if (joint_acts(j, JointParameter::kLoadFriction)) return true;
      if (joint_acts(j, JointParameter::kLoadFrictionAngular)) return true;
    }
    return false;
  }

  /// γ, Σ and Σ_w⁻¹ of a joint.
  void set_row_scales(int j) {
    const estimator::Joint& joint = mechanism_.joints[at(j)];
    const double h = settings_.step;
    const double tau = joint.spook.damping_time == estimator::SpookRegularization::kAutomaticDamping
                           ? h / 4.0
                           : joint.spook.damping_time;
    gamma_[at(j)] = 1.0 / (1.0 + 4.0 * tau / h);
    double by_mass = 0.0, by_inertia = 0.0;
    for (int side = 0; side < 2; ++side) {
      const int body = body_of(j, side);
      if (body < 0) continue;
      const auto get = [&](BodyParameter quantity) {
        return mechanism_.parameter(body, quantity).value;
      };
      by_mass += 1.0 / get(BodyParameter::kMass);
      by_inertia +=
          3.0 / (get(BodyParameter::kJxx) + get(BodyParameter::kJyy) + get(BodyParameter::kJzz));
    }
    for (int row = 0; row < 5; ++row) {
      const double softness = 4.0 * gamma_[at(j)] / (h * h);
      const double inertia = 1.0 / (row < 3 ? by_mass : by_inertia);
      const double sigma =
          softness * (row < 3 ? joint.spook.compliance_linear : joint.spook.compliance_angular);
      row_inertia_[5 * j + row] = inertia;
      sigma_[5 * j + row] = sigma;
      weight_[5 * j + row] = settings_.form == estimator::ResidualForm::kExplicit ? 1.0 / sigma
                             : settings_.weighting_compliance > 0.0
                                 ? 1.0 / (softness * settings_.weighting_compliance)
                                 : estimator::kRelativeWeight * inertia;
    }
  }

  template <typename T>
  Body<T> body_terms(int i, const ScalarPose<T>& pose, const Vector<T>& v, const Vector<T>& w,
                     const T* chi) const {
    const auto get = [&](BodyParameter quantity) {
      return value(mechanism_.index(i, quantity), chi);
    };
    Body<T> body;
    body.mass = get(BodyParameter::kMass);
    body.R = pose.e.toRotationMatrix();
    Matrix3<T> R_J;
    R_J.col(0) = get(BodyParameter::kJxx) * body.R.col(0);
    R_J.col(1) = get(BodyParameter::kJyy) * body.R.col(1);
    R_J.col(2) = get(BodyParameter::kJzz) * body.R.col(2);
    const auto couple = [&](BodyParameter quantity, int one, int other) {
      if (!acts(mechanism_.index(i, quantity))) return;
      R_J.col(one) += get(quantity) * body.R.col(other);
      R_J.col(other) += get(quantity) * body.R.col(one);
    };
    couple(BodyParameter::kJxy, 0, 1);
    couple(BodyParameter::kJxz, 0, 2);
    couple(BodyParameter::kJyz, 1, 2);
    body.J = R_J * body.R.transpose();
    body.J_inverse = body.J.inverse();
    body.v = v.template segment<3>(6 * i);
    body.omega = v.template segment<3>(6 * i + 3);
    body.partner = settings_.gyroscopic == estimator::GyroscopicForm::kMean
                       ? Vector3<T>(w.template segment<3>(6 * i + 3))
                       : body.omega;
    return body;
  }

  template <typename T>
  Joint<T> joint_terms(int j, const Poses<T>& q, const Bodies<T>& bodies, const Vector<T>& v,
                       const Vector<T>& w, const T* chi) const {
    const auto R_of = [&](int body) -> const Matrix3<T>& { return bodies[at(body)].R; };
    Joint<T> joint;
    joint.geometry = this->geometry_of(j, q, R_of, chi);
    const auto speed = [&](const Vector<T>& velocity) -> T {
      Vector3<T> relative = velocity.template segment<3>(6 * body_of(j, 1) + 3);
      const int a = body_of(j, 0);
      if (a >= 0) relative -= velocity.template segment<3>(6 * a + 3);
      return joint.geometry.x.dot(relative);
    };
    joint.omega = speed(v);
    joint.omega_next = speed(w);
    return joint;
  }

  /// A y.
  template <typename T>
  Rows<T> apply_all(const Joints<T>& joints, const Vector<T>& y) const {
    Rows<T> rows;
    for (int j = 0; j < kJoints; ++j) {
      rows.template segment<5>(5 * j) = apply(j, joints[at(j)].geometry, y);
    }
    return rows;
  }

  /// M⁻¹ Aᵀ λ.
  template <typename T>
  Vector<T> response(const Bodies<T>& bodies, const Joints<T>& joints,
                     const Rows<T>& lambda) const {
    Vector<T> y = Vector<T>::Zero();
    for (int j = 0; j < kJoints; ++j) {
      const Row5<T> own = lambda.template segment<5>(5 * j);
      add_reaction(j, joints[at(j)].geometry, own, y);
    }
    respond(bodies, y);
    return y;
  }

  /// Replaces y by M⁻¹ y.
  template <typename T>
  static void respond(const Bodies<T>& bodies, Vector<T>& y) {
    for (int i = 0; i < kBodies; ++i) {
      const Vector3<T> turn = y.template segment<3>(6 * i + 3);
      y.template segment<3>(6 * i) /= bodies[at(i)].mass;
      y.template segment<3>(6 * i + 3) = bodies[at(i)].J_inverse * turn;
    }
  }

  /// S = A M⁻¹ Aᵀ + Σ.
  template <typename T>
  Eigen::Matrix<T, 5 * kJoints, 5 * kJoints> delassus(const Bodies<T>& bodies,
                                                      const Joints<T>& joints) const {
    Eigen::Matrix<T, 5 * kJoints, 5 * kJoints> S;
    for (int row = 0; row < 5 * kJoints; ++row) {
      Vector<T> y = Vector<T>::Zero();
      add_reaction(row / 5, joints[at(row / 5)].geometry, Row5<T>(Row5<T>::Unit(row % 5)), y);
      respond(bodies, y);
      S.col(row) = apply_all(joints, y);
      S(row, row) += sigma_[row];
    }
    return S;
  }

  /// Axis impulse T of a joint, without the load-dependent friction.
  template <typename T>
  T axis_impulse(int j, const Joint<T>& joint, const Poses<T>& q, const T& control,
                 const T* chi) const {
    using std::abs, std::exp;
    const auto get = [&](JointParameter quantity) { return joint_value(j, quantity, chi); };
    const auto has = [&](JointParameter quantity) { return joint_acts(j, quantity); };
    const T& omega = joint.omega;
    T torque(0.0), dry(0.0);
    if (has(JointParameter::kViscous)) torque -= get(JointParameter::kViscous) * joint.omega_next;
    if (has(JointParameter::kQuadraticDrag)) {
      torque -= get(JointParameter::kQuadraticDrag) * abs(omega) * joint.omega_next;
    }
    if (has(JointParameter::kMotorGain)) {
      T drive = control;
      if (has(JointParameter::kBackEmf)) drive -= get(JointParameter::kBackEmf) * joint.omega_next;
      torque += get(JointParameter::kMotorGain) * drive;
    }
    if (has(JointParameter::kConstantTorque)) torque += get(JointParameter::kConstantTorque);
    if (has(JointParameter::kStiffness)) {
      torque -= get(JointParameter::kStiffness) *
                within_a_turn(T(this->angle(j, q) - get(JointParameter::kRestAngle)));
    }
    if (has(JointParameter::kCoulombTorque)) dry += get(JointParameter::kCoulombTorque);
    if (has(JointParameter::kStribeckTorque)) {
      dry += get(JointParameter::kStribeckTorque) *
             exp(-get(JointParameter::kStribeckRate) * omega * omega);
    }
    torque -= dry * saturation(j, joint);
    torque *= settings_.step;
    if (has(JointParameter::kShaftInertia)) {
      torque -= get(JointParameter::kShaftInertia) * (joint.omega_next - omega);
    }
    return torque;
  }

  /// Returns the sign of the speed after the step, linear below the stick speed.
  template <typename T>
  T saturation(int j, const Joint<T>& joint) const {
    const T relative = joint.omega_next / mechanism_.joints[at(j)].spook.stick_speed;
    if (relative >= T(1.0)) return T(1.0);
    if (relative <= T(-1.0)) return T(-1.0);
    return relative;
  }

  /// Returns the multipliers that load the bearings: predicted ones, or those of the explicit form.
  template <typename T>
  Rows<T> bearing_multipliers(const Joints<T>& joints, const Vector<T>& w, const Rows<T>& c,
                              const Rows<T>& lambda) const {
    if (settings_.form == estimator::ResidualForm::kImplicit) return lambda;
    Rows<T> own = c - apply_all(joints, w);
    for (int row = 0; row < 5 * kJoints; ++row) own[row] /= sigma_[row];
    return own;
  }

  /// Returns the friction impulse in proportion to the bearing's load, in the joint's frame.
  template <typename T>
  T load_impulse(int j, const Joint<T>& joint, const Row5<T>& lambda, const T* chi) const {
    using std::abs;
    const Vector3<T> force = lambda.template head<3>();
    const auto& frame = joint.geometry;
    const T sum = abs(frame.x.dot(force)) + abs(frame.y.dot(force)) + abs(frame.z.dot(force));
    const T bound = joint_value(j, JointParameter::kLoadFriction, chi) * sum +
                    joint_value(j, JointParameter::kLoadFrictionAngular, chi) *
                        (abs(lambda[3]) + abs(lambda[4]));
    return bound * saturation(j, joint);
  }

  /// M⁻¹ p, p = M v + h (f + f_g) + Σ Ḡᵀ T.
  template <typename T>
  Vector<T> unconstrained_motion(const Bodies<T>& bodies, const Joints<T>& joints,
                                 const std::array<T, kJoints>& torque, const T* chi) const {
    const double h = settings_.step;
    const Vector3<T> tilt(value(mechanism_.index(GravityParameter::kTiltX), chi), T(0.0),
                          value(mechanism_.index(GravityParameter::kTiltZ), chi));
    const Vector3<T> level(T(0.0), -value(mechanism_.index(GravityParameter::kGravity), chi),
                           T(0.0));
    Vector3<T> gravity;
    ceres::AngleAxisRotatePoint(tilt.data(), level.data(), gravity.data());
    std::array<Vector3<T>, kBodies> moment;  // angular impulse
    for (int i = 0; i < kBodies; ++i) {
      const Body<T>& body = bodies[at(i)];
      const Vector3<T> spin = body.J * body.omega, other = body.J * body.partner;
      moment[at(i)] = -0.5 * h * (body.omega.cross(other) + body.partner.cross(spin));
    }
    for (int j = 0; j < kJoints; ++j) {
      const Vector3<T> impulse = torque[at(j)] * joints[at(j)].geometry.x;
      moment[at(body_of(j, 1))] += impulse;
      if (body_of(j, 0) >= 0) moment[at(body_of(j, 0))] -= impulse;
    }
    Vector<T> motion;
    for (int i = 0; i < kBodies; ++i) {
      const Body<T>& body = bodies[at(i)];
      motion.template segment<3>(6 * i) = body.v + h * gravity;
      motion.template segment<3>(6 * i + 3) = body.omega + body.J_inverse * moment[at(i)];
    }
    return motion;
  }

  /// (M + Aᵀ Σ_w⁻¹ A) y.
  template <typename T>
  Vector<T> weigh(const Bodies<T>& bodies, const Joints<T>& joints, const Vector<T>& y) const {
    Vector<T> out;
    for (int i = 0; i < kBodies; ++i) {
      out.template segment<3>(6 * i) = bodies[at(i)].mass * y.template segment<3>(6 * i);
      out.template segment<3>(6 * i + 3) = bodies[at(i)].J * y.template segment<3>(6 * i + 3);
    }
    for (int j = 0; j < kJoints; ++j) {
      Row5<T> rows = apply(j, joints[at(j)].geometry, y);
      for (int row = 0; row < 5; ++row) rows[row] *= weight_[5 * j + row];
      add_reaction(j, joints[at(j)].geometry, rows, out);
    }
    return out;
  }

  estimator::StepSettings settings_;
  std::array<int, kJoints> motor_;  ///< control of each joint, −1 without motor
  std::array<double, kJoints> gamma_;
  Eigen::Matrix<double, 5 * kJoints, 1> sigma_, weight_, row_inertia_;  ///< Σ, Σ_w⁻¹
};

}  // namespace test_support
