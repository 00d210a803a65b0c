#include "estimator/model/encoder.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d about_z() { return make_joint_frame(Vector3d::UnitZ(), Vector3d::UnitX()); }
Matrix3d against_z() { return make_joint_frame(-Vector3d::UnitZ(), Vector3d::UnitX()); }

Matrix3d some_rotation(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const Eigen::Vector4d q(normal(random), normal(random), normal(random), normal(random));
  return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
}

Joint joint(const std::string& name, int body_a, const Matrix3d& frame_a, int body_b,
            const Matrix3d& frame_b, JointKind kind = JointKind::kRevolute) {
  return {.name = name,
          .kind = kind,
          .body_a = body_a,
          .body_b = body_b,
          .frame_a = frame_a,
          .frame_b = frame_b,
          .measured = false};
}

std::vector<std::pair<int, double>> terms_of(const Mechanism& mechanism, int body_a, int body_b) {
  std::vector<Message> errors;
  std::vector<std::pair<int, double>> terms;
  for (const Encoder::JointTerm& term :
       encoder_joint_terms(mechanism, {"e", body_a, body_b}, &errors)) {
    terms.emplace_back(term.joint, term.sign);
  }
  EXPECT_TRUE(errors.empty());
  return terms;
}

Message error_of(const Mechanism& mechanism, int body_a, int body_b) {
  std::vector<Message> errors;
  EXPECT_TRUE(encoder_joint_terms(mechanism, {"e", body_a, body_b}, &errors).empty());
  return errors.size() == 1 ? errors[0] : Message();
}

using Terms = std::vector<std::pair<int, double>>;

/// Three bodies with arbitrary frames. The middle joint is described from the child's side and
/// about the opposite axis.
Mechanism crooked_chain() {
  const Matrix3d A = some_rotation(1), B = some_rotation(2), C = some_rotation(3);
  Mechanism mechanism;
  mechanism.bodies = {{"A"}, {"B"}, {"C"}};
  mechanism.joints = {joint("1", Joint::kGround, about_z(), 0, A * about_z()),
                      joint("2", 1, B * against_z(), 0, A * against_z()),
                      joint("3", 1, B * against_z(), 2, C * against_z())};
  mechanism.body_encoders = {{"up", Joint::kGround, 2}, {"back", 2, 0}};
  make_parameters(mechanism);
  return mechanism;
}

/// Rotation of body `b` about world z relative to all joints at zero.
double turn_about_z(const Mechanism& mechanism, const Eigen::VectorXd& angles, std::size_t b) {
  const ModelParameterValues values = unpack_parameters(mechanism);
  const auto orientation = [&](const Eigen::VectorXd& at) {
    return assemble_configuration(mechanism, values, at)[b].e.toRotationMatrix();
  };
  const Matrix3d turn =
      orientation(angles) * orientation(Eigen::VectorXd::Zero(angles.size())).transpose();
  return std::atan2(turn(1, 0), turn(0, 0));
}

// Reference: poses of the bodies in space. An encoder reads the rotation of one body relative to
// the other, whatever their frames and whichever side describes the joints.
TEST(BodyEncoder, ReadsTheRotationBetweenTwoBodies) {
  const Mechanism mechanism = crooked_chain();
  ASSERT_TRUE(find_mechanism_errors(mechanism).empty());
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  ASSERT_EQ(sensors.size(), 2U);
  for (const Vector3d& angles : {Vector3d(0.4, 0.3, -0.9), Vector3d(-0.5, 0.7, 1.1)}) {
    const auto coordinate = [&](int joint) { return angles[joint]; };
    const double A = turn_about_z(mechanism, angles, 0), C = turn_about_z(mechanism, angles, 2);
    EXPECT_NEAR(sensors[0].sum(coordinate), C, 1e-12);
    // The first joint on the way from C rotates about −z, so −z is positive.
    EXPECT_NEAR(sensors[1].sum(coordinate), C - A, 1e-12);
  }
  EXPECT_EQ(sensors[0].name, "up");
  EXPECT_EQ(mechanism.parameters[static_cast<std::size_t>(sensors[0].offset)].name, "up.offset");
  EXPECT_EQ(mechanism.parameters[static_cast<std::size_t>(sensors[1].offset)].name, "back.offset");
}

TEST(BodyEncoder, ReadsAnInclinationAcrossAPrismaticJointAndAWeld) {
  const Matrix3d along_x = make_joint_frame(Vector3d::UnitX(), Vector3d::UnitY());
  const Matrix3d Q = some_rotation(4);
  Mechanism mechanism;
  mechanism.bodies = {{"cart"}, {"bracket"}, {"pole"}};
  mechanism.joints = {
      joint("track", Joint::kGround, along_x, 0, Q * along_x, JointKind::kPrismatic),
      joint("pole_joint", 1, about_z(), 2, about_z())};
  FixedJoint weld{.name = "screws", .body_a = 0, .body_b = 1};
  weld.frame_a = Q;
  mechanism.fixed_joints = {weld};
  EXPECT_EQ(terms_of(mechanism, Joint::kGround, 2), (Terms{{1, 1.0}}));
  EXPECT_EQ(terms_of(mechanism, 0, 2), (Terms{{1, 1.0}}));
  EXPECT_EQ(terms_of(mechanism, Joint::kGround, 1), (Terms{{0, 1.0}}));
  EXPECT_EQ(terms_of(mechanism, 1, Joint::kGround), (Terms{{0, -1.0}}));
  EXPECT_EQ(encoder_joint_kind(mechanism, {"e", Joint::kGround, 2}), JointKind::kRevolute);
  EXPECT_EQ(encoder_joint_kind(mechanism, {"e", Joint::kGround, 1}), JointKind::kPrismatic);
  mechanism.body_encoders = {{"place", Joint::kGround, 1}, {"tilt", Joint::kGround, 2}};
  make_parameters(mechanism);
  const auto unit = [&](int i) {
    return mechanism
        .parameters[static_cast<std::size_t>(mechanism.body_encoder_parameter_index(i, {}))]
        .unit;
  };
  EXPECT_EQ(unit(0), "m");
  EXPECT_EQ(unit(1), "rad");
  EXPECT_EQ(encoder_joint_kinds(mechanism),
            (std::vector<JointKind>{JointKind::kPrismatic, JointKind::kRevolute}));
  EXPECT_EQ(readings_per_radian(mechanism), Eigen::Vector2d(kMetresPerRadian, 1.0));
}

TEST(BodyEncoder, IsRejectedWithoutAUniqueAngle) {
  const Matrix3d along_x = make_joint_frame(Vector3d::UnitX(), Vector3d::UnitY());
  Mechanism mechanism;
  mechanism.bodies = {{"A"}, {"B"}};
  mechanism.joints = {joint("1", Joint::kGround, about_z(), 0, about_z()),
                      joint("2", 0, along_x, 1, along_x)};
  const Message crossed(MessageCode::kNonparallelAxes,
                        {{"encoder", "e"}, {"first", "1"}, {"second", "2"}});
  EXPECT_EQ(error_of(mechanism, Joint::kGround, 1), crossed);
  EXPECT_EQ(terms_of(mechanism, 0, 1), (Terms{{1, 1.0}}));
  for (const int body : {Joint::kGround, 1}) {
    EXPECT_EQ(error_of(mechanism, body, body).code, MessageCode::kNoRelativeMotion);
  }
  // Axes that are not parallel because of the weld between them.
  mechanism.joints[1] = joint("2", 1, about_z(), 2, about_z());
  mechanism.bodies.push_back({"C"});
  FixedJoint weld{.name = "bend", .body_a = 0, .body_b = 1};
  mechanism.fixed_joints = {weld};
  EXPECT_EQ(terms_of(mechanism, Joint::kGround, 2).size(), 2U);
  mechanism.fixed_joints[0].frame_a = about_z();
  EXPECT_EQ(error_of(mechanism, Joint::kGround, 2).code, MessageCode::kNonparallelAxes);

  mechanism.body_encoders = {{"e", 2, 2}};
  make_parameters(mechanism);
  const Message idle(MessageCode::kNoRelativeMotion, {{"encoder", "e"}});
  EXPECT_EQ(find_mechanism_errors(mechanism), std::vector{idle});
  mechanism.body_encoders = {{"bend", 0, 2}};
  make_parameters(mechanism);
  EXPECT_EQ(find_mechanism_errors(mechanism).at(0).code, MessageCode::kNameInUse);
}

Mechanism chain_with(const std::vector<int>& measured, const std::vector<BodyEncoder>& encoders) {
  Mechanism mechanism = make_chain({.links = 3});
  for (Joint& joint : mechanism.joints) joint.measured = false;
  for (const int j : measured) mechanism.joints[static_cast<std::size_t>(j)].measured = true;
  mechanism.body_encoders = encoders;
  make_parameters(mechanism);
  return mechanism;
}

TEST(EncoderToJointMap, DetermineJointPositions) {
  const auto reported = [](const EncoderToJointMap& readings) {
    return std::vector<bool>{readings.is_observed(0), readings.is_observed(1),
                             readings.is_observed(2)};
  };
  const EncoderToJointMap all(chain_with({0, 1}, {{"up", Joint::kGround, 2}}));
  EXPECT_EQ(reported(all), (std::vector<bool>{true, true, true}));
  EXPECT_LT((all.joint_coordinates(Vector3d(0.4, 0.3, 1.0)) - Vector3d(0.4, 0.3, 0.3)).norm(),
            1e-14);

  const EncoderToJointMap some(chain_with({0}, {{"up", Joint::kGround, 2}}));
  EXPECT_EQ(reported(some), (std::vector<bool>{true, false, false}));
  EXPECT_NEAR(some.joint_coordinates(Eigen::Vector2d(0.4, 1.0)).sum(), 1.0, 1e-14);

  const EncoderToJointMap one(chain_with({1}, {}));
  EXPECT_EQ(reported(one), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(one.joint_coordinates(Eigen::VectorXd::Constant(1, 0.7)), Vector3d(0.0, 0.7, 0.0));

  // Two encoders of the same angle share the difference.
  const EncoderToJointMap twice(chain_with({0}, {{"up", Joint::kGround, 0}}));
  EXPECT_NEAR(twice.joint_coordinates(Eigen::Vector2d(0.4, 0.5))[0], 0.45, 1e-14);
}

// An inclination in −π to π may differ from the sum of joint angles by full turns, which are no
// error.
TEST(EncoderToJointMap, AddKnownFullTurns) {
  constexpr double kTurn = 2.0 * M_PI;
  const EncoderToJointMap all(chain_with({0, 1, 2}, {{"up", Joint::kGround, 1}, {"on", 0, 2}}));
  Eigen::VectorXd readings(5);
  readings << 3.0, 3.0, -9.0, 6.0 - kTurn, -6.0 + kTurn;
  EXPECT_EQ(all.full_turn_corrections(readings),
            (Eigen::VectorXd(5) << 0, 0, 0, kTurn, -kTurn).finished());
  const EncoderToJointMap free(chain_with({0}, {{"up", Joint::kGround, 1}}));
  EXPECT_EQ(free.full_turn_corrections(Eigen::Vector2d(9.0, 0.0)), Eigen::Vector2d(0.0, 0.0));
}

}  // namespace
}  // namespace estimator
