#include "tests/studies/arm/arm_draw.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "estimator/math/decompositions.hpp"
#include "proto/notation/number_format.hpp"
#include "service/rig/rig_file.hpp"

namespace service {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Random = std::mt19937_64;

double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Returns 1 − initial_error or 1 + initial_error at random.
double off_by(Random& random, double initial_error) {
  return std::bernoulli_distribution()(random) ? 1.0 + initial_error : 1.0 - initial_error;
}

/// Typical dimensions of a link of an arm. The link's length is along x, y or z of its frame.
struct LinkShape {
  Vector3d to_next;  // [m]
  double turn_x;     // of the next joint's frame about x [rad]
  double mass;       // typical [kg]
  double thickness;  // standard deviation of the mass distribution across the length [m]
  double friction;   // typical dry friction [N·m]
  double shaft;      // typical [kg·m²]
};

constexpr double kSimulationStep = 2.5e-3;  // [s]
constexpr double kQuarter = 0.5 * std::numbers::pi;

std::vector<LinkShape> shapes_of(int links) {
  if (links == 2) {
    return {{{0.4, 0.0, 0.0}, 0.0, 3.0, 0.05, 0.5, 0.05},
            {{0.35, 0.0, 0.0}, 0.0, 2.0, 0.04, 0.3, 0.02}};
  }
  std::vector<LinkShape> all = {{{0.0, 0.0, 0.15}, kQuarter, 4.0, 0.07, 0.8, 0.05},
                                {{0.4, 0.0, 0.05}, 0.0, 4.0, 0.06, 0.8, 0.05},
                                {{0.3, 0.0, 0.0}, -kQuarter, 3.0, 0.05, 0.6, 0.04},
                                {{0.0, 0.05, 0.15}, kQuarter, 2.0, 0.05, 0.4, 0.03},
                                {{0.0, 0.05, 0.12}, -kQuarter, 2.0, 0.05, 0.4, 0.03},
                                {{0.1, 0.0, 0.1}, 0.0, 2.0, 0.05, 0.3, 0.02}};
  all.resize(static_cast<std::size_t>(links));
  return all;
}

ArmBody draw_body(const LinkShape& shape, Random& random) {
  ArmBody body;
  body.mass = shape.mass * between(random, 0.7, 1.3);
  for (int axis = 0; axis < 3; ++axis) {
    body.centre[axis] =
        between(random, 0.35, 0.65) * shape.to_next[axis] + between(random, -0.03, 0.03);
  }
  Vector3d spread;  // principal standard deviations of the mass distribution [m]
  for (int axis = 0; axis < 3; ++axis) {
    spread[axis] = std::abs(shape.to_next[axis]) / std::sqrt(12.0) +
                   shape.thickness * between(random, 0.7, 1.3);
  }
  const Vector3d turn(between(random, -0.3, 0.3), between(random, -0.3, 0.3),
                      between(random, -0.3, 0.3));
  const Matrix3d axes = Eigen::AngleAxisd(turn.norm(), turn.normalized()).toRotationMatrix();
  body.second =
      axes * (body.mass * spread.cwiseAbs2()).asDiagonal().toDenseMatrix() * axes.transpose();
  return body;
}

/// Changes a body's mass, coordinates of the centre of mass, and principal second moments, each by
/// the relative error up or down. The result is physically consistent.
ArmBody wrong_body(const ArmBody& body, double initial_error, Random& random) {
  ArmBody start = body;
  start.mass *= off_by(random, initial_error);
  for (double& coordinate : start.centre) coordinate *= off_by(random, initial_error);
  const auto [second_moments, axes] = estimator::symmetric_eigen3(body.second);
  Vector3d moments = second_moments;
  for (double& moment : moments) moment *= off_by(random, initial_error);
  start.second = axes * moments.asDiagonal() * axes.transpose();
  return start;
}

std::string parameter(const char* name, double value, bool free) {
  return std::string(name) + " { value: " + notation::format_exact(value) +
         (free ? " free: true }" : " }");
}

std::string direction(const char* name, const Vector3d& v) {
  return std::string(name) + " { x: " + notation::format_exact(v.x()) +
         " y: " + notation::format_exact(v.y()) + " z: " + notation::format_exact(v.z()) + " }";
}

std::string point(const char* name, const Vector3d& v, bool free) {
  return std::string(name) + " { " + parameter("x", v.x(), free) + " " +
         parameter("y", v.y(), free) + " " + parameter("z", v.z(), free) + " }";
}

std::string body_text(const std::string& name, const ArmBody& body) {
  const Matrix3d J = body.second.trace() * Matrix3d::Identity() - body.second;
  return "body {\n  name: \"" + name + "\"\n  " + parameter("mass", body.mass, true) +
         "\n  inertia {\n    " + parameter("xx", J(0, 0), true) + "\n    " +
         parameter("yy", J(1, 1), true) + "\n    " + parameter("zz", J(2, 2), true) + "\n    " +
         parameter("xy", J(0, 1), true) + "\n    " + parameter("xz", J(0, 2), true) + "\n    " +
         parameter("yz", J(1, 2), true) + "\n  }\n  " + point("center_of_mass", body.centre, true) +
         "\n}\n";
}

std::string joint_text(std::size_t i, const ArmLink& link, double noise) {
  const std::string name = std::to_string(i + 1);
  const std::string parent = i == 0 ? "ground" : std::string("L") + std::to_string(i);
  return "joint {\n  name: \"" + name + "\"\n  parent {\n    body: \"" + parent + "\"\n    " +
         point("point", link.point, false) + "\n    " + direction("axis", link.mount.col(2)) +
         "\n    " + direction("zero_direction", link.mount.col(0)) +
         "\n  }\n  child {\n    body: \"L" + name +
         "\"\n    axis { z: 1 }\n    zero_direction { x: 1 }\n  }\n  friction {\n    " +
         parameter("viscous", link.viscous, true) + "\n    " +
         parameter("coulomb_torque", link.coulomb, true) +
         "\n  }\n  motor {\n    control_unit: \"N·m\"\n    " + parameter("gain", link.gain, i > 0) +
         "\n    " + parameter("shaft_inertia", link.shaft, i > 0) +
         (noise > 0.0 ? "\n    control_noise: " + notation::format_exact(noise) : "") +
         "\n  }\n  encoder { }\n}\n";
}

}  // namespace

ArmLink::Standard ArmBody::standard() const {
  const Matrix3d about_joint = second + mass * centre * centre.transpose();
  const Matrix3d I = about_joint.trace() * Matrix3d::Identity() - about_joint;
  ArmLink::Standard values;
  values << I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2), mass * centre, mass;
  return values;
}

RandomArm make_random_arm(int links, double initial_error, std::uint64_t seed,
                          std::uint64_t start_seed) {
  Random random(seed), astray(start_seed);
  RandomArm drawn;
  const std::vector<LinkShape> shapes = shapes_of(links);
  // World y is up. Two links swing about world z and hang at angle 0; the manipulator's first axis
  // is vertical.
  Matrix3d mount;
  if (links == 2) {
    mount = Eigen::AngleAxisd(-kQuarter, Vector3d::UnitZ()).toRotationMatrix();
  } else {
    mount = Eigen::AngleAxisd(-kQuarter, Vector3d::UnitX()).toRotationMatrix();
  }
  Vector3d at = Vector3d::Zero();
  for (const LinkShape& shape : shapes) {
    const bool first = drawn.bodies.empty();
    drawn.bodies.push_back(draw_body(shape, random));
    ArmLink link{.mount = mount, .point = at, .standard = drawn.bodies.back().standard()};
    link.coulomb = shape.friction * between(random, 0.6, 1.4);
    link.viscous = 0.5 * shape.friction * between(random, 0.6, 1.4);
    link.gain = first ? 1.0 : between(random, 0.8, 1.25);
    link.shaft = shape.shaft * between(random, 0.6, 1.4);
    drawn.arm.links.push_back(link);
    mount = Eigen::AngleAxisd(shape.turn_x, Vector3d::UnitX()).toRotationMatrix();
    at = shape.to_next;
  }
  drawn.start = drawn.arm;
  for (std::size_t i = 0; i < drawn.bodies.size(); ++i) {
    drawn.start_bodies.push_back(wrong_body(drawn.bodies[i], initial_error, astray));
    ArmLink& link = drawn.start.links[i];
    link.standard = drawn.start_bodies.back().standard();
    link.viscous *= off_by(astray, initial_error);
    link.coulomb *= off_by(astray, initial_error);
    if (i == 0) continue;
    link.gain *= off_by(astray, initial_error);
    link.shaft *= off_by(astray, initial_error);
  }
  return drawn;
}

std::string arm_rig_text(const Arm& arm, const std::vector<ArmBody>& bodies, double noise) {
  std::string text = "name: \"arm\"\n";
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    text += body_text(std::string("L") + std::to_string(i + 1), bodies[i]);
  }
  for (std::size_t i = 0; i < arm.links.size(); ++i) text += joint_text(i, arm.links[i], noise);
  return text + "gravity { " + parameter("magnitude", arm.gravity, false) + " }\n";
}

estimator::Mechanism arm_mechanism(const Arm& arm, const std::vector<ArmBody>& bodies,
                                   double noise) {
  return parse_rig("arm", arm_rig_text(arm, bodies, noise)).mechanism;
}

ArmRun with_noise(const ArmRun& run, double noise, std::uint64_t seed) {
  Random random(seed);
  std::normal_distribution<double> normal(0.0, 1.0);
  ArmRun noisy = run;
  for (double& angle : noisy.angles.reshaped()) angle += noise * normal(random);
  for (double& control : noisy.controls.reshaped()) control += noise * normal(random);
  return noisy;
}

RandomArm make_study_arm(const StudyArm& settings, std::uint64_t index) {
  return make_random_arm(settings.links, settings.initial_error, settings.seed + index,
                         settings.seed + 7'919 * (index + 1));
}

RandomArmRun draw_run(const StudyArm& settings, double duration, std::uint64_t index) {
  RandomArm drawn = make_study_arm(settings, index);
  ArmRun clean = simulate_arm(drawn.arm,
                              {.seed = settings.seed + 1'000'003 * (index + 1),
                               .duration = duration,
                               .period = settings.period,
                               .amplitude = settings.amplitude,
                               .slowest = settings.slowest,
                               .fastest = settings.fastest,
                               .dither = settings.dither},
                              kSimulationStep);
  return {std::move(drawn), std::move(clean)};
}

ArmRun recorded_draw(const StudyArm& settings, const ArmRun& clean, double noise,
                     std::uint64_t index) {
  return with_noise(clean, noise, settings.seed + 104'729 * (index + 1));
}

estimator::Recording recording_of(const ArmRun& run) {
  estimator::Segment segment;
  segment.period = run.period;
  segment.angles = run.angles;
  segment.controls = run.controls;
  segment.is_first_of_recording = true;
  return {"run", {segment}};
}

}  // namespace service
