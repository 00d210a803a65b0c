// What the quantities of a mechanism are called, their units, neutral values and bounds.
#include <array>
#include <iterator>
#include <limits>
#include <string>

#include "estimator/model/joint_friction.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {
namespace {

constexpr int kConstantTorque = static_cast<int>(HingeQuantity::kConstantTorque);
constexpr int kBehindFriction = Mechanism::kHingeQuantities - kConstantTorque;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Name suffix, unit, neutral value and physical bounds of one kind of quantity.
struct QuantityFacts {
  const char* suffix;
  const char* unit;
  double value;
  double lower;
  double upper;
};

// Order of BodyQuantity. Inertias stay above zero: at zero the mass matrix is singular.
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

// Encoders are what other sensors are late against, and any of them may be first.
constexpr double kDelayMax = 0.05;  // [s]
constexpr QuantityFacts kEncoderDelay = {"encoder_delay", "s", 0.0, -kDelayMax, kDelayMax};

// Of a hinge and of a weld, first in HingeQuantity.
constexpr QuantityFacts kPointFacts[] = {any("a_x", "m"), any("a_y", "m"), any("a_z", "m"),
                                         any("b_x", "m"), any("b_y", "m"), any("b_z", "m")};

/// Of a joint behind its friction, in the order of HingeQuantity.
constexpr std::array<QuantityFacts, kBehindFriction> facts_behind_friction(const JointTraits& is) {
  return {any(is.constant.symbol, is.units.force),
          at_least_zero("k", is.units.stiffness),
          any(is.rest.symbol, is.units.coordinate),
          any("K", is.units.gain),
          at_least_zero(is.inertia.symbol, is.units.inertia),
          at_least_zero("k_e", is.units.back_emf),
          at_least_zero("delay", "s"),
          any("offset", is.units.coordinate),
          kEncoderDelay,
          any("stop_lower", is.units.coordinate),
          any("stop_upper", is.units.coordinate),
          {"restitution", "-", 0.0, 0.0, 1.0}};
}

constexpr QuantityFacts kWorldFacts[] = {{"g", "m/s²", 9.82, 0.0, kInfinity},
                                         {"tilt_x", "rad", 0.0, -1.5, 1.5},
                                         {"tilt_z", "rad", 0.0, -1.5, 1.5}};

constexpr double kMountMax = 3.2;        // no rotation vector is longer [rad]
constexpr double kCameraDelayMax = 0.2;  // exposure, transfer, image processing [s]
constexpr double kCrossMax = 0.5;        // more is another axis [-]

constexpr QuantityFacts scale(const char* suffix) { return {suffix, "-", 1.0, 0.1, 10.0}; }
constexpr QuantityFacts cross(const char* suffix) {
  return {suffix, "-", 0.0, -kCrossMax, kCrossMax};
}
constexpr QuantityFacts mount(const char* suffix) {
  return {suffix, "rad", 0.0, -kMountMax, kMountMax};
}

// Order of InertialQuantity.
constexpr QuantityFacts kInertialFacts[] = {any("p_x", "m"),
                                            any("p_y", "m"),
                                            any("p_z", "m"),
                                            mount("mount_x"),
                                            mount("mount_y"),
                                            mount("mount_z"),
                                            any("gyro_bias_x", "rad/s"),
                                            any("gyro_bias_y", "rad/s"),
                                            any("gyro_bias_z", "rad/s"),
                                            scale("gyro_scale_x"),
                                            scale("gyro_scale_y"),
                                            scale("gyro_scale_z"),
                                            any("accel_bias_x", "m/s²"),
                                            any("accel_bias_y", "m/s²"),
                                            any("accel_bias_z", "m/s²"),
                                            scale("accel_scale_x"),
                                            scale("accel_scale_y"),
                                            scale("accel_scale_z"),
                                            cross("gyro_cross_xy"),
                                            cross("gyro_cross_xz"),
                                            cross("gyro_cross_yx"),
                                            cross("gyro_cross_yz"),
                                            cross("gyro_cross_zx"),
                                            cross("gyro_cross_zy"),
                                            cross("accel_cross_xy"),
                                            cross("accel_cross_xz"),
                                            cross("accel_cross_yx"),
                                            cross("accel_cross_yz"),
                                            cross("accel_cross_zx"),
                                            cross("accel_cross_zy"),
                                            {"delay", "s", 0.0, 0.0, kDelayMax}};

// The same of a sensor that reads moment and force; only scales of instruments are free of bounds
// that tell a wrong unit.
constexpr QuantityFacts kLoadFacts[] = {any("p_x", "m"),
                                        any("p_y", "m"),
                                        any("p_z", "m"),
                                        mount("mount_x"),
                                        mount("mount_y"),
                                        mount("mount_z"),
                                        any("moment_bias_x", "N·m"),
                                        any("moment_bias_y", "N·m"),
                                        any("moment_bias_z", "N·m"),
                                        scale("moment_scale_x"),
                                        scale("moment_scale_y"),
                                        scale("moment_scale_z"),
                                        any("force_bias_x", "N"),
                                        any("force_bias_y", "N"),
                                        any("force_bias_z", "N"),
                                        scale("force_scale_x"),
                                        scale("force_scale_y"),
                                        scale("force_scale_z"),
                                        cross("moment_cross_xy"),
                                        cross("moment_cross_xz"),
                                        cross("moment_cross_yx"),
                                        cross("moment_cross_yz"),
                                        cross("moment_cross_zx"),
                                        cross("moment_cross_zy"),
                                        cross("force_cross_xy"),
                                        cross("force_cross_xz"),
                                        cross("force_cross_yx"),
                                        cross("force_cross_yz"),
                                        cross("force_cross_zx"),
                                        cross("force_cross_zy"),
                                        {"delay", "s", 0.0, 0.0, kDelayMax}};

/// The same of a sensor that tells where a point is. It has no second instrument.
constexpr QuantityFacts kPositionFacts[] = {
    any("p_x", "m"),    any("p_y", "m"),  any("p_z", "m"),    mount("mount_x"),
    mount("mount_y"),   mount("mount_z"), any("bias_x", "m"), any("bias_y", "m"),
    any("bias_z", "m"), scale("scale_x"), scale("scale_y"),   scale("scale_z")};
constexpr QuantityFacts kDistanceFacts[] = {
    any("p_x", "m"),      any("p_y", "m"),      any("p_z", "m"), any("anchor_x", "m"),
    any("anchor_y", "m"), any("anchor_z", "m"), any("bias", "m")};

// Order of AirQuantity.
constexpr QuantityFacts kAirFacts[] = {at_least_zero("c_air", "N·s²/m²"), any("air_x", "m"),
                                       any("air_y", "m"), any("air_z", "m")};

/// What the quantities of a sensor are called.
QuantityFacts facts_of(const Mechanism& mechanism, const InertialSensor& sensor, int quantity) {
  using Kind = InertialSensor::Kind;
  if (sensor.kind == Kind::kInertial) return kInertialFacts[quantity];
  QuantityFacts facts = kLoadFacts[quantity];
  if (sensor.kind == Kind::kForceTorque) return facts;
  if (!sensor.is_load()) {
    const bool is_position = sensor.kind == Kind::kPosition;
    if (is_position && quantity < std::ssize(kPositionFacts)) return kPositionFacts[quantity];
    if (!is_position && quantity < std::ssize(kDistanceFacts)) return kDistanceFacts[quantity];
    if (quantity == static_cast<int>(InertialQuantity::kDelay)) facts.upper = kCameraDelayMax;
  }
  if (quantity == static_cast<int>(InertialQuantity::kRateScaleX)) facts.suffix = "scale";
  if (sensor.is_load() && quantity == static_cast<int>(InertialQuantity::kRateBiasX)) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(sensor.hinge)];
    facts = any("bias", hinge.kind == JointKind::kPrismatic ? "N" : "N·m");
  }
  return facts;
}

static_assert(std::size(kBodyFacts) == Mechanism::kBodyQuantities);
static_assert(std::size(kPointFacts) == static_cast<int>(HingeQuantity::kFriction));
static_assert(std::size(kPointFacts) == Mechanism::kWeldQuantities);
static_assert(std::size(kWorldFacts) == Mechanism::kWorldQuantities);
static_assert(std::size(kInertialFacts) == Mechanism::kInertialQuantities);
static_assert(std::size(kLoadFacts) == Mechanism::kInertialQuantities);
static_assert(std::size(kAirFacts) == Mechanism::kAirQuantities);

QuantityFacts hinge_facts(JointKind kind, HingeQuantity quantity) {
  const bool slides = !joint_traits(kind).turns;
  if (const FrictionQuantity* const law = friction_facts(quantity)) {
    return at_least_zero(law->symbol_of(slides), law->unit_of(slides), law->neutral);
  }
  const int place = static_cast<int>(quantity);
  if (quantity < HingeQuantity::kFriction) return kPointFacts[place];
  const auto facts = facts_behind_friction(joint_traits(kind));
  return facts[static_cast<std::size_t>(place - kConstantTorque)];
}

void append(ParameterList& list, const std::string& prefix, const QuantityFacts& facts) {
  Parameter parameter;
  parameter.name = prefix + "." + facts.suffix;
  parameter.unit = facts.unit;
  parameter.value = facts.value;
  parameter.lower = facts.lower;
  parameter.upper = facts.upper;
  list.push_back(parameter);
}

}  // namespace

std::string_view unit_of(JointKind kind, HingeQuantity quantity) {
  return hinge_facts(kind, quantity).unit;
}

void make_parameters(Mechanism& mechanism) {
  mechanism.parameters.clear();
  for (const Body& body : mechanism.bodies) {
    for (QuantityFacts facts : kBodyFacts) {
      if (body.massless) facts.value = facts.lower = facts.upper = 0.0;
      append(mechanism.parameters, body.name, facts);
    }
  }
  for (const Hinge& hinge : mechanism.hinges) {
    for (int quantity = 0; quantity < Mechanism::kHingeQuantities; ++quantity) {
      append(mechanism.parameters, hinge.name,
             hinge_facts(hinge.kind, static_cast<HingeQuantity>(quantity)));
    }
  }
  for (const Weld& weld : mechanism.welds) {
    for (const QuantityFacts& facts : kPointFacts) append(mechanism.parameters, weld.name, facts);
  }
  for (const QuantityFacts& facts : kWorldFacts) append(mechanism.parameters, "gravity", facts);
  for (const BodyEncoder& encoder : mechanism.body_encoders) {
    const JointKind kind = kind_between(mechanism, encoder);
    for (const HingeQuantity quantity :
         {HingeQuantity::kEncoderOffset, HingeQuantity::kEncoderDelay}) {
      append(mechanism.parameters, encoder.name, hinge_facts(kind, quantity));
    }
  }
  for (const InertialSensor& sensor : mechanism.inertial_sensors) {
    for (int quantity = 0; quantity < Mechanism::kInertialQuantities; ++quantity) {
      append(mechanism.parameters, sensor.name, facts_of(mechanism, sensor, quantity));
    }
  }
  for (const Body& body : mechanism.bodies) {
    for (const QuantityFacts& facts : kAirFacts) append(mechanism.parameters, body.name, facts);
  }
}

}  // namespace estimator
