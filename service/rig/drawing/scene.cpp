#include "service/rig/drawing/scene.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/math/so3.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"

namespace service {
namespace {

using Eigen::Vector3d;

constexpr double kSamePlace = 1e-6;  // [m]

std::vector<std::vector<Eigen::Vector3d>> joint_points_of_bodies(
    const estimator::Mechanism& mechanism) {
  std::vector<std::vector<Eigen::Vector3d>> points(mechanism.bodies.size());
  const auto add = [&](int body, const Eigen::Vector3d& point) {
    if (body < 0) return;
    auto& known = points[static_cast<std::size_t>(body)];
    const bool there = std::ranges::any_of(
        known, [&](const Eigen::Vector3d& other) { return (other - point).norm() < kSamePlace; });
    if (!there) known.push_back(point);
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    add(joint.body_a, estimator::joint_point(mechanism, j, false));
    add(joint.body_b, estimator::joint_point(mechanism, j, true));
  }
  for (int w = 0; w < mechanism.fixed_joint_count(); ++w) {
    const estimator::FixedJoint& weld = mechanism.fixed_joints[static_cast<std::size_t>(w)];
    add(weld.body_a, estimator::fixed_joint_point(mechanism, w, false));
    add(weld.body_b, estimator::fixed_joint_point(mechanism, w, true));
  }
  return points;
}

// Lengths relative to the mechanism's size, so that pictures of all rigs look alike.
constexpr double kAxisHalf = 0.13;
constexpr double kPost = 0.07;
constexpr double kTallPost = 0.28;    // under a vertical axis
constexpr double kZeroBeyond = 1.18;  // relative to the body's reach
constexpr double kZeroLeast = 0.22;
constexpr double kArcLeast = 0.13, kArcMost = 0.3;
constexpr double kArcOfReach = 0.62;    // the arc's radius
constexpr double kReadingRadius = 1.3;  // of an encoder between bodies: outside the joint's arc
constexpr double kRailHalf = 0.55;
constexpr double kCartHalf = 0.11;
constexpr double kSensorAxis = 0.12;
constexpr double kArcTurn = M_PI / 3.6;
constexpr int kArcPoints = 16;
constexpr double kUpright = 0.7;  // cosine above which an axis counts as vertical

/// Returns the values of three consecutive parameters of a sensor, `first` and the next two.
Vector3d triple_of(const estimator::Mechanism& mechanism, int sensor,
                   estimator::SensorParameter first) {
  const int index = mechanism.sensor_parameter_index(sensor, first);
  return {mechanism.at(index).value, mechanism.at(index + 1).value, mechanism.at(index + 2).value};
}

class SceneMaker {
 public:
  SceneMaker(const Rig& rig, const Eigen::VectorXd& coordinates)
      : mechanism_(rig.mechanism),
        at_(coordinates),
        poses_(estimator::place_bodies(rig.mechanism, coordinates)),
        points_(joint_points_of_bodies(rig.mechanism)) {
    scene_.gravity = estimator::gravity_vector(mechanism_);
    if (scene_.gravity.norm() > 0.0) scene_.up = -scene_.gravity.normalized();
    size_ = measure();
  }

  Scene make() {
    for (int i = 0; i < mechanism_.body_count(); ++i) draw_body(i);
    for (int j = 0; j < mechanism_.joint_count(); ++j) {
      if (joint(j).is_compound()) continue;  // a free body is not attached to anything
      if (joint(j).kind_traits().turns) {
        draw_joint(j);
      } else {
        draw_slide(j);
      }
    }
    for (int w = 0; w < mechanism_.fixed_joint_count(); ++w) draw_weld(w);
    for (const estimator::BodyEncoder& encoder : mechanism_.body_encoders) draw_encoder(encoder);
    for (int k = 0; k < mechanism_.sensor_count(); ++k) draw_sensor(k);
    return scene_;
  }

 private:
  const estimator::Joint& joint(int j) const {
    return mechanism_.joints[static_cast<std::size_t>(j)];
  }
  Vector3d in_world(int body, const Vector3d& point) const {
    if (body < 0) return point;
    const estimator::Pose& pose = poses_[static_cast<std::size_t>(body)];
    return pose.r + pose.e * point;
  }
  Vector3d direction(int body, const Vector3d& of_body) const {
    return body < 0 ? of_body : poses_[static_cast<std::size_t>(body)].e * of_body;
  }
  Vector3d center(int body) const { return poses_[static_cast<std::size_t>(body)].r; }
  Vector3d axis(int j) const { return direction(joint(j).body_a, joint(j).frame_a.col(0)); }
  Vector3d place(int j) const {  // on the child body
    return in_world(joint(j).body_b, estimator::joint_point(mechanism_, j, true));
  }

  /// Returns the largest distance between two points of the mechanism [m].
  double measure() const {
    std::vector<Vector3d> all;
    for (int i = 0; i < mechanism_.body_count(); ++i) {
      all.push_back(center(i));
      for (const Vector3d& point : points_[static_cast<std::size_t>(i)]) {
        all.push_back(in_world(i, point));
      }
    }
    for (int j = 0; j < mechanism_.joint_count(); ++j) {
      all.push_back(in_world(joint(j).body_a, estimator::joint_point(mechanism_, j, false)));
    }
    for (int k = 0; k < mechanism_.sensor_count(); ++k) {
      all.push_back(find_sensor_placement(mechanism_, k, poses_).at);
    }
    double largest = 0.0;
    for (const Vector3d& a : all) {
      for (const Vector3d& b : all) largest = std::max(largest, (a - b).norm());
    }
    return largest > 0.0 ? largest : 0.1;
  }

  bool is_cart(int body) const {
    return std::ranges::any_of(mechanism_.joints, [&](const estimator::Joint& joint) {
      return !joint.is_compound() && !joint.kind_traits().turns && joint.body_b == body;
    });
  }

  void draw_body(int i) {
    const auto& points = points_[static_cast<std::size_t>(i)];
    if (points.empty()) return;
    std::vector<Vector3d> outline;
    for (const Vector3d& point : points) outline.push_back(in_world(i, point));
    if (outline.size() > 2) outline.push_back(outline.front());
    if (outline.size() > 1) scene_.lines.push_back({LineRole::kBody, outline});
    const bool massless = mechanism_.bodies[static_cast<std::size_t>(i)].massless;
    if (!massless && is_aside(outline, center(i))) {
      scene_.lines.push_back({LineRole::kBody, {outline.front(), center(i)}});
    }
    if (!massless) scene_.symbols.push_back({Symbol::kMass, center(i)});
    const Vector3d middle =
        outline.size() == 1 ? center(i) : Vector3d(0.5 * (outline[0] + outline[1]));
    scene_.labels.push_back({LineRole::kBody, is_cart(i) || massless ? outline.front() : middle,
                             mechanism_.bodies[static_cast<std::size_t>(i)].name});
  }

  /// Returns whether a centre of mass is so far from its body's outline that a line must connect
  /// them.
  bool is_aside(const std::vector<Vector3d>& outline, const Vector3d& point) const {
    double nearest = (point - outline.front()).norm();
    for (std::size_t k = 1; k < outline.size(); ++k) {
      const Vector3d along = outline[k] - outline[k - 1];
      const double share =
          std::clamp((point - outline[k - 1]).dot(along) / along.squaredNorm(), 0.0, 1.0);
      nearest = std::min(nearest, (outline[k - 1] + share * along - point).norm());
    }
    return nearest > 1e-3 * size_;
  }

  /// Returns the vector from a joint to the far end of a body, perpendicular to the joint's axis
  /// [m]. Returns nullopt if the body extends in no direction, like a disc.
  std::optional<Vector3d> reach(int body, const Vector3d& from, const Vector3d& axis) const {
    const auto across = [&](const Vector3d& to) {
      const Vector3d d = to - from;
      return Vector3d(d - axis * axis.dot(d));
    };
    Vector3d best = across(center(body));
    // The far end is another joint of the body, if one is away from the axis.
    double farthest = best.norm();
    for (const Vector3d& point : points_[static_cast<std::size_t>(body)]) {
      const Vector3d d = across(in_world(body, point));
      if (d.norm() > std::max(farthest, 1e-3 * size_)) {
        best = d;
        farthest = d.norm();
      }
    }
    if (farthest < 1e-2 * size_) return std::nullopt;
    return best;
  }

  /// Draws the zero mark of an angle and an arrow in the positive direction.
  void draw_angle(const Vector3d& from, const Vector3d& axis, const Vector3d& zero, double wide,
                  LineRole ink, const std::string& name) {
    const double length = std::max(kZeroBeyond * zero.norm(), kZeroLeast * size_);
    const Vector3d mark = zero.normalized();
    scene_.lines.push_back({LineRole::kZero, {from, from + length * mark}});
    scene_.labels.push_back({LineRole::kZero, from + length * mark, "0"});
    const double radius =
        wide * std::clamp(kArcOfReach * zero.norm(), kArcLeast * size_, kArcMost * size_);
    SceneLine arc{ink, {}, true};
    for (int k = 0; k <= kArcPoints; ++k) {
      const Eigen::AngleAxisd turn(kArcTurn * k / kArcPoints, axis);
      arc.points.push_back(from + radius * (turn * mark));
    }
    scene_.labels.push_back({ink, arc.points.back(), "+" + name});
    scene_.lines.push_back(arc);
  }

  void draw_joint(int j) {
    const Vector3d e = axis(j), p = place(j);
    const int child = joint(j).body_b;
    scene_.turns.push_back(e);
    const double half = kAxisHalf * size_;
    scene_.lines.push_back({LineRole::kAxis, {p - half * e, p + half * e}});
    if (joint(j).body_a < 0) draw_ground(p, e, child);
    const auto far = reach(child, p, e);
    const Vector3d now =
        far ? *far : Vector3d(kArcLeast * size_ * direction(child, joint(j).frame_b.col(1)));
    draw_angle(p, e, Eigen::AngleAxisd(-at_[j], e) * now, 1.0, LineRole::kPositive, joint(j).name);
    scene_.symbols.push_back({Symbol::kJoint, p});
    draw_devices(j, p);
  }

  void draw_devices(int j, const Vector3d& p) {
    if (joint(j).motor.present) scene_.symbols.push_back({Symbol::kMotor, p});
    if (joint(j).measured) scene_.symbols.push_back({Symbol::kEncoder, p});
  }

  void draw_ground(const Vector3d& p, const Vector3d& e, int child) {
    const bool upright = std::abs(e.dot(scene_.up)) > kUpright;
    const bool hangs = !upright && (center(child) - p).dot(scene_.up) < -1e-3 * size_;
    const Vector3d toward = hangs ? scene_.up : Vector3d(-scene_.up);
    const Vector3d foot = p + (upright ? kTallPost : kPost) * size_ * toward;
    scene_.lines.push_back({LineRole::kSupport, {p, foot}});
    scene_.symbols.push_back({Symbol::kGround, foot, toward});
  }

  void draw_slide(int j) {
    const Vector3d e = axis(j), p = place(j), zero = p - at_[j] * e;
    scene_.slides.push_back(e);
    Vector3d up = scene_.up - e * e.dot(scene_.up);
    if (up.norm() < 0.1) up = e.unitOrthogonal();
    up.normalize();
    const double side = kCartHalf * size_, tall = 0.6 * side;
    const Vector3d low = -tall * up;  // the rail is below the sliding body
    const auto rail = [&](double s) { return Vector3d(zero + low + s * e); };
    const double first = std::min(-kRailHalf * size_, at_[j] - 2.0 * side);
    const double last = std::max(kRailHalf * size_, at_[j] + 2.0 * side);
    scene_.lines.push_back({LineRole::kRail, {rail(first), rail(last)}});
    if (joint(j).body_a < 0) {
      scene_.symbols.push_back({Symbol::kGround, rail(0.96 * first), -up});
      scene_.symbols.push_back({Symbol::kGround, rail(0.96 * last), -up});
    }
    scene_.lines.push_back({LineRole::kBody,
                            {p + low - side * e, p + low + side * e, p - low + side * e,
                             p - low - side * e, p + low - side * e}});
    const Vector3d tick = -1.6 * tall * up;
    scene_.lines.push_back({LineRole::kZero, {zero + low, zero + low + tick}});
    scene_.labels.push_back({LineRole::kZero, zero + low + tick, "0"});
    const Vector3d begin = zero + low + 0.7 * tick, end = begin + 2.4 * side * e;
    scene_.lines.push_back({LineRole::kPositive, {begin, end}, true});
    scene_.labels.push_back({LineRole::kPositive, end, "+" + joint(j).name});
    draw_devices(j, p - low);
  }

  void draw_weld(int w) {
    const estimator::FixedJoint& weld = mechanism_.fixed_joints[static_cast<std::size_t>(w)];
    const Vector3d p = in_world(weld.body_b, estimator::fixed_joint_point(mechanism_, w, true));
    if (weld.body_a < 0) scene_.symbols.push_back({Symbol::kGround, p, -scene_.up});
  }

  void draw_encoder(const estimator::BodyEncoder& encoder) {
    const auto terms = estimator::encoder_joint_terms(mechanism_, encoder);
    if (terms.empty() || !joint_traits(encoder_joint_kind(mechanism_, encoder)).turns) return;
    // Drawn at the body's own end of the chain, positive like the first joint.
    const int own = joint_beside(terms, encoder.body_b < 0 ? encoder.body_a : encoder.body_b);
    const Vector3d e = terms.front().sign * axis(terms.front().joint), p = place(own);
    const int body = encoder.body_b < 0 ? encoder.body_a : encoder.body_b;
    double turned = 0.0;
    for (const auto& term : terms) turned += term.sign * at_[term.joint];
    const auto far = reach(body, p, e);
    if (!far) return;
    draw_angle(p, e, Eigen::AngleAxisd(-turned, e) * *far, kReadingRadius, LineRole::kReading,
               encoder.name);
    scene_.symbols.push_back({Symbol::kEncoder, p});
  }

  void draw_sensor(int k) {
    const auto& sensor = mechanism_.sensors[static_cast<std::size_t>(k)];
    const SensorPlacement mark = find_sensor_placement(mechanism_, k, poses_);
    scene_.symbols.push_back(
        {sensor.measures_load() ? Symbol::kLoadSensor : Symbol::kSensor, mark.at});
    if (sensor.kind_traits().mount == estimator::SensorTraits::MountMeaning::kAnchor) {
      scene_.lines.push_back({LineRole::kSensor, {mark.anchor, mark.at}});
      scene_.symbols.push_back(
          {Symbol::kGround, mark.anchor, (mark.anchor - mark.at).normalized()});
    }
    if (!sensor.measures_load() && sensor.body >= 0 &&
        (mark.at - center(sensor.body)).norm() > 1e-3 * size_) {
      scene_.lines.push_back({LineRole::kBody, {center(sensor.body), mark.at}});
    }
    if (!sensor.has_orientation()) {
      scene_.labels.push_back({LineRole::kSensor, mark.at, sensor.name});
      return;
    }
    for (int axis = 0; axis < 3; ++axis) {
      const Vector3d tip = mark.at + kSensorAxis * size_ * mark.axes.col(axis);
      scene_.lines.push_back({LineRole::kSensor, {mark.at, tip}, true});
      const std::string letter(1, static_cast<char>('x' + axis));
      if (axis < 2) {
        scene_.labels.push_back({LineRole::kSensor, tip, axis == 0 ? sensor.name + " x" : letter});
      }
    }
  }

  int joint_beside(const std::vector<estimator::Encoder::JointTerm>& terms, int body) const {
    for (const auto& term : terms) {
      if (joint(term.joint).body_b == body || joint(term.joint).body_a == body) return term.joint;
    }
    return terms.back().joint;
  }

  const estimator::Mechanism& mechanism_;
  const Eigen::VectorXd& at_;
  estimator::Configuration poses_;
  std::vector<std::vector<Vector3d>> points_;  // joint positions on each body
  double size_ = 0.0;                          // [m]
  Scene scene_;
};

}  // namespace

SensorPlacement find_sensor_placement(const estimator::Mechanism& mechanism, int sensor,
                                      const estimator::Configuration& poses) {
  const estimator::Sensor& own = mechanism.sensors[static_cast<std::size_t>(sensor)];
  const Vector3d mount = triple_of(mechanism, sensor, estimator::SensorParameter::kMountX);
  const Vector3d point = triple_of(mechanism, sensor, estimator::SensorParameter::kPointX);
  const Vector3d from =
      own.joint >= 0 ? estimator::joint_point(mechanism, own.joint, true) : Vector3d::Zero();
  SensorPlacement mark{from + point, own.frame, mount};
  if (own.has_orientation()) mark.axes = own.frame * estimator::exp_so3(mount).toRotationMatrix();
  if (own.body < 0) return mark;
  const estimator::Pose& pose = poses[static_cast<std::size_t>(own.body)];
  mark.at = pose.r + pose.e * mark.at;
  // A camera's axes are fixed to the ground, although it observes the body.
  if (own.kind_traits().of != estimator::SensorTraits::MountingElement::kGround)
    mark.axes = pose.e * mark.axes;
  return mark;
}

Scene make_scene(const Rig& rig, const Eigen::VectorXd& coordinates) {
  return SceneMaker(rig, coordinates).make();
}

}  // namespace service
