#include "service/rig/rig_file.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "estimator/diagnostics/description/loop_faults.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "proto/rig.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/rig_rules.hpp"
#include "proto/text/text_file.hpp"
#include "service/messages/message_text.hpp"
#include "service/rig/joint_fields.hpp"
#include "service/rig/parameters/message_fields.hpp"
#include "service/rig/parameters/rig_parameters.hpp"
#include "service/rig/prescribed_joints.hpp"
#include "service/rig/rig_chain.hpp"
#include "service/rig/rig_contacts.hpp"
#include "service/rig/rig_joints.hpp"
#include "service/rig/rig_recording.hpp"
#include "service/rig/rig_sensors.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::BodyParameter;
using estimator::GravityParameter;
using estimator::JointParameter;
using google::protobuf::Message;

constexpr std::pair<const char*, BodyParameter> kInertiaFields[] = {
    {"xx", BodyParameter::kJxx}, {"yy", BodyParameter::kJyy}, {"zz", BodyParameter::kJzz},
    {"xy", BodyParameter::kJxy}, {"xz", BodyParameter::kJxz}, {"yz", BodyParameter::kJyz}};

constexpr std::pair<const char*, GravityParameter> kGravityFields[] = {
    {"magnitude", GravityParameter::kGravity},
    {"tilt_x", GravityParameter::kTiltX},
    {"tilt_z", GravityParameter::kTiltZ}};
constexpr const char* kVibrationFields[] = {"frequency", "x_sine", "x_cosine", "y_sine",
                                            "y_cosine",  "z_sine", "z_cosine"};

constexpr int kPartsMax = 1100;  // of bodies and of joints; exceeds those of any imported robot

/// Reader that builds a Rig from the message of a rig file and the locations of its fields.
class RigReader {
 public:
  RigReader(const v1::Rig& rig, const proto::TextLocator& root) : rig_(rig), root_(root) {}

  Rig read() {
    mechanism_.name = rig_.name();
    if (rig_.body_size() == 0) root_.fail("the rig has no bodies; add body { name: ... }");
    if (rig_.joint_size() == 0) root_.fail("the rig has no joints; add joint { name: ... }");
    if (std::max(rig_.body_size(), rig_.joint_size()) > kPartsMax) {
      root_.fail("more than " + std::to_string(kPartsMax) + " bodies or joints; describe a part");
    }
    for (int i = 0; i < rig_.body_size(); ++i) add_body(i);
    for (int i = 0; i < rig_.joint_size(); ++i) add_joint(i);
    if (rig_.has_safety()) proto::check_safety(rig_, root_);
    if (mechanism_.joints.empty()) {
      root_.fail("all joints are fixed. Give at least one joint a \"type\" that moves");
    }
    for (int i = 0; i < rig_.joint_size(); ++i) add_coupling(rig_, root_, i, mechanism_);
    for (int i = 0; i < rig_.body_encoder_size(); ++i) add_body_encoder(i);
    const NameCheck check_name = std::bind_front(&RigReader::check_name, this);
    add_sensors(rig_, root_, mechanism_, check_name);
    add_contacts(rig_, root_, mechanism_, check_name);
    estimator::make_parameters(mechanism_);
    for (int i = 0; i < rig_.body_size(); ++i) read_body(i);
    int joint = 0, weld = 0;
    for (int i = 0; i < rig_.joint_size(); ++i) {
      if (rig_.joint(i).type() == v1::Joint::FIXED) {
        read_points(i, [&](JointParameter quantity) -> estimator::Parameter& {
          return mechanism_.fixed_joint_parameter(weld, quantity);
        });
        ++weld;
        continue;
      }
      read_joint(i, joint);
      joint += mechanism_.joints[static_cast<std::size_t>(joint)].coordinate_count();
    }
    for (const auto& [field, quantity] : kGravityFields) {
      read_field(rig_.gravity(), field, root_.at("gravity"), mechanism_.parameter(quantity));
    }
    int vibration = mechanism_.index(GravityParameter::kVibrationFrequency);
    for (const char* field : kVibrationFields) {
      read_field(rig_.vibration(), field, root_.at("vibration"), parameter_at(vibration++));
    }
    for (int i = 0; i < rig_.body_encoder_size(); ++i) read_body_encoder(i);
    const ReadParameter read_field_of = std::bind_front(&RigReader::read_field, this);
    read_sensor_parameters(rig_, root_, mechanism_, read_field_of);
    read_contact_points(rig_, root_, mechanism_, read_field_of);
    add_rig_quantities(rig_, root_, mechanism_);
    add_parameter_dependencies(rig_, root_, stated_, mechanism_);
    remember_additions();
    refuse_errors();
    Rig result;
    result.prior_locations = read_priors(rig_, root_, places_, mechanism_);
    result.contacts = read_contact_phases(rig_, root_, mechanism_);
    if (rig_.has_recording()) {
      result.format = read_recording_format(rig_, mechanism_, root_.at("recording"));
      result.format->contacts = result.contacts;
    }
    for (const estimator::Encoder& sensor : estimator::used_encoders(mechanism_)) {
      const v1::Encoder& encoder = find_encoder_message(rig_, sensor.name);
      const estimator::JointTraits& is = sensor.kind_traits();
      const double counts = get_field_number(encoder, is.counts.name);
      result.encoders.push_back({counts, is.count_unit, counts > 0.0 ? is.count_size / counts : 0.0,
                                 encoder_place(sensor.name),
                                 find_encoder_limits(rig_.safety(), sensor)});
    }
    result.has_unit = rig_.has_unit();
    result.incomplete_safety = describe_incomplete_safety(rig_, root_);
    result.mechanism = std::move(mechanism_);
    result.joint_properties = std::move(joint_facts_);
    return result;
  }

  /// Returns the locations of all parameters in the rig file. Call it after read().
  std::map<std::string, std::vector<proto::FieldStep>> parameter_places(
      const estimator::Mechanism& mechanism) const {
    std::map<std::string, std::vector<proto::FieldStep>> places;
    for (const estimator::Parameter& parameter : mechanism.parameters) {
      const auto found = places_.find(parameter.name);
      if (found != places_.end()) places.emplace(parameter.name, found->second.steps());
    }
    return places;
  }

 private:
  /// Returns the location of the encoder with this name, at a joint or between bodies.
  std::string encoder_place(const std::string& name) const {
    for (int i = 0; i < rig_.joint_size(); ++i) {
      if (has_coordinate(rig_.joint(i), name)) return root_.at("joint", i).at("encoder").where();
    }
    for (int i = 0; i < rig_.body_encoder_size(); ++i) {
      if (rig_.body_encoder(i).name() == name) return root_.at("body_encoder", i).where();
    }
    return rig_.name();
  }

  /// Reads a parameter and stores its location.
  void read_field(const Message& message, const char* field, const proto::TextLocator& place,
                  estimator::Parameter& parameter) {
    if (read_parameter(message, field, place, parameter)) stated_.insert(parameter.name);
    places_.insert_or_assign(parameter.name, place.at(field));
  }

  // Bodies and joints of a chain have the location of the chain.
  proto::TextLocator body_place(int i) const {
    return rig_.has_chain() ? root_.at("chain") : root_.at("body", i);
  }
  proto::TextLocator joint_place(int i) const {
    return rig_.has_chain() ? root_.at("chain") : root_.at("joint", i);
  }

  void check_name(const std::string& name, const char* kind, const proto::TextLocator& place) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
    if (name.empty()) place.fail(std::string(kind) + " has no name; write name: \"...\"");
    if (!std::all_of(name.begin(), name.end(), allowed)) {
      place.at("name").fail(std::string(kind) + " name \"" + name +
                            "\" may contain only letters, digits, \"_\" and \"-\"");
    }
    if (name == "ground" || name == "gravity" || name == "vibration") {
      place.at("name").fail("the name \"" + name + "\" is reserved. Choose another");
    }
    if (!places_.emplace(name, place).second) {
      place.at("name").fail(std::string(kind) + " \"" + name +
                            "\": the name is already used. Give bodies and joints different names");
    }
  }

  void add_body(int i) {
    const v1::Body& body = rig_.body(i);
    check_name(body.name(), "body", body_place(i));
    mechanism_.bodies.push_back({body.name(), body.massless()});
  }

  /// Reads the fields common to joints of all types.
  template <typename Joint>
  void read_sides(const v1::Joint& source, const proto::TextLocator& place, Joint& joint) {
    joint.name = source.name();
    joint.body_a = find_body(mechanism_, source.parent().body(), "body", place.at("parent"), true);
    joint.body_b = find_body(mechanism_, source.child().body(), "body", place.at("child"), false);
    if (joint.body_a == joint.body_b) {
      place.at("child").fail("joint \"" + joint.name + "\" connects a body to itself");
    }
    joint.frame_a = read_joint_frame(source.parent(), is_compound(source), place.at("parent"));
    joint.frame_b = read_joint_frame(source.child(), is_compound(source), place.at("child"));
  }

  void add_joint(int i) {
    const v1::Joint& source = rig_.joint(i);
    const proto::TextLocator place = joint_place(i);
    check_name(source.name(), "joint", place);
    check_joint_fields(source, place);
    if (source.type() == v1::Joint::FIXED) {
      estimator::FixedJoint weld;
      read_sides(source, place, weld);
      mechanism_.fixed_joints.push_back(weld);
      return;
    }
    estimator::Joint joint;
    read_sides(source, place, joint);
    if (is_compound(source)) {
      for (const estimator::Joint& coordinate : make_coordinates(source, joint)) {
        check_name(coordinate.name, "coordinate", place);
        mechanism_.joints.push_back(coordinate);
        joint_facts_.emplace_back();
      }
      return;
    }
    joint.kind = read_joint_kind(source, place);
    read_constraint(source.constraint(), joint);
    joint.transition_speed = source.friction().transition_speed();
    if (source.has_assembly_guess()) joint.assembly_guess = source.assembly_guess();
    joint.measured = source.has_encoder();
    joint.motor.present = source.has_motor();
    joint.motor.gear_ratio = source.motor().gear_ratio();
    joint.motor.control_noise = source.motor().control_noise();
    joint.motor.cogging_order = source.motor().cogging().order();
    if (source.has_stops()) read_stops(source, place.at("stops"), joint);
    mechanism_.joints.push_back(joint);
    read_joint_facts(source, place);
  }

  void read_stops(const v1::Joint& source, const proto::TextLocator& place,
                  estimator::Joint& joint) const {
    const v1::Stops& stops = source.stops();
    const auto is_given = [&](bool stated, const char* quantity) {
      return stated || is_dependent_parameter(rig_, source.name() + quantity);
    };
    joint.stops.lower = is_given(stops.has_lower(), ".stop_lower");
    joint.stops.upper = is_given(stops.has_upper(), ".stop_upper");
    if (!joint.stops.lower && !joint.stops.upper) {
      place.fail("joint \"" + joint.name +
                 "\" has stops { } without a position. Write lower or upper [" +
                 joint.units().coordinate + "]");
    }
    if (!is_given(stops.has_restitution(), ".restitution")) {
      place.fail("joint \"" + joint.name +
                 "\" has stops and no restitution; write restitution { value: ... }, from 0 to 1");
    }
  }

  void read_joint_facts(const v1::Joint& source, const proto::TextLocator& place) {
    JointProperties facts;
    if (source.has_motor()) {
      facts.control_unit = source.motor().control_unit();
      facts.control_max = proto::read_control_max(facts.control_unit, source.motor().control_max(),
                                                  place.at("motor"));
      if (rig_.has_safety()) facts.safety = find_command_limits(rig_.safety(), source.name());
      if (facts.control_unit.empty()) {
        place.at("motor").fail("needs the unit of the control signal; write control_unit: \"V\"");
      }
      if (!source.motor().has_gain() && source.motion() != v1::Joint::PRESCRIBED &&
          !is_dependent_parameter(rig_, source.name() + ".K")) {
        place.at("motor").fail(std::string("needs a gain [") +
                               mechanism_.joints.back().units().force + "/" + facts.control_unit +
                               "]; write gain { value: ... }");
      }
    }
    joint_facts_.push_back(facts);
  }

  void add_body_encoder(int i) {
    const v1::BodyEncoder& source = rig_.body_encoder(i);
    const proto::TextLocator place = root_.at("body_encoder", i);
    check_name(source.name(), "encoder", place);
    estimator::BodyEncoder encoder{.name = source.name()};
    encoder.body_b = find_body(mechanism_, source.body(), "body", place, true);
    if (!source.reference_body().empty()) {
      encoder.body_a =
          find_body(mechanism_, source.reference_body(), "reference_body", place, true);
    }
    const estimator::JointTraits& is = joint_traits(encoder_joint_kind(mechanism_, encoder));
    for (const estimator::JointTraits& other : estimator::kJointKinds) {
      if (std::string_view(other.counts.name) == is.counts.name) continue;
      if (get_field_number(source.encoder(), other.counts.name) == 0.0) continue;
      place.at("encoder")
          .at(other.counts.name)
          .fail("encoder \"" + encoder.name + "\" reads a " + is.noun + "; write " +
                is.counts.name);
    }
    mechanism_.body_encoders.push_back(encoder);
  }

  void read_body_encoder(int i) {
    const proto::TextLocator place = root_.at("body_encoder", i).at("encoder");
    for (const auto& [path, quantity] : kJointFields) {
      if (!std::string_view(path).starts_with(kOfEncoder)) continue;
      const RigField at =
          find_rig_field(rig_.body_encoder(i).encoder(), place, path + kOfEncoder.size());
      const auto own = static_cast<estimator::EncoderParameter>(
          static_cast<int>(quantity) - static_cast<int>(JointParameter::kEncoderOffset));
      read_field(*at.message, at.name, at.place,
                 parameter_at(mechanism_.body_encoder_parameter_index(i, own)));
    }
  }

  estimator::Parameter& parameter_at(int index) {
    return mechanism_.parameters[static_cast<std::size_t>(index)];
  }

  void read_air_drag(int i, const proto::TextLocator& place) {
    using estimator::AirDragParameter;
    const std::string& name = rig_.body(i).name();
    const v1::AirDrag& drag = rig_.body(i).air_drag();
    read_field(
        drag, "coefficient", place,
        parameter_at(mechanism_.air_drag_parameter_index(i, AirDragParameter::kCoefficient)));
    read_point(drag.point(), place.at("point"),
               mechanism_.air_drag_parameter_index(i, AirDragParameter::kPointX), mechanism_,
               std::bind_front(&RigReader::read_field, this));
    if (drag.has_point() && !estimator::has_air_drag(mechanism_, i) &&
        !is_dependent_parameter(rig_, name + ".c_air")) {
      place.fail("body \"" + name +
                 "\": air_drag has a point but no coefficient. Write coefficient { value: ... "
                 "} [N·s²/m²]");
    }
  }

  void read_body(int i) {
    const v1::Body& body = rig_.body(i);
    const proto::TextLocator place = body_place(i);
    const std::string who = "body \"" + body.name() + "\": ";
    read_air_drag(i, place.at("air_drag"));
    if (body.massless()) {
      for (const char* part : {"mass", "inertia", "center_of_mass"}) {
        if (has_field(body, part)) {
          place.at(part).fail(who + "is massless; remove its " + part + ", or massless");
        }
      }
      return;
    }
    const auto is_left_out = [&](const v1::Parameter& parameter, const char* suffix) {
      return !parameter.has_value() && !is_dependent_parameter(rig_, body.name() + suffix);
    };
    if (is_left_out(body.mass(), ".m")) {
      place.at("mass").fail(who + "needs a mass [kg]; write mass { value: ... }");
    }
    read_field(body, "mass", place, mechanism_.parameter(i, BodyParameter::kMass));
    const v1::Inertia& inertia = body.inertia();
    if (is_left_out(inertia.xx(), ".J_xx") || is_left_out(inertia.yy(), ".J_yy") ||
        is_left_out(inertia.zz(), ".J_zz")) {
      place.at("inertia").fail(who + "needs the inertias xx, yy and zz [kg·m²]; write " +
                               "inertia { xx { value: ... } yy { ... } zz { ... } }");
    }
    for (const auto& [field, quantity] : kInertiaFields) {
      read_field(inertia, field, place.at("inertia"), mechanism_.parameter(i, quantity));
    }
  }

  void read_joint_parameter(int i, const Message& message, const proto::TextLocator& place,
                            const char* field, JointParameter quantity) {
    estimator::Parameter& parameter = mechanism_.joint_parameter(i, quantity);
    const std::string& control_unit = joint_facts_[static_cast<std::size_t>(i)].control_unit;
    if (const auto unit = parameter.unit.find("unit");
        unit != std::string::npos && !control_unit.empty()) {
      parameter.unit.replace(unit, 4, control_unit);
    }
    const estimator::FrictionParameter* const law = estimator::friction_properties(quantity);
    if (law != nullptr && law->may_be_negative && allows_negative_value(message, field)) {
      parameter.lower = -std::numeric_limits<double>::infinity();
    }
    read_field(message, field, place, parameter);
  }

  /// Reads the points of a joint on its two bodies.
  /// @param parameter  returns the joint's parameter for a quantity
  template <typename Find>
  void read_points(int i, const Find& parameter) {
    for (const auto& [path, quantity] : kPointFields) {
      const RigField at = find_rig_field(rig_.joint(i), joint_place(i), path);
      read_field(*at.message, at.name, at.place, parameter(quantity));
    }
  }

  /// Reads the parameters of a joint.
  /// @param i      index of the joint in the rig file
  /// @param joint  index of the joint in the mechanism
  void read_joint(int i, int joint) {
    const v1::Joint& source = rig_.joint(i);
    const proto::TextLocator place = joint_place(i);
    read_points(i, [&](JointParameter quantity) -> estimator::Parameter& {
      return mechanism_.joint_parameter(joint, quantity);
    });
    const estimator::JointTraits& is =
        mechanism_.joints[static_cast<std::size_t>(joint)].kind_traits();
    for (const FrictionField& each :
         list_friction_fields(source.friction(), place.at("friction"))) {
      if (!each.is_of(is)) continue;
      read_joint_parameter(joint, *each.message, each.place, each.name, each.quantity);
    }
    read_joint_parameter(joint, source, place, is.constant.name, JointParameter::kConstantTorque);
    read_joint_parameter(joint, source.spring(), place.at("spring"), is.rest.name,
                         JointParameter::kRestAngle);
    read_joint_parameter(joint, source.motor(), place.at("motor"), is.inertia.name,
                         JointParameter::kShaftInertia);
    for (const auto& [path, quantity] : kJointFields) {
      const RigField at = find_rig_field(source, place, path);
      read_joint_parameter(joint, *at.message, at.place, at.name, quantity);
    }
    if (source.motion() == v1::Joint::PRESCRIBED) estimator::prescribe_motion(mechanism_, joint);
  }

  /// Stores the locations of parameters that do not belong to a body, a joint or gravity.
  void remember_additions() {
    for (int i = 0; i < rig_.quantity_size(); ++i) {
      places_.insert_or_assign(rig_.quantity(i).name(), root_.at("quantity", i).at("parameter"));
    }
    for (int i = 0; i < rig_.body_size(); ++i) {
      if (!rig_.body(i).has_center_of_mass()) continue;
      for (const char* axis : {"x", "y", "z"}) {
        places_.insert_or_assign(rig_.body(i).name() + ".c_" + axis,
                                 root_.at("body", i).at("center_of_mass").at(axis));
      }
    }
  }

  void refuse_errors() const {
    for (const auto& each : find_mechanism_errors(mechanism_, estimator::InertiaCheck::kFixed))
      refuse(each);
    check_compound_joints(rig_, mechanism_, root_);
    if (const auto fault = estimator::find_reason_loops_cannot_move(mechanism_)) refuse(*fault);
  }

  /// Reports an error at the element that its first argument names.
  [[noreturn]] void refuse(const estimator::Message& error) const {
    const auto found = error.arguments.empty()
                           ? places_.end()
                           : places_.find(std::get<std::string>(error.arguments.front().value));
    (found == places_.end() ? root_ : found->second).fail(format_error(error));
  }

  const v1::Rig& rig_;
  proto::TextLocator root_;
  estimator::Mechanism mechanism_;
  std::vector<JointProperties> joint_facts_;
  std::map<std::string, proto::TextLocator> places_;  // by name of body, joint or parameter
  std::set<std::string> stated_;                      // parameters with a value
};

}  // namespace

RigWithLocations parse_rig_with_locations(const std::string& path, const std::string& text) {
  v1::Rig message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, message, tree);
  const proto::TextLocator root(path, v1::Rig::descriptor(), &tree);
  expand_link_chain(message, root.at("chain"));
  expand_prescribed_joints(message, root);
  RigReader reader(message, root);
  RigWithLocations placed{.rig = reader.read(), .places = {}};
  placed.rig.path = path;
  placed.places = reader.parameter_places(placed.rig.mechanism);
  return placed;
}

Rig parse_rig(const std::string& path, const std::string& text) {
  return parse_rig_with_locations(path, text).rig;
}

Rig load_rig(const std::string& path) { return parse_rig(path, proto::read_file(path)); }

}  // namespace service
