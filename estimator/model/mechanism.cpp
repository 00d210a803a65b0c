#include "estimator/model/mechanism.hpp"

#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <type_traits>

namespace estimator {
namespace {

bool has_free_inertia(const Mechanism& mechanism, int body) {
  return std::ranges::any_of(moment_of_inertia_indices(mechanism, body),
                             [&](int index) { return is_changed_by_fit(mechanism, index); });
}

/// Returns the names of the moments and products of inertia of a body that are fixed and not zero.
std::vector<std::string> list_fixed_moments(const Mechanism& mechanism, int body) {
  std::vector<std::string> names;
  for (const int index : moment_of_inertia_indices(mechanism, body)) {
    const Parameter& parameter = mechanism.at(index);
    if (is_changed_by_fit(mechanism, index) || parameter.value == 0.0) continue;
    names.push_back(parameter.name);
  }
  return names;
}

void check_inertia(const Mechanism& mechanism, int body, InertiaCheck inertias,
                   std::vector<Message>& errors) {
  const Eigen::Vector3d moments =
      symmetric_eigen3(inertia_matrix(moments_of_inertia(mechanism, body))).values;
  const Argument own{"body", mechanism.bodies[body].name};
  if (!(moments[0] > 0.0)) {
    errors.push_back(
        {MessageCode::kIndefiniteInertia, {own, {"moment", Quantity{moments[0], "kg·m²"}}}});
  } else if (moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9) &&
             !(inertias == InertiaCheck::kFixed && has_free_inertia(mechanism, body)) &&
             !find_single_rotation_axis(mechanism, body)) {
    // The other moments of a body that rotates about one axis only have no effect.
    Message& error = errors.emplace_back(MessageCode::kTriangleInequality);
    error.arguments.push_back(own);
    const std::vector<std::string> fixed = list_fixed_moments(mechanism, body);
    if (has_free_inertia(mechanism, body) && !fixed.empty()) {
      error.arguments.push_back({"fixed", fixed});
    }
  }
}

void check_parameters(const Mechanism& mechanism, std::vector<Message>& errors) {
  for (const Parameter& parameter : mechanism.parameters) {
    const Argument own{"parameter", parameter.name};
    if (!std::isfinite(parameter.value)) {
      errors.push_back({MessageCode::kUndefinedParameter, {own}});
    } else if (!(parameter.lower <= parameter.upper)) {
      errors.push_back({MessageCode::kReversedBounds, {own}});
    } else if (parameter.value < parameter.lower || parameter.value > parameter.upper) {
      errors.push_back({MessageCode::kOutsideBounds,
                        {own,
                         {"value", parameter.value},
                         {"lower", parameter.lower},
                         {"upper", parameter.upper}}});
    } else if (!(parameter.prior_standard_deviation > 0.0)) {
      errors.push_back({MessageCode::kPriorDeviation, {own}});
    } else if (!std::isfinite(parameter.prior_mean)) {
      errors.push_back({MessageCode::kPriorMean, {own}});
    }
  }
}

/// Checks that friction is nonnegative at rest; it may rise from rest.
void check_rest_friction(const Mechanism& mechanism, std::vector<Message>& errors) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!can_friction_rise_from_rest(mechanism, j) || dry_friction_at_rest(mechanism, j) >= 0.0)
      continue;
    errors.push_back(
        {MessageCode::kNegativeRestFriction,
         {{"excess", mechanism.joint_parameter(j, JointParameter::kStribeckTorque).name},
          {"kinetic", mechanism.joint_parameter(j, JointParameter::kCoulombTorque).name}}});
  }
}

/// Checks a joint of any kind, movable or fixed.
template <typename AnyJoint>
void check_joint_bodies(const Mechanism& mechanism, const AnyJoint& joint,
                        std::vector<Message>& errors) {
  const std::vector<Argument> own = {{"joint", joint.name},
                                     {"is_fixed", std::is_same_v<AnyJoint, FixedJoint>}};
  const int bodies = mechanism.body_count();
  if (joint.body_b < 0 || joint.body_b >= bodies || joint.body_a < Joint::kGround ||
      joint.body_a >= bodies) {
    errors.push_back({MessageCode::kMissingBody, own});
  } else if (joint.body_a == joint.body_b) {
    errors.push_back({MessageCode::kSelfConnection, own});
  }
  for (const Eigen::Matrix3d* frame : {&joint.frame_a, &joint.frame_b}) {
    if (!((*frame * frame->transpose()).isIdentity(1e-9) && frame->determinant() > 0.0)) {
      errors.push_back({MessageCode::kInvalidJointFrame, own});
    }
  }
}

void check_joint(const Mechanism& mechanism, const Joint& joint, std::vector<Message>& errors) {
  check_joint_bodies(mechanism, joint, errors);
  const Argument own{"joint", joint.name};
  const SpookRegularization& spook = joint.spook;
  const double settings[] = {spook.compliance_linear, spook.compliance_angular, spook.damping_time,
                             spook.stick_speed, joint.transition_speed};
  if (!std::ranges::all_of(settings, [](double value) { return std::isfinite(value); }) ||
      spook.compliance_linear < 0.0 || spook.compliance_angular < 0.0 ||
      !(spook.damping_time >= 0.0 ||
        spook.damping_time == SpookRegularization::kAutomaticDamping) ||
      !(spook.stick_speed > 0.0)) {
    errors.push_back({MessageCode::kInvalidCompliance, {own}});
  }
  if (!(joint.motor.control_noise >= 0.0) || !std::isfinite(joint.motor.control_noise)) {
    errors.push_back({MessageCode::kNegativeControlNoise, {own}});
  }
  if (joint.transition_speed < 0.0)
    errors.push_back({MessageCode::kNegativeTransitionSpeed, {own}});
  if (joint.motor.cogging_order < 0) errors.push_back({MessageCode::kNegativeCoggingOrder, {own}});
  if (!std::isfinite(joint.motor.gear_ratio))
    errors.push_back({MessageCode::kInfiniteGearRatio, {own}});
  if (joint.motor.gear_ratio != 0.0 && !joint.kind_traits().turns) {
    errors.push_back({MessageCode::kPrismaticGearRatio, {own}});
  }
}

void check_couplings(const Mechanism& mechanism, std::vector<Message>& errors) {
  const int joints = mechanism.joint_count();
  const auto is_joint = [&](int joint) { return joint >= 0 && joint < joints; };
  for (const MimicJoint& each : mechanism.mimic_joints) {
    if (!is_joint(each.joint) || !is_joint(each.follows)) {
      errors.emplace_back(MessageCode::kMissingMimicJoint);
      return;
    }
    const Argument own{"joint", mechanism.joints[each.joint].name};
    if (find_mimic_joint(mechanism, each.joint) != &each)
      errors.push_back({MessageCode::kFollowsTwoJoints, {own}});
    if (each.ratio == 0.0 || !std::isfinite(each.ratio) || !std::isfinite(each.offset)) {
      errors.push_back({MessageCode::kInvalidMimicRatio, {own}});
    }
    int steps = 0;
    for (const MimicJoint* on = &each; on != nullptr && steps <= joints; ++steps) {
      on = find_mimic_joint(mechanism, on->follows);
    }
    if (steps > joints) errors.push_back({MessageCode::kCircularMimicJoint, {own}});
  }
}

/// Checks that every massless body carries another body, whose inertia determines its motion.
void check_carries(const Mechanism& mechanism, int body, std::vector<Message>& errors) {
  const auto touches = [&](const auto& joint) {
    return joint.body_a == body || joint.body_b == body;
  };
  if (std::ranges::count_if(mechanism.joints, touches) +
          std::ranges::count_if(mechanism.fixed_joints, touches) <
      2) {
    errors.push_back({MessageCode::kMasslessLeaf, {{"body", mechanism.bodies[body].name}}});
  }
}

void check_reachable(const Mechanism& mechanism, std::vector<Message>& errors) {
  const std::vector<DirectedJoint> tree = spanning_tree(mechanism);
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const auto reaches = [&](const DirectedJoint& edge) { return edge.child.body == body; };
    if (std::ranges::none_of(tree, reaches)) {
      errors.push_back({MessageCode::kUnconnectedBody, {{"body", mechanism.bodies[body].name}}});
    }
  }
}

}  // namespace

int Mechanism::find_parameter(std::string_view parameter_name) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter_name) return static_cast<int>(i);
  }
  return -1;
}

const MeasuredQuantityTraits& measured_quantity(const Mechanism& mechanism, const Sensor& sensor,
                                                const Instrument& instrument) {
  const MeasuredQuantityTraits& reading = measured_quantity_traits(instrument.reads);
  if (sensor.has_orientation() || sensor.joint < 0) return reading;
  const Joint& joint = mechanism.joints[sensor.joint];
  return joint.kind_traits().turns ? reading : measured_quantity_traits(reading.prismatic_reading);
}

Eigen::VectorXd neutral_coordinates(const Mechanism& mechanism) {
  Eigen::VectorXd coordinates = Eigen::VectorXd::Zero(mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (joint.is_compound() && joint.place == joint.coordinate_count() - 4) coordinates[j] = 1.0;
  }
  return coordinates;
}

std::vector<int> joints_with_motor(const Mechanism& mechanism) {
  std::vector<int> joints;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (mechanism.joints[j].motor.present) joints.push_back(j);
  }
  return joints;
}

void prescribe_motion(Mechanism& mechanism, int joint) {
  Motor& motor = mechanism.joints[static_cast<std::size_t>(joint)].motor;
  motor.present = motor.is_prescribed = true;
  for (const JointParameter quantity :
       {JointParameter::kMotorGain, JointParameter::kShaftInertia}) {
    mechanism.joint_parameter(joint, quantity).value = kPrescribedRotorInertia;
  }
}

const MimicJoint* find_mimic_joint(const Mechanism& mechanism, int joint) {
  const auto found = std::ranges::find(mechanism.mimic_joints, joint, &MimicJoint::joint);
  return found == mechanism.mimic_joints.end() ? nullptr : &*found;
}

std::vector<double> parameter_values(const Mechanism& mechanism) {
  std::vector<double> values;
  for (const Parameter& parameter : mechanism.parameters) values.push_back(parameter.value);
  return values;
}

bool has_effect(const Mechanism& mechanism, int index) {
  return mechanism.at(index).value != 0.0 || is_changed_by_fit(mechanism, index);
}

bool has_air_drag(const Mechanism& mechanism, int body) {
  return has_effect(mechanism,
                    mechanism.air_drag_parameter_index(body, AirDragParameter::kCoefficient));
}

bool depends_on_time(const Mechanism& mechanism) {
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    for (const JointParameter drift :
         {JointParameter::kGainDrift, JointParameter::kFrictionDrift}) {
      if (has_effect(mechanism, mechanism.joint_parameter_index(joint, drift))) return true;
    }
  }
  return has_vibration(mechanism);
}

bool has_vibration(const Mechanism& mechanism) {
  for (int index = mechanism.index(GravityParameter::kVibrationXSine);
       index <= mechanism.index(GravityParameter::kVibrationZCosine); ++index) {
    if (has_effect(mechanism, index)) return true;
  }
  return false;
}

void require_spook_support(const Mechanism& mechanism) {
  const auto refuse_if = [](bool unsupported, const std::string& joint, const char* what) {
    if (!unsupported) return;
    throw std::invalid_argument("joint \"" + joint + "\" " + what +
                                ", which a SPOOK simulator does not support; "
                                "request physical parameters");
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[j];
    refuse_if(!joint.kind_traits().in_spook, joint.name, joint.kind_traits().verb);
    refuse_if(joint.motor.gear_ratio != 0.0, joint.name, "has a gear_ratio");
    refuse_if(find_mimic_joint(mechanism, j) != nullptr, joint.name, "mimics another joint");
    refuse_if(joint.stops.lower || joint.stops.upper, joint.name, "has end stops");
    refuse_if(joint.motor.control_noise != 0.0, joint.name, "has control noise");
    for (const auto& [quantity, what] :
         {std::pair{JointParameter::kCoggingSine, "has a cogging torque"},
          {JointParameter::kCoggingCosine, "has a cogging torque"},
          {JointParameter::kGainDrift, "has a drifting motor gain"},
          {JointParameter::kGainSag, "has a motor gain that depends on the control"},
          {JointParameter::kFrictionDrift, "has drifting friction"},
          {JointParameter::kSpringPlay, "has a spring with play"}}) {
      refuse_if(has_effect(mechanism, mechanism.joint_parameter_index(j, quantity)), joint.name,
                what);
    }
    FrictionLaws::each([&]<typename Law>(int law) {
      const std::string what = "has " + std::string(Law::kTerms[0].word) + " friction";
      refuse_if(!Law::kInSpook && has_friction_law(mechanism, j, law), joint.name, what.c_str());
    });
  }
  for (const Encoder& encoder : used_encoders(mechanism)) {
    refuse_if(has_delay(mechanism, encoder), encoder.name, "has a delayed encoder");
    refuse_if(has_harmonics(mechanism, encoder), encoder.name, "has an encoder with harmonics");
  }
  for (const FixedJoint& weld : mechanism.fixed_joints) refuse_if(true, weld.name, "is fixed");
  for (const GroundContact& each : mechanism.contacts) refuse_if(true, each.name, "is a contact");
  refuse_if(has_vibration(mechanism), mechanism.joints.front().name, "is on a vibrating ground");
  for (const Joint& joint : mechanism.joints) {
    for (const int body : {joint.body_a, joint.body_b}) {
      if (body == Joint::kGround) continue;
      refuse_if(mechanism.bodies[body].massless, joint.name, "moves a massless body");
      refuse_if(has_air_drag(mechanism, body), joint.name, "moves against air drag");
    }
  }
}

void copy_parameter_values(const Mechanism& from, Mechanism& to) {
  for (std::size_t i = 0; i < to.parameters.size(); ++i) {
    to.parameters[i].value = from.parameters[i].value;
  }
}

std::vector<Message> find_mechanism_errors(const Mechanism& mechanism, InertiaCheck inertias) {
  std::vector<Message> errors;
  std::set<std::string> names = {"gravity", "ground", "vibration"};
  const auto check_name = [&](const std::string& name, const char* kind) {
    const std::vector<Argument> own = {{"name", name}, {"kind", std::string(kind)}};
    if (name.empty()) errors.push_back({MessageCode::kUnnamedElement, own});
    if (!names.insert(name).second) errors.push_back({MessageCode::kNameInUse, own});
  };
  for (const Body& body : mechanism.bodies) check_name(body.name, "body");
  for (const Joint& joint : mechanism.joints) check_name(joint.name, "joint");
  for (const FixedJoint& weld : mechanism.fixed_joints) check_name(weld.name, "fixed joint");
  for (const BodyEncoder& each : mechanism.body_encoders) check_name(each.name, "encoder");
  for (const Sensor& each : mechanism.sensors) {
    check_name(each.name, each.kind_traits().what);
    if (each.body < 0 || each.body >= mechanism.body_count()) {
      errors.push_back({MessageCode::kSensorWithoutBody, {{"sensor", each.name}}});
    }
    const bool is_at_joint = each.kind_traits().of == SensorTraits::MountingElement::kJoint;
    if (is_at_joint && (each.joint < 0 || each.joint >= mechanism.joint_count())) {
      errors.push_back({MessageCode::kSensorWithoutJoint, {{"sensor", each.name}}});
    }
  }
  if (mechanism.bodies.empty()) errors.emplace_back(MessageCode::kNoBodies);
  for (const Joint& joint : mechanism.joints) check_joint(mechanism, joint, errors);
  for (const FixedJoint& weld : mechanism.fixed_joints) check_joint_bodies(mechanism, weld, errors);
  check_couplings(mechanism, errors);
  if (!errors.empty()) return errors;
  for (const Sensor& each : mechanism.sensors) {
    if (!each.kind_traits().needs_tree || is_tree_mechanism(mechanism)) continue;
    errors.push_back({MessageCode::kLoadSensorInLoop,
                      {{"sensor", each.name}, {"joint", mechanism.joints[each.joint].name}}});
  }
  for (const BodyEncoder& encoder : mechanism.body_encoders) {
    encoder_joint_terms(mechanism, encoder, &errors);
  }
  check_parameters(mechanism, errors);
  check_rest_friction(mechanism, errors);
  check_end_stops(mechanism, errors);
  check_reachable(mechanism, errors);
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (mechanism.bodies[body].massless) {
      check_carries(mechanism, body, errors);
    } else {
      check_inertia(mechanism, body, inertias, errors);
    }
  }
  return errors;
}

}  // namespace estimator
