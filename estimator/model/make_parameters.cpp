// Names, units, neutral values and bounds of a mechanism's parameters.
#include <array>
#include <iterator>
#include <limits>
#include <string>

#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {
namespace {

constexpr int kConstantTorque = static_cast<int>(JointParameter::kConstantTorque);
constexpr int kBehindFriction = Mechanism::kJointParameters - kConstantTorque;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Name suffix, unit, neutral value and physical bounds of one kind of quantity.
struct QuantityFacts {
  const char* suffix;
  const char* unit;
  double value;
  double lower;
  double upper;
};

// Order of BodyParameter. Inertias stay above zero: at zero the mass matrix is singular.
constexpr QuantityFacts kBodyFacts[] = {{"m", "kg", 1.0, 1e-6, kInfinity},
                                        {"J_xx", "kg·m²", 1.0, 1e-9, kInfinity},
                                        {"J_yy", "kg·m²", 1.0, 1e-9, kInfinity},
                                        {"J_zz", "kg·m²", 1.0, 1e-9, kInfinity},
                                        {"J_xy", "kg·m²", 0.0, -kInfinity, kInfinity},
                                        {"J_xz", "kg·m²", 0.0, -kInfinity, kInfinity},
                                        {"J_yz", "kg·m²", 0.0, -kInfinity, kInfinity}};

constexpr QuantityFacts any(const char* suffix, const char* unit) {
  return {suffix, unit, 0.0, -kInfinity, kInfinity};
}
constexpr QuantityFacts at_least_zero(const char* suffix, const char* unit, double value = 0.0) {
  return {suffix, unit, value, 0.0, kInfinity};
}

// Delays of encoders are relative to other sensors, so they may be negative.
constexpr QuantityFacts kEncoderDelay = {"encoder_delay", "s", 0.0, -kDelayMax, kDelayMax};

// Points of a joint and of a fixed joint, first in JointParameter.
constexpr QuantityFacts kPointFacts[] = {any("a_x", "m"), any("a_y", "m"), any("a_z", "m"),
                                         any("b_x", "m"), any("b_y", "m"), any("b_z", "m")};

/// Returns the parameters of a joint that follow its friction, in the order of JointParameter.
constexpr std::array<QuantityFacts, kBehindFriction> facts_behind_friction(const JointTraits& is) {
  return {any(is.constant.symbol, is.units.force),
          at_least_zero("k_s", is.units.stiffness),
          any(is.rest.symbol, is.units.coordinate),
          any("K", is.units.gain),
          at_least_zero(is.inertia.symbol, is.units.inertia),
          at_least_zero("k_e", is.units.back_emf),
          at_least_zero("delay", "s"),
          any("offset", is.units.coordinate),
          kEncoderDelay,
          any("encoder_sine_1", is.units.coordinate),
          any("encoder_cosine_1", is.units.coordinate),
          any("encoder_sine_2", is.units.coordinate),
          any("encoder_cosine_2", is.units.coordinate),
          any("stop_lower", is.units.coordinate),
          any("stop_upper", is.units.coordinate),
          {"restitution", "-", 0.0, 0.0, 1.0},
          any("cogging_sine", is.units.force),
          any("cogging_cosine", is.units.force),
          any("K_drift", "1/s"),
          any("K_sag", "1/unit"),
          any("friction_drift", "1/s"),
          at_least_zero("play", is.units.coordinate)};
}

constexpr QuantityFacts kWorldFacts[] = {{"g", "m/s²", 9.82, 0.0, kInfinity},
                                         {"tilt_x", "rad", 0.0, -1.5, 1.5},
                                         {"tilt_z", "rad", 0.0, -1.5, 1.5}};
constexpr QuantityFacts kVibrationFacts[] = {
    at_least_zero("frequency", "Hz"), any("x_sine", "m/s²"),
    any("x_cosine", "m/s²"),          any("y_sine", "m/s²"),
    any("y_cosine", "m/s²"),          any("z_sine", "m/s²"),
    any("z_cosine", "m/s²")};

constexpr double kMountMax = 3.2;                    // a longer rotation vector is redundant [rad]
constexpr double kCrossMax = 0.5;                    // beyond, it is another axis [-]
constexpr double kScaleMin = 0.1, kScaleMax = 10.0;  // beyond, it is another unit [-]

// Order of AirDragParameter.
constexpr QuantityFacts kAirFacts[] = {at_least_zero("c_air", "N·s²/m²"), any("air_x", "m"),
                                       any("air_y", "m"), any("air_z", "m")};

// Order of ContactParameter.
constexpr QuantityFacts kContactFacts[] = {any("point_x", "m"), any("point_y", "m"),
                                           any("point_z", "m")};

void append(ParameterList& list, const std::string& prefix, const QuantityFacts& facts) {
  list.push_back({.name = prefix + "." + facts.suffix,
                  .unit = facts.unit,
                  .value = facts.value,
                  .lower = facts.lower,
                  .upper = facts.upper});
}

/// Adds the parameters of one sensor to a list, in the order of SensorParameter.
class SensorParameters {
 public:
  SensorParameters(const Mechanism& mechanism, const Sensor& sensor, ParameterList& list)
      : mechanism_(mechanism), sensor_(sensor), list_(list) {}

  void append() {
    using enum SensorTraits::MountMeaning;
    const bool is_anchor = sensor_.kind_traits().mount == kAnchor;
    for (const char* axis : kAxisNames) add(std::string("p_") + axis, any("", "m"));
    for (const char* axis : kAxisNames) {
      const QuantityFacts turn = {"", "rad", 0.0, -kMountMax, kMountMax};
      add(std::string(is_anchor ? "anchor_" : "mount_") + axis, is_anchor ? any("", "m") : turn);
    }
    for (const int place : {0, 1}) add_instrument(place);
    for (const int place : {0, 1}) add_cross(place);
    add("delay", {"", "s", 0.0, 0.0, sensor_.kind_traits().delay_max});
  }

 private:
  static constexpr const char* kAxisNames[] = {"x", "y", "z"};

  void add(const std::string& name, QuantityFacts facts) {
    facts.suffix = name.c_str();
    estimator::append(list_, sensor_.name, facts);
  }

  /// Every sensor has parameters for all axes that any sensor has; unused ones take these names.
  static const Instrument& stand_in(int place) {
    return sensor_traits(Sensor::Kind::kForceTorque).instruments[place];
  }

  void add_instrument(int place) {
    const Instrument& own = sensor_.kind_traits().instruments[place];
    const auto name_of = [&](const char* quantity, int axis) {
      if (axis >= own.axis_count) return stand_in(place).prefix + axis_name(quantity, axis);
      return own.prefix + (own.axis_count == 1 ? quantity : axis_name(quantity, axis));
    };
    for (int axis = 0; axis < 3; ++axis) {
      const MeasuredQuantityTraits& reading = axis < own.axis_count
                                                  ? measured_quantity(mechanism_, sensor_, own)
                                                  : measured_quantity_traits(stand_in(place).reads);
      add(name_of("bias", axis), any("", reading.unit()));
    }
    for (int axis = 0; axis < 3; ++axis) {
      add(name_of("scale", axis), {"", "-", 1.0, kScaleMin, kScaleMax});
    }
  }

  static std::string axis_name(const char* quantity, int axis) {
    return std::string(quantity) + "_" + kAxisNames[axis];
  }

  void add_cross(int place) {
    const bool has_cross = sensor_.kind_traits().has_cross;
    const Instrument& own = has_cross ? sensor_.kind_traits().instruments[place] : stand_in(place);
    for (const char* reads : kAxisNames) {
      for (const char* along : kAxisNames) {
        if (reads == along) continue;
        add(std::string(own.prefix) + "cross_" + reads + along,
            {"", "-", 0.0, -kCrossMax, kCrossMax});
      }
    }
  }

  const Mechanism& mechanism_;
  const Sensor& sensor_;
  ParameterList& list_;
};

static_assert(std::size(kBodyFacts) == Mechanism::kBodyParameters);
static_assert(std::size(kPointFacts) == static_cast<int>(JointParameter::kFriction));
static_assert(std::size(kPointFacts) == Mechanism::kFixedJointParameters);
static_assert(std::size(kWorldFacts) + std::size(kVibrationFacts) == Mechanism::kGravityParameters);
static_assert(std::size(kAirFacts) == Mechanism::kAirDragParameters);
static_assert(std::size(kContactFacts) == Mechanism::kContactParameters);

QuantityFacts joint_properties(JointKind kind, JointParameter quantity) {
  const bool slides = !joint_traits(kind).turns;
  if (const FrictionParameter* const law = friction_properties(quantity)) {
    return at_least_zero(law->parameter_suffix(slides), law->parameter_unit(slides), law->neutral);
  }
  const int place = static_cast<int>(quantity);
  if (quantity < JointParameter::kFriction) return kPointFacts[place];
  const auto facts = facts_behind_friction(joint_traits(kind));
  return facts[place - kConstantTorque];
}

}  // namespace

std::string_view joint_parameter_unit(JointKind kind, JointParameter quantity) {
  return joint_properties(kind, quantity).unit;
}

void make_parameters(Mechanism& mechanism) {
  mechanism.parameters.clear();
  for (const Body& body : mechanism.bodies) {
    for (QuantityFacts facts : kBodyFacts) {
      if (body.massless) facts.value = facts.lower = facts.upper = 0.0;
      append(mechanism.parameters, body.name, facts);
    }
  }
  for (const Joint& joint : mechanism.joints) {
    for (int quantity = 0; quantity < Mechanism::kJointParameters; ++quantity) {
      const bool is_point = quantity < Mechanism::kFixedJointParameters && joint.place == 0;
      append(mechanism.parameters, is_point ? compound_name(joint) : joint.name,
             joint_properties(joint.kind, static_cast<JointParameter>(quantity)));
    }
  }
  for (const FixedJoint& weld : mechanism.fixed_joints) {
    for (const QuantityFacts& facts : kPointFacts) append(mechanism.parameters, weld.name, facts);
  }
  for (const QuantityFacts& facts : kWorldFacts) append(mechanism.parameters, "gravity", facts);
  for (const QuantityFacts& facts : kVibrationFacts) {
    append(mechanism.parameters, "vibration", facts);
  }
  for (const BodyEncoder& encoder : mechanism.body_encoders) {
    const JointKind kind = encoder_joint_kind(mechanism, encoder);
    for (int quantity = 0; quantity < Mechanism::kEncoderParameters; ++quantity) {
      append(mechanism.parameters, encoder.name,
             joint_properties(kind, joint_encoder_parameter(quantity)));
    }
  }
  for (const Sensor& sensor : mechanism.sensors) {
    SensorParameters(mechanism, sensor, mechanism.parameters).append();
  }
  for (const Body& body : mechanism.bodies) {
    for (const QuantityFacts& facts : kAirFacts) append(mechanism.parameters, body.name, facts);
  }
  for (const GroundContact& contact : mechanism.contacts) {
    for (const QuantityFacts& facts : kContactFacts) {
      append(mechanism.parameters, contact.name, facts);
    }
  }
}

}  // namespace estimator
