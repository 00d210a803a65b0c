// Contacts with the ground: motions compared with a joint at the contact point and with the closed
// form of an inelastic impact, and derivatives across touch-down and lift-off.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "estimator/math/so3.hpp"
#include "estimator/model/moments.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"

namespace estimator {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr double kBrickMass = 1.7;
const Vector3d kFoot(0.12, -0.3, 0.05);  // contact point from the centre of mass [m]
const Matrix3d kTurnedInertia = [] {
  const Matrix3d turn = exp_so3({0.3, -0.5, 0.8}).toRotationMatrix();
  return Matrix3d(turn * Vector3d(0.02, 0.035, 0.05).asDiagonal() * turn.transpose());
}();

void append_compound_joint(Mechanism& mechanism, Joint joint) {
  const std::string name = joint.name;
  const int count = joint.coordinate_count();
  for (; joint.place < count; ++joint.place) {
    const int k = 7 - count + joint.place;
    joint.name = name + kCoordinateSuffixes[k];
    joint.kind = k < 3 ? JointKind::kPrismatic : JointKind::kQuaternion;
    mechanism.joints.push_back(joint);
  }
}

void set_body_inertia(Mechanism& mechanism, int body, double mass, const Matrix3d& inertia) {
  mechanism.parameter(body, BodyParameter::kMass).value = mass;
  const std::array<int, 6> indices = moment_of_inertia_indices(mechanism, body);
  const auto moments = moments_of_inertia(inertia);
  for (int k = 0; k < 6; ++k) mechanism.at(indices[k]).value = moments[k];
}

void set_contact_point(Mechanism& mechanism, int contact, const Vector3d& point) {
  for (int k = 0; k < 3; ++k) {
    mechanism.at(mechanism.contact_parameter_index(contact, ContactParameter::kPointX) + k).value =
        point[k];
  }
}

/// A body that moves freely, or turns about its foot in a spherical joint at the origin.
/// @param contacts  contacts of the body at its foot
Mechanism make_brick(Joint::Type type, const std::vector<GroundContact>& contacts) {
  Mechanism mechanism;
  mechanism.bodies = {{"brick"}};
  mechanism.contacts = contacts;
  append_compound_joint(mechanism, {.name = "base", .type = type});
  make_parameters(mechanism);
  set_body_inertia(mechanism, 0, kBrickMass, kTurnedInertia);
  for (int i = 0; i < mechanism.contact_count(); ++i) set_contact_point(mechanism, i, kFoot);
  for (int k = 0; type == Joint::Type::kSpherical && k < 3; ++k) {
    mechanism.at(mechanism.joint_parameter_index(0, JointParameter::kPointBx) + k).value = kFoot[k];
  }
  return mechanism;
}

Eigen::Vector4d quaternion_coefficients(const Quaterniond& q) {
  return {q.w(), q.x(), q.y(), q.z()};
}

Eigen::Vector4d quaternion_rate(const Quaterniond& q, const Vector3d& omega) {
  return 0.5 * quaternion_coefficients(q * Quaterniond(0.0, omega[0], omega[1], omega[2]));
}

/// A free body, an arm on it and two contacts, one on each body.
Mechanism make_walker() {
  Mechanism mechanism;
  mechanism.bodies = {{"trunk"}, {"leg"}};
  append_compound_joint(mechanism, {.name = "base", .type = Joint::Type::kFree});
  Joint hip{.name = "hip", .body_a = 0, .body_b = 1};
  hip.motor.present = true;
  mechanism.joints.push_back(hip);
  mechanism.contacts = {{"tail", 0}, {"foot", 1}};
  make_parameters(mechanism);
  set_body_inertia(mechanism, 0, kBrickMass, kTurnedInertia);
  set_body_inertia(mechanism, 1, 0.5, 0.2 * kTurnedInertia);
  const int at = mechanism.joint_parameter_index(7, JointParameter::kPointAx);
  mechanism.at(at + 1).value = -0.2;
  mechanism.at(at + 4).value = 0.15;
  mechanism.joint_parameter(7, JointParameter::kMotorGain).value = 1.3;
  mechanism.joint_parameter(7, JointParameter::kViscous).value = 0.05;
  set_contact_point(mechanism, 0, {-0.3, -0.1, 0.02});
  set_contact_point(mechanism, 1, {0.02, -0.2, 0.04});
  for (const int index :
       {mechanism.index(0, BodyParameter::kMass), mechanism.index(1, BodyParameter::kJzz),
        mechanism.joint_parameter_index(7, JointParameter::kPointBy),
        mechanism.joint_parameter_index(7, JointParameter::kViscous),
        mechanism.contact_parameter_index(0, ContactParameter::kPointX),
        mechanism.contact_parameter_index(1, ContactParameter::kPointY)}) {
    mechanism.at(index).free = true;
  }
  return mechanism;
}

/// The motion of a mechanism over some samples with the given contacts.
struct ContactCourse {
  /// @param active  samples × contacts
  ContactCourse(const Mechanism& mechanism, const Eigen::MatrixXd& active, double sampling_period,
                const Eigen::VectorXd& start)
      : program(mechanism) {
    const auto count = static_cast<int>(active.rows()) - 1;
    segment.period = sampling_period;
    segment.angles = Eigen::MatrixXd::Zero(count + 1, 1);
    segment.controls = Eigen::MatrixXd::Constant(
        count + 1, static_cast<Eigen::Index>(program.motor_joints().size()), 0.4);
    segment.contacts = active;
    controls = {segment, even_edges(sampling_period, count),
                std::vector<ControlDelay>(program.motor_joints().size())};
    interval = {.controls = &controls,
                .last_substep = controls.first(count),
                .last_sample = count + 1,
                .period = sampling_period,
                .start = start};
  }

  TreeProgram program;
  Segment segment;
  SegmentControls controls;
  MotionInterval interval;
};

/// Returns a state with a turned body; the foot of the brick is at the origin and at rest.
Eigen::VectorXd standing_state(const Vector3d& omega) {
  const Quaterniond q = exp_so3({0.4, -1.1, 0.3});
  Eigen::VectorXd start(14);
  start << -(q * kFoot), quaternion_coefficients(q), -(q * omega.cross(kFoot)),
      quaternion_rate(q, omega);
  return start;
}

TEST(GroundContactTest, PointMovesBodyAsSphericalJointAtThePoint) {
  const Mechanism free = make_brick(Joint::Type::kFree, {{"foot", 0}});
  const Mechanism hung = make_brick(Joint::Type::kSpherical, {});
  const Eigen::VectorXd start = standing_state({1.0, -2.0, 0.5});
  const int samples = 1001;
  const ContactCourse course(free, Eigen::MatrixXd::Ones(samples, 1), 1e-3, start);
  const Moved moved = move(course.program, free, course.interval);
  Eigen::VectorXd turn(8);
  turn << start.segment<4>(3), start.tail<4>();
  const Eigen::MatrixXd expected = simulate(hung, turn, Eigen::MatrixXd(samples - 1, 0), 1e-3, 1);
  EXPECT_LT((moved.angles.rightCols(4) - expected).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_GT((expected.row(0) - expected.bottomRows(1)).norm(), 0.5);  // it moves far
  for (Eigen::Index k = 0; k < samples; k += 100) {
    const Quaterniond q =
        Quaterniond(moved.angles(k, 3), moved.angles(k, 4), moved.angles(k, 5), moved.angles(k, 6))
            .normalized();
    EXPECT_LT((moved.angles.row(k).head<3>().transpose() + q * kFoot).norm(), 1e-9);
  }
}

TEST(GroundContactTest, TouchDownIsTheInelasticImpactOfARigidBody) {
  const Mechanism mechanism = make_brick(Joint::Type::kFree, {{"foot", 0}});
  const Vector3d omega(0.7, -1.5, 0.4), velocity(0.3, -2.0, 0.6);
  Eigen::VectorXd start = standing_state(omega);
  start.segment<3>(7) = velocity;
  const double moment = 1e-9;
  const ContactCourse course(mechanism, Eigen::MatrixXd::Ones(2, 1), moment, start);
  const Eigen::VectorXd end = move(course.program, mechanism, course.interval).interval.end;

  const Matrix3d R = exp_so3({0.4, -1.1, 0.3}).toRotationMatrix();
  const Vector3d r = R * kFoot;
  const Matrix3d inverse_inertia = R * kTurnedInertia.inverse() * R.transpose();
  const Matrix3d K =
      Matrix3d::Identity() / kBrickMass - hat(r) * inverse_inertia * hat(r);  // of the foot
  const Vector3d impulse = -K.inverse() * (velocity + (R * omega).cross(r));
  const Vector3d after = velocity + impulse / kBrickMass;
  const Vector3d turning = omega + R.transpose() * inverse_inertia * r.cross(impulse);
  EXPECT_LT((end.segment<3>(7) - after).norm(), 1e-6);
  EXPECT_LT((end.tail<4>() - quaternion_rate(exp_so3({0.4, -1.1, 0.3}), turning)).norm(), 1e-6);
  EXPECT_GT((after - velocity).norm(), 0.5);
}

TEST(GroundContactTest, DerivativesPassTouchDownAndLiftOffExactly) {
  const Mechanism mechanism = make_walker();
  Eigen::MatrixXd active = Eigen::MatrixXd::Zero(121, 2);
  active.col(0).segment(20, 70).setOnes();  // lift-off of the tail while the foot stands
  active.col(1).segment(50, 60).setOnes();
  const Quaterniond q = exp_so3({0.2, 0.5, -0.3});
  Eigen::VectorXd start(16);
  start << 0.1, 0.2, -0.3, quaternion_coefficients(q), 0.3, 0.5, -0.8, 0.2,
      quaternion_rate(q, {0.8, -0.4, 1.2}), -0.7;
  const ContactCourse course(mechanism, active, 2e-3, start);
  expect_slopes(course.program, mechanism, course.interval, 3e-6);
}

TEST(GroundContactTest, LastsFromOneSampleToTheNextAndThenEnds) {
  const Mechanism mechanism = make_brick(Joint::Type::kFree, {{"foot", 0}});
  Eigen::MatrixXd active = Eigen::MatrixXd::Zero(400, 1);
  active.topRows(100).setOnes();
  const ContactCourse course(mechanism, active, 1e-3, standing_state({1.0, -2.0, 0.5}));
  const Eigen::MatrixXd angles = move(course.program, mechanism, course.interval).angles;
  const auto acceleration = [&](Eigen::Index k) {
    return Vector3d((angles.row(k + 1) - 2.0 * angles.row(k) + angles.row(k - 1)).head<3>() / 1e-6);
  };
  EXPECT_GT((acceleration(50) - Vector3d(0.0, -9.82, 0.0)).norm(), 1.0);
  EXPECT_LT((acceleration(200) - Vector3d(0.0, -9.82, 0.0)).norm(), 1e-4);  // in free fall
}

TEST(GroundContactTest, SolesAndRedundantContactsHoldABodyStill) {
  Mechanism mechanism = make_brick(
      Joint::Type::kFree, {{"sole", 0, GroundContact::Kind::kPlane}, {"tip", 0}, {"toe", 0}});
  set_contact_point(mechanism, 1, {0.2, 0.1, 0.0});
  set_contact_point(mechanism, 2, {-0.2, 0.1, 0.1});
  const Eigen::VectorXd start = standing_state({1.0, -2.0, 0.5});  // stopped at once
  const ContactCourse course(mechanism, Eigen::MatrixXd::Ones(201, 3), 5e-3, start);
  const Eigen::MatrixXd angles = move(course.program, mechanism, course.interval).angles;
  EXPECT_LT((angles.rowwise() - angles.row(0)).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace estimator
