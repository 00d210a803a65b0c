#include "service/rig/drawing/rig_picture.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/placement.hpp"
#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Equilibrium;
using estimator::JointKind;
using estimator::NormalMode;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
// Largest difference from a requested coordinate [rad; times the joint's scale] for which the loops
// count as closed.
constexpr double kNear = 1e-3;

int find_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  const auto found = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
  if (found != mechanism.joints.end()) return static_cast<int>(found - mechanism.joints.begin());
  throw proto::InputError("--at {}: the rig has no such joint; it has {}", name,
                          join_items(mechanism.joints, &estimator::Joint::name));
}

/// Returns joint coordinates with the requested positions applied and all loops closed.
Eigen::VectorXd take_places(const estimator::Mechanism& mechanism, Eigen::VectorXd coordinates,
                            const std::vector<RequestedCoordinate>& places) {
  if (places.empty()) return coordinates;
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(coordinates.size(), kNothing);
  for (const RequestedCoordinate& place : places) {
    const int joint = find_joint(mechanism, place.name);
    if (!std::isnan(wanted[joint])) {
      throw proto::InputError("--at " + place.name + ": given twice. Give each joint once");
    }
    const estimator::JointTraits& is =
        mechanism.joints[static_cast<std::size_t>(joint)].kind_traits();
    if (place.degrees && !is.turns) {
      throw proto::InputError("--at {}: the joint {}. Give its position in {}", place.name, is.verb,
                              is.units.coordinate);
    }
    wanted[joint] = place.value;
  }
  if (mechanism.joint_count() <= estimator::kTreeJointsMax) {
    estimator::StaticPotential statics(mechanism);
    bool closed = statics.close(coordinates, wanted);
    for (Eigen::Index j = 0; j < wanted.size(); ++j) {
      const auto& joint = mechanism.joints[static_cast<std::size_t>(j)];
      const double off =
          joint.coordinate_difference(coordinates[j] - wanted[j]) / joint.units().scale;
      closed = closed && !(std::abs(off) > kNear);
    }
    if (closed) return coordinates;
    throw proto::InputError(
        "--at: the rig's loops cannot be closed at these joint positions. "
        "Give other positions, or fewer");
  }
  for (Eigen::Index j = 0; j < wanted.size(); ++j) {
    if (!std::isnan(wanted[j])) coordinates[j] = wanted[j];
  }
  return coordinates;
}

constexpr double kDegree = 180.0 / M_PI;
constexpr double kPart = 0.02;  // share of a mode's largest motion below which a joint is omitted

std::string joined(const std::vector<std::string>& parts, const char* last) {
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    text += (k == 0 ? "" : k + 1 == parts.size() ? last : ", ") + parts[k];
  }
  return text;
}

/// Returns the joints that move in a normal mode, in descending order of amplitude.
std::vector<int> movers(const estimator::Mechanism& mechanism, const NormalMode& mode) {
  std::vector<int> joints;
  const auto part = [&](int j) {
    return std::abs(mode.shape[j]) / mechanism.joints[static_cast<std::size_t>(j)].units().scale;
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (part(j) > kPart) joints.push_back(j);
  }
  std::ranges::stable_sort(joints, [&](int a, int b) { return part(a) > part(b) * (1.0 + 1e-6); });
  return joints;
}

/// Returns the shape of a normal mode as text, e.g. "1° of 1 with -0.4° of 2"; empty if only one
/// joint moves.
std::string shape_text(const estimator::Mechanism& mechanism, const NormalMode& mode) {
  const std::vector<int> joints = movers(mechanism, mode);
  if (joints.size() < 2) return "";
  const auto joint = [&](int j) -> const estimator::Joint& {
    return mechanism.joints[static_cast<std::size_t>(j)];
  };
  const bool turns = joint(joints[0]).kind_traits().turns;
  const double unit = (turns ? 1.0 / kDegree : 1e-3) / mode.shape[joints[0]];  // 1 mm or 1°
  std::vector<std::string> parts;
  for (const int j : joints) {
    const bool turning = joint(j).kind_traits().turns;
    const double amount = unit * mode.shape[j] * (turning ? kDegree : 1e3);
    parts.push_back(format_number(amount, 3) + (turning ? "° of " : " mm of ") + joint(j).name);
  }
  return parts[0] + " with " + joined({parts.begin() + 1, parts.end()}, " and ");
}

/// Returns the joint positions in an equilibrium as text, without joints that rest at any position.
std::string pose_text(const estimator::Mechanism& mechanism, const Equilibrium& pose) {
  std::vector<std::string> parts;
  const auto stands_anywhere = [&](int j) {
    return std::ranges::any_of(pose.modes, [&](const NormalMode& mode) {
      return estimator::is_neutral_mode(mode, pose.modes) &&
             movers(mechanism, mode) == std::vector{j};
    });
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (stands_anywhere(j)) continue;
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    parts.push_back(joint.name + " = " + format_joint_coordinate(joint.kind, pose.coordinates[j]));
  }
  return joined(parts, ", ");
}

std::string free_text(const estimator::Mechanism& mechanism, const NormalMode& mode) {
  const std::vector<int> joints = movers(mechanism, mode);
  const estimator::Joint& first = mechanism.joints[static_cast<std::size_t>(joints[0])];
  const std::string shape = shape_text(mechanism, mode);
  if (shape.empty()) {
    return first.name + " " + first.kind_traits().verb + " freely (no rest position)";
  }
  return "no restoring force for a motion of " + shape;
}

/// Returns the oscillations about a stable equilibrium as text, e.g. "swings at 0.93 Hz", or
/// several frequencies with their mode shapes.
std::string swing_text(const estimator::Mechanism& mechanism, const Equilibrium& rest) {
  std::vector<std::string> swings;
  for (const NormalMode& mode : rest.modes) {
    if (estimator::is_neutral_mode(mode, rest.modes)) continue;
    const std::string shape = shape_text(mechanism, mode);
    swings.push_back(format_number(std::sqrt(mode.rate_squared) / (2.0 * M_PI), 3) + " Hz" +
                     (shape.empty() ? "" : " (" + shape + ")"));
  }
  return swings.empty() ? "" : "; swings at " + joined(swings, " and at ");
}

std::string top_text(const estimator::Mechanism& mechanism, const Equilibrium& top) {
  double fastest = 0.0;
  for (const NormalMode& mode : top.modes) fastest = std::min(fastest, mode.rate_squared);
  if (!(fastest < 0.0)) return "";
  return fmt::format("upright ({}) is unstable: it falls over with a time constant of {} s",
                     pose_text(mechanism, top), format_number(1.0 / std::sqrt(-fastest), 2));
}

std::string start_note(const estimator::Mechanism& mechanism) {
  const bool any = std::ranges::any_of(mechanism.parameters,
                                       [](const estimator::Parameter& p) { return p.free; });
  return any ? "(computed with the file's values, initial ones for free parameters; "
               "add --parameters RESULT.json to use estimates)"
             : "";
}

std::string devices_text(const Rig& rig, int joint, const EncoderProperties* encoder) {
  std::string text;
  if (encoder != nullptr) {
    text += "; encoder";
    if (encoder->counts > 0.0) {
      text += ", " + format_number(encoder->counts, 8) + " counts/" + encoder->counts_of;
    }
  } else {
    text += "; no encoder";
  }
  const JointProperties& facts = rig.joint_properties[static_cast<std::size_t>(joint)];
  if (rig.mechanism.joints[static_cast<std::size_t>(joint)].motor.present) {
    text += "; motor [" + facts.control_unit + "]";
  }
  return text;
}

/// Returns the end stops of a joint as text, e.g. "; stops at -20° and 30°".
std::string stops_text(const estimator::Mechanism& mechanism, int joint) {
  std::string text;
  for (const estimator::JointStop& stop : estimator::joint_end_stops(mechanism)) {
    if (stop.joint != joint) continue;
    const JointKind kind = mechanism.joints[static_cast<std::size_t>(joint)].kind;
    text += (text.empty() ? "; stops at " : " and ") + format_joint_coordinate(kind, stop.position);
  }
  return text;
}

/// Returns the quantity that a sensor measures.
std::string reads_text(const estimator::Mechanism& mechanism, const estimator::Sensor& sensor) {
  const std::string body =
      sensor.body < 0 ? "ground" : mechanism.bodies[static_cast<std::size_t>(sensor.body)].name;
  const std::string joint =
      sensor.joint < 0 ? "" : mechanism.joints[static_cast<std::size_t>(sensor.joint)].name;
  switch (sensor.kind) {
    case estimator::Sensor::Kind::kInertial:
      return "gyroscope and accelerometer on " + body;
    case estimator::Sensor::Kind::kForceTorque:
      return "moment and force that " + joint + " exerts on " + body;
    case estimator::Sensor::Kind::kPosition:
      return "position of a point of " + body;
    case estimator::Sensor::Kind::kJointTorque:
      return "torque of " + joint;
    case estimator::Sensor::Kind::kMotorTorque:
      return "torque of the motor of " + joint;
    case estimator::Sensor::Kind::kDistance:
      break;
  }
  return "distance of a point of " + body;
}

/// Returns a sentence for each sensor that is not an encoder, with its position and the directions
/// of its axes, e.g. "tip: gyroscope and accelerometer on forearm; x to the right, y up".
std::vector<std::string> describe_sensors(const estimator::Mechanism& mechanism,
                                          const estimator::Configuration& poses) {
  std::vector<std::string> words;
  for (int k = 0; k < mechanism.sensor_count(); ++k) {
    const estimator::Sensor& sensor = mechanism.sensors[static_cast<std::size_t>(k)];
    const SensorPlacement mark = find_sensor_placement(mechanism, k, poses);
    std::string text = sensor.name + ": " + reads_text(mechanism, sensor);
    if (sensor.kind_traits().mount == estimator::SensorTraits::MountMeaning::kAnchor) {
      text += fmt::format(" from ({}, {}, {}) m of the ground", format_number(mark.anchor.x(), 4),
                          format_number(mark.anchor.y(), 4), format_number(mark.anchor.z(), 4));
    } else if (sensor.has_orientation()) {
      text += fmt::format("; x {}, y {}", describe_page_direction(mark.axes.col(0)),
                          describe_page_direction(mark.axes.col(1)));
    }
    words.push_back(text);
  }
  return words;
}

}  // namespace

RequestedCoordinate parse_joint_coordinate(const std::string& text) {
  const std::string advice =
      fmt::format("--at {}: write NAME=VALUE, in rad or m, or NAME=VALUEdeg", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw proto::InputError(advice);
  std::string number = text.substr(equals + 1);
  RequestedCoordinate place{.name = text.substr(0, equals)};
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

RigPicture::RigPicture(const Rig& rig, const std::vector<RequestedCoordinate>& places) : rig_(rig) {
  const auto rest = estimator::find_stable_equilibrium(rig.mechanism);
  rest_words_ = describe_rest_position(rig, rest);
  coordinates_ = rest ? estimator::find_equilibrium_within_stops(rig.mechanism, *rest)
                      : Eigen::VectorXd(Eigen::VectorXd::Zero(rig.mechanism.joint_count()));
  coordinates_ = take_places(rig.mechanism, coordinates_, places);
}

std::string RigPicture::svg(PictureSize size) const {
  const Scene scene = make_scene(rig_, coordinates_);
  if (size == PictureSize::kReport) return render_scene_svg(scene, size, "", {});
  std::vector<std::string> words = describe_joints(rig_, coordinates_);
  words.insert(words.end(), rest_words_.begin(), rest_words_.end());
  const std::string& name = rig_.mechanism.name;
  return render_scene_svg(scene, size, name.empty() ? rig_.path : name, words);
}

std::string RigPicture::text(int columns, int rows, CharacterSet letters) const {
  std::string text = render_scene_text(make_scene(rig_, coordinates_), columns, rows, letters);
  for (const std::string& line : describe_joints(rig_, coordinates_)) text += line + "\n";
  return text;
}

std::string format_joint_coordinate(JointKind kind, double value) {
  if (!joint_traits(kind).turns) {
    return format_number(std::abs(value) < 5e-7 ? 0.0 : value, 3) + " m";
  }
  const double degrees = kDegree * value;
  return format_number(std::abs(degrees) < 5e-4 ? 0.0 : degrees, 4) + "°";
}

std::vector<std::string> describe_rest_position(const Rig& rig,
                                                const std::optional<Equilibrium>& rest) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  if (mechanism.joint_count() > estimator::kTreeJointsMax) {
    return {"rest position not computed: more than " + std::to_string(estimator::kTreeJointsMax) +
            " joints"};
  }
  if (!rest) {
    return {
        "no rest position found: "
        "there is no restoring force, or the loops cannot be closed with these lengths"};
  }
  if (rest->modes.empty()) return {"rests at " + pose_text(mechanism, *rest)};
  const bool weighs = estimator::gravity_vector(mechanism).norm() > 0.0;
  const bool pulled = std::ranges::any_of(rest->modes, [&](const NormalMode& mode) {
    return !estimator::is_neutral_mode(mode, rest->modes);
  });
  std::vector<std::string> words;
  if (pulled) {
    words.push_back((weighs ? "hangs at " : "rests at ") + pose_text(mechanism, *rest) +
                    swing_text(mechanism, *rest));
    for (const estimator::JointStop& stop : estimator::joint_end_stops(mechanism)) {
      if (stop.distance_from_stop(rest->coordinates[stop.joint]) >= 0.0) continue;
      const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(stop.joint)];
      words.back() += "; " + joint.name + " comes to rest at its stop first, at " +
                      format_joint_coordinate(joint.kind, stop.position);
    }
  }
  for (const NormalMode& mode : rest->modes) {
    if (estimator::is_neutral_mode(mode, rest->modes)) words.push_back(free_text(mechanism, mode));
  }
  if (weighs) {
    if (const auto top = estimator::find_highest_equilibrium(mechanism, *rest)) {
      const std::string text = top_text(mechanism, *top);
      if (!text.empty()) words.push_back(text);
    }
  }
  const std::string note = start_note(mechanism);
  if (!note.empty()) words.push_back(note);
  return words;
}

std::vector<std::string> describe_joints(const Rig& rig, const Eigen::VectorXd& coordinates) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  const auto poses = estimator::place_bodies(mechanism, coordinates);
  std::vector<std::string> words;
  std::size_t sensor = 0;
  const auto axis_of = [&](int j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const Eigen::Vector3d axis = joint.frame_a.col(0);
    return joint.body_a < 0
               ? axis
               : Eigen::Vector3d(poses[static_cast<std::size_t>(joint.body_a)].e * axis);
  };
  const auto body_name = [&](int body) {
    return body < 0 ? std::string("ground") : mechanism.bodies[static_cast<std::size_t>(body)].name;
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const EncoderProperties* const encoder = joint.measured ? &rig.encoders[sensor++] : nullptr;
    words.push_back(fmt::format(
        "{} ({} on {}): shown at {}, positive {}{}{}", joint.name, body_name(joint.body_b),
        body_name(joint.body_a), format_joint_coordinate(joint.kind, coordinates[j]),
        joint.kind_traits().turns ? "counterclockwise seen " + viewing_side_name(axis_of(j))
                                  : describe_page_direction(axis_of(j)),
        stops_text(mechanism, j), devices_text(rig, j, encoder)));
  }
  for (const estimator::BodyEncoder& encoder : mechanism.body_encoders) {
    std::string sum;
    for (const auto& term : estimator::encoder_joint_terms(mechanism, encoder)) {
      sum += (sum.empty()       ? (term.sign < 0.0 ? "-" : "")
              : term.sign < 0.0 ? " - "
                                : " + ") +
             mechanism.joints[static_cast<std::size_t>(term.joint)].name;
    }
    words.push_back(encoder.name + ": encoder of " + body_name(encoder.body_b) + " relative to " +
                    body_name(encoder.body_a) + ", reads " + sum);
  }
  std::ranges::move(describe_sensors(mechanism, poses), std::back_inserter(words));
  return words;
}

}  // namespace service
