#include "service/rig/pose_columns.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "service/rig/rig_joints.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

constexpr const char* kOrders[] = {"", "wxyz", "xyzw"};  // by PoseColumns::Order

/// Returns the last letters of the headers of a quaternion, such as "wxyz".
std::string last_letters(const v1::PoseColumns& pose) {
  std::string letters;
  for (const std::string& column : pose.quaternion()) {
    letters += column.empty() ? ' ' : static_cast<char>(std::tolower(column.back()));
  }
  return letters;
}

/// Returns the order of the columns of a quaternion: "wxyz" or "xyzw".
std::string find_order(const v1::PoseColumns& pose, const proto::TextLocator& place) {
  const std::string named = last_letters(pose), given = kOrders[pose.order()];
  std::string sorted = named;
  std::ranges::sort(sorted);
  const bool has_names = sorted == "wxyz";
  if (given.empty()) {
    if (has_names) return named;
    place.at("quaternion")
        .fail(
            "the headers do not end with w, x, y and z, so the order of the quaternion is "
            "unknown. Write order: WXYZ or order: XYZW");
  }
  if (has_names && named != given) {
    place.at("order").fail("the headers end with " + named +
                           ", another order. Remove order, or correct quaternion");
  }
  return given;
}

void check_pose(const v1::PoseColumns& pose, const v1::Rig& rig, const proto::TextLocator& place) {
  const auto joint = std::ranges::find(rig.joint(), pose.joint(), &v1::Joint::name);
  if (joint == rig.joint().end() || !is_compound(*joint)) {
    place.at("joint").fail("no SPHERICAL or FREE joint is called \"" + pose.joint() +
                           "\". Correct the name, or remove pose { }");
  }
  const std::string who = "joint \"" + pose.joint() + "\" ";
  if (!joint->has_encoder()) {
    place.fail(who + "has no encoder; add encoder { } to the joint or remove these columns");
  }
  const bool is_free = joint->type() == v1::Joint::FREE;
  if (pose.position_size() != (is_free ? 3 : 0)) {
    place.at("position")
        .fail(
            who +
            (is_free
                 ? "is FREE; write position: [ \"x\", \"y\", \"z\" ], the headers of three columns"
                 : "is SPHERICAL and has no position. Remove position"));
  }
  if (pose.quaternion_size() != 4) {
    place.at("quaternion")
        .fail(
            "a quaternion has four columns; write quaternion: [ \"qw\", \"qx\", \"qy\", \"qz\" ]");
  }
  find_order(pose, place);
}

}  // namespace

PoseReader::PoseReader(const v1::RecordingFormat& source, const v1::Rig& rig,
                       const proto::TextLocator& place)
    : source_(source), rig_(rig), place_(place) {
  for (int i = 0; i < source.pose_size(); ++i) {
    const proto::TextLocator own = place.at("pose", i);
    check_pose(source.pose(i), rig, own);
    for (int k = 0; k < i; ++k) {
      if (source.pose(k).joint() != source.pose(i).joint()) continue;
      own.at("joint").fail("joint \"" + source.pose(i).joint() + "\" has two poses; keep one");
    }
  }
}

std::optional<EncoderColumn> PoseReader::find_column(const estimator::Encoder& sensor) const {
  const auto joint = std::ranges::find_if(rig_.joint(), [&](const v1::Joint& each) {
    return is_compound(each) && has_coordinate(each, sensor.name);
  });
  if (joint == rig_.joint().end()) return std::nullopt;
  const auto pose = std::ranges::find(source_.pose(), joint->name(), &v1::PoseColumns::joint);
  if (pose == source_.pose().end()) {
    place_.fail("joint \"" + joint->name() +
                "\" has an encoder but no pose; write pose { joint: \"" + joint->name() +
                "\" ... } or remove the encoder");
  }
  const proto::TextLocator place =
      place_.at("pose", static_cast<int>(pose - source_.pose().begin()));
  const char letter = sensor.name.back();
  EncoderColumn column{.joint = sensor.name, .kind = sensor.kind, .in_radians = false};
  column.place = place.where();
  if (sensor.kind == estimator::JointKind::kPrismatic) {
    column.column = pose->position(letter - 'x');
    column.scale = pose->unit() == v1::PoseColumns::MILLIMETER ? 1e-3 : 1.0;
  } else {
    column.column = pose->quaternion(static_cast<int>(find_order(*pose, place).find(letter)));
  }
  return column;
}

}  // namespace service
