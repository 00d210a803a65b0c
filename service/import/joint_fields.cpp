#include "service/import/joint_fields.hpp"

#include <string>
#include <string_view>

#include "estimator/model/joint_friction.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using google::protobuf::Message;

/// A field beside friction that joints of one kind have, and what one of the other has in its
/// place.
struct KindedField {
  const char* part;  // message of the joint that holds it; "": the joint itself
  const char* field;
  v1::Hinge::Kind kind;
  const char* instead;
};

constexpr KindedField kKindedFields[] = {
    {"spring", "rest_angle", v1::Hinge::REVOLUTE, "rest_position [m]"},
    {"motor", "shaft_inertia", v1::Hinge::REVOLUTE, "reflected_mass [kg]"},
    {"encoder", "counts_per_turn", v1::Hinge::REVOLUTE, "counts_per_m"},
    {"", "constant_torque", v1::Hinge::REVOLUTE, "constant_force [N]"},
    {"spring", "rest_position", v1::Hinge::PRISMATIC, "rest_angle [rad]"},
    {"motor", "reflected_mass", v1::Hinge::PRISMATIC, "shaft_inertia [kg·m²]"},
    {"encoder", "counts_per_m", v1::Hinge::PRISMATIC, "counts_per_turn"},
    {"", "constant_force", v1::Hinge::PRISMATIC, "constant_torque [N·m]"}};

constexpr const char* kMovingParts[] = {"friction", "constant_torque", "constant_force", "spring",
                                        "motor",    "encoder",         "stops"};

bool has(const Message& message, const char* field) {
  return message.GetReflection()->HasField(message,
                                           message.GetDescriptor()->FindFieldByName(field));
}

/// The message that holds the field, or none where the file leaves it out.
const Message* holder(const v1::Hinge& joint, const KindedField& field) {
  if (*field.part == '\0') return &joint;
  if (!has(joint, field.part)) return nullptr;
  return &joint.GetReflection()->GetMessage(joint,
                                            joint.GetDescriptor()->FindFieldByName(field.part));
}

/// Refuses friction that joints of the other kind have by another name.
void check_friction_fields(const v1::Hinge& joint, const proto::TextLocator& place,
                           const std::string& who) {
  const bool slides = joint.kind() == v1::Hinge::PRISMATIC;
  for (const FrictionField& field : friction_fields(joint.friction(), place)) {
    if ((slides ? field.of_slides : field.of_hinges) || !has(*field.message, field.name)) continue;
    const estimator::FrictionQuantity& law = *estimator::friction_facts(field.quantity);
    field.place.at(field.name)
        .fail(who + (slides ? "slides" : "turns") + " and has no " + field.name + "; write " +
              law.field_of(slides) + " [" + law.unit_of(slides) + "]");
  }
}

/// @param path  as in estimator::LawQuantity: "viscous", or "smooth.rise" of a message within
FrictionField friction_field(const v1::Friction& friction, const proto::TextLocator& place,
                             const char* path) {
  const std::string_view whole(path);
  const std::size_t dot = whole.find('.');
  if (dot == std::string_view::npos) return {&friction, place, path};
  const std::string within(whole.substr(0, dot));
  const auto* const field = v1::Friction::descriptor()->FindFieldByName(within);
  return {&friction.GetReflection()->GetMessage(friction, field), place.at(within), path + dot + 1};
}

}  // namespace

std::vector<FrictionField> friction_fields(const v1::Friction& friction,
                                           const proto::TextLocator& place) {
  std::vector<FrictionField> fields;
  for (int at = 0; at < estimator::FrictionLaws::kQuantityCount; ++at) {
    const estimator::HingeQuantity quantity = estimator::friction_quantity(at);
    const estimator::FrictionQuantity& law = *estimator::friction_facts(quantity);
    for (const char* path : {law.field, law.slide_field}) {
      if (path == nullptr) continue;
      FrictionField& field = fields.emplace_back(friction_field(friction, place, path));
      field.quantity = quantity;
      field.of_slides = path == law.field_of(true);
      field.of_hinges = path == law.field_of(false);
    }
  }
  return fields;
}

void check_joint_fields(const v1::Hinge& joint, const proto::TextLocator& place) {
  const std::string who = "joint '" + joint.name() + "' ";
  if (joint.kind() == v1::Hinge::FIXED) {
    for (const char* part : kMovingParts) {
      if (has(joint, part)) {
        place.at(part).fail(who + "is fixed and does not move; remove its " + part);
      }
    }
    return;
  }
  check_friction_fields(joint, place.at("friction"), who);
  for (const KindedField& field : kKindedFields) {
    if (field.kind == joint.kind()) continue;
    const Message* message = holder(joint, field);
    if (message == nullptr || !has(*message, field.field)) continue;
    const proto::TextLocator part = *field.part == '\0' ? place : place.at(field.part);
    part.at(field.field)
        .fail(who + (joint.kind() == v1::Hinge::PRISMATIC ? "slides" : "turns") + " and has no " +
              field.field + "; write " + field.instead);
  }
}

estimator::SensorLimits limits_of(const v1::Safety& safety, const estimator::Sensor& sensor) {
  for (const v1::HingeSafety& hinge : safety.hinge()) {
    if (hinge.hinge() != sensor.name) continue;
    if (sensor.kind == estimator::JointKind::kPrismatic) {
      return {hinge.position_m_min(), hinge.position_m_max(), hinge.speed_m_per_s_max()};
    }
    return {hinge.angle_rad_min(), hinge.angle_rad_max(), hinge.speed_rad_per_s_max()};
  }
  return {};
}

}  // namespace service
