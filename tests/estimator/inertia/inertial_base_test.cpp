#include "estimator/simulation/loops/base_inertial_parameters.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <random>
#include <set>

#include "estimator/assessment/identifiability/combinations.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

std::set<std::string> texts(const Mechanism& mechanism, unsigned seed = 1) {
  const BaseInertialParameters base = find_base_inertial_parameters(mechanism, seed);
  std::set<std::string> texts;
  for (const BaseParameter& each : base.base) {
    texts.insert(
        evaluate_base_parameter(base, each, standard_parameter_values(mechanism)).description);
  }
  return texts;
}

/// Standard Denavit–Hartenberg: rotate θ about z, then d along z, a along x, α about x.
struct DhRow {
  double alpha, a, d;
};

/// A serial arm; link i carries the frame i of its row, at its end.
Mechanism make_arm(const std::vector<DhRow>& rows, bool motors = false) {
  Mechanism arm;
  Eigen::Matrix3d z_to_x;  // joint frame: x along the axis
  z_to_x << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = std::to_string(i + 1);
    arm.bodies.push_back({.name = "L" + name});
    Joint joint{.name = name};
    joint.body_a = static_cast<int>(i) - 1;
    joint.body_b = static_cast<int>(i);
    // World y is up: the first axis is vertical.
    const Eigen::Matrix3d up = Eigen::AngleAxisd(-M_PI / 2, Eigen::Vector3d::UnitX()).matrix();
    joint.frame_a = i == 0 ? Eigen::Matrix3d(up * z_to_x) : z_to_x;
    const Eigen::Matrix3d tilt =
        Eigen::AngleAxisd(rows[i].alpha, Eigen::Vector3d::UnitX()).matrix();
    joint.frame_b = tilt.transpose() * z_to_x;
    joint.motor.present = motors;
    arm.joints.push_back(joint);
  }
  make_parameters(arm);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> even(0.5, 1.5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto j = static_cast<int>(i);
    // Position of the joint from the end of the link, and of the centre of mass from both.
    const Eigen::Matrix3d tilt =
        Eigen::AngleAxisd(rows[i].alpha, Eigen::Vector3d::UnitX()).matrix();
    const Eigen::Vector3d joint = -(tilt.transpose() * Eigen::Vector3d(rows[i].a, 0.0, rows[i].d));
    const Eigen::Vector3d centre(0.1 * even(random), -0.05 * even(random), 0.07 * even(random));
    const auto set = [&](int joint, JointParameter x, const Eigen::Vector3d& point) {
      for (int k = 0; k < 3; ++k) {
        arm.joint_parameter(joint, static_cast<JointParameter>(static_cast<int>(x) + k)).value =
            point[k];
      }
    };
    set(j, JointParameter::kPointBx, joint - centre);
    if (i + 1 < rows.size()) set(j + 1, JointParameter::kPointAx, -centre);
    arm.parameter(j, BodyParameter::kMass).value = even(random);
    for (const BodyParameter moment :
         {BodyParameter::kJxx, BodyParameter::kJyy, BodyParameter::kJzz}) {
      arm.parameter(j, moment).value = 0.01 * even(random);
    }
    arm.parameter(j, BodyParameter::kJxz).value = 0.002 * even(random);
  }
  return arm;
}

const std::vector<DhRow> kPuma = {{-M_PI / 2, 0, 0},        {0, 0.4318, 0},
                                  {M_PI / 2, 0.0203, 0.15}, {-M_PI / 2, 0, 0.4318},
                                  {M_PI / 2, 0, 0},         {0, 0, 0}};

// [Kha04, ch. 9]: ZZ_1R = ZZ_1 + l² M_2, MX_1R = MX_1 + l M_2, MY_1; ZZ_2, MX_2, MY_2.
TEST(BaseInertialParameters, OfAPlanarTwoLinkArmMatchTheTextbook) {
  const Mechanism arm = make_chain({.links = 2, .length = 0.3});
  const std::set<std::string> expected = {
      "L1.I_zz + 0.09 L2.m", "L1.mc_x + 0.3 L2.m", "L1.mc_y", "L2.I_zz", "L2.mc_x", "L2.mc_y"};
  EXPECT_EQ(texts(arm), expected);
  EXPECT_EQ(texts(arm, 77), expected);
}

// [Gau90]: 36 of the Puma 560's inertial parameters without rotors, with a vertical first axis.
TEST(BaseInertialParameters, OfAPumaAreThirtySix) {
  const BaseInertialParameters base = find_base_inertial_parameters(make_arm(kPuma));
  EXPECT_EQ(base.base.size(), 36U);
  EXPECT_EQ(base.standard.size(), 60U);
  const std::set<std::string> reported = texts(make_arm(kPuma));
  // The last wrist axes intersect: the mass groups with the link before, and I_yy with I_xx.
  EXPECT_TRUE(reported.contains("L6.I_xx − L6.I_yy"));
  EXPECT_TRUE(reported.contains("L6.I_zz"));
  EXPECT_TRUE(reported.contains("L6.mc_x"));
}

// The shafts of the first motor, and of the second, whose axis is always across the first's, group
// with their links' I about the axis. The other four are identifiable [Kha04, ch. 9].
TEST(BaseInertialParameters, IncludeTheFirstShaftsInTheirLinks) {
  const BaseInertialParameters base = find_base_inertial_parameters(make_arm(kPuma, true));
  EXPECT_EQ(base.base.size(), 36U + 4U);
}

/// Torques of the full inverse dynamics, in motion.
Eigen::VectorXd torques(const Mechanism& mechanism, const Eigen::VectorXd& q,
                        const Eigen::VectorXd& v, const Eigen::VectorXd& a) {
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  JointVector<double> result;
  dynamics.torque_residual(q, v, a, JointVector<double>::Zero(q.size()), result);
  return result;
}

// A change that keeps every base parameter changes no torque, also in motion.
TEST(BaseInertialParameters, DetermineAllTorques) {
  const Mechanism arm = make_arm(kPuma);
  std::mt19937 random(4);
  std::normal_distribution<double> gaussian;
  const auto some = [&] {
    return Eigen::VectorXd(Eigen::VectorXd::NullaryExpr(6, [&] { return gaussian(random); }));
  };
  const Eigen::VectorXd q = some(), v = some(), a = some();
  // A point mass moved from link 5 to link 6 at the wrist's centre: no torque changes.
  Mechanism other = arm;
  const auto add_point_mass = [&](int body, double mass, const Eigen::Vector3d& centre_to_point) {
    const double m = other.parameter(body, BodyParameter::kMass).value;
    const Eigen::Vector3d shift = mass / (m + mass) * centre_to_point;
    const Eigen::Matrix3d sigma =
        mass * m / (m + mass) * centre_to_point * centre_to_point.transpose();
    const Eigen::Matrix3d J = sigma.trace() * Eigen::Matrix3d::Identity() - sigma;
    const double entries[] = {J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)};
    for (int i = 0; i < 6; ++i) {
      other.parameter(body, static_cast<BodyParameter>(1 + i)).value += entries[i];
    }
    other.parameter(body, BodyParameter::kMass).value = m + mass;
    for (int j = 0; j < other.joint_count(); ++j) {
      for (int k = 0; k < 3; ++k) {
        const Joint& joint = other.joints[static_cast<std::size_t>(j)];
        const auto point = [&](JointParameter x) -> double& {
          return other.joint_parameter(j, static_cast<JointParameter>(static_cast<int>(x) + k))
              .value;
        };
        if (joint.body_a == body) point(JointParameter::kPointAx) -= shift[k];
        if (joint.body_b == body) point(JointParameter::kPointBx) -= shift[k];
      }
    }
  };
  const auto joint_on = [&](int joint, JointParameter x) {
    Eigen::Vector3d point;
    for (int k = 0; k < 3; ++k) {
      point[k] =
          other.joint_parameter(joint, static_cast<JointParameter>(static_cast<int>(x) + k)).value;
    }
    return point;
  };
  add_point_mass(5, 0.2, joint_on(5, JointParameter::kPointBx));
  add_point_mass(4, -0.2, joint_on(5, JointParameter::kPointAx));
  const Eigen::VectorXd moving = torques(arm, q, v, a);
  EXPECT_LT((torques(other, q, v, a) - moving).norm(), 1e-12 * moving.norm());
  const BaseInertialParameters base = find_base_inertial_parameters(arm);
  for (const BaseParameter& each : base.base) {
    EXPECT_NEAR(evaluate_base_parameter(base, each, standard_parameter_values(other)).value,
                evaluate_base_parameter(base, each, standard_parameter_values(arm)).value, 1e-8)
        << evaluate_base_parameter(base, each, standard_parameter_values(arm)).description;
  }
}

// Three links in a plane have nine base parameters. Closed to a four-bar linkage they have one
// degree of freedom and fewer base parameters.
TEST(BaseInertialParameters, AreFewerForAClosedLoop) {
  const Mechanism open = make_chain({.links = 3, .length = 0.3});
  const Mechanism loop =
      make_chain({.links = 3, .length = 0.3, .closing_point = Eigen::Vector3d(0.4, -0.2, 0.0)});
  const std::size_t of_open = find_base_inertial_parameters(open).base.size();
  const std::size_t of_loop = find_base_inertial_parameters(loop).base.size();
  EXPECT_EQ(of_open, 9U);
  EXPECT_LT(of_loop, of_open);
  EXPECT_GE(of_loop, 3U);
}

// A welded body groups with its parent: both together have the base parameters of one.
TEST(BaseInertialParameters, OfWeldedBodiesEqualOneBody) {
  Mechanism pendulum = make_chain({.links = 1, .length = 0.3});
  pendulum.bodies.push_back({.name = "W"});
  FixedJoint weld{.name = "on"};
  weld.body_a = 0;
  weld.body_b = 1;
  pendulum.fixed_joints.push_back(weld);
  const Mechanism bare = make_chain({.links = 1, .length = 0.3});
  make_parameters(pendulum);
  for (const Parameter& parameter : bare.parameters) {
    test_support::parameter_of(pendulum, parameter.name) = parameter;
  }
  test_support::parameter_of(pendulum, "on.a_x").value = 0.05;
  // The weld is 0.15 + 0.05 m from the joint.
  const std::set<std::string> expected = {"L1.I_zz + W.I_zz + 0.4 W.mc_x + 0.04 W.m",
                                          "L1.mc_x + W.mc_x + 0.2 W.m", "L1.mc_y + W.mc_y"};
  EXPECT_EQ(texts(pendulum), expected);
}

TEST(BaseInertialParameters, RequireKnownTorques) {
  Mechanism furuta = make_furuta();
  EXPECT_FALSE(has_known_torque(furuta));
  furuta.joint_parameter(0, JointParameter::kMotorGain).value = 0.1;
  EXPECT_TRUE(has_known_torque(furuta));
  furuta.joint_parameter(0, JointParameter::kMotorGain).free = true;
  EXPECT_FALSE(has_known_torque(furuta));
}

}  // namespace
}  // namespace estimator
