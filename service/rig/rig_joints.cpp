#include "service/rig/rig_joints.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "estimator/model/joint_friction.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/rig_rules.hpp"
#include "service/rig/parameters/message_fields.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::JointTraits;
using estimator::KindDependentField;
using google::protobuf::Message;

/// Fields of a joint, other than friction fields, whose names depend on the joint type.
constexpr KindDependentField JointTraits::*kKindedFields[] = {
    &JointTraits::rest, &JointTraits::inertia, &JointTraits::counts, &JointTraits::constant};

constexpr const char* kMovingParts[] = {"friction", "constant_torque", "constant_force", "spring",
                                        "motor",    "encoder",         "stops",          "mimic"};

/// Returns the message that contains a field; nullptr if the rig file lacks the message.
const Message* holder(const v1::Joint& joint, const KindDependentField& field) {
  if (*field.part == '\0') return &joint;
  return has_field(joint, field.part) ? &get_field_message(joint, field.part) : nullptr;
}

/// Throws if a joint has a friction field that belongs to another joint type.
void check_friction_fields(const v1::Joint& joint, const JointTraits& is,
                           const proto::TextLocator& place, const std::string& who) {
  for (const FrictionField& field : list_friction_fields(joint.friction(), place)) {
    if (field.is_of(is) || !has_field(*field.message, field.name)) continue;
    const estimator::FrictionParameter& law = *estimator::friction_properties(field.quantity);
    field.place.at(field.name)
        .fail(who + is.verb + " and has no " + field.name + "; write " +
              law.rig_file_field(!is.turns) + " [" + law.parameter_unit(!is.turns) + "]");
  }
}

/// Throws if a joint that slides has a term that is periodic in its angle, or if the order of the
/// cogging is missing.
void check_periodic_terms(const v1::Joint& joint, const JointTraits& is,
                          const proto::TextLocator& place, const std::string& who) {
  for (const char* path : {"motor.cogging", "encoder.first_harmonic", "encoder.second_harmonic"}) {
    const RigField field = find_rig_field(joint, place, path);
    if (is.wraps || !has_field(*field.message, field.name)) continue;
    field.place.at(field.name).fail(who + is.verb + " and has no " + field.name + "; remove it");
  }
  if (joint.motor().has_cogging() && joint.motor().cogging().order() <= 0) {
    place.at("motor").at("cogging").fail(
        who + "has cogging without an order; write order: with the periods per turn of the joint");
  }
}

bool holds_nothing(const Message& message) { return message.ByteSizeLong() == 0; }

constexpr double kParallel = 1e-6;  // sine of the angle below which directions count as parallel

Eigen::Vector3d vector_of(const v1::Direction& direction) {
  return {direction.x(), direction.y(), direction.z()};
}

/// Makes a frame with x along `along` and y toward `toward`; false if these are parallel.
bool make_frame(const Eigen::Vector3d& along, const Eigen::Vector3d& toward,
                Eigen::Matrix3d& frame) {
  const Eigen::Vector3d x = along.normalized();
  const Eigen::Vector3d across = toward.normalized() - x * x.dot(toward.normalized());
  if (across.norm() < kParallel) return false;
  frame.col(0) = x;
  frame.col(1) = across.normalized();
  frame.col(2) = x.cross(frame.col(1));
  return true;
}

}  // namespace

RigField find_rig_field(const Message& message, const proto::TextLocator& place, const char* path) {
  const std::string_view whole(path);
  const std::size_t dot = whole.find('.');
  if (dot == std::string_view::npos) return {&message, place, path};
  const std::string part(whole.substr(0, dot));
  return find_rig_field(get_field_message(message, part), place.at(part), path + dot + 1);
}

std::vector<FrictionField> list_friction_fields(const v1::Friction& friction,
                                                const proto::TextLocator& place) {
  std::vector<FrictionField> fields;
  for (int at = 0; at < estimator::FrictionLaws::kQuantityCount; ++at) {
    const estimator::JointParameter quantity = estimator::friction_parameter_at(at);
    const estimator::FrictionParameter& law = *estimator::friction_properties(quantity);
    for (const char* path : {law.field, law.slide_field}) {
      if (path == nullptr) continue;
      fields.push_back({find_rig_field(friction, place, path)});
      FrictionField& field = fields.back();
      field.quantity = quantity;
      field.for_prismatic = path == law.rig_file_field(true);
      field.for_revolute = path == law.rig_file_field(false);
    }
  }
  return fields;
}

void check_joint_fields(const v1::Joint& joint, const proto::TextLocator& place) {
  const std::string who = "joint \"" + joint.name() + "\" ";
  if (joint.type() == v1::Joint::FIXED) {
    for (const char* part : kMovingParts) {
      if (has_field(joint, part)) {
        place.at(part).fail(who + "is fixed and does not move; remove its " + part);
      }
    }
    return;
  }
  if (is_compound(joint)) {
    for (const char* part : kMovingParts) {
      if (part == std::string_view("encoder") || !has_field(joint, part)) continue;
      place.at(part).fail(who + "turns about all axes, and its " + part +
                          " is not supported. Remove it");
    }
    if (!joint.has_encoder()) {
      place.fail(who +
                 "turns about all axes and has no encoder. Add encoder { } to the joint, and " +
                 "the columns of its pose to recording { }");
    }
    if (!holds_nothing(joint.encoder())) {
      place.at("encoder").fail(who + "turns about all axes, and its encoder { } has no fields. " +
                               "Remove them");
    }
    if (joint.has_start_position() || joint.has_start_speed()) {
      place.fail(who + "turns about all axes, and start_position and start_speed are not " +
                 "supported. Remove them");
    }
    return;
  }
  const JointTraits& is = joint_traits(read_joint_kind(joint, place));
  check_friction_fields(joint, is, place.at("friction"), who);
  check_periodic_terms(joint, is, place, who);
  for (const JointTraits& other : estimator::kJointKinds) {
    for (const auto kinded : kKindedFields) {
      const KindDependentField& field = other.*kinded;
      const KindDependentField& own = is.*kinded;
      if (std::string_view(field.name) == own.name) continue;
      const Message* message = holder(joint, field);
      if (message == nullptr || !has_field(*message, field.name)) continue;
      const proto::TextLocator part = *field.part == '\0' ? place : place.at(field.part);
      part.at(field.name)
          .fail(who + is.verb + " and has no " + field.name + "; write " + own.name +
                (*own.unit == '\0' ? "" : std::string(" [") + own.unit + "]"));
    }
  }
}

double read_typed_number(const Message& message, const JointTraits& is,
                         const char* JointTraits::*field, const std::string& behind,
                         const proto::TextLocator& place) {
  const std::string own = is.*field + behind;
  for (const JointTraits& other : estimator::kJointKinds) {
    const std::string name = other.*field + behind;
    if (name == own || get_field_number(message, name) == 0.0) continue;
    place.at(name).fail(std::string("the joint ") + is.verb + "; write " + own);
  }
  return get_field_number(message, own);
}

estimator::JointKind read_joint_kind(const v1::Joint& joint, const proto::TextLocator& place) {
  const std::string word = v1::Joint::Type_Name(joint.type());
  const auto* const found = std::ranges::find_if(
      estimator::kJointKinds, [&](const JointTraits& each) { return word == each.word; });
  if (found != std::end(estimator::kJointKinds)) return found->kind;
  // A text file may give any number for an enumerator.
  place.at("type").fail(
      "joint \"" + joint.name() + "\" has an unknown type. Write type: with one of " +
      join_items(estimator::kJointKinds, &JointTraits::word) + ", " +
      v1::Joint::Type_Name(v1::Joint::FREE) + ", " + v1::Joint::Type_Name(v1::Joint::FIXED));
}

void read_constraint(const v1::Constraint& source, estimator::Joint& joint) {
  if (source.has_compliance_linear()) joint.spook.compliance_linear = source.compliance_linear();
  if (source.has_compliance_angular()) joint.spook.compliance_angular = source.compliance_angular();
  if (source.has_damping_time_s()) joint.spook.damping_time = source.damping_time_s();
  if (source.has_stick_speed()) joint.spook.stick_speed = source.stick_speed();
}

bool is_compound(const v1::Joint& joint) {
  return joint.type() == v1::Joint::SPHERICAL || joint.type() == v1::Joint::FREE;
}

bool has_coordinate(const v1::Joint& joint, const std::string& name) {
  if (!is_compound(joint)) return joint.name() == name;
  return std::ranges::any_of(estimator::kCoordinateSuffixes,
                             [&](const char* suffix) { return name == joint.name() + suffix; });
}

std::vector<estimator::Joint> make_coordinates(const v1::Joint& source,
                                               const estimator::Joint& sides) {
  using estimator::Joint;
  estimator::Joint joint = sides;
  joint.type = source.type() == v1::Joint::FREE ? Joint::Type::kFree : Joint::Type::kSpherical;
  joint.measured = source.has_encoder();
  std::vector<Joint> coordinates;
  const int count = joint.coordinate_count();
  for (int k = std::ssize(estimator::kCoordinateSuffixes) - count; joint.place < count; ++k) {
    joint.name = source.name() + estimator::kCoordinateSuffixes[k];
    joint.kind = k < 3 ? estimator::JointKind::kPrismatic : estimator::JointKind::kQuaternion;
    coordinates.push_back(joint);
    ++joint.place;
  }
  return coordinates;
}

void check_compound_joints(const v1::Rig& rig, const estimator::Mechanism& mechanism,
                           const proto::TextLocator& root) {
  const std::vector<estimator::DirectedJoint> tree = estimator::spanning_tree(mechanism);
  for (int i = 0; i < rig.joint_size(); ++i) {
    if (!is_compound(rig.joint(i))) continue;
    const auto is_this = [&](const estimator::DirectedJoint& edge) {
      return !edge.weld &&
             has_coordinate(rig.joint(i),
                            mechanism.joints[static_cast<std::size_t>(edge.joint)].name);
    };
    const auto found = std::ranges::find_if(tree, is_this);
    const std::string who = "joint \"" + rig.joint(i).name() + "\" turns about all axes ";
    if (found == tree.end()) {
      root.at("joint", i)
          .fail(who + "and closes a loop, which is not supported. " +
                "Close the loop by a joint of another type");
    }
    if (!found->forward) {
      root.at("joint", i)
          .fail(who + "and its child is nearer to the ground. " + "Swap parent and child");
    }
  }
}

estimator::SensorLimits find_encoder_limits(const v1::Safety& safety,
                                            const estimator::Encoder& sensor) {
  const JointTraits& is = sensor.kind_traits();
  const std::string coordinate = is.coordinate_field, rate = is.rate_field;
  for (const v1::JointSafety& joint : safety.joint()) {
    if (joint.joint() != sensor.name) continue;
    return {get_field_number(joint, coordinate + "_min"),
            get_field_number(joint, coordinate + "_max"), get_field_number(joint, rate + "_max")};
  }
  return {};
}

std::string describe_incomplete_safety(const v1::Rig& rig, const proto::TextLocator& root) {
  if (!rig.has_unit()) return "";
  try {
    proto::check_safety_is_complete(rig, root);
  } catch (const proto::InputError& error) {
    return error.what();
  }
  return "";
}

CommandSafetyLimits find_command_limits(const v1::Safety& safety, const std::string& motor) {
  CommandSafetyLimits limits{safety.command_max(), safety.command_slew_per_s_max()};
  for (const v1::MotorSafety& own : safety.motor()) {
    if (own.joint() != motor) continue;
    if (own.command_max() > 0.0) limits.command_max = own.command_max();
    if (own.command_slew_per_s_max() > 0.0) {
      limits.command_slew_per_s_max = own.command_slew_per_s_max();
    }
  }
  return limits;
}

int find_body(const estimator::Mechanism& mechanism, const std::string& body, const char* field,
              const proto::TextLocator& place, bool ground_allowed) {
  if (body == "ground") {
    if (ground_allowed) return estimator::Joint::kGround;
    place.at(field).fail("the child must not be the ground. Swap parent and child");
  }
  const auto found = std::ranges::find(mechanism.bodies, body, &estimator::Body::name);
  if (found != mechanism.bodies.end()) return static_cast<int>(found - mechanism.bodies.begin());
  const std::string choices =
      (ground_allowed ? "ground, " : "") + join_items(mechanism.bodies, &estimator::Body::name);
  if (body.empty()) {
    place.fail(std::string("names no body; write ") + field + ": with one of " + choices);
  }
  place.at(field).fail("no body is called \"" + body + "\"; use one of " + choices);
}

Eigen::Matrix3d read_joint_frame(const v1::JointSide& side, bool has_default,
                                 const proto::TextLocator& place) {
  if (has_default && !side.has_axis() && !side.has_zero_direction()) {
    return Eigen::Matrix3d::Identity();
  }
  const Eigen::Vector3d axis = vector_of(side.axis());
  const Eigen::Vector3d mark = vector_of(side.zero_direction());
  if (!(axis.norm() > 0.0)) {
    place.at("axis").fail("needs a joint axis; write axis { x: ... y: ... z: ... }");
  }
  if (!(mark.norm() > 0.0)) {
    place.at("zero_direction").fail("needs a zero mark; write zero_direction { x: ... }");
  }
  Eigen::Matrix3d frame;
  if (!make_frame(axis, mark, frame)) {
    place.at("zero_direction")
        .fail(
            "the zero direction is parallel to the axis. "
            "Give a direction perpendicular to the axis");
  }
  return frame;
}

Eigen::Matrix3d read_sensor_frame(const google::protobuf::Message& sensor,
                                  const proto::TextLocator& place) {
  const auto direction = [&](const char* field, const Eigen::Vector3d& otherwise) {
    if (!has_field(sensor, field)) return otherwise;
    const Eigen::Vector3d vector =
        vector_of(static_cast<const v1::Direction&>(get_field_message(sensor, field)));
    if (!(vector.norm() > 0.0)) {
      place.at(field).fail(std::string("has no length; write ") + field +
                           " { x: ... y: ... z: ... }");
    }
    return vector;
  };
  const Eigen::Vector3d x = direction("x_axis", Eigen::Vector3d::UnitX());
  const Eigen::Vector3d y = direction("y_axis", Eigen::Vector3d::UnitY());
  Eigen::Matrix3d frame;
  if (!make_frame(x, y, frame)) {
    place.fail("sensor \"" + get_field_text(sensor, "name") +
               "\": x_axis and y_axis are parallel. Give two different directions");
  }
  return frame;
}

void add_coupling(const v1::Rig& rig, const proto::TextLocator& root, int i,
                  estimator::Mechanism& mechanism) {
  const v1::Joint& joint = rig.joint(i);
  if (!joint.has_mimic()) return;
  const v1::Mimic& source = joint.mimic();
  const proto::TextLocator place = root.at("joint", i).at("mimic");
  std::vector<estimator::Joint> other_joints = mechanism.joints;
  std::erase_if(other_joints, [&](const auto& other) { return other.name == joint.name(); });
  const std::string others = join_items(other_joints, &estimator::Joint::name);
  if (others.empty()) {
    place.fail("joint \"" + joint.name() + "\" is the only moving joint. Remove \"mimic\"");
  }
  if (source.joint().empty()) place.fail("names no joint; write joint: with one of " + others);
  const auto index_of = [&](const std::string& name) {
    const auto found = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
    return static_cast<int>(found - mechanism.joints.begin());
  };
  const int followed = index_of(source.joint());
  if (followed == mechanism.joint_count() || source.joint() == joint.name()) {
    place.at("joint").fail("\"" + source.joint() + "\" is not another moving joint. Use one of " +
                           others);
  }
  mechanism.mimic_joints.push_back({.joint = index_of(joint.name()),
                                    .follows = followed,
                                    .ratio = source.has_ratio() ? source.ratio() : 1.0,
                                    .offset = source.offset()});
}

}  // namespace service
