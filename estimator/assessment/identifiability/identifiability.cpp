#include "estimator/assessment/identifiability/identifiability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr double kAcross = 1e-3;      // relative tolerance of a combination along a null direction
constexpr double kNegligible = 1e-3;  // relative coefficient below which a term is omitted
constexpr Eigen::Index kLongestLag = 2000;
constexpr double kEvidentInflation = 2.0;  // of a variance, by autocorrelation

/// Returns a message about a direction in parameter space, without negligible coefficients.
Message describe(const Mechanism& mechanism, const std::vector<int>& requested,
                 const Eigen::VectorXd& direction) {
  const double scale = direction.cwiseAbs().maxCoeff();
  std::vector<Message> changes;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const double coefficient = direction[static_cast<Eigen::Index>(i)];
    if (std::abs(coefficient) < kNegligible * scale) continue;
    const std::string& name = mechanism.at(requested[i]).name;
    changes.push_back(
        {MessageCode::kParameterChange, {{"parameter", name}, {"change", coefficient}}});
  }
  if (changes.size() == 1) {
    return {MessageCode::kUnidentifiable, {changes.front().arguments.front()}};
  }
  return {MessageCode::kUnidentifiableChange, {{"changes", changes}}};
}

/// Eigenvalue of the information matrix, scaled to unit diagonal, below which a direction is weakly
/// identifiable. Its standard deviation is then about thirty times as large as with all other
/// directions known.
constexpr double kWeaklyIdentifiable = 1e-3;
constexpr double kPart = 0.2;      // least share of a parameter in such a direction
constexpr double kUpright = 1e-6;  // sine of the angle between an axis and gravity

class AmbiguityFinder {
 public:
  AmbiguityFinder(const Mechanism& mechanism, const std::vector<int>& requested,
                  const std::vector<int>& estimated, const Eigen::MatrixXd& information)
      : mechanism_(mechanism),
        free_(requested),
        estimated_(estimated),
        information_(information),
        readings_(mechanism) {
    for (int j = 0; j < mechanism.joint_count(); ++j)
      are_all_joints_observed_ &= readings_.is_observed(j);
    find_directions(estimated, information);
  }

  std::vector<Message> find() {
    for (int i = 0; i < mechanism_.sensor_count(); ++i) {
      const Sensor& sensor = mechanism_.sensors[static_cast<std::size_t>(i)];
      if (!sensor.reads(MeasuredQuantity::kSpecificForce)) continue;
      if (is_held_out(mechanism_, sensor.name)) continue;
      find_position_along_axis(i, sensor);
      find_scale(i, sensor);
      find_bias(i, sensor);
    }
    find_delays();
    find_heading();
    return std::move(notes_);
  }

 private:
  /// Finds the weakly identifiable directions, and the parameters that have a share in each.
  void find_directions(const std::vector<int>& estimated, const Eigen::MatrixXd& information) {
    if (information.rows() != std::ssize(estimated) || !information.allFinite()) return;
    const Eigen::VectorXd scale =
        information.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    const SymmetricEigen solved =
        symmetric_eigen(scale.asDiagonal() * information * scale.asDiagonal());
    for (Eigen::Index k = 0; k < information.rows() && solved.values[k] < kWeaklyIdentifiable;
         ++k) {
      std::vector<int>& parts = directions_.emplace_back();
      for (Eigen::Index i = 0; i < information.rows(); ++i) {
        if (std::abs(solved.vectors(i, k)) < kPart) continue;
        parts.push_back(estimated[static_cast<std::size_t>(i)]);
      }
    }
  }

  bool is_free(int index) const { return std::ranges::count(free_, index) > 0; }
  const std::string& name(int index) const { return mechanism_.at(index).name; }

  Argument names(const std::vector<int>& parameters) const {
    std::vector<std::string> all;
    for (const int index : parameters) all.push_back(name(index));
    return {"parameters", std::move(all)};
  }

  /// Returns the free parameters among `count` consecutive parameters of a sensor.
  std::vector<int> free_parameters_of(int sensor, SensorParameter first, int count) const {
    std::vector<int> found;
    for (int k = 0; k < count; ++k) {
      const int index = mechanism_.sensor_parameter_index(sensor, first) + k;
      if (is_free(index)) found.push_back(index);
    }
    return found;
  }

  /// Returns the most parameters of one weakly identifiable direction that includes every kind.
  /// @param kinds  sets of parameters, each of which must be represented
  std::vector<int> largest_weak_direction(const std::vector<std::vector<int>>& kinds) const {
    std::vector<int> found;
    for (const std::vector<int>& direction : directions_) {
      std::vector<int> parts;
      bool is_whole = true;
      for (const std::vector<int>& kind : kinds) {
        const std::size_t before = parts.size();
        for (const int index : kind) {
          if (std::ranges::count(direction, index) > 0) parts.push_back(index);
        }
        is_whole &= parts.size() > before;
      }
      if (is_whole && parts.size() > found.size()) found = parts;
    }
    return found;
  }

  /// Reports the position of an accelerometer along the only rotation axis of its body. The
  /// acceleration relative to the body's origin does not depend on this position.
  void find_position_along_axis(int i, const Sensor& sensor) {
    const auto axis = find_single_rotation_axis(mechanism_, sensor.body);
    if (!axis || axis->isZero()) return;
    std::vector<int> along;
    double part = 0.0;
    for (int k = 0; k < 3; ++k) {
      const int index = mechanism_.sensor_parameter_index(i, SensorParameter::kPointX) + k;
      const double share = (*axis)[k] * (*axis)[k];
      if (!is_free(index) || share < 1e-12) continue;
      along.push_back(index);
      part += share;
    }
    if (part < 1.0 - 1e-6) return;
    notes_.push_back({MessageCode::kPointAlongAxis,
                      {names(along), {"sensor", sensor.name}, {"fixed", name(along.back())}}});
  }

  bool is_moved_by_unmeasured_joint(int body) const {
    for (int at = body; at != Joint::kGround;) {
      int parent = Joint::kGround;
      for (const DirectedJoint& edge : spanning_tree(mechanism_)) {
        const auto index = static_cast<std::size_t>(edge.joint);
        const auto leads = [&](const auto& joint) {
          return (edge.forward ? joint.body_b : joint.body_a) == at;
        };
        const auto from = [&](const auto& joint) {
          return edge.forward ? joint.body_a : joint.body_b;
        };
        if (edge.weld) {
          if (leads(mechanism_.fixed_joints[index])) parent = from(mechanism_.fixed_joints[index]);
        } else if (leads(mechanism_.joints[index])) {
          if (!readings_.is_observed(edge.joint)) return true;
          parent = from(mechanism_.joints[index]);
        }
      }
      at = parent;
    }
    return false;
  }

  void find_scale(int i, const Sensor& sensor) {
    if (!is_moved_by_unmeasured_joint(sensor.body)) return;
    const std::vector<int> scales =
        largest_weak_direction({free_parameters_of(i, SensorParameter::kRateScaleX, 3)});
    if (scales.empty()) return;
    notes_.push_back({MessageCode::kGyroscopeScale, {names(scales), {"sensor", sensor.name}}});
  }

  void find_bias(int i, const Sensor& sensor) {
    std::vector<int> others = free_parameters_of(i, SensorParameter::kMountX, 3);
    for (int quantity = 0; quantity < Mechanism::kGravityParameters; ++quantity) {
      const int index = mechanism_.index(static_cast<GravityParameter>(quantity));
      if (is_free(index)) others.push_back(index);
    }
    const std::vector<int> parts =
        largest_weak_direction({free_parameters_of(i, SensorParameter::kForceBiasX, 3), others});
    if (parts.empty()) return;
    notes_.push_back({MessageCode::kBiasOrTilt, {names(parts), {"sensor", sensor.name}}});
  }

  /// Returns whether the data constrain a common change of parameters less than their bounds do,
  /// with all other parameters known.
  bool is_shift_unidentifiable(const std::vector<int>& parameters) const {
    if (parameters.empty() || information_.rows() != std::ssize(estimated_)) return false;
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(information_.rows());
    double width = std::numeric_limits<double>::infinity();
    for (const int index : parameters) {
      const auto found = std::ranges::find(estimated_, index);
      if (found == estimated_.end()) return false;
      shift[found - estimated_.begin()] = 1.0;
      const Parameter& own = mechanism_.at(index);
      width = std::min(width, own.upper - own.lower);
    }
    return shift.dot(information_ * shift) * width * width < 1.0;
  }

  /// Reports free delays without a reference. A sensor or control with a fixed delay is the
  /// reference for all other delays.
  void find_delays() {
    std::vector<int> delays;
    for (int j = 0; j < mechanism_.joint_count(); ++j) {
      const int index = mechanism_.joint_parameter_index(j, JointParameter::kInputDelay);
      if (is_free(index)) delays.push_back(index);
    }
    for (int i = 0; i < mechanism_.sensor_count(); ++i) {
      for (const int index : free_parameters_of(i, SensorParameter::kDelay, 1))
        delays.push_back(index);
    }
    bool is_any_fixed = false;
    for (const Encoder& sensor : used_encoders(mechanism_)) {
      if (is_free(sensor.delay)) {
        delays.push_back(sensor.delay);
      } else {
        is_any_fixed = true;
      }
    }
    std::vector<int> parts = largest_weak_direction({delays});
    if (parts.empty() && is_shift_unidentifiable(delays)) parts = delays;
    if (parts.empty() || (parts.size() < 2 && is_any_fixed)) return;
    notes_.push_back(
        {MessageCode::kOnlyDelayDifferences,
         {names(parts), {"fixed", name(parts.back())}, {"needs_encoder", !is_any_fixed}}});
  }

  /// Reports that the heading about gravity is not identifiable. Rotating the whole rig about
  /// gravity changes only encoder readings.
  void find_heading() {
    if (are_all_joints_observed_) return;
    const Eigen::Vector3d down = gravity_vector(mechanism_).normalized();
    for (int j = 0; j < mechanism_.joint_count(); ++j) {
      const Joint& joint = mechanism_.joints[static_cast<std::size_t>(j)];
      const Eigen::Vector3d axis = joint.frame_a.col(0);
      const bool is_upright = axis.cross(down).norm() < kUpright;
      if (!joint.kind_traits().turns || joint.is_compound() || joint.body_a != Joint::kGround ||
          !is_upright || readings_.is_observed(j) ||
          std::isfinite(joint.start.angle.standard_deviation)) {
        continue;
      }
      if (mechanism_.joint_parameter(j, JointParameter::kStiffness).value != 0.0) continue;
      notes_.push_back({MessageCode::kHeading, {{"joint", joint.name}}});
    }
  }

  const Mechanism& mechanism_;
  const std::vector<int>&free_, &estimated_;
  const Eigen::MatrixXd& information_;
  EncoderToJointMap readings_;
  bool are_all_joints_observed_ = true;
  std::vector<std::vector<int>> directions_;
  std::vector<Message> notes_;
};

}  // namespace

ParameterUncertainty compute_parameter_uncertainty(const Mechanism& mechanism,
                                                   const std::vector<int>& requested,
                                                   const std::vector<int>& estimated,
                                                   const ParameterInformation& information,
                                                   const Eigen::VectorXd& variances,
                                                   const Eigen::VectorXd& half_interval) {
  const auto count = static_cast<Eigen::Index>(requested.size());
  ParameterUncertainty result;
  result.standard_deviation.setConstant(count, std::numeric_limits<double>::infinity());
  result.half_interval = result.standard_deviation;
  result.covariance.setZero(count, count);
  result.correlation.setIdentity(count, count);
  result.at_bound.setZero(count);
  result.noise_deviation = result.standard_deviation;
  result.noise_covariance = result.covariance;
  result.scatter = result.covariance;
  result.tolerance_covariance = result.covariance;
  result.scatter_deviation.setConstant(count, std::numeric_limits<double>::quiet_NaN());
  std::vector<Eigen::Index> where;
  for (const int index : estimated) {
    where.push_back(std::find(requested.begin(), requested.end(), index) - requested.begin());
  }
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const int index = requested[i];
    if (std::ranges::count(estimated, index) > 0 || is_held_out_sensor_parameter(mechanism, index))
      continue;
    const Parameter& fixed = mechanism.at(index);
    result.null_directions.push_back(
        {{MessageCode::kFixedDirection,
          {{"parameter", fixed.name}, {"value", Quantity{fixed.value, fixed.unit}}}},
         Eigen::VectorXd::Unit(count, static_cast<Eigen::Index>(i))});
  }
  if (!information.valid) return result;
  const ParameterCovariance covariance = compute_covariance(information, variances);
  for (std::size_t i = 0; i < where.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    result.standard_deviation[where[i]] = covariance.standard_deviation[row];
    result.half_interval[where[i]] = half_interval.size() > 0
                                         ? half_interval[row]
                                         : kNormalHalfWidth95 * covariance.standard_deviation[row];
    result.at_bound[where[i]] = information.at_bound[row];
    for (std::size_t k = 0; k < where.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      result.covariance(where[i], where[k]) = covariance.covariance(row, column);
      result.correlation(where[i], where[k]) = covariance.correlation(row, column);
    }
  }
  result.noise_deviation = result.standard_deviation;
  result.noise_covariance = result.covariance;
  for (Eigen::Index d = 0; d < information.null_directions.cols(); ++d) {
    NullDirection direction;
    direction.coefficients = Eigen::VectorXd::Zero(count);
    for (std::size_t i = 0; i < where.size(); ++i) {
      direction.coefficients[where[i]] =
          information.null_directions(static_cast<Eigen::Index>(i), d);
    }
    direction.description = describe(mechanism, requested, direction.coefficients);
    result.null_directions.push_back(direction);
  }
  return result;
}

bool is_identifiable(const ParameterUncertainty& uncertainty, const Eigen::VectorXd& gradient) {
  return std::ranges::all_of(uncertainty.null_directions, [&](const NullDirection& direction) {
    const Eigen::VectorXd parts = gradient.cwiseProduct(direction.coefficients);
    return std::abs(parts.sum()) <= kAcross * parts.cwiseAbs().maxCoeff();
  });
}

double compute_combination_variance(const ParameterUncertainty& uncertainty,
                                    const Eigen::VectorXd& direction) {
  double variance = direction.dot(uncertainty.noise_covariance * direction);
  if (uncertainty.disagree) {
    variance = std::max(variance, direction.dot(uncertainty.scatter * direction));
  }
  return variance + direction.dot(uncertainty.tolerance_covariance * direction);
}

void include_tolerances(const std::vector<int>& requested, const std::vector<int>& estimated,
                        const Eigen::MatrixXd& changes, ParameterUncertainty& uncertainty) {
  if (changes.cols() == 0) return;
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(std::ssize(requested), changes.cols());
  for (std::size_t i = 0; i < estimated.size(); ++i) {
    const auto place = std::ranges::find(requested, estimated[i]) - requested.begin();
    if (place < std::ssize(requested) && uncertainty.at_bound[place] == 0) {
      all.row(place) = changes.row(static_cast<Eigen::Index>(i));
    }
  }
  uncertainty.tolerance_covariance =
      all * all.transpose() / (kNormalHalfWidth95 * kNormalHalfWidth95);
  uncertainty.covariance += uncertainty.tolerance_covariance;
  for (Eigen::Index i = 0; i < all.rows(); ++i) {
    double& deviation = uncertainty.standard_deviation[i];
    deviation = std::hypot(deviation, std::sqrt(uncertainty.tolerance_covariance(i, i)));
    uncertainty.half_interval[i] = std::hypot(uncertainty.half_interval[i], all.row(i).norm());
  }
  for (Eigen::Index i = 0; i < all.rows(); ++i) {
    for (Eigen::Index k = 0; k < all.rows(); ++k) {
      const double scale = uncertainty.standard_deviation[i] * uncertainty.standard_deviation[k];
      if (i == k || !(scale > 0.0) || std::isinf(scale)) continue;
      uncertainty.correlation(i, k) = uncertainty.covariance(i, k) / scale;
    }
  }
}

Eigen::VectorXd compute_noise_group_variances(const ParameterInformation& information,
                                              double angle_noise) {
  if (!information.valid) return {};
  Eigen::VectorXd variances(static_cast<Eigen::Index>(information.groups.size()));
  for (std::size_t g = 0; g < information.groups.size(); ++g) {
    const NoiseGroupStatistics& group = information.groups[g];
    const double redundancy = group.rows - group.effective_parameters;
    variances[static_cast<Eigen::Index>(g)] = redundancy > 0.5 ? group.cost / redundancy : 0.0;
  }
  variances[variances.size() - 1] = angle_noise * angle_noise;
  return variances;
}

double compute_autocorrelation_inflation(const std::vector<Eigen::VectorXd>& residuals) {
  double inflation = 1.0, variance = 0.0;
  for (Eigen::Index lag = 0; lag <= kLongestLag; ++lag) {
    double sum = 0.0;
    Eigen::Index count = 0;
    for (const Eigen::VectorXd& series : residuals) {
      for (Eigen::Index k = lag; k < series.size(); ++k) {
        const double product = series[k] * series[k - lag];
        if (std::isnan(product)) continue;
        sum += product;
        ++count;
      }
    }
    // Sums, not means: the usual biased estimate, which damps noise at long lags.
    if (lag == 0) {
      variance = sum;
      if (!(variance > 0.0)) return 1.0;
      continue;
    }
    // Skip lags without any pair of samples (sparse observations on a finer grid).
    if (count == 0) continue;
    if (sum <= 0.0) break;
    inflation += 2.0 * sum / variance;
  }
  return inflation;
}

void inflate_variances_for_autocorrelation(const Mechanism& mechanism,
                                           const std::vector<std::vector<Eigen::VectorXd>>& errors,
                                           Eigen::VectorXd& variances,
                                           std::vector<Message>& notes) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const double inflation = compute_autocorrelation_inflation(errors[i]);
    variances[static_cast<Eigen::Index>(i)] *= inflation;
    if (inflation < kEvidentInflation) continue;
    notes.push_back({MessageCode::kInflatedForCorrelation,
                     {{"encoder", sensors[i].name}, {"factor", std::sqrt(inflation)}}});
  }
}

std::vector<Message> describe_sensor_ambiguities(const Mechanism& mechanism,
                                                 const std::vector<int>& requested,
                                                 const std::vector<int>& estimated,
                                                 const Eigen::MatrixXd& information) {
  return AmbiguityFinder(mechanism, requested, estimated, information).find();
}

}  // namespace estimator
