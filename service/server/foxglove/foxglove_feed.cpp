#include "service/server/foxglove/foxglove_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "service/server/http_access.hpp"
#include "service/server/http_routes.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Pose;
using rigcal::v1::Sample;

constexpr double kJointStatePeriod_s = 0.01;
constexpr double kTransformPeriod_s = 1.0 / 60.0;
constexpr double kNow = -std::numeric_limits<double>::infinity();
constexpr double kLineShare = 0.03;  // thickness of a body, relative to the size of the rig
constexpr char kMessageOpcode = 1;
constexpr int kLogInfo = 2, kLogError = 4;  // levels of foxglove.Log

/// A schema property: its name and its JSON schema.
using Property = std::pair<const char*, std::string>;

std::string object_schema(const std::string& title, const std::vector<Property>& properties) {
  const auto item = [](const Property& each) {
    return fmt::format("\"{}\":{}", each.first, each.second);
  };
  return fmt::format("{{\"title\":\"{}\",\"type\":\"object\",\"properties\":{{{}}}}}", title,
                     join_items(properties, item, ","));
}

std::string list_schema(const std::string& items) {
  return "{\"type\":\"array\",\"items\":" + items + "}";
}

const std::string kNumber = R"({"type":"number"})";
const std::string kInteger = R"({"type":"integer"})";
const std::string kText = R"({"type":"string"})";
const std::string kFlag = R"({"type":"boolean"})";
const std::string kTime = object_schema("time", {{"sec", kInteger}, {"nsec", kInteger}});
const std::string kVector =
    object_schema("foxglove.Vector3", {{"x", kNumber}, {"y", kNumber}, {"z", kNumber}});
const std::string kQuaternion = object_schema(
    "foxglove.Quaternion", {{"x", kNumber}, {"y", kNumber}, {"z", kNumber}, {"w", kNumber}});
const std::string kPose =
    object_schema("foxglove.Pose", {{"position", kVector}, {"orientation", kQuaternion}});
const std::string kColor = object_schema(
    "foxglove.Color", {{"r", kNumber}, {"g", kNumber}, {"b", kNumber}, {"a", kNumber}});

std::string scene_schema() {
  const std::string line =
      object_schema("foxglove.LinePrimitive", {{"type", kInteger},
                                               {"pose", kPose},
                                               {"thickness", kNumber},
                                               {"scale_invariant", kFlag},
                                               {"points", list_schema(kVector)},
                                               {"color", kColor},
                                               {"colors", list_schema(kColor)},
                                               {"indices", list_schema(kInteger)}});
  const std::string sphere = object_schema("foxglove.SpherePrimitive",
                                           {{"pose", kPose}, {"size", kVector}, {"color", kColor}});
  const std::string entity =
      object_schema("foxglove.SceneEntity", {{"timestamp", kTime},
                                             {"frame_id", kText},
                                             {"id", kText},
                                             {"lifetime", kTime},
                                             {"frame_locked", kFlag},
                                             {"spheres", list_schema(sphere)},
                                             {"lines", list_schema(line)}});
  const std::string deletion = object_schema(
      "foxglove.SceneEntityDeletion", {{"timestamp", kTime}, {"type", kInteger}, {"id", kText}});
  return object_schema("foxglove.SceneUpdate",
                       {{"deletions", list_schema(deletion)}, {"entities", list_schema(entity)}});
}

std::string transform_schema() {
  const std::string one = object_schema("foxglove.FrameTransform", {{"timestamp", kTime},
                                                                    {"parent_frame_id", kText},
                                                                    {"child_frame_id", kText},
                                                                    {"translation", kVector},
                                                                    {"rotation", kQuaternion}});
  return object_schema("foxglove.FrameTransforms", {{"transforms", list_schema(one)}});
}

std::string numbers_schema(const std::vector<std::string>& names) {
  const auto item = [](const std::string& name) { return json_string(name) + ":" + kNumber; };
  return "{\"type\":\"object\",\"properties\":{" + join_items(names, item, ",") + "}}";
}

std::string channel_item(FoxgloveChannel channel, const char* topic, const char* schema_name,
                         const std::string& schema) {
  return fmt::format(
      "{{\"id\":{},\"topic\":\"{}\",\"encoding\":\"json\",\"schemaName\":\"{}\","
      "\"schemaEncoding\":\"jsonschema\",\"schema\":{}}}",
      static_cast<std::uint32_t>(channel), topic, schema_name, json_string(schema));
}

std::string time_item(std::uint64_t time_ns) {
  return fmt::format("{{\"sec\":{},\"nsec\":{}}}", time_ns / 1'000'000'000,
                     time_ns % 1'000'000'000);
}

std::string vector_item(const Eigen::Vector3d& v) {
  return fmt::format("{{\"x\":{},\"y\":{},\"z\":{}}}", json_number(v.x()), json_number(v.y()),
                     json_number(v.z()));
}

std::string quaternion_item(const Eigen::Quaterniond& q) {
  return fmt::format("{{\"x\":{},\"y\":{},\"z\":{},\"w\":{}}}", json_number(q.x()),
                     json_number(q.y()), json_number(q.z()), json_number(q.w()));
}

const std::string kNoPose =
    fmt::format("{{\"position\":{},\"orientation\":{}}}", vector_item(Eigen::Vector3d::Zero()),
                quaternion_item(Eigen::Quaterniond::Identity()));
constexpr const char* kBodyColor = R"({"r":0,"g":0.45,"b":0.7,"a":1})";
constexpr const char* kJointColor = R"({"r":0.84,"g":0.37,"b":0,"a":1})";

std::string transform_item(std::uint64_t time_ns, const std::string& parent,
                           const std::string& child, const Pose& pose) {
  return fmt::format(
      "{{\"timestamp\":{},\"parent_frame_id\":{},\"child_frame_id\":{},\"translation\":{},"
      "\"rotation\":{}}}",
      time_item(time_ns), json_string(parent), json_string(child), vector_item(pose.r),
      quaternion_item(pose.e));
}

std::string body_frame(const std::string& body) { return "rig/" + body; }

std::string sphere_item(const Eigen::Vector3d& at, double diameter, const char* color) {
  return fmt::format("{{\"pose\":{{\"position\":{},\"orientation\":{}}},\"size\":{},\"color\":{}}}",
                     vector_item(at), quaternion_item(Eigen::Quaterniond::Identity()),
                     vector_item(Eigen::Vector3d::Constant(diameter)), color);
}

std::string line_item(const Eigen::Vector3d& from, const Eigen::Vector3d& to, double thickness) {
  return fmt::format(
      "{{\"type\":0,\"pose\":{},\"thickness\":{},\"scale_invariant\":false,\"points\":[{},{}],"
      "\"color\":{},\"colors\":[],\"indices\":[]}}",
      kNoPose, json_number(thickness), vector_item(from), vector_item(to), kBodyColor);
}

/// Joint points of each body in the body's frame; the last entry has those of the ground.
std::vector<std::vector<Eigen::Vector3d>> joint_points(const estimator::Mechanism& mechanism) {
  std::vector<std::vector<Eigen::Vector3d>> points(mechanism.bodies.size() + 1);
  estimator::for_each_joint_point(mechanism, [&](int body, int index) {
    points[body < 0 ? mechanism.bodies.size() : static_cast<std::size_t>(body)].emplace_back(
        mechanism.at(index).value, mechanism.at(index + 1).value, mechanism.at(index + 2).value);
  });
  return points;
}

std::vector<std::string> names_in(const rigcal::v1::SessionInfo& session, const char* key) {
  const auto found = session.metadata().find(key);
  std::vector<std::string> names;
  if (found == session.metadata().end() || found->second.empty()) return names;
  for (std::size_t at = 0; at <= found->second.size();) {
    const std::size_t end = std::min(found->second.find(',', at), found->second.size());
    names.push_back(found->second.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

}  // namespace

FoxgloveFeed::FoxgloveFeed(const rigcal::v1::SessionInfo& session)
    : epoch_ns_(session.epoch_unix_ns()),
      next_joint_states_s_(kNow),
      next_transforms_s_(kNow),
      joints_(names_in(session, "hinges")),
      motors_(names_in(session, "motors")) {}

void FoxgloveFeed::set_mechanism(std::unique_ptr<LiveMechanism> mechanism) {
  mechanism_ = std::move(mechanism);
}

std::string FoxgloveFeed::make_advertisement(bool scene) const {
  using enum FoxgloveChannel;
  std::vector<std::string> items;
  if (scene) {
    items = {channel_item(kScene, "/scene", "foxglove.SceneUpdate", scene_schema()),
             channel_item(kTransforms, "/tf", "foxglove.FrameTransforms", transform_schema())};
  } else {
    const std::string joint =
        object_schema("foxglove.JointState", {{"name", kText}, {"position", kNumber}});
    items = {channel_item(kSamples, "/samples", "rigcal.Sample",
                          object_schema("rigcal.Sample", {{"timestamp", kTime},
                                                          {"time", kNumber},
                                                          {"position", numbers_schema(joints_)},
                                                          {"command", numbers_schema(motors_)},
                                                          {"driving", kFlag},
                                                          {"tripped", kFlag},
                                                          {"fault_flags", kInteger}})),
             channel_item(kJointStates, "/joint_states", "foxglove.JointStates",
                          object_schema("foxglove.JointStates",
                                        {{"timestamp", kTime}, {"joints", list_schema(joint)}})),
             channel_item(kLog, "/log", "foxglove.Log",
                          object_schema("foxglove.Log", {{"timestamp", kTime},
                                                         {"level", kInteger},
                                                         {"message", kText},
                                                         {"name", kText},
                                                         {"file", kText},
                                                         {"line", kInteger}})),
             channel_item(
                 kEstimates, "/estimates", "rigcal.LiveEstimate",
                 object_schema("rigcal.LiveEstimate", {{"timestamp", kTime},
                                                       {"is_model_accepted", kFlag},
                                                       {"problem", kText},
                                                       {"value", R"({"type":"object"})"},
                                                       {"half_width", R"({"type":"object"})"}}))};
  }
  return "{\"op\":\"advertise\",\"channels\":[" + join_items(items, std::identity(), ",") + "]}";
}

std::string FoxgloveFeed::make_withdrawal() const {
  return has_scene() ? R"({"op":"unadvertise","channelIds":[1,2,3,4,5,6]})"
                     : R"({"op":"unadvertise","channelIds":[1,2,3,4]})";
}

std::uint64_t FoxgloveFeed::time_of(double timestamp_s) const {
  const double offset_ns = std::isfinite(timestamp_s) ? 1e9 * timestamp_s : 0.0;
  constexpr double kLongest_ns = 1e18;
  const auto offset = static_cast<std::int64_t>(std::clamp(offset_ns, -kLongest_ns, kLongest_ns));
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() - std::abs(offset);
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::clamp(epoch_ns_, -limit, limit) + offset));
}

FoxgloveMessage FoxgloveFeed::make_samples(const Sample& sample) const {
  std::vector<std::string> positions, commands;
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const int at = static_cast<int>(k);
    if (at >= sample.angle_rad_size() || (at < sample.valid_size() && !sample.valid(at))) continue;
    positions.push_back(json_string(joints_[k]) + ":" + json_number(sample.angle_rad(at)));
  }
  for (std::size_t k = 0; k < motors_.size(); ++k) {
    const int at = static_cast<int>(k);
    if (at >= sample.command_size()) continue;
    commands.push_back(json_string(motors_[k]) + ":" + json_number(sample.command(at)));
  }
  const std::uint64_t time = time_of(sample.timestamp());
  const auto list = [](const std::vector<std::string>& items) {
    return join_items(items, std::identity(), ",");
  };
  return {FoxgloveChannel::kSamples, time,
          fmt::format("{{\"timestamp\":{},\"time\":{},\"position\":{{{}}},\"command\":{{{}}},"
                      "\"driving\":{},\"tripped\":{},\"fault_flags\":{}}}",
                      time_item(time), json_number(sample.timestamp()), list(positions),
                      list(commands), sample.driving(), sample.tripped(), sample.fault_flags())};
}

FoxgloveMessage FoxgloveFeed::make_joint_states(const Sample& sample) const {
  std::vector<std::string> items;
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const int at = static_cast<int>(k);
    if (at >= sample.angle_rad_size() || (at < sample.valid_size() && !sample.valid(at))) continue;
    items.push_back(fmt::format("{{\"name\":{},\"position\":{}}}", json_string(joints_[k]),
                                json_number(sample.angle_rad(at))));
  }
  const std::uint64_t time = time_of(sample.timestamp());
  return {FoxgloveChannel::kJointStates, time,
          fmt::format("{{\"timestamp\":{},\"joints\":[{}]}}", time_item(time),
                      join_items(items, std::identity(), ","))};
}

FoxgloveMessage FoxgloveFeed::make_transforms(const Sample& sample) {
  std::vector<double> positions;
  for (int k = 0; k < sample.angle_rad_size(); ++k) {
    const bool is_valid = k >= sample.valid_size() || sample.valid(k);
    positions.push_back(is_valid ? sample.angle_rad(k) : std::numeric_limits<double>::quiet_NaN());
  }
  const std::uint64_t time = time_of(sample.timestamp());
  // Rig files have y upward, viewers z.
  const Pose upright{Eigen::Vector3d::Zero(),
                     Eigen::Quaterniond(std::sqrt(0.5), std::sqrt(0.5), 0.0, 0.0)};
  std::vector<std::string> items = {transform_item(time, "world", "rig", upright)};
  const auto poses = mechanism_->move(joints_, positions);
  const auto& bodies = mechanism_->rig().mechanism.bodies;
  for (std::size_t k = 0; k < poses.size(); ++k) {
    items.push_back(transform_item(time, "rig", body_frame(bodies[k].name), poses[k]));
  }
  return {FoxgloveChannel::kTransforms, time,
          "{\"transforms\":[" + join_items(items, std::identity(), ",") + "]}"};
}

FoxgloveMessage FoxgloveFeed::make_scene() const {
  const estimator::Mechanism& mechanism = mechanism_->rig().mechanism;
  const auto points = joint_points(mechanism);
  double size = 0.0;
  for (const auto& body : points) {
    for (const Eigen::Vector3d& point : body) size = std::max(size, point.norm());
  }
  const double thickness = kLineShare * size;
  const std::uint64_t time = time_of(latest_s_);
  std::vector<std::string> entities;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const bool is_ground = k == mechanism.bodies.size();
    std::vector<std::string> lines, spheres;
    for (const Eigen::Vector3d& point : points[k]) {
      const Eigen::Vector3d begin = is_ground || mechanism.bodies[k].massless
                                        ? points[k].front()
                                        : Eigen::Vector3d(Eigen::Vector3d::Zero());
      lines.push_back(line_item(begin, point, thickness));
      spheres.push_back(sphere_item(point, 1.5 * thickness, kJointColor));
    }
    if (!is_ground && !mechanism.bodies[k].massless) {
      spheres.push_back(sphere_item(Eigen::Vector3d::Zero(), 3.0 * thickness, kBodyColor));
    }
    const std::string frame = is_ground ? "rig" : body_frame(mechanism.bodies[k].name);
    const auto list = [](const std::vector<std::string>& items) {
      return join_items(items, std::identity(), ",");
    };
    entities.push_back(fmt::format(
        "{{\"timestamp\":{},\"frame_id\":{},\"id\":{},\"lifetime\":{},\"frame_locked\":true,"
        "\"metadata\":[],\"arrows\":[],\"cubes\":[],\"spheres\":[{}],\"cylinders\":[],"
        "\"lines\":[{}],\"triangles\":[],\"texts\":[],\"models\":[]}}",
        time_item(time), json_string(frame), json_string(frame), time_item(0), list(spheres),
        list(lines)));
  }
  return {FoxgloveChannel::kScene, time,
          "{\"deletions\":[],\"entities\":[" + join_items(entities, std::identity(), ",") + "]}"};
}

FoxgloveMessage FoxgloveFeed::make_log(const rigcal::v1::Event& event) const {
  const bool is_trip = event.kind() == rigcal::v1::Event::KIND_TRIP;
  const std::uint64_t time = time_of(event.timestamp());
  return {FoxgloveChannel::kLog, time,
          fmt::format("{{\"timestamp\":{},\"level\":{},\"message\":{},\"name\":{},\"file\":\"\","
                      "\"line\":0}}",
                      time_item(time), is_trip ? kLogError : kLogInfo,
                      json_string(event.text().empty() ? event.name() : event.text()),
                      json_string(event.name()))};
}

FoxgloveMessage FoxgloveFeed::convert(const rigcal::v1::LiveEstimate& estimate) const {
  std::vector<std::string> values, widths;
  for (const auto& each : estimate.parameters()) {
    values.push_back(json_string(each.name()) + ":" + json_number(each.value()));
    widths.push_back(json_string(each.name()) + ":" + json_number(each.half_width()));
  }
  const std::uint64_t time = time_of(estimate.through_s());
  return {FoxgloveChannel::kEstimates, time,
          fmt::format("{{\"timestamp\":{},\"is_model_accepted\":{},\"problem\":{},\"value\":{{{}}},"
                      "\"half_width\":{{{}}}}}",
                      time_item(time), estimate.is_model_accepted(),
                      json_string(estimate.problem()), join_items(values, std::identity(), ","),
                      join_items(widths, std::identity(), ","))};
}

std::vector<FoxgloveMessage> FoxgloveFeed::convert(const rigcal::v1::SampleBatch& batch,
                                                   const std::set<FoxgloveChannel>& wanted) {
  using enum FoxgloveChannel;
  std::vector<FoxgloveMessage> messages;
  for (const Sample& sample : batch.samples()) {
    latest_s_ = sample.timestamp();
    if (wanted.contains(kSamples)) messages.push_back(make_samples(sample));
    if (wanted.contains(kJointStates) && sample.timestamp() >= next_joint_states_s_) {
      next_joint_states_s_ = sample.timestamp() + kJointStatePeriod_s;
      messages.push_back(make_joint_states(sample));
    }
    if (wanted.contains(kTransforms) && has_scene() && sample.timestamp() >= next_transforms_s_) {
      next_transforms_s_ = sample.timestamp() + kTransformPeriod_s;
      messages.push_back(make_transforms(sample));
    }
  }
  if (!wanted.contains(kLog)) return messages;
  for (const auto& event : batch.events()) messages.push_back(make_log(event));
  return messages;
}

std::string make_foxglove_greeting(const std::string& version) {
  return fmt::format(
      "{{\"op\":\"serverInfo\",\"name\":\"rigcald\",\"capabilities\":[],"
      "\"supportedEncodings\":[\"json\"],\"metadata\":{{\"version\":{}}}}}",
      json_string(version));
}

std::string make_foxglove_frame(std::uint32_t subscription, const FoxgloveMessage& message) {
  std::string frame(1, kMessageOpcode);
  for (int k = 0; k < 4; ++k) frame += static_cast<char>(subscription >> (8 * k) & 0xff);
  for (int k = 0; k < 8; ++k) frame += static_cast<char>(message.time_ns >> (8 * k) & 0xff);
  return frame + message.json;
}

}  // namespace service
