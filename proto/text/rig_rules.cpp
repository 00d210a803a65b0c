#include "proto/text/rig_rules.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "proto/notation/number_format.hpp"

namespace proto {
namespace {

namespace v1 = rigcal::v1;

const v1::Joint* find_joint(const v1::Rig& rig, const std::string& name) {
  const auto found = std::ranges::find(rig.joint(), name, &v1::Joint::name);
  return found == rig.joint().end() ? nullptr : &*found;
}

/// Returns whether an encoder measures a distance. Encoders have the name of their joint, or their
/// own name if they are between two bodies.
/// @return nullopt for an unknown name
std::optional<bool> does_slide(const v1::Rig& rig, const std::string& name) {
  if (const v1::Joint* const joint = find_joint(rig, name)) {
    return joint->type() == v1::Joint::PRISMATIC;
  }
  const auto found = std::ranges::find(rig.body_encoder(), name, &v1::BodyEncoder::name);
  if (found == rig.body_encoder().end()) return std::nullopt;
  return found->encoder().counts_per_m() > 0.0;
}

/// Returns whether an entry of a list has the same joint as an earlier entry.
template <typename Entries>
bool is_repeated(const Entries& entries, int index) {
  const auto same = [&](const auto& other) { return other.joint() == entries[index].joint(); };
  return std::any_of(entries.begin(), entries.begin() + index, same);
}

/// Limits of a motor in the section `safety`.
struct CommandLimit {
  int own = -1;       ///< index of the motor's own limits; −1 if it has the limit of all motors
  double most = 0.0;  ///< largest command; 0 if not given

  CommandLimit(const v1::Safety& safety, const std::string& joint) : most(safety.command_max()) {
    const auto found = std::ranges::find(safety.motor(), joint, &v1::MotorSafety::joint);
    if (found == safety.motor().end() || !(found->command_max() > 0.0)) return;
    own = static_cast<int>(found - safety.motor().begin());
    most = found->command_max();
  }
};

void check_motor_limits(const v1::Rig& rig, const TextLocator& root) {
  const v1::Safety& safety = rig.safety();
  const TextLocator place = root.at("safety");
  for (int i = 0; i < safety.motor_size(); ++i) {
    const TextLocator here = place.at("motor", i).at("joint");
    const std::string& name = safety.motor(i).joint();
    const v1::Joint* const joint = find_joint(rig, name);
    if (joint == nullptr || !joint->has_motor()) {
      here.fail("joint \"" + name + "\" has no motor in this file");
    }
    if (is_repeated(safety.motor(), i)) {
      here.fail("motor \"" + name + "\" has limits twice; remove one of the two");
    }
  }
  for (int i = 0; i < rig.joint_size(); ++i) {
    const v1::Joint& joint = rig.joint(i);
    if (!joint.has_motor()) continue;
    const std::string& unit = joint.motor().control_unit();
    const double most =
        read_control_max(unit, joint.motor().control_max(), root.at("joint", i).at("motor"));
    const CommandLimit limit(safety, joint.name());
    if (!(most > 0.0 && limit.most > most)) continue;
    (limit.own >= 0 ? place.at("motor", limit.own) : place)
        .at("command_max")
        .fail("command_max is above the control_max of motor {:?}, {} {}; lower it", joint.name(),
              notation::format_number(most), unit);
  }
}

/// Limits of a joint's position.
struct PositionLimits {
  double lowest, highest;
  std::string field;  ///< name of the fields, without "_min" and "_max"

  PositionLimits(const v1::JointSafety& limits, bool slides)
      : lowest(slides ? limits.position_m_min() : limits.angle_rad_min()),
        highest(slides ? limits.position_m_max() : limits.angle_rad_max()),
        field(slides ? "position_m" : "angle_rad") {}

  /// Rejects reversed limits, and missing ones if they are needed.
  void check(const std::string& joint, bool are_needed, const TextLocator& place) const {
    const bool are_given = lowest != 0.0 || highest != 0.0;
    if (lowest < highest || !(are_given || are_needed)) return;
    place.fail("joint {:?}: {}_min must be below {}_max; give both", joint, field, field);
  }
};

}  // namespace

void require_kind(const std::string& joint, bool slides, const google::protobuf::Message& message,
                  std::initializer_list<const char*> of_turn,
                  std::initializer_list<const char*> of_slide, const TextLocator& place) {
  const auto* descriptor = message.GetDescriptor();
  const char* const* own = (slides ? of_slide : of_turn).begin();
  for (const char* other : slides ? of_turn : of_slide) {
    if (message.GetReflection()->HasField(message, descriptor->FindFieldByName(other))) {
      place.at(other).fail("joint {:?} {}, so it has no {}; write {}", joint,
                           slides ? "slides" : "turns", other, *own);
    }
    ++own;
  }
}

void check_safety(const v1::Rig& rig, const TextLocator& root) {
  check_motor_limits(rig, root);
  const v1::Safety& safety = rig.safety();
  for (int i = 0; i < safety.joint_size(); ++i) {
    const v1::JointSafety& limits = safety.joint(i);
    const TextLocator place = root.at("safety").at("joint", i);
    const std::optional<bool> slides = does_slide(rig, limits.joint());
    if (!slides) {
      place.at("joint").fail("unknown joint \"" + limits.joint() + "\"; use a joint of this file");
    }
    if (is_repeated(safety.joint(), i)) {
      place.fail("joint \"" + limits.joint() + "\" has limits twice; remove one of the two");
    }
    require_kind(limits.joint(), *slides, limits,
                 {"angle_rad_min", "angle_rad_max", "speed_rad_per_s_max", "jump_rad_max"},
                 {"position_m_min", "position_m_max", "speed_m_per_s_max", "jump_m_max"}, place);
    PositionLimits(limits, *slides).check(limits.joint(), false, place);
  }
}

void check_safety_is_complete(const v1::Rig& rig, const TextLocator& root) {
  const v1::Safety& safety = rig.safety();
  const TextLocator place = root.at("safety");
  for (const v1::Joint& joint : rig.joint()) {
    if (!joint.has_motor() || CommandLimit(safety, joint.name()).most > 0.0) continue;
    place.fail("motor \"" + joint.name() + "\": command_max must be a positive number");
  }
  for (const v1::UnitChannel& channel : rig.unit().channel()) {
    const bool slides = does_slide(rig, channel.joint()).value_or(false);
    const auto found = std::ranges::find(safety.joint(), channel.joint(), &v1::JointSafety::joint);
    if (found == safety.joint().end()) {
      place.fail("has no limits for joint {0:?}; write joint {{ joint: {0:?} {1} }}",
                 channel.joint(),
                 slides ? "position_m_min: ... position_m_max: ... speed_m_per_s_max: ..."
                        : "angle_rad_min: ... angle_rad_max: ... speed_rad_per_s_max: ...");
    }
    const TextLocator here = place.at("joint", static_cast<int>(found - safety.joint().begin()));
    PositionLimits(*found, slides).check(channel.joint(), true, here);
    if (!((slides ? found->speed_m_per_s_max() : found->speed_rad_per_s_max()) > 0.0)) {
      here.fail("joint {:?}: {} must be a positive number", channel.joint(),
                slides ? "speed_m_per_s_max" : "speed_rad_per_s_max");
    }
  }
  for (int i = 0; i < safety.joint_size(); ++i) {
    const std::string& joint = safety.joint(i).joint();
    if (std::ranges::find(rig.unit().channel(), joint, &v1::UnitChannel::joint) !=
        rig.unit().channel().end()) {
      continue;
    }
    place.at("joint", i)
        .fail("joint \"" + joint + "\" has no channel in unit { }; add one or remove its limits");
  }
}

}  // namespace proto
