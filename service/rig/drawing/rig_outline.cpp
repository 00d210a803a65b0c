#include "service/rig/drawing/rig_outline.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "proto/text/printable.hpp"
#include "service/rig/drawing/scene.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector3d;
using estimator::DirectedJoint;
using estimator::Mechanism;

std::string json_value(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
}

std::string json_point(const Vector3d& p) {
  return "[" + json_value(p.x()) + "," + json_value(p.y()) + "," + json_value(p.z()) + "]";
}

std::string json_list(const std::vector<std::string>& items) {
  return "[" + join_items(items, std::identity(), ",") + "]";
}

// Names in rig files are identifiers of letters, digits, "_" and similar; anything else is
// replaced.
std::string json_name(const std::string& name) {
  std::string text;
  for (const char letter : proto::to_utf8(name)) {
    const bool is_plain = letter != '"' && letter != '\\' && (letter & 0xe0) != 0;
    text += is_plain ? letter : '?';
  }
  return "\"" + text + "\"";
}

/// Bodies of a mechanism with all joints of its spanning tree at zero.
class Outline {
 public:
  explicit Outline(const Rig& rig)
      : mechanism_(rig.mechanism),
        zero_(
            estimator::place_bodies(mechanism_, Eigen::VectorXd::Zero(mechanism_.joint_count()))) {
    const auto rest = estimator::find_stable_equilibrium(mechanism_);
    rest_ = rest ? estimator::find_equilibrium_within_stops(mechanism_, *rest)
                 : Eigen::VectorXd(Eigen::VectorXd::Zero(mechanism_.joint_count()));
    for (const SceneView& view : choose_scene_views(make_scene(rig, rest_))) {
      views_.push_back("{\"name\":" + json_name(view.name) + ",\"right\":" +
                       json_point(view.right) + ",\"up\":" + json_point(view.up) + "}");
    }
  }

  std::string json() const {
    std::vector<std::string> joints, loops, mimics;
    const auto tree = estimator::spanning_tree(mechanism_);
    for (const DirectedJoint& edge : tree) joints.push_back(joint_json(edge));
    for (const DirectedJoint& edge : estimator::loop_closing_joints(mechanism_)) {
      loops.push_back("{\"a\":" + std::to_string(edge.parent.body) + ",\"pointA\":" +
                      json_point(point(edge, false)) + ",\"b\":" + std::to_string(edge.child.body) +
                      ",\"pointB\":" + json_point(point(edge, true)) + "}");
    }
    const auto place = [&](int joint) {
      const auto found = std::ranges::find_if(
          tree, [&](const DirectedJoint& edge) { return !edge.weld && edge.joint == joint; });
      return found == tree.end() ? -1 : static_cast<int>(found - tree.begin());
    };
    for (const estimator::MimicJoint& mimic : mechanism_.mimic_joints) {
      const int joint = place(mimic.joint), follows = place(mimic.follows);
      if (joint < 0 || follows < 0) continue;
      mimics.push_back(fmt::format("{{\"joint\":{},\"follows\":{},\"ratio\":{},\"offset\":{}}}",
                                   joint, follows, json_value(mimic.ratio),
                                   json_value(mimic.offset)));
    }
    return "{\"name\":" + json_name(mechanism_.name) + ",\"views\":" + json_list(views_) +
           ",\"bodies\":" + json_list(body_items()) + ",\"joints\":" + json_list(joints) +
           ",\"mimics\":" + json_list(mimics) + ",\"loops\":" + json_list(loops) + "}";
  }

 private:
  Vector3d in_world(int body, const Vector3d& point_on_body) const {
    if (body < 0) return point_on_body;
    const estimator::Pose& pose = zero_[static_cast<std::size_t>(body)];
    return pose.r + pose.e * point_on_body;
  }

  Vector3d point(const DirectedJoint& edge, bool on_child) const {
    const estimator::JointSide& side = on_child ? edge.child : edge.parent;
    return in_world(side.body,
                    {mechanism_.at(side.point).value, mechanism_.at(side.point + 1).value,
                     mechanism_.at(side.point + 2).value});
  }

  std::string joint_json(const DirectedJoint& edge) const {
    const Vector3d axis = edge.parent.frame.col(0);
    const int body = edge.parent.body;
    const Vector3d in_zero =
        body < 0 ? axis : Vector3d(zero_[static_cast<std::size_t>(body)].e * axis);
    const estimator::Joint* const joint =
        edge.weld ? nullptr : &mechanism_.joints[static_cast<std::size_t>(edge.joint)];
    const char* const kind = edge.weld || joint->is_compound() ? "fixed"
                             : joint->kind_traits().turns      ? "turns"
                                                               : "slides";
    return fmt::format(
        "{{\"name\":{},\"kind\":\"{}\",\"parent\":{},\"child\":{},\"point\":{},\"axis\":{},"
        "\"sign\":{},\"start\":{},\"measured\":{}}}",
        json_name(edge.weld ? "" : joint->name), kind, body, edge.child.body,
        json_point(point(edge, false)), json_point(in_zero), edge.forward ? 1 : -1,
        json_value(edge.weld ? 0.0 : rest_[edge.joint]), !edge.weld && joint->measured);
  }

  std::vector<std::string> body_items() const {
    std::vector<std::vector<std::string>> points(mechanism_.bodies.size());
    for (const DirectedJoint& edge : estimator::all_directed_joints(mechanism_)) {
      for (const bool on_child : {false, true}) {
        const int body = on_child ? edge.child.body : edge.parent.body;
        if (body < 0) continue;
        points[static_cast<std::size_t>(body)].push_back(json_point(point(edge, on_child)));
      }
    }
    std::vector<std::string> items;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto& body = mechanism_.bodies[k];
      items.push_back("{\"name\":" + json_name(body.name) + ",\"points\":" + json_list(points[k]) +
                      ",\"mass\":" + (body.massless ? "null" : json_point(zero_[k].r)) + "}");
    }
    return items;
  }

  const Mechanism& mechanism_;
  estimator::Configuration zero_;
  Eigen::VectorXd rest_;
  std::vector<std::string> views_;
};

}  // namespace

std::string make_rig_outline_json(const Rig& rig) { return Outline(rig).json(); }

}  // namespace service
