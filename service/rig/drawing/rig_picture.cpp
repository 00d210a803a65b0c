#include "service/rig/drawing/rig_picture.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "estimator/simulation/statics/equilibrium.hpp"
#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
// Largest difference from a requested coordinate [rad; times the joint's scale] for which the loops
// count as closed.
constexpr double kNear = 1e-3;

int find_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  const auto found = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
  if (found != mechanism.joints.end()) return static_cast<int>(found - mechanism.joints.begin());
  throw proto::InputError("--at " + name + ": the rig has no such joint; it has " +
                          comma_list(mechanism.joints, &estimator::Joint::name));
}

/// Returns joint coordinates with the requested positions applied and all loops closed.
Eigen::VectorXd take_places(const estimator::Mechanism& mechanism, Eigen::VectorXd coordinates,
                            const std::vector<JointPosition>& places) {
  if (places.empty()) return coordinates;
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(coordinates.size(), kNothing);
  for (const JointPosition& place : places) {
    const int joint = find_joint(mechanism, place.name);
    if (!std::isnan(wanted[joint])) {
      throw proto::InputError("--at " + place.name + ": given twice. Give each joint once");
    }
    const estimator::JointTraits& is = mechanism.joints[static_cast<std::size_t>(joint)].traits();
    if (place.degrees && !is.turns) {
      throw proto::InputError("--at " + place.name + ": the joint " + is.verb +
                              ". Give its position in " + is.units.coordinate);
    }
    wanted[joint] = place.value;
  }
  if (mechanism.joint_count() <= estimator::kTreeJointsMax) {
    estimator::Statics statics(mechanism);
    bool closed = statics.close(coordinates, wanted);
    for (Eigen::Index j = 0; j < wanted.size(); ++j) {
      const auto& joint = mechanism.joints[static_cast<std::size_t>(j)];
      const double off = joint.difference(coordinates[j] - wanted[j]) / joint.units().scale;
      closed = closed && !(std::abs(off) > kNear);
    }
    if (closed) return coordinates;
    throw proto::InputError(
        "--at: the rig's loops cannot be closed at these joint positions. Give other positions, or "
        "fewer");
  }
  for (Eigen::Index j = 0; j < wanted.size(); ++j) {
    if (!std::isnan(wanted[j])) coordinates[j] = wanted[j];
  }
  return coordinates;
}

}  // namespace

JointPosition parse_joint_position(const std::string& text) {
  const std::string advice = "--at " + text + ": write NAME=VALUE, in rad or m, or NAME=VALUEdeg";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw proto::InputError(advice);
  std::string number = text.substr(equals + 1);
  JointPosition place{.name = text.substr(0, equals)};
  place.degrees = number.ends_with("deg");
  if (place.degrees) number.resize(number.size() - 3);
  const auto end = number.data() + number.size();
  const auto [rest, fault] = std::from_chars(number.data(), end, place.value);
  if (fault != std::errc() || rest != end || !std::isfinite(place.value)) {
    throw proto::InputError(advice);
  }
  if (place.degrees) place.value *= M_PI / 180.0;
  return place;
}

RigPicture::RigPicture(const Rig& rig, const std::vector<JointPosition>& places) : rig_(rig) {
  const auto rest = estimator::find_stable_equilibrium(rig.mechanism);
  rest_words_ = describe_rest(rig, rest);
  coordinates_ = rest ? estimator::rest_within_stops(rig.mechanism, *rest)
                      : Eigen::VectorXd(Eigen::VectorXd::Zero(rig.mechanism.joint_count()));
  coordinates_ = take_places(rig.mechanism, coordinates_, places);
}

std::string RigPicture::svg() const {
  std::vector<std::string> words = describe_joints(rig_, coordinates_);
  words.insert(words.end(), rest_words_.begin(), rest_words_.end());
  const std::string& name = rig_.mechanism.name;
  return scene_svg(make_scene(rig_, coordinates_), name.empty() ? rig_.path : name, words);
}

std::string RigPicture::text(int columns, int rows, CharacterSet letters) const {
  std::string text = scene_text(make_scene(rig_, coordinates_), columns, rows, letters);
  for (const std::string& line : describe_joints(rig_, coordinates_)) text += line + "\n";
  return text;
}

}  // namespace service
