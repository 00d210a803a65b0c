// Spherical and free joints: motions through every orientation, compared with conservation laws and
// with the equations of a rigid body.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "estimator/math/so3.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/placement.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"

namespace estimator {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// Adds the coordinates of a spherical or free joint.
void add_compound(Mechanism& mechanism, Joint joint) {
  const std::string name = joint.name;
  const int count = joint.coordinate_count();
  for (; joint.place < count; ++joint.place) {
    const int k = 7 - count + joint.place;
    joint.name = name + kCoordinateSuffixes[k];
    joint.kind = k < 3 ? JointKind::kPrismatic : JointKind::kQuaternion;
    mechanism.joints.push_back(joint);
  }
}

void set_mass_and_inertia(Mechanism& mechanism, int body, double mass, const Matrix3d& inertia) {
  mechanism.parameter(body, BodyParameter::kMass).value = mass;
  const std::array<int, 6> indices = moment_of_inertia_indices(mechanism, body);
  const auto moments = moments_of_inertia(inertia);
  for (int k = 0; k < 6; ++k) mechanism.at(indices[k]).value = moments[k];
}

void set_point(Mechanism& mechanism, int joint, JointParameter first, const Vector3d& point) {
  for (int k = 0; k < 3; ++k) {
    mechanism.at(mechanism.joint_parameter_index(joint, first) + k).value = point[k];
  }
}

const Matrix3d kBrickInertia = [] {
  const Matrix3d turn = exp_so3({0.3, -0.5, 0.8}).toRotationMatrix();
  return Matrix3d(turn * Vector3d(0.02, 0.035, 0.05).asDiagonal() * turn.transpose());
}();

/// A free body whose pose is that of a point beside its centre of mass.
Mechanism free_body() {
  Mechanism mechanism;
  mechanism.bodies = {{"box"}};
  Joint base{.name = "base", .type = Joint::Type::kFree};
  base.frame_a = exp_so3({0.2, 0.4, -0.1}).toRotationMatrix();
  base.frame_b = exp_so3({-0.6, 0.1, 0.9}).toRotationMatrix();
  add_compound(mechanism, base);
  make_parameters(mechanism);
  set_mass_and_inertia(mechanism, 0, 1.7, kBrickInertia);
  set_point(mechanism, 0, JointParameter::kPointBx, {0.03, -0.05, 0.02});
  return mechanism;
}

/// A free body that carries a second body on a revolute joint.
Mechanism floating_arm() {
  Mechanism mechanism = free_body();
  mechanism.bodies.push_back({"arm"});
  Joint elbow{.name = "elbow", .body_a = 0, .body_b = 1};
  elbow.frame_a = exp_so3({0.5, -0.2, 0.4}).toRotationMatrix();
  elbow.frame_b = exp_so3({-0.1, 0.7, 0.3}).toRotationMatrix();
  mechanism.joints.push_back(elbow);
  make_parameters(mechanism);
  set_mass_and_inertia(mechanism, 0, 1.7, kBrickInertia);
  set_mass_and_inertia(mechanism, 1, 0.6, 0.2 * kBrickInertia);
  set_point(mechanism, 0, JointParameter::kPointBx, {0.03, -0.05, 0.02});
  set_point(mechanism, 7, JointParameter::kPointAx, {0.1, 0.0, 0.05});
  set_point(mechanism, 7, JointParameter::kPointBx, {-0.15, 0.02, 0.0});
  return mechanism;
}

/// Returns the start of a thrown body: coordinates over rates.
/// @param omega  angular velocity in the joint frame of the body [rad/s]
Eigen::VectorXd thrown(const Mechanism& mechanism, const Vector3d& omega) {
  const Eigen::Index n = mechanism.joint_count();
  Eigen::VectorXd start = Eigen::VectorXd::Zero(2 * n);
  const Quaterniond q = exp_so3({0.4, -1.1, 0.3});
  const Quaterniond rate = q * Quaterniond(0.0, omega[0], omega[1], omega[2]);
  start.head<3>() = Vector3d(0.1, 0.2, -0.3);
  start.segment<4>(3) << q.w(), q.x(), q.y(), q.z();
  start.segment<3>(n) = Vector3d(0.5, 2.0, -1.0);
  start.segment<4>(n + 3) << 0.5 * rate.w(), 0.5 * rate.x(), 0.5 * rate.y(), 0.5 * rate.z();
  return start;
}

/// Momentum, angular momentum about the origin of the world, and energy of a mechanism.
struct Invariants {
  Vector3d momentum = Vector3d::Zero(), angular = Vector3d::Zero();
  double energy = 0.0;
};

/// Computes invariants from the poses of the bodies a moment before and after a state.
Invariants invariants_of(const Mechanism& mechanism, const Eigen::VectorXd& coordinates,
                         const Eigen::VectorXd& rates) {
  constexpr double kMoment = 1e-5;  // [s]; the error of the velocities is of its square
  const Configuration before = place_bodies(mechanism, coordinates - kMoment * rates);
  const Configuration now = place_bodies(mechanism, coordinates);
  const Configuration after = place_bodies(mechanism, coordinates + kMoment * rates);
  Invariants sum;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const double mass = mechanism.parameter(body, BodyParameter::kMass).value;
    const Matrix3d R = now[body].e.toRotationMatrix();
    const Matrix3d inertia =
        R * inertia_matrix(moments_of_inertia(mechanism, body)) * R.transpose();
    const Vector3d velocity = (after[body].r - before[body].r) / (2.0 * kMoment);
    const Vector3d omega =
        left_rotation_difference(after[body].e, before[body].e) / (2.0 * kMoment);
    sum.momentum += mass * velocity;
    sum.angular += mass * now[body].r.cross(velocity) + inertia * omega;
    sum.energy += 0.5 * mass * velocity.squaredNorm() + 0.5 * omega.dot(inertia * omega) -
                  mass * gravity_vector(mechanism).dot(now[body].r);
  }
  return sum;
}

constexpr double kPosePeriod = 0.01;
constexpr int kStepsPerPose = 20;  // integration steps per period
constexpr double kSpin = 9.0;  // [rad/s]

/// Returns the coordinates at times 0, period, … and their rates by a fourth-order difference,
/// whose error is below (ω h)⁴/30 of the rates.
Eigen::MatrixXd run(const Mechanism& mechanism, const Eigen::VectorXd& start, int count,
                    int steps = kStepsPerPose) {
  return simulate(mechanism, start, Eigen::MatrixXd(count, 0), kPosePeriod, steps);
}

// The exact motion: the centre of mass on a parabola, and Euler's equations, which are integrated
// here with the angular velocity in the body frame. A Runge–Kutta step h of a motion with the
// frequency ω has the relative error (ω h)⁵/120, so all steps of the duration T have T ω (ω h)⁴/120
// = 1e-11 rad; the tolerance allows for the factor by which the motion itself spreads errors.
// Errors of a wrong term are of the order of 1. With any chart of three angles the motion fails:
// the axis passes the vertical several times.
TEST(FreeJoint, FollowsEulersEquationsThroughAllOrientations) {
  const Mechanism mechanism = free_body();
  const Vector3d spin(0.3, kSpin, 1.5);  // near the unstable middle axis
  const Eigen::VectorXd start = thrown(mechanism, spin);
  constexpr int kCount = 300;
  const Eigen::MatrixXd motion = run(mechanism, start, kCount);

  const Matrix3d frame = mechanism.joints[0].frame_b;
  const Configuration first = place_bodies(mechanism, start.head<7>());
  Quaterniond e = first[0].e;
  Vector3d omega = frame * spin;
  const Invariants initial = invariants_of(mechanism, start.head<7>(), start.tail<7>());
  const Vector3d velocity = initial.momentum / 1.7;
  const auto change = [](const Vector3d& w) {
    return Vector3d(kBrickInertia.ldlt().solve(-w.cross(kBrickInertia * w)));
  };
  double largest = 0.0, tilt_low = 10.0, tilt_high = -10.0;
  const double h = kPosePeriod / 40.0;
  for (int k = 0; k <= kCount; ++k) {
    const double t = k * kPosePeriod;
    const Pose pose = place_bodies(mechanism, motion.row(k).transpose().head<7>())[0];
    const Vector3d fallen = first[0].r + t * velocity + 0.5 * t * t * gravity_vector(mechanism);
    largest =
        std::max({largest, left_rotation_difference(pose.e, e).norm(), (pose.r - fallen).norm()});
    const double pitch = std::asin(std::clamp(e.toRotationMatrix()(2, 0), -1.0, 1.0));
    tilt_low = std::min(tilt_low, pitch);
    tilt_high = std::max(tilt_high, pitch);
    EXPECT_NEAR(motion.row(k).segment<4>(3).norm(), 1.0, 1e-9);
    for (int i = 0; i < 40; ++i) {  // classical Runge–Kutta on (e, ω)
      const auto turn = [](const Quaterniond& q, const Vector3d& w) {
        return Eigen::Vector4d(0.5 * (q * Quaterniond(0.0, w[0], w[1], w[2])).coeffs());
      };
      const auto moved = [&](const Eigen::Vector4d& by, double step) {
        return Quaterniond(Eigen::Vector4d(e.coeffs() + step * by));
      };
      const Eigen::Vector4d q1 = turn(e, omega);
      const Vector3d w1 = change(omega);
      const Eigen::Vector4d q2 = turn(moved(q1, h / 2), omega + h / 2 * w1);
      const Vector3d w2 = change(omega + h / 2 * w1);
      const Eigen::Vector4d q3 = turn(moved(q2, h / 2), omega + h / 2 * w2);
      const Vector3d w3 = change(omega + h / 2 * w2);
      const Eigen::Vector4d q4 = turn(moved(q3, h), omega + h * w3);
      const Vector3d w4 = change(omega + h * w3);
      e.coeffs() += h / 6 * (q1 + 2 * q2 + 2 * q3 + q4);
      e.normalize();
      omega += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
    }
  }
  std::printf("  largest error %.1e rad or m, pitch %.2f to %.2f rad\n", largest, tilt_low,
              tilt_high);
  EXPECT_LT(largest, 1e-7);
  EXPECT_LT(tilt_low, -1.2);
  EXPECT_GT(tilt_high, 1.2);
}

// Without gravity, momentum, angular momentum and energy of a free body with an arm do not change.
// The rates come from central differences of order 4 over the period with (ω h)⁴/30 = 2e-6 of
// relative error, the largest error here. A wrong coupling of base and arm changes them by 1e-2.
TEST(FreeJoint, ConservesMomentumAndEnergyOfAFloatingArm) {
  Mechanism mechanism = floating_arm();
  mechanism.parameter(GravityParameter::kGravity).value = 0.0;
  Eigen::VectorXd start = thrown(mechanism, {1.0, 4.0, -3.0});
  start[7] = 0.5;
  start[15] = -6.0;
  constexpr int kCount = 200;
  const Eigen::MatrixXd motion = run(mechanism, start, kCount);
  const Invariants initial = invariants_of(mechanism, start.head<8>(), start.tail<8>());
  for (int k = 2; k + 2 <= kCount; k += 7) {
    const Eigen::VectorXd rates =
        (8.0 * (motion.row(k + 1) - motion.row(k - 1)) - (motion.row(k + 2) - motion.row(k - 2)))
            .transpose() /
        (12.0 * kPosePeriod);
    const Invariants now = invariants_of(mechanism, motion.row(k).transpose(), rates);
    EXPECT_LT((now.momentum - initial.momentum).norm(), 1e-4 * initial.momentum.norm()) << k;
    EXPECT_LT((now.angular - initial.angular).norm(), 1e-4 * initial.angular.norm()) << k;
    EXPECT_NEAR(now.energy, initial.energy, 1e-4 * initial.energy) << k;
  }
}

// Fourth order: half the step, a sixteenth of the error.
TEST(FreeJoint, ConvergesWithFourthOrder) {
  const Mechanism mechanism = free_body();
  const Eigen::VectorXd start = thrown(mechanism, {2.0, -6.0, 3.0});
  const Eigen::RowVectorXd exact = run(mechanism, start, 50, 64).row(50);
  const double coarse = (run(mechanism, start, 50, 2).row(50) - exact).norm();
  const double fine = (run(mechanism, start, 50, 4).row(50) - exact).norm();
  EXPECT_GT(std::log2(coarse / fine), 3.7);
}

TEST(FreeJoint, DerivativesAgreeWithDifferences) {
  Mechanism mechanism = floating_arm();
  for (const auto moment : {BodyParameter::kMass, BodyParameter::kJxx, BodyParameter::kJxy}) {
    mechanism.parameter(0, moment).free = mechanism.parameter(1, moment).free = true;
  }
  mechanism.joint_parameter(0, JointParameter::kPointBy).free = true;
  const TreeProgram program(mechanism);
  Segment segment;
  segment.period = kPosePeriod;
  segment.controls.resize(20, 0);
  const SegmentControls controls(segment, even_edges(kPosePeriod / 4, 80), {});
  Eigen::VectorXd start = thrown(mechanism, {1.0, 4.0, -3.0});
  start[15] = -2.0;
  expect_slopes(program, mechanism,
                {.controls = &controls,
                 .last_substep = controls.first(80),
                 .last_sample = 20,
                 .period = kPosePeriod,
                 .start = start},
                1e-5, 1e-6);
}

// A top on a spherical joint: its energy and the vertical component of its angular momentum about
// the joint do not change.
TEST(SphericalJoint, ConservesEnergyAndVerticalMomentumOfATop) {
  Mechanism mechanism;
  mechanism.bodies = {{"top"}};
  add_compound(mechanism, {.name = "tip", .type = Joint::Type::kSpherical});
  make_parameters(mechanism);
  set_mass_and_inertia(mechanism, 0, 0.8, kBrickInertia);
  set_point(mechanism, 0, JointParameter::kPointBx, {0.0, -0.2, 0.03});
  Eigen::VectorXd start(8);
  const Quaterniond q = exp_so3({0.9, 0.2, 0.4});
  const Quaterniond rate = q * Quaterniond(0.0, 1.0, 12.0, -2.0);
  start << q.w(), q.x(), q.y(), q.z(), 0.5 * rate.w(), 0.5 * rate.x(), 0.5 * rate.y(),
      0.5 * rate.z();
  constexpr int kCount = 150;
  const Eigen::MatrixXd motion = run(mechanism, start, kCount);
  const Invariants initial = invariants_of(mechanism, start.head<4>(), start.tail<4>());
  for (int k = 2; k + 2 <= kCount; k += 7) {
    const Eigen::VectorXd rates =
        (8.0 * (motion.row(k + 1) - motion.row(k - 1)) - (motion.row(k + 2) - motion.row(k - 2)))
            .transpose() /
        (12.0 * kPosePeriod);
    const Invariants now = invariants_of(mechanism, motion.row(k).transpose(), rates);
    EXPECT_NEAR(now.energy, initial.energy, 1e-4 * std::abs(initial.energy)) << k;
    EXPECT_NEAR(now.angular.y(), initial.angular.y(), 1e-4 * initial.angular.norm()) << k;
  }
}

}  // namespace
}  // namespace estimator
