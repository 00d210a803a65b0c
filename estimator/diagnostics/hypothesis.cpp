#include "estimator/diagnostics/hypothesis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/fit/number_text.hpp"
#include "estimator/model/encoder.hpp"
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
  const char* error_description;
};
constexpr Scale kAngleScales[] = {
    {M_PI / 180.0, "is in degrees, not in radians"},
    {180.0 / M_PI, "is in radians, not in degrees"},
    {2.0 * M_PI, "is in revolutions, not in radians"},
    {0.5 / M_PI, "is in radians, not in revolutions"},
    {0.25, "has four times as many counts per turn (edges counted, lines given)"},
    {4.0, "has a quarter of the counts per turn (lines counted, edges given)"},
    {0.5, "has twice as many counts per turn"},
    {2.0, "has half of the counts per turn"}};
constexpr Scale kSlideScales[] = {{1e-3, "is in millimetres, not in metres"},
                                  {1e3, "is in metres, not in millimetres"},
                                  {1e-2, "is in centimetres, not in metres"},
                                  {0.25, "has four times as many counts per metre"},
                                  {4.0, "has a quarter of the counts per metre"}};

std::function<void(Segment&)> scale_angle(Eigen::Index column, double factor) {
  return [=](Segment& segment) { segment.angles.col(column) *= factor; };
}

void add_encoder_mistakes(const Encoder& sensor, Eigen::Index column,
                          std::vector<Hypothesis>& out) {
  const std::string who = "the encoder of joint " + quoted(sensor.name);
  out.push_back(
      {.kind = "inverted-encoder",
       .channel = sensor.name,
       .error_description = who + " is inverted",
       .remedy = "change `inverted` in the column (or the encoder) of joint " + quoted(sensor.name),
       .correct_segment = scale_angle(column, -1.0)});
  if (!sensor.traits().wraps) return;
  out.push_back({.kind = "zero-upside-down",
                 .channel = sensor.name,
                 .error_description = "the zero of " + who + " is off by half a turn",
                 .remedy = "add 3.14159 to `offset_rad` in the column (or the encoder) of joint " +
                           quoted(sensor.name) + ", or reverse its `zero_direction`",
                 .correct_segment = [=](Segment& s) { s.angles.col(column).array() += M_PI; }});
}

/// Adds the hypothesis that an encoder's zero is wrong, whose offset is then fitted.
void add_shifted_zero(const Mechanism& mechanism, const Encoder& sensor,
                      std::vector<Hypothesis>& out) {
  if (!sensor.traits().wraps || changes_in_fit(mechanism, sensor.offset)) return;
  for (const double start : kZeroStarts) {
    const int offset = sensor.offset;
    out.push_back(
        {.kind = "shifted-zero",
         .channel = sensor.name,
         .error_description = "the zero of the encoder of joint " + quoted(sensor.name) + " is off",
         .remedy = "add it to `offset_rad` in the column (or the encoder) of joint " +
                   quoted(sensor.name) +
                   ", or estimate it: `encoder { offset { value: 0 free: true } }`",
         .correct_mechanism =
             [=](Mechanism& m) {
               Parameter& parameter = m.parameters[static_cast<std::size_t>(offset)];
               parameter.free = true;
               parameter.value += start;
               parameter.lower = -std::numeric_limits<double>::infinity();
               parameter.upper = std::numeric_limits<double>::infinity();
             },
         .size_parameter = offset});
  }
}

void add_scales(const Encoder& sensor, Eigen::Index column, std::vector<Hypothesis>& out) {
  const auto add = [&](const Scale& scale) {
    out.push_back({.kind = "wrong-unit",
                   .channel = sensor.name,
                   .error_description = "the " + std::string(sensor.units().quantity) +
                                        " of joint " + quoted(sensor.name) + " " +
                                        scale.error_description,
                   .remedy = "change `unit` (or counts) of joint " + quoted(sensor.name) +
                             ": multiply readings by " + number_text(scale.factor, 5),
                   .correct_segment = scale_angle(column, scale.factor)});
  };
  if (sensor.traits().turns) {
    std::ranges::for_each(kAngleScales, add);
  } else {
    std::ranges::for_each(kSlideScales, add);
  }
}

/// Adds hypotheses of another unit for all angles together, if there are several.
void add_common_units(const std::vector<Encoder>& sensors, std::vector<Hypothesis>& out) {
  std::vector<Eigen::Index> columns;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].traits().turns) columns.push_back(static_cast<Eigen::Index>(i));
  }
  if (columns.size() < 2) return;
  for (const Scale& scale : kAngleScales) {
    if (std::abs(std::log(scale.factor)) < 1.5) continue;  // counts differ between encoders
    const double factor = scale.factor;
    out.push_back({.kind = "wrong-unit",
                   .channel = "",
                   .error_description = std::string("every angle ") + scale.error_description,
                   .remedy = "change `unit` of the angle columns: multiply readings by " +
                             number_text(factor, 5),
                   .correct_segment = [=](Segment& segment) {
                     for (const Eigen::Index column : columns) segment.angles.col(column) *= factor;
                   }});
  }
}

void add_swapped_encoders(const std::vector<Encoder>& sensors, std::vector<Hypothesis>& out) {
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (std::size_t j = i + 1; j < sensors.size(); ++j) {
      if (sensors[i].kind != sensors[j].kind) continue;
      const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
      out.push_back(
          {.kind = "swapped-encoders",
           .channel = sensors[i].name + "," + sensors[j].name,
           .error_description = "the encoders of joints " + quoted(sensors[i].name) + " and " +
                                quoted(sensors[j].name) + " are swapped",
           .remedy = "swap `column` (or the order of the encoders) of joints " +
                     quoted(sensors[i].name) + " and " + quoted(sensors[j].name),
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
  return child.body_a == carrier.body_b && child.traits().turns && carrier.traits().turns &&
         1.0 - std::abs(child.frame_a.col(0).dot(carrier.frame_b.col(0))) < kParallel;
}

/// A pair of sensors: `own` reads a body, and `carrier` the preceding body.
struct Reference {
  Eigen::Index own, carrier;
  bool absolute;  ///< described as absolute: its reading includes the carrier's
};

/// Returns whether `own` reads all joints of `carrier` and one more.
bool reads_one_more(const Encoder& own, const Encoder& carrier) {
  return own.terms.size() == carrier.terms.size() + 1 && own.traits().turns &&
         std::ranges::all_of(carrier.terms, [&](const Encoder::Term& term) {
           return std::ranges::any_of(own.terms, [&](const Encoder::Term& each) {
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
                    std::vector<Hypothesis>& out) {
  std::vector<Reference> relative, absolute;
  for (const Reference& each : references_of(mechanism, sensors)) {
    (each.absolute ? absolute : relative).push_back(each);
    const std::string& channel = sensors[static_cast<std::size_t>(each.own)].name;
    const std::string who =
        std::string("the angle of ") + (each.absolute ? "encoder " : "joint ") + quoted(channel);
    const std::string before =
        "that of joint " + quoted(sensors[static_cast<std::size_t>(each.carrier)].name);
    if (each.absolute) {
      out.push_back(
          {.kind = "relative-angle",
           .channel = channel,
           .error_description = who + " is relative to " + before + ", but described as absolute",
           .remedy = "describe it with an encoder of the joint itself, or add " + before +
                     " in the recording",
           .correct_segment = [=](Segment& s) { add(each, s); }});
      continue;
    }
    out.push_back(
        {.kind = "absolute-angle",
         .channel = channel,
         .error_description = who + " is absolute, but described as relative to " + before,
         .remedy = "subtract " + before + " in the recording, or describe an encoder " +
                   "between the ground and the body",
         .correct_segment = [=](Segment& s) { subtract(each, s); }});
    out.push_back({.kind = "relative-angle",
                   .channel = channel,
                   .error_description = who + " does not include " + before,
                   .remedy = "add " + before + " in the recording",
                   .correct_segment = [=](Segment& s) { add(each, s); }});
  }
  if (relative.size() > 1) {
    out.push_back({.kind = "absolute-angle",
                   .channel = "",
                   .error_description =
                       "every angle is absolute, but described as relative to the preceding body",
                   .remedy =
                       "describe encoders between the ground and the bodies, or subtract from each "
                       "angle that of the preceding body in the recording",
                   .correct_segment = [=](Segment& s) {
                     for (auto of = relative.rbegin(); of != relative.rend(); ++of)
                       subtract(*of, s);
                   }});
  }
  if (absolute.size() > 1) {
    out.push_back({.kind = "relative-angle",
                   .channel = "",
                   .error_description =
                       "every angle is relative to the preceding body, but described as absolute",
                   .remedy = "describe them with encoders of the joints themselves",
                   .correct_segment = [=](Segment& s) {
                     for (const Reference& of : absolute) add(of, s);
                   }});
  }
}

void add_motor_mistakes(const Mechanism& mechanism, std::vector<Hypothesis>& out) {
  std::vector<std::pair<std::string, Eigen::Index>> motors;
  for (const Joint& joint : mechanism.joints) {
    if (!joint.motorised) continue;
    motors.emplace_back(joint.name, static_cast<Eigen::Index>(motors.size()));
  }
  for (const auto& [name, column] : motors) {
    const Eigen::Index at = column;
    out.push_back({.kind = "inverted-motor",
                   .channel = name,
                   .error_description = "the motor of joint " + quoted(name) + " is inverted",
                   .remedy = "give the control column of joint " + quoted(name) +
                             " the opposite `scale`, or its motor a `gain` of the opposite sign",
                   .correct_segment = [=](Segment& s) { s.controls.col(at) *= -1.0; }});
  }
  for (std::size_t i = 0; i < motors.size(); ++i) {
    for (std::size_t j = i + 1; j < motors.size(); ++j) {
      const Eigen::Index a = motors[i].second, b = motors[j].second;
      out.push_back(
          {.kind = "swapped-motors",
           .channel = motors[i].first + "," + motors[j].first,
           .error_description = "the motors of joints " + quoted(motors[i].first) + " and " +
                                quoted(motors[j].first) + " are swapped",
           .remedy = "swap the control columns of joints " + quoted(motors[i].first) + " and " +
                     quoted(motors[j].first),
           .correct_segment = [=](Segment& s) { s.controls.col(a).swap(s.controls.col(b)); }});
    }
  }
}

void add_point_signs(const Mechanism& mechanism, int joint, std::vector<Hypothesis>& out) {
  constexpr const char* kAxes[] = {"x", "y", "z"};
  const Joint& of = mechanism.joints[static_cast<std::size_t>(joint)];
  for (int k = 0; k < 6; ++k) {
    const bool on_child = k >= 3;
    const int index = mechanism.index_of_joint(joint, static_cast<JointQuantity>(k));
    const double value = mechanism.parameters[static_cast<std::size_t>(index)].value;
    if (on_child ? of.body_b == Joint::kGround : of.body_a == Joint::kGround) continue;
    if (std::abs(value) < kLeverMin || find_dependency(mechanism, index) != nullptr) continue;
    const int body = on_child ? of.body_b : of.body_a;
    const std::string where = std::string(on_child ? "child" : "parent") + " { point { " +
                              kAxes[k % 3] + " } } of joint " + quoted(of.name);
    out.push_back(
        {.kind = "wrong-point-sign",
         .channel = of.name,
         .error_description = "the position of joint " + quoted(of.name) + " on body " +
                              quoted(mechanism.bodies[static_cast<std::size_t>(body)].name) +
                              " has the wrong sign in " + kAxes[k % 3],
         .remedy = "set `" + where + "` to " + number_text(-value, 6) +
                   " (it is measured from the body's frame to the joint)",
         .correct_mechanism = [=](Mechanism& m) {
           Parameter& point = m.parameters[static_cast<std::size_t>(index)];
           point.value = -point.value;
           point.prior_mean = -point.prior_mean;
           std::tie(point.lower, point.upper) = std::pair(-point.upper, -point.lower);
         }});
  }
}

Hypothesis gravity_upside_down(const Mechanism& mechanism) {
  const int index = mechanism.index(WorldQuantity::kGravity);
  return {.kind = "gravity-upside-down",
          .channel = mechanism.parameters[static_cast<std::size_t>(index)].name,
          .error_description = "gravity points along world +y",
          .remedy = "world y points up: turn axes and zero directions on the ground accordingly",
          .correct_mechanism = [=](Mechanism& m) {
            Parameter& gravity = m.parameters[static_cast<std::size_t>(index)];
            gravity.value = -gravity.value;
            gravity.prior_mean = -gravity.prior_mean;
            std::tie(gravity.lower, gravity.upper) = std::pair(-gravity.upper, -gravity.lower);
          }};
}

}  // namespace

std::vector<Hypothesis> common_description_errors(const Mechanism& mechanism) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  std::vector<Hypothesis> result;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    add_encoder_mistakes(sensors[i], static_cast<Eigen::Index>(i), result);
  }
  add_motor_mistakes(mechanism, result);
  // In a loop, a point with the wrong sign mostly prevents closure, which is reported anyway.
  for (int joint = 0; is_tree(mechanism) && joint < mechanism.joint_count(); ++joint) {
    add_point_signs(mechanism, joint, result);
  }
  add_swapped_encoders(sensors, result);
  add_references(mechanism, sensors, result);
  add_common_units(sensors, result);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    add_scales(sensors[i], static_cast<Eigen::Index>(i), result);
  }
  for (const Encoder& sensor : sensors) add_shifted_zero(mechanism, sensor, result);
  if (mechanism.parameter(WorldQuantity::kGravity).value != 0.0) {
    result.push_back(gravity_upside_down(mechanism));
  }
  return result;
}

Mechanism corrected(const Mechanism& mechanism, const Hypothesis& hypothesis) {
  Mechanism result = mechanism;
  if (hypothesis.correct_mechanism) hypothesis.correct_mechanism(result);
  apply_dependencies(result);
  return result;
}

std::vector<Recording> corrected(const std::vector<Recording>& recordings,
                                 const Hypothesis& hypothesis) {
  std::vector<Recording> result = recordings;
  if (!hypothesis.correct_segment) return result;
  for (Recording& recording : result)
    std::ranges::for_each(recording.segments, hypothesis.correct_segment);
  return result;
}

}  // namespace estimator
