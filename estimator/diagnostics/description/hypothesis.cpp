#include "estimator/diagnostics/description/hypothesis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr double kParallel = 1e-6;  // 1 − |cosine| of the angle between parallel axes

/// Smallest coordinate of a joint position with a meaningful sign [m].
constexpr double kLeverMin = 1e-6;

/// Initial values in the search for an encoder's zero, relative to the given zero [rad]. A fit
/// converges over a quarter of a turn.
constexpr double kZeroStarts[] = {0.0, 2.0, -2.0};

/// A possible ratio between described and recorded units of readings.
struct Scale {
  double factor;  ///< corrects the readings
  MessageCode error;
  const char *recorded = "", *described = "";  ///< names of the units

  Message message(bool turns) const {
    return {error, {{"recorded", recorded}, {"described", described}, {"turns", turns}}};
  }
};
constexpr Scale kAngleScales[] = {{M_PI / 180.0, MessageCode::kOtherUnit, "degrees", "radians"},
                                  {180.0 / M_PI, MessageCode::kOtherUnit, "radians", "degrees"},
                                  {2.0 * M_PI, MessageCode::kOtherUnit, "revolutions", "radians"},
                                  {0.5 / M_PI, MessageCode::kOtherUnit, "radians", "revolutions"},
                                  {0.25, MessageCode::kFourTimesTheCounts},
                                  {4.0, MessageCode::kQuarterOfTheCounts},
                                  {0.5, MessageCode::kTwiceTheCounts},
                                  {2.0, MessageCode::kHalfOfTheCounts}};
constexpr Scale kSlideScales[] = {{1e-3, MessageCode::kOtherUnit, "millimetres", "metres"},
                                  {1e3, MessageCode::kOtherUnit, "metres", "millimetres"},
                                  {1e-2, MessageCode::kOtherUnit, "centimetres", "metres"},
                                  {0.25, MessageCode::kFourTimesTheCounts},
                                  {4.0, MessageCode::kQuarterOfTheCounts}};

std::function<void(Segment&)> scale_angle(Eigen::Index column, double factor) {
  return [=](Segment& segment) { segment.angles.col(column) *= factor; };
}

void add_encoder_errors(const Encoder& sensor, Eigen::Index column,
                        std::vector<DescriptionHypothesis>& out) {
  out.push_back({.message = {MessageCode::kInvertedEncoder, {{"joint", sensor.name}}},
                 .channel = sensor.name,
                 .correct_segment = scale_angle(column, -1.0)});
  if (!sensor.kind_traits().wraps) return;
  out.push_back({.message = {MessageCode::kZeroOffByHalfTurn, {{"joint", sensor.name}}},
                 .channel = sensor.name,
                 .correct_segment = [=](Segment& s) { s.angles.col(column).array() += M_PI; }});
}

/// Adds the hypothesis that an encoder's zero is wrong, whose offset is then fitted.
void add_shifted_zero(const Mechanism& mechanism, const Encoder& sensor,
                      std::vector<DescriptionHypothesis>& out) {
  if (!sensor.kind_traits().wraps || is_changed_by_fit(mechanism, sensor.offset)) return;
  for (const double start : kZeroStarts) {
    const int offset = sensor.offset;
    out.push_back({.message = {MessageCode::kShiftedZero, {{"joint", sensor.name}}},
                   .channel = sensor.name,
                   .correct_mechanism =
                       [=](Mechanism& m) {
                         Parameter& parameter = m.at(offset);
                         parameter.free = true;
                         parameter.value += start;
                         parameter.lower = -std::numeric_limits<double>::infinity();
                         parameter.upper = std::numeric_limits<double>::infinity();
                       },
                   .size_parameter = offset});
  }
}

/// Returns the joint coordinate furthest in the direction of an end stop, by the encoder that reads
/// this joint alone. Returns the position of the stop if there is no such reading.
double furthest_coordinate(const Mechanism& mechanism, const JointStop& stop,
                           const std::vector<Recording>& recordings) {
  double furthest = stop.position, least = std::numeric_limits<double>::infinity();
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].terms.size() != 1 || sensors[i].terms.front().joint != stop.joint) continue;
    for (const Recording& recording : recordings) {
      for (const Segment& segment : recording.segments) {
        for (const double reading : segment.angles.col(static_cast<Eigen::Index>(i))) {
          const double coordinate =
              sensors[i].terms.front().sign * (reading + mechanism.at(sensors[i].offset).value);
          if (!(stop.distance_from_stop(coordinate) < least)) continue;
          least = stop.distance_from_stop(coordinate);
          furthest = coordinate;
        }
      }
    }
  }
  return furthest;
}

/// Adds the hypothesis that an end stop is at another position, which is then fitted. A trial fit
/// has no sensitivity to a stop that the motion does not reach, so it starts at the furthest
/// reading.
void add_misplaced_stops(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                         std::vector<DescriptionHypothesis>& out) {
  for (const JointStop& stop : joint_end_stops(mechanism)) {
    const int index = mechanism.joint_parameter_index(stop.joint, stop.where);
    if (is_changed_by_fit(mechanism, index)) continue;
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(stop.joint)];
    const double start = furthest_coordinate(mechanism, stop, recordings);
    out.push_back({.message = {MessageCode::kMisplacedStop,
                               {{"joint", joint.name},
                                {"is_lower", stop.side > 0.0},
                                {"is_free", false},
                                {"given", Quantity{stop.position, joint.units().coordinate}}}},
                   .channel = joint.name,
                   .correct_mechanism =
                       [=](Mechanism& m) {
                         Parameter& parameter = m.at(index);
                         parameter.free = true;
                         parameter.value = start;
                         parameter.lower = -std::numeric_limits<double>::infinity();
                         parameter.upper = std::numeric_limits<double>::infinity();
                       },
                   .size_parameter = index});
  }
}

void add_scales(const Encoder& sensor, Eigen::Index column,
                std::vector<DescriptionHypothesis>& out) {
  const bool turns = sensor.kind_traits().turns;
  for (const Scale& scale :
       turns ? std::span<const Scale>(kAngleScales) : std::span<const Scale>(kSlideScales)) {
    out.push_back({.message = {MessageCode::kWrongUnit,
                               {{"joint", sensor.name},
                                {"turns", turns},
                                {"error", std::vector<Message>{scale.message(turns)}},
                                {"factor", scale.factor}}},
                   .channel = sensor.name,
                   .correct_segment = scale_angle(column, scale.factor)});
  }
}

/// Adds hypotheses of another unit for all angles together, if there are several.
void add_common_units(const std::vector<Encoder>& sensors,
                      std::vector<DescriptionHypothesis>& out) {
  std::vector<Eigen::Index> columns;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].kind_traits().turns) columns.push_back(static_cast<Eigen::Index>(i));
  }
  if (columns.size() < 2) return;
  for (const Scale& scale : kAngleScales) {
    if (std::abs(std::log(scale.factor)) < 1.5) continue;  // counts differ between encoders
    const double factor = scale.factor;
    out.push_back(
        {.message = {MessageCode::kWrongAngleUnits,
                     {{"error", std::vector<Message>{scale.message(true)}}, {"factor", factor}}},
         .channel = "",
         .correct_segment = [=](Segment& segment) {
           for (const Eigen::Index column : columns) segment.angles.col(column) *= factor;
         }});
  }
}

void add_swapped_encoders(const std::vector<Encoder>& sensors,
                          std::vector<DescriptionHypothesis>& out) {
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (std::size_t j = i + 1; j < sensors.size(); ++j) {
      if (sensors[i].kind != sensors[j].kind) continue;
      const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
      out.push_back(
          {.message = {MessageCode::kSwappedEncoders,
                       {{"first", sensors[i].name}, {"second", sensors[j].name}}},
           .channel = sensors[i].name + "," + sensors[j].name,
           .correct_segment = [=](Segment& s) { s.angles.col(a).swap(s.angles.col(b)); }});
    }
  }
}

/// Returns the joint that a sensor reads; −1 if it reads several joints.
int joint_of(const Encoder& sensor) {
  return sensor.terms.size() == 1 ? sensor.terms.front().joint : -1;
}

/// Returns whether a joint's axis is parallel to that of the joint that carries it.
bool is_parallel_to_parent(const Mechanism& mechanism, int joint, int parent) {
  const Joint& child = mechanism.joints[static_cast<std::size_t>(joint)];
  const Joint& carrier = mechanism.joints[static_cast<std::size_t>(parent)];
  return child.body_a == carrier.body_b && child.kind_traits().turns &&
         carrier.kind_traits().turns &&
         1.0 - std::abs(child.frame_a.col(0).dot(carrier.frame_b.col(0))) < kParallel;
}

/// A pair of sensors: `own` reads a body, and `carrier` the preceding body.
struct Reference {
  Eigen::Index own, carrier;
  bool absolute;  ///< described as absolute: its reading includes the carrier's
};

/// Returns whether `own` reads all joints of `carrier` and one more.
bool reads_one_more(const Encoder& own, const Encoder& carrier) {
  return own.terms.size() == carrier.terms.size() + 1 && own.kind_traits().turns &&
         std::ranges::all_of(carrier.terms, [&](const Encoder::JointTerm& term) {
           return std::ranges::any_of(own.terms, [&](const Encoder::JointTerm& each) {
             return each.joint == term.joint && each.sign == term.sign;
           });
         });
}

/// Returns all pairs of sensors on consecutive bodies, in the order of sensors. Most carriers then
/// precede the sensors that they carry.
std::vector<Reference> references_of(const Mechanism& mechanism,
                                     const std::vector<Encoder>& sensors) {
  std::vector<Reference> result;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (std::size_t j = 0; j < sensors.size(); ++j) {
      const int joint = joint_of(sensors[i]), parent = joint_of(sensors[j]);
      const bool absolute = reads_one_more(sensors[i], sensors[j]);
      const bool relative =
          i != j && joint >= 0 && parent >= 0 && is_parallel_to_parent(mechanism, joint, parent);
      if (!absolute && !relative) continue;
      result.push_back({static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j), absolute});
    }
  }
  return result;
}

void subtract(const Reference& of, Segment& s) { s.angles.col(of.own) -= s.angles.col(of.carrier); }
void add(const Reference& of, Segment& s) { s.angles.col(of.own) += s.angles.col(of.carrier); }

/// Adds hypotheses of angles relative to the ground instead of the preceding body, and vice versa.
void add_references(const Mechanism& mechanism, const std::vector<Encoder>& sensors,
                    std::vector<DescriptionHypothesis>& out) {
  std::vector<Reference> relative, absolute;
  for (const Reference& each : references_of(mechanism, sensors)) {
    (each.absolute ? absolute : relative).push_back(each);
    const std::string& channel = sensors[static_cast<std::size_t>(each.own)].name;
    const std::string& parent = sensors[static_cast<std::size_t>(each.carrier)].name;
    const std::vector<Argument> names = {{"channel", channel}, {"parent", parent}};
    if (each.absolute) {
      out.push_back({.message = {MessageCode::kRelativeAngle, names},
                     .channel = channel,
                     .correct_segment = [=](Segment& s) { add(each, s); }});
      continue;
    }
    out.push_back({.message = {MessageCode::kAbsoluteAngle, names},
                   .channel = channel,
                   .correct_segment = [=](Segment& s) { subtract(each, s); }});
    out.push_back({.message = {MessageCode::kAngleWithoutParent, names},
                   .channel = channel,
                   .correct_segment = [=](Segment& s) { add(each, s); }});
  }
  if (relative.size() > 1) {
    out.push_back({.message = MessageCode::kAbsoluteAngles,
                   .channel = "",
                   .correct_segment = [=](Segment& s) {
                     for (auto of = relative.rbegin(); of != relative.rend(); ++of)
                       subtract(*of, s);
                   }});
  }
  if (absolute.size() > 1) {
    out.push_back({.message = MessageCode::kRelativeAngles,
                   .channel = "",
                   .correct_segment = [=](Segment& s) {
                     for (const Reference& of : absolute) add(of, s);
                   }});
  }
}

void add_motor_errors(const Mechanism& mechanism, std::vector<DescriptionHypothesis>& out) {
  std::vector<std::pair<std::string, Eigen::Index>> motors;
  for (const Joint& joint : mechanism.joints) {
    if (!joint.motor.present) continue;
    motors.emplace_back(joint.name, static_cast<Eigen::Index>(motors.size()));
  }
  for (const auto& [name, column] : motors) {
    const Eigen::Index at = column;
    out.push_back({.message = {MessageCode::kInvertedMotor, {{"joint", name}}},
                   .channel = name,
                   .correct_segment = [=](Segment& s) { s.controls.col(at) *= -1.0; }});
  }
  for (std::size_t i = 0; i < motors.size(); ++i) {
    for (std::size_t j = i + 1; j < motors.size(); ++j) {
      const Eigen::Index a = motors[i].second, b = motors[j].second;
      out.push_back(
          {.message = {MessageCode::kSwappedMotors,
                       {{"first", motors[i].first}, {"second", motors[j].first}}},
           .channel = motors[i].first + "," + motors[j].first,
           .correct_segment = [=](Segment& s) { s.controls.col(a).swap(s.controls.col(b)); }});
    }
  }
}

void negate(Parameter& parameter) {
  parameter.value = -parameter.value;
  parameter.prior_mean = -parameter.prior_mean;
  parameter.lower = -std::exchange(parameter.upper, -parameter.lower);
}

void add_point_signs(const Mechanism& mechanism, int joint,
                     std::vector<DescriptionHypothesis>& out) {
  constexpr const char* kAxes[] = {"x", "y", "z"};
  const Joint& of = mechanism.joints[static_cast<std::size_t>(joint)];
  for (int k = 0; k < 6; ++k) {
    const bool on_child = k >= 3;
    const int index = mechanism.joint_parameter_index(joint, static_cast<JointParameter>(k));
    const double value = mechanism.at(index).value;
    if (on_child ? of.body_b == Joint::kGround : of.body_a == Joint::kGround) continue;
    if (std::abs(value) < kLeverMin || find_dependency(mechanism, index) != nullptr) continue;
    const int body = on_child ? of.body_b : of.body_a;
    out.push_back({.message = {MessageCode::kWrongPointSign,
                               {{"joint", of.name},
                                {"body", mechanism.bodies[static_cast<std::size_t>(body)].name},
                                {"on_child", on_child},
                                {"axis", kAxes[k % 3]},
                                {"value", -value}}},
                   .channel = of.name,
                   .correct_mechanism = [=](Mechanism& m) { negate(m.at(index)); }});
  }
}

DescriptionHypothesis reversed_gravity(const Mechanism& mechanism) {
  const int index = mechanism.index(GravityParameter::kGravity);
  return {.message = MessageCode::kReversedGravity,
          .channel = mechanism.at(index).name,
          .correct_mechanism = [=](Mechanism& m) { negate(m.at(index)); }};
}

}  // namespace

std::vector<DescriptionHypothesis> list_common_description_errors(
    const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  std::vector<DescriptionHypothesis> result;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    add_encoder_errors(sensors[i], static_cast<Eigen::Index>(i), result);
  }
  add_motor_errors(mechanism, result);
  // In a loop, a point with the wrong sign mostly prevents closure, which is reported anyway.
  for (int joint = 0; is_tree_mechanism(mechanism) && joint < mechanism.joint_count(); ++joint) {
    add_point_signs(mechanism, joint, result);
  }
  add_swapped_encoders(sensors, result);
  add_references(mechanism, sensors, result);
  add_common_units(sensors, result);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    add_scales(sensors[i], static_cast<Eigen::Index>(i), result);
  }
  add_misplaced_stops(mechanism, recordings, result);
  for (const Encoder& sensor : sensors) add_shifted_zero(mechanism, sensor, result);
  if (mechanism.parameter(GravityParameter::kGravity).value != 0.0) {
    result.push_back(reversed_gravity(mechanism));
  }
  return result;
}

Mechanism corrected_mechanism(const Mechanism& mechanism, const DescriptionHypothesis& hypothesis) {
  Mechanism result = mechanism;
  if (hypothesis.correct_mechanism) hypothesis.correct_mechanism(result);
  apply_dependencies(result);
  return result;
}

std::vector<Recording> corrected_recordings(const std::vector<Recording>& recordings,
                                            const DescriptionHypothesis& hypothesis) {
  std::vector<Recording> result = recordings;
  if (!hypothesis.correct_segment) return result;
  for (Recording& recording : result)
    std::ranges::for_each(recording.segments, hypothesis.correct_segment);
  return result;
}

}  // namespace estimator
