#include "estimator/diagnostics/signal/channels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "estimator/model/encoder.hpp"
#include "estimator/model/kinematics/kinematics.hpp"

namespace estimator {
namespace {

// Half-width of the second differences of positions: long enough to suppress noise and
// quantization, short compared with a swing.
constexpr double kReach = 0.03;    // [s]
constexpr int kInstantsMax = 400;  // of all recordings; each needs three poses
constexpr int kInstantsMin = 20;
// Sums of squares relative to those of the readings; rates are taken about their mean.
constexpr double kUnexplained = 0.5;    // by the description; less: nothing is reported
constexpr double kAxesExplained = 0.1;  // largest share left by a reported error
constexpr double kDegrees = 180.0 / std::numbers::pi;

/// The measured and expected values of one instrument at an instant.
struct Instant {
  Eigen::Vector3d read;  ///< NaN if the axis is not measured
  Eigen::Vector3d expected;
};
using Comparison = std::vector<Instant>;

/// A hypothetical error of an inertial sensor: axis i reads sign[i] times axis[i] of the
/// description, in a unit of which `unit` make the SI unit.
struct AxisError {
  std::array<int, 3> axis = {0, 1, 2};
  std::array<int, 3> sign = {1, 1, 1};
  double unit = 1.0;
  double unexplained = 0.0;

  bool is_of_axes() const { return axis != std::array{0, 1, 2} || sign != std::array{1, 1, 1}; }
  /// Returns the number of wrong entries in the description.
  int changes() const {
    int count = unit != 1.0 ? 1 : 0;
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      count += axis[at] != i || sign[at] != 1 ? 1 : 0;
    }
    return count;
  }
};

/// Returns whether encoders determine the pose of a body.
bool is_pose_observed(const Mechanism& mechanism, const EncoderToJointMap& joints, int body) {
  if (mechanism.joint_count() + mechanism.fixed_joint_count() != mechanism.body_count())
    return false;
  while (body != Joint::kGround) {
    int parent = body;
    for (int h = 0; h < mechanism.joint_count(); ++h) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(h)];
      if (joint.body_b != body) continue;
      if (!joints.is_observed(h)) return false;
      parent = joint.body_a;
    }
    for (const FixedJoint& weld : mechanism.fixed_joints) {
      if (weld.body_b == body) parent = weld.body_a;
    }
    if (parent == body) return false;
    body = parent;
  }
  return true;
}

/// Computes poses of bodies from the encoder readings in a row; none if a reading is missing.
class Poses {
 public:
  explicit Poses(const Mechanism& mechanism)
      : mechanism_(mechanism), values_(unpack_parameters(mechanism)), joints_(mechanism) {
    for (const Encoder& sensor : used_encoders(mechanism)) {
      offsets_.push_back(mechanism.at(sensor.offset).value);
    }
  }

  std::optional<Configuration> at(const Segment& segment, Eigen::Index row) const {
    Eigen::VectorXd readings = segment.angles.row(row).transpose();
    if (!readings.allFinite()) return std::nullopt;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      readings[static_cast<Eigen::Index>(i)] += offsets_[i];
    }
    return assemble_configuration(mechanism_, values_, joints_.joint_coordinates(readings));
  }

  const EncoderToJointMap& joints() const { return joints_; }
  const Eigen::Vector3d& gravity() const { return values_.gravity; }

 private:
  const Mechanism& mechanism_;
  ModelParameterValues values_;
  EncoderToJointMap joints_;
  std::vector<double> offsets_;
};

Eigen::Vector3d triple(const Mechanism& mechanism, int sensor, SensorParameter first) {
  Eigen::Vector3d value;
  for (int k = 0; k < 3; ++k) {
    const auto quantity = static_cast<SensorParameter>(static_cast<int>(first) + k);
    value[k] = mechanism.at(mechanism.sensor_parameter_index(sensor, quantity)).value;
  }
  return value;
}

/// Returns the means of three columns over some rows; missing readings are skipped.
Eigen::Vector3d mean_of(const Segment& segment, Eigen::Index column, Eigen::Index first,
                        Eigen::Index count) {
  Eigen::Vector3d mean;
  for (int k = 0; k < 3; ++k) {
    double sum = 0.0, read = 0.0;
    for (Eigen::Index row = first; row < first + count; ++row) {
      const double value = segment.inertial(row, column + k);
      if (std::isnan(value)) continue;
      sum += value;
      read += 1.0;
    }
    mean[k] = sum / read;  // NaN if there are none
  }
  return mean;
}

/// Compares both instruments of a sensor with the encoders, at instants spread over a segment.
void compare(const Mechanism& mechanism, const Poses& poses, int sensor, const Segment& segment,
             int instants, Comparison& rates, Comparison& forces) {
  const Sensor& own = mechanism.sensors[static_cast<std::size_t>(sensor)];
  const Eigen::Matrix3d mount =
      own.frame * exp_so3(triple(mechanism, sensor, SensorParameter::kMountX)).toRotationMatrix();
  const Eigen::Vector3d point = triple(mechanism, sensor, SensorParameter::kPointX);
  const auto reach = std::max<Eigen::Index>(1, std::lround(kReach / segment.period));
  const Eigen::Index rows = segment.sample_count();
  const auto body = static_cast<std::size_t>(own.body);
  const Eigen::Index column = static_cast<Eigen::Index>(sensor) * Sensor::kAxes;
  const Eigen::Index stride = std::max<Eigen::Index>(1, (rows - 2 * reach) / instants);
  for (Eigen::Index row = reach; row + reach < rows; row += stride) {
    const auto before = poses.at(segment, row - reach);
    const auto now = poses.at(segment, row);
    const auto after = poses.at(segment, row + reach);
    if (!before || !now || !after) continue;
    const double time = 0.5 * (segment.time(row + reach) - segment.time(row - reach));
    const auto place = [&](const Configuration& q) {
      return Eigen::Vector3d(q[body].r + q[body].e * point);
    };
    const Eigen::Matrix3d to_sensor = ((*now)[body].e.toRotationMatrix() * mount).transpose();
    const Eigen::Vector3d rate =
        left_rotation_difference((*after)[body].e, (*before)[body].e) / (2.0 * time);
    const Eigen::Vector3d acceleration =
        (place(*after) - 2.0 * place(*now) + place(*before)) / (time * time);
    rates.push_back({mean_of(segment, column, row - reach, 2 * reach + 1), to_sensor * rate});
    forces.push_back({mean_of(segment, column + 3, row - reach, 2 * reach + 1),
                      to_sensor * (acceleration - poses.gravity())});
  }
}

/// Keeps only the instants at which all axes with readings were read. Removes the mean if the bias
/// is unknown.
/// @return whether each axis has readings
std::array<bool, 3> prepare(Comparison& comparison, bool about_mean) {
  std::array<bool, 3> is_read{};
  for (const Instant& each : comparison) {
    for (int k = 0; k < 3; ++k) {
      if (!std::isnan(each.read[k])) is_read[static_cast<std::size_t>(k)] = true;
    }
  }
  for (Instant& each : comparison) {
    for (int k = 0; k < 3; ++k) {
      if (!is_read[static_cast<std::size_t>(k)]) each.read[k] = 0.0;
    }
  }
  std::erase_if(comparison, [](const Instant& each) {
    return !each.read.allFinite() || !each.expected.allFinite();
  });
  if (!about_mean) return is_read;
  Instant mean{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
  for (const Instant& each : comparison) {
    mean.read += each.read / static_cast<double>(comparison.size());
    mean.expected += each.expected / static_cast<double>(comparison.size());
  }
  for (Instant& each : comparison) {
    each.read -= mean.read;
    each.expected -= mean.expected;
  }
  return is_read;
}

double unexplained(const Comparison& comparison, const std::array<bool, 3>& is_read,
                   const AxisError& error) {
  double left = 0.0, all = 0.0;
  for (const Instant& each : comparison) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (!is_read[k]) continue;
      const double read = each.read[static_cast<int>(k)];
      const double expected = error.sign[k] * each.expected[error.axis[k]];
      left += (read - error.unit * expected) * (read - error.unit * expected);
      all += read * read;
    }
  }
  return left / all;
}

/// Returns all hypothetical errors: each assignment of axes, mirrored or not, in each unit. Axes
/// without readings keep their sign.
std::vector<AxisError> list_axis_errors(const std::array<bool, 3>& is_read,
                                        const std::array<double, 3>& units) {
  std::vector<AxisError> all;
  std::array<int, 3> axis = {0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      AxisError error{.axis = axis};
      bool stays = true;
      for (std::size_t k = 0; k < 3; ++k) {
        error.sign[k] = ((signs >> k) & 1) != 0 ? -1 : 1;
        stays = stays && (is_read[k] || error.sign[k] == 1);
      }
      // Unread axes are interchangeable: keep one order of them.
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t j = k + 1; j < 3; ++j) {
          stays = stays && (is_read[k] || is_read[j] || axis[k] < axis[j]);
        }
      }
      if (!stays) continue;
      for (const double unit : units) {
        error.unit = unit;
        all.push_back(error);
      }
    }
  } while (std::ranges::next_permutation(axis).found);
  return all;
}

/// Returns the error that explains the readings with the fewest changes to the description; nullopt
/// if there is no single one.
std::optional<AxisError> find_axis_error(Comparison& comparison, bool turns) {
  const std::array<bool, 3> is_read = prepare(comparison, turns);
  if (comparison.size() < kInstantsMin) return std::nullopt;
  const double unit = turns ? kDegrees : 1.0 / kStandardGravity;
  std::vector<AxisError> explaining;
  if (!(unexplained(comparison, is_read, {}) > kUnexplained)) return std::nullopt;
  for (AxisError error : list_axis_errors(is_read, {1.0, unit, 1.0 / unit})) {
    error.unexplained = unexplained(comparison, is_read, error);
    if (error.unexplained < kAxesExplained) explaining.push_back(error);
  }
  std::ranges::sort(explaining, {}, &AxisError::changes);
  const bool is_alone =
      explaining.size() == 1 ||
      (explaining.size() > 1 && explaining[0].changes() < explaining[1].changes());
  return is_alone ? std::optional(explaining.front()) : std::nullopt;
}

Finding inertial_error_finding(const std::string& sensor, const AxisError& error,
                               const Instrument& by) {
  constexpr const char* kAxisNames[] = {"x", "y", "z"};
  std::vector<Message> errors, corrections;
  if (error.unit != 1.0) {
    const auto& [si, customary] = measured_quantity_traits(by.reads).units;
    const MeasurementUnit& read_in = (error.unit > 1.0) == (customary.size < 1.0) ? customary : si;
    errors.push_back({MessageCode::kInstrumentUnit, {{"unit", std::string(read_in.short_name)}}});
    corrections.push_back({MessageCode::kSetColumnUnit, {{"unit", std::string(read_in.word)}}});
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const auto own = static_cast<std::size_t>(error.axis[k]);
    if (own == k && error.sign[k] == 1) continue;
    const std::vector<Argument> axes = {{"axis", std::string(kAxisNames[k])},
                                        {"is_inverted", error.sign[k] < 0},
                                        {"true_axis", std::string(kAxisNames[own])}};
    errors.push_back({MessageCode::kWrongAxis, axes});
    corrections.push_back({MessageCode::kAssignAxis, axes});
  }
  return make_finding(
      {error.is_of_axes() ? MessageCode::kWrongSensorAxes : MessageCode::kWrongSensorUnit,
       {{"instrument", std::string(by.name)},
        {"sensor", sensor},
        {"errors", std::move(errors)},
        {"percent", 100.0 * error.unexplained},
        {"corrections", std::move(corrections)}}},
      "", sensor);
}

}  // namespace

std::vector<Finding> find_inertial_axis_errors(const Mechanism& mechanism,
                                               const std::vector<Recording>& recordings) {
  std::vector<Finding> findings;
  if (mechanism.sensor_count() == 0) return findings;
  const Poses poses(mechanism);
  std::size_t segments = 0;
  for (const Recording& recording : recordings) segments += recording.segments.size();
  const int instants =
      std::max(1, kInstantsMax / static_cast<int>(std::max<std::size_t>(1, segments)));
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    const Sensor& sensor = mechanism.sensors[static_cast<std::size_t>(i)];
    if (!sensor.reads(MeasuredQuantity::kSpecificForce)) continue;
    if (is_held_out(mechanism, sensor.name)) continue;
    if (!is_pose_observed(mechanism, poses.joints(), sensor.body)) continue;
    Comparison rates, forces;
    for (const Recording& recording : recordings) {
      for (const Segment& segment : recording.segments) {
        if (segment.inertial.cols() <= i * Sensor::kAxes) continue;
        compare(mechanism, poses, i, segment, instants, rates, forces);
      }
    }
    if (const auto error = find_axis_error(rates, true)) {
      findings.push_back(
          inertial_error_finding(sensor.name, *error, sensor.kind_traits().instruments[0]));
    }
    if (const auto error = find_axis_error(forces, false)) {
      findings.push_back(
          inertial_error_finding(sensor.name, *error, sensor.kind_traits().instruments[1]));
    }
  }
  return findings;
}

}  // namespace estimator
