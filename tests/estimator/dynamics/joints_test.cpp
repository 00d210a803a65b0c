#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/joint_friction.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/estimator/newton_loads.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/reference_simulators.hpp"

namespace estimator {
namespace {

using namespace test_support;

Mechanism slider_of(const ReferenceSlider& rig) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY();
  const Eigen::Vector3d z = Eigen::Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.bodies = {{"arm"}, {"block"}, {"pendulum"}};
  mechanism.joints.resize(3);
  for (int j = 0; j < 3; ++j) {
    Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    joint.name = std::to_string(j + 1);
    joint.body_a = j - 1;
    joint.body_b = j;
    joint.frame_a = joint.frame_b = make_joint_frame(z, x);
  }
  mechanism.joints[0].frame_a = make_joint_frame(z, -y);
  mechanism.joints[1].kind = JointKind::kPrismatic;
  mechanism.joints[1].motor.present = true;
  mechanism.joints[1].frame_a = mechanism.joints[1].frame_b = make_joint_frame(x, y);
  make_parameters(mechanism);
  const auto body = [&](int index, double mass, double inertia) {
    mechanism.parameter(index, BodyParameter::kMass).value = mass;
    mechanism.parameter(index, BodyParameter::kJzz).value = inertia;
  };
  body(0, rig.m_1, rig.I_1 - rig.m_1 * rig.l_1 * rig.l_1);
  body(1, rig.m_2, rig.J_2);
  body(2, rig.m_3, rig.J_3);
  const auto set = [&](int joint, JointParameter quantity, double value) {
    mechanism.joint_parameter(joint, quantity).value = value;
  };
  set(0, JointParameter::kPointBx, -rig.l_1);
  set(0, JointParameter::kViscous, rig.b_1);
  set(1, JointParameter::kPointAx, -rig.l_1);
  set(1, JointParameter::kViscous, rig.b_2);
  set(1, JointParameter::kQuadraticDrag, rig.c_2);
  set(1, JointParameter::kStiffness, rig.k);
  set(1, JointParameter::kRestAngle, rig.rest);
  set(1, JointParameter::kMotorGain, rig.K);
  set(1, JointParameter::kShaftInertia, rig.m_shaft);
  set(2, JointParameter::kPointBx, -rig.l_3);
  set(2, JointParameter::kViscous, rig.b_3);
  mechanism.parameter(GravityParameter::kGravity).value = rig.g;
  return mechanism;
}

// Compares with Lagrange's equations written by hand: a prismatic joint on a rotating body with
// Coriolis force, spring, drag, motor and rotor, and a revolute joint on the slider.
TEST(Joints, APrismaticJointOnARotatingArmFollowsLagrange) {
  const ReferenceSlider rig;
  const double period = 0.01;
  Eigen::VectorXd u(200);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = 3.0 * std::sin(0.11 * static_cast<double>(k));
  Eigen::Matrix<double, 6, 1> start;
  start << 1.2, 0.25, -0.8, 0.5, 0.3, 2.0;
  const Eigen::MatrixXd reference = test_support::simulate(rig, start, u, period);
  const Eigen::MatrixXd angles = simulate(slider_of(rig), start, u, period, 8);
  EXPECT_LT((angles - reference.leftCols(3)).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_GT(reference.col(1).maxCoeff() - reference.col(1).minCoeff(), 0.1) << "it must slide";
}

Eigen::Matrix3d random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random))
      .normalized()
      .toRotationMatrix();
}

// A branched spatial tree with all joint types, one revolute and one prismatic joint described from
// child to parent, a weld in the middle and one at a tip, all frames and points random. Two
// revolute joints have motors whose rotors turn with their housing, one on either side.
Mechanism random_tree() {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-0.3, 0.3);
  Mechanism mechanism;
  mechanism.bodies = {{"A"}, {"B"}, {"C"}, {"D"}, {"E"}, {"F"}, {"G"}};
  const auto joint = [&](auto& list, int a, int b) -> auto& {
    auto& made = list.emplace_back();
    made.name = std::to_string(mechanism.joints.size()) + "-" +
                std::to_string(mechanism.fixed_joints.size());
    made.body_a = a;
    made.body_b = b;
    made.frame_a = random_rotation(random);
    made.frame_b = random_rotation(random);
    return made;
  };
  joint(mechanism.joints, Joint::kGround, 0);
  joint(mechanism.joints, 1, 0).kind = JointKind::kPrismatic;
  joint(mechanism.fixed_joints, 1, 2);
  joint(mechanism.joints, 3, 2);
  joint(mechanism.joints, 2, 4).kind = JointKind::kPrismatic;
  joint(mechanism.fixed_joints, 5, 4);
  joint(mechanism.joints, 2, 6).motor.gear_ratio = -5.0;
  mechanism.joints[2].motor.gear_ratio = 4.0;
  make_parameters(mechanism);
  for (Parameter& parameter : mechanism.parameters) {
    if (parameter.unit == "m" && parameter.name.find("_m") == std::string::npos) {
      parameter.value = uniform(random);
    }
  }
  for (const char* none : {".x_rest", ".theta_rest", ".r_mu", ".offset", ".play"}) {
    for (Parameter& parameter : mechanism.parameters) {
      if (parameter.name.ends_with(none)) parameter.value = 0.0;
    }
  }
  for (const int geared : {2, 4}) {
    mechanism.joint_parameter(geared, JointParameter::kShaftInertia).value = 0.4;
  }
  for (int body = 0; body < mechanism.body_count(); ++body) {
    mechanism.parameter(body, BodyParameter::kMass).value = 0.5 + std::abs(uniform(random));
    mechanism.parameter(body, BodyParameter::kJyy).value = 0.8;
    mechanism.parameter(body, BodyParameter::kJxy).value = 0.2 * uniform(random);
  }
  return mechanism;
}

// Inertial forces change only the kinetic energy: ½ d/dt(q̇ᵀM q̇) is their power, and M is
// symmetric. Catches inconsistent Coriolis terms, lever arms, reactions or inertias.
TEST(Joints, InertialForcesBalanceThePowerForAllJointTypes) {
  Mechanism mechanism = random_tree();
  mechanism.parameter(GravityParameter::kGravity).value = 0.0;
  ASSERT_TRUE(find_mechanism_errors(mechanism).empty());
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const int n = mechanism.joint_count();
  using Vector = JointVector<double>;
  const Vector zero = Vector::Zero(n);
  const auto mass_matrix = [&](const Vector& q) {
    Eigen::MatrixXd M(n, n);
    Vector column(n);
    for (int k = 0; k < n; ++k) {
      dynamics.torque_residual(q, zero, Vector(Eigen::VectorXd::Unit(n, k)), zero, column);
      M.col(k) = column;
    }
    return M;
  };
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  for (int round = 0; round < 10; ++round) {
    const Vector q = Vector::NullaryExpr(n, [&] { return uniform(random); });
    const Vector rate = Vector::NullaryExpr(n, [&] { return uniform(random); });
    const Eigen::MatrixXd M = mass_matrix(q);
    EXPECT_LT((M - M.transpose()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_GT(M.llt().matrixL().toDenseMatrix().diagonal().minCoeff(), 0.1);
    Vector inertial(n);
    dynamics.torque_residual(q, rate, zero, zero, inertial);
    const double h = 1e-4;
    const auto energy = [&](double time) {
      return 0.5 * rate.dot(mass_matrix(q + time * rate) * rate);
    };
    const double change =
        (8.0 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / 12 / h;
    EXPECT_NEAR(rate.dot(inertial), change, 1e-8);
    EXPECT_GT(std::abs(change), 1e-6) << "a balance of nothing";
  }
}

// Gravity's forces are the gradient of one potential: their derivatives are symmetric, and the
// first link's equals the weight times its lever arm.
TEST(Joints, GravityHasAPotentialForAllJointTypes) {
  const Mechanism mechanism = random_tree();
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const int n = mechanism.joint_count();
  using Vector = JointVector<double>;
  const Vector zero = Vector::Zero(n);
  const Vector q = Vector::LinSpaced(n, -0.7, 0.9);
  Eigen::MatrixXd slope(n, n);
  const double h = 1e-5;
  for (int k = 0; k < n; ++k) {
    Vector up(n), down(n);
    const Vector step = h * Vector(Eigen::VectorXd::Unit(n, k));
    dynamics.torque_residual(q + step, zero, zero, zero, up);
    dynamics.torque_residual(q - step, zero, zero, zero, down);
    slope.col(k) = (up - down) / (2 * h);
  }
  EXPECT_GT(slope.cwiseAbs().maxCoeff(), 0.1);
  EXPECT_LT((slope - slope.transpose()).cwiseAbs().maxCoeff(), 1e-7);
}

Mechanism rod_pendulum() {
  Mechanism rod;
  rod.bodies = {{"rod"}};
  rod.joints.resize(1);
  rod.joints[0].name = "1";
  rod.joints[0].frame_a = make_joint_frame(Eigen::Vector3d::UnitZ(), -Eigen::Vector3d::UnitY());
  rod.joints[0].frame_b = make_joint_frame(Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitX());
  return rod;
}

// Two halves of a rod welded together, the second rotated and described from child to parent, equal
// the rod.
TEST(Joints, TwoWeldedHalvesEqualTheRod) {
  const double mass = 0.6, length = 0.5;
  Mechanism whole = rod_pendulum();
  make_parameters(whole);
  Mechanism halves = rod_pendulum();
  halves.bodies.push_back({"end"});
  FixedJoint weld{"seam", 1, 0, Eigen::Matrix3d::Identity(), Eigen::Matrix3d::Identity()};
  weld.frame_a = Eigen::AngleAxisd(M_PI, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  halves.fixed_joints.push_back(weld);
  make_parameters(halves);
  const auto rod = [&](Mechanism& mechanism, int body, double m, double l) {
    mechanism.parameter(body, BodyParameter::kMass).value = m;
    set_inertia(mechanism, body, {1e-6, m * l * l / 12.0, m * l * l / 12.0});
  };
  rod(whole, 0, mass, length);
  whole.joint_parameter(0, JointParameter::kPointBx).value = -length / 2;
  rod(halves, 0, mass / 2, length / 2);
  rod(halves, 1, mass / 2, length / 2);
  halves.joint_parameter(0, JointParameter::kPointBx).value = -length / 4;
  halves.fixed_joint_parameter(0, JointParameter::kPointAx).value =
      length / 4;  // the end's x points back
  halves.fixed_joint_parameter(0, JointParameter::kPointBx).value = length / 4;
  TreeInverseDynamics<double> one(whole, parameter_values(whole)),
      two(halves, parameter_values(halves));
  ASSERT_EQ(two.joint_count(), 1);
  JointVector<double> expected(1), got(1);
  const auto value = [](double x) { return JointVector<double>::Constant(1, x); };
  one.torque_residual(value(0.7), value(2.0), value(-3.0), value(0.0), expected);
  two.torque_residual(value(0.7), value(2.0), value(-3.0), value(0.0), got);
  EXPECT_NEAR(expected[0],
              -3.0 * mass * length * length / 3.0 + mass * 9.82 * length / 2 * std::sin(0.7),
              1e-12);
  EXPECT_NEAR(got[0], expected[0], 1e-12);
}

// A block on an incline presses with the weight's component across the rail, whatever drives it.
TEST(Joints, LoadFrictionOfAPrismaticJointGrowsWithTheForceAcross) {
  const double slope = 0.4, mass = 2.0, ratio = 0.3;
  Mechanism mechanism;
  mechanism.bodies = {{"block"}};
  mechanism.joints.resize(1);
  mechanism.joints[0].name = "rail";
  mechanism.joints[0].kind = JointKind::kPrismatic;
  mechanism.joints[0].frame_a =
      Eigen::AngleAxisd(slope, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  make_parameters(mechanism);
  mechanism.parameter(0, BodyParameter::kMass).value = mass;
  mechanism.joint_parameter(0, JointParameter::kLoadFriction).value = ratio;
  mechanism.joint_parameter(0, JointParameter::kConstantTorque).value = 5.0;
  EXPECT_EQ(mechanism.joint_parameter(0, JointParameter::kLoadFriction).name, "rail.mu");
  EXPECT_EQ(mechanism.joint_parameter(0, JointParameter::kViscous).unit, "N·s/m");
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const auto value = [](double x) { return JointVector<double>::Constant(1, x); };
  const double along = 5.0 - mass * 9.82 * (std::sin(slope) + ratio * std::cos(slope));
  JointVector<double> residual;
  dynamics.torque_residual(value(7.0), value(1.0), value(along / mass), value(0.0), residual);
  EXPECT_NEAR(residual[0] + dynamics.dry_friction_bound(0, 1.0), 0.0, 1e-4 * mass);
}

/// One axis of a multi-axis joint: translation along or rotation about a coordinate axis.
struct ElementaryAxis {
  JointKind kind;
  int along;
};

/// One body on a joint of several axes, with massless bodies between them. The joint's point is at
/// −`center` from its centre of mass.
Mechanism body_on(const std::vector<ElementaryAxis>& axes, const Eigen::Vector3d& center) {
  Mechanism mechanism;
  const int n = static_cast<int>(axes.size());
  mechanism.joints.resize(axes.size());
  for (int j = 0; j < n; ++j) {
    const bool last = j + 1 == n;
    mechanism.bodies.push_back({last ? "body" : "between" + std::to_string(j + 1), !last});
    Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const ElementaryAxis& axis = axes[static_cast<std::size_t>(j)];
    joint.name = std::to_string(j + 1);
    joint.kind = axis.kind;
    joint.body_a = j - 1;
    joint.body_b = j;
    joint.frame_a = joint.frame_b = make_joint_frame(Eigen::Vector3d::Unit(axis.along),
                                                     Eigen::Vector3d::Unit((axis.along + 1) % 3));
  }
  make_parameters(mechanism);
  const double values[] = {0.7, 0.012, 0.017, 0.009, 0.002, -0.001, 0.003};
  for (int i = 0; i < Mechanism::kBodyParameters; ++i) {
    mechanism.parameter(n - 1, static_cast<BodyParameter>(i)).value = values[i];
  }
  for (int i = 0; i < 3; ++i) {
    const auto point = static_cast<JointParameter>(static_cast<int>(JointParameter::kPointBx) + i);
    mechanism.joint_parameter(n - 1, point).value = -center[i];
  }
  return mechanism;
}

// Joints of several axes are chains of massless bodies: a universal joint, a planar one, a
// spherical one, and a free body.
TEST(Joints, OfSeveralAxesSatisfyTheNewtonEulerEquations) {
  constexpr JointKind kTurn = JointKind::kRevolute, kSlide = JointKind::kPrismatic;
  const std::vector<std::vector<ElementaryAxis>> joints = {
      {{kTurn, 2}, {kTurn, 0}},
      {{kSlide, 0}, {kSlide, 1}, {kTurn, 2}},
      {{kTurn, 2}, {kTurn, 1}, {kTurn, 0}},
      {{kSlide, 0}, {kSlide, 1}, {kSlide, 2}, {kTurn, 2}, {kTurn, 1}, {kTurn, 0}}};
  const Eigen::Vector3d center(0.08, -0.05, 0.11);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const std::vector<ElementaryAxis>& axes : joints) {
    const Mechanism mechanism = body_on(axes, center);
    ASSERT_TRUE(find_mechanism_errors(mechanism).empty());
    const auto n = static_cast<Eigen::Index>(axes.size());
    TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    for (int round = 0; round < 3; ++round) {
      const Eigen::VectorXd q = Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(random); });
      const Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(random); });
      const Eigen::VectorXd a = Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(random); });
      JointVector<double> got;
      dynamics.torque_residual(q, v, a, JointVector<double>::Zero(n), got);
      const auto loads = newton_loads(mechanism, q, v, a);
      Eigen::VectorXd expected(n);
      for (std::size_t j = 0; j < axes.size(); ++j) {
        const bool slides = axes[j].kind == JointKind::kPrismatic;
        expected[static_cast<Eigen::Index>(j)] =
            (slides ? loads[j].force : loads[j].moment)[axes[j].along];
      }
      EXPECT_LT((Eigen::VectorXd(got) - expected).cwiseAbs().maxCoeff(), 1e-4 * expected.norm())
          << n << " axes: " << got.transpose() << " for " << expected.transpose();
      EXPECT_GT(expected.cwiseAbs().minCoeff(), 1e-4) << "a balance of nothing";
    }
  }
}

TEST(Joints, AMasslessBodyMustCarryMass) {
  Mechanism mechanism =
      body_on({{JointKind::kRevolute, 2}, {JointKind::kRevolute, 0}}, Eigen::Vector3d::Zero());
  mechanism.bodies[1].massless = true;
  make_parameters(mechanism);
  const Message error(MessageCode::kMasslessLeaf, {{"body", std::string("body")}});
  EXPECT_EQ(find_mechanism_errors(mechanism), std::vector{error});
}

// Code in maximal coordinates would silently treat a prismatic joint as a revolute one.
TEST(Joints, SpookSimulatorsRefuseOtherJointTypes) {
  EXPECT_THROW(require_spook_support(slider_of({})), std::invalid_argument);
  Mechanism welded = random_tree();
  for (Joint& joint : welded.joints) {
    joint.kind = JointKind::kRevolute;
    joint.motor.gear_ratio = 0.0;
  }
  EXPECT_THROW(require_spook_support(welded), std::invalid_argument);
  welded.fixed_joints.clear();
  make_parameters(welded);
  welded.bodies[1].massless = true;
  EXPECT_THROW(require_spook_support(welded), std::invalid_argument);
  welded.bodies[1].massless = false;
  EXPECT_NO_THROW(require_spook_support(welded));
  welded.joints[1].motor.gear_ratio = 6.0;
  EXPECT_THROW(require_spook_support(welded), std::invalid_argument);
  welded.joints[1].motor.gear_ratio = 0.0;
  for (const Makkar::Quantity size : {Makkar::kExcess, Makkar::kCoulomb}) {
    Parameter& friction = welded.joint_parameter(1, friction_law_parameter<Makkar>(size));
    friction.value = 0.1;
    EXPECT_THROW(require_spook_support(welded), std::invalid_argument);
    friction.value = 0.0;
    friction.free = true;
    EXPECT_THROW(require_spook_support(welded), std::invalid_argument);
    friction.free = false;
  }
}

// The rotor adds J_shaft/N φ̇ ω_a to the kinetic energy, with the rate of the body that houses the
// motor: the inner link if the joint is described outwards, else the outer one, θ̇₁ − φ̇.
TEST(Rotor, RotatesWithItsBody) {
  constexpr double kShaft = 0.03, kRatio = 6.0;
  const auto mass_matrix = [](const Mechanism& mechanism) {
    TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    const JointVector<double> q = Eigen::Vector2d(0.4, -0.7), zero = JointVector<double>::Zero(2);
    JointVector<double> column, rest;
    dynamics.torque_residual(q, zero, zero, zero, rest);
    Eigen::Matrix2d M;
    for (int k = 0; k < 2; ++k) {
      dynamics.torque_residual(q, zero, Eigen::Vector2d(Eigen::Vector2d::Unit(k)), zero, column);
      M.col(k) = column - rest;
    }
    return M;
  };
  const auto rotor_of = [&](bool outwards) {
    Mechanism mechanism = make_chain({.links = 2});
    if (!outwards) test_support::describe_from_child(mechanism, 1);
    mechanism.joint_parameter(1, JointParameter::kShaftInertia).value = kShaft;
    const Eigen::Matrix2d without = mass_matrix(mechanism);
    mechanism.joints[1].motor.gear_ratio = kRatio;
    return Eigen::Matrix2d(mass_matrix(mechanism) - without);
  };
  const Eigen::Matrix2d inner{{0.0, 1.0}, {1.0, 0.0}}, outer{{0.0, 1.0}, {1.0, -2.0}};
  EXPECT_LT((rotor_of(true) - kShaft / kRatio * inner).norm(), 1e-14);
  EXPECT_LT((rotor_of(false) - kShaft / kRatio * outer).norm(), 1e-14);

  Mechanism on_ground = make_chain({.links = 1});
  on_ground.joints[0].motor.gear_ratio = 3.0;
  EXPECT_TRUE(find_mechanism_errors(on_ground).empty());
  Mechanism slider = make_chain({.links = 1});
  slider.joints[0].kind = JointKind::kPrismatic;
  slider.joints[0].motor.gear_ratio = 3.0;
  ASSERT_EQ(find_mechanism_errors(slider).size(), 1U);
  EXPECT_EQ(find_mechanism_errors(slider)[0].code, MessageCode::kPrismaticGearRatio);
}

}  // namespace
}  // namespace estimator
