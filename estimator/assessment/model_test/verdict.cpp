#include "estimator/assessment/model_test/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/part_consistency.hpp"
#include "estimator/assessment/quantization.hpp"

namespace estimator {
namespace {

constexpr double kUnexplainedShare = 1.0 / 3.0;  // of the motion
constexpr double kMultiple = 10.0;    // of the motion: an unexplained share given without number
constexpr double kFarTooNoisy = 3.0;  // above, the model is rejected
constexpr double kApproximateShare = 0.05;  // of the motion; above, the model is rejected
constexpr double kInflation = 2.0;    // of a variance by autocorrelation
/// Unexplained share of the accelerations that clock and encoder disc errors can cause. A smaller
/// share only hints at a modelling error.
constexpr double kTraceShare = 1e-4;
constexpr double kLargestPercent = 1e3;  // of a torque, in a message
constexpr double kHorizon = 0.2;  // [s]; any motion is predictable this long

/// Returns the residuals of one sensor in the estimation stage used, of the simulation or of the
/// estimated states.
std::vector<Eigen::VectorXd> residuals_of(const Calibration& calibration, Eigen::Index sensor,
                                          JointKind kind) {
  std::vector<Eigen::VectorXd> residuals;
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    const Eigen::MatrixXd& model =
        calibration.refined ? trajectory.simulated : trajectory.estimated;
    Eigen::VectorXd& errors = residuals.emplace_back(model.col(sensor));
    errors -= trajectory.measured.col(sensor);
    for (double& error : errors) error = joint_coordinate_difference(kind, error);
  }
  return residuals;
}

/// Returns the column of a sensor in a matrix of every trajectory.
std::vector<Eigen::VectorXd> columns(const Calibration& calibration,
                                     Eigen::MatrixXd SegmentTrajectory::*matrix,
                                     Eigen::Index sensor) {
  std::vector<Eigen::VectorXd> all;
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    all.push_back((trajectory.*matrix).col(sensor));
  }
  return all;
}

/// Returns the root mean square of all values except NaN, optionally about each segment's mean.
double root_mean_square(const std::vector<Eigen::VectorXd>& series, bool centred) {
  double squares = 0.0, count = 0.0;
  for (const Eigen::VectorXd& one : series) {
    double sum = 0.0, observed = 0.0;
    for (const double value : one) {
      if (std::isnan(value)) continue;
      sum += value;
      observed += 1.0;
    }
    const double mean = centred && observed > 0.0 ? sum / observed : 0.0;
    for (const double value : one) {
      if (!std::isnan(value)) squares += std::pow(value - mean, 2);
    }
    count += observed;
  }
  return count > 0.0 ? std::sqrt(squares / count) : 0.0;
}

std::vector<Segment> readings_of(const Calibration& calibration) {
  std::vector<Segment> segments;
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    Segment& segment = segments.emplace_back();
    segment.period = trajectory.step;
    segment.times = trajectory.times;
    segment.angles = trajectory.measured;
  }
  return segments;
}

/// Returns the root-mean-square acceleration of a sensor, by divided differences over kHorizon.
double acceleration_of(const std::vector<Segment>& segments, Eigen::Index sensor) {
  std::vector<Eigen::VectorXd> accelerations;
  for (const Segment& segment : segments) {
    const auto lag = std::max<Eigen::Index>(1, std::lround(kHorizon / segment.period));
    const Eigen::Index count = segment.angles.rows() - 2 * lag;
    if (count <= 0) continue;
    Eigen::VectorXd& own = accelerations.emplace_back(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto speed = [&](Eigen::Index from) {
        return (segment.angles(from + lag, sensor) - segment.angles(from, sensor)) /
               (segment.time(from + lag) - segment.time(from));
      };
      own[k] = 2.0 * (speed(k + lag) - speed(k)) / (segment.time(k + 2 * lag) - segment.time(k));
    }
  }
  return root_mean_square(accelerations, false);
}

/// Returns the unexplained share of the acceleration of a measured joint. Returns 0 for an encoder
/// between bodies, whose joints are assessed instead.
double unexplained_acceleration(const Calibration& calibration,
                                const std::vector<Segment>& segments, const std::string& name,
                                Eigen::Index sensor) {
  for (Eigen::Index j = 0; j < calibration.acceleration_noise.size(); ++j) {
    if (calibration.mechanism.joints[static_cast<std::size_t>(j)].name != name) continue;
    const double left = calibration.acceleration_noise[j] / std::sqrt(kHorizon);
    const double seen = acceleration_of(segments, sensor);  // 0 if no segment is long enough
    return left > 0.0 && seen > 0.0 ? left / seen : 0.0;
  }
  return 0.0;
}

/// Adds an objection to the model.
void object(VerdictKind kind, Message reason, Verdict& verdict) {
  verdict.kind = std::max(verdict.kind, kind);
  verdict.reasons.push_back(std::move(reason));
}

/// Adds the result of the test of whether parts of the recordings agree.
void add_statistic(const ConsistencyTest& agreement, Message& message) {
  message.arguments.push_back({"statistic", agreement.statistic});
  message.arguments.push_back({"degrees", agreement.degrees_of_freedom});
}

/// @param worst  verdict if parts disagree with a significance of kSignificanceLevel
void doubt_agreement(const ConsistencyTest& agreement, VerdictKind worst, Verdict& verdict) {
  if (!(agreement.p_value < kConsistencyLevel)) return;
  Message reason(MessageCode::kSegmentsDisagree);
  add_statistic(agreement, reason);
  object(agreement.p_value < kSignificanceLevel ? worst : VerdictKind::kDoubtful, std::move(reason),
         verdict);
}

void doubt_residuals(const std::vector<SensorFitQuality>& fits, Verdict& verdict) {
  const auto ratio = [](const SensorFitQuality& fit) {
    return fit.noise > 0.0 ? fit.residual / fit.noise : 0.0;
  };
  const auto worst = std::ranges::max_element(fits, {}, ratio);
  const auto correlated = std::ranges::find_if(fits, &SensorFitQuality::correlated);
  if (worst != fits.end() && ratio(*worst) > kDoubtfulResidualRatio) {
    const bool grave = ratio(*worst) > kFarTooNoisy || correlated != fits.end();
    Message reason(MessageCode::kExcessResiduals,
                   {{"ratio", ratio(*worst)}, {"encoder", worst->name}});
    object(grave ? VerdictKind::kRejected : VerdictKind::kDoubtful, std::move(reason), verdict);
  } else if (correlated != fits.end()) {
    // Errors at noise level are a hint, included in the deviations, unless parts disagree too.
    object(verdict.kind == VerdictKind::kAccepted ? VerdictKind::kDoubtful : VerdictKind::kRejected,
           {MessageCode::kCorrelatedResiduals, {{"encoder", correlated->name}}}, verdict);
  }
}

void doubt_accelerations(const Calibration& calibration, const std::vector<SensorFitQuality>& fits,
                         Verdict& verdict) {
  if (calibration.refined) return;
  const std::string *grave = nullptr, *trace = nullptr;
  for (Eigen::Index j = 0; j < calibration.acceleration_noise.size(); ++j) {
    if (!(calibration.acceleration_noise[j] > 0.0)) continue;
    const std::string& name = calibration.mechanism.joints[static_cast<std::size_t>(j)].name;
    const auto fit = std::ranges::find(fits, name, &SensorFitQuality::name);
    const double share = fit == fits.end() ? 0.0 : fit->unexplained;  // 0: no reading of this joint
    const std::string*& first = share > 0.0 && share < kTraceShare ? trace : grave;
    if (first == nullptr) first = &name;
  }
  if (grave != nullptr) {
    object(VerdictKind::kRejected, {MessageCode::kUnexplainedAccelerations, {{"joint", *grave}}},
           verdict);
  } else if (trace != nullptr) {
    object(VerdictKind::kDoubtful, {MessageCode::kTraceOfAccelerations, {{"joint", *trace}}},
           verdict);
  }
}

/// Returns whether the joint estimation is assessed because no simulation predicts the motion.
bool is_judged_by_states(const Calibration& calibration) {
  return calibration.kind == EstimateKind::kPhysical && !calibration.refined &&
         is_converged(calibration.termination);
}

bool is_judged_by_predictions(const Calibration& calibration) {
  return !calibration.torque_predictions.empty() || !calibration.motion_predictions.empty();
}

/// Returns the ratio of an error to another size; infinite if the error is not finite or the size
/// is unknown, so that a failed prediction is never accepted.
double ratio_to(double error, double size) {
  if (!std::isfinite(error) || std::isnan(size)) return std::numeric_limits<double>::infinity();
  return size > 0.0 ? error / size : 0.0;
}

double torque_share(const TorquePrediction& each) { return ratio_to(each.error, each.torque); }
double torque_ratio(const TorquePrediction& each) { return ratio_to(each.error, each.expected); }
double motion_ratio(const MotionPrediction& each) { return ratio_to(each.rmse, each.expected); }

VerdictKind kind_of_ratio(double ratio) {
  return ratio > kFarTooNoisy ? VerdictKind::kRejected : VerdictKind::kDoubtful;
}

/// Compares the prediction errors of a model with noisy controls with their expected sizes.
void doubt_predictions(const Calibration& calibration, Verdict& verdict) {
  const auto torque = std::ranges::max_element(calibration.torque_predictions, {}, torque_ratio);
  if (torque != calibration.torque_predictions.end() &&
      torque_ratio(*torque) > kDoubtfulResidualRatio) {
    object(kind_of_ratio(torque_ratio(*torque)),
           {MessageCode::kExcessTorqueErrors,
            {{"percent", 100.0 * torque_share(*torque)},
             {"ratio", torque_ratio(*torque)},
             {"joint", torque->joint}}},
           verdict);
  }
  const auto motion = std::ranges::max_element(calibration.motion_predictions, {}, motion_ratio);
  if (motion != calibration.motion_predictions.end() &&
      motion_ratio(*motion) > kDoubtfulResidualRatio) {
    object(kind_of_ratio(motion_ratio(*motion)),
           {MessageCode::kExcessPredictionErrors,
            {{"horizon", Quantity{motion->horizon, "s"}},
             {"error", Quantity{motion->rmse, joint_units(motion->kind).coordinate}},
             {"ratio", motion_ratio(*motion)},
             {"encoder", motion->encoder}}},
           verdict);
  }
}

/// Returns the reason to accept a model with noisy controls.
Message accept_predictions(const Calibration& calibration) {
  double share = 0.0, ratio = 0.0;
  for (const TorquePrediction& each : calibration.torque_predictions) {
    share = std::max(share, torque_share(each));
    ratio = std::max(ratio, torque_ratio(each));
  }
  for (const MotionPrediction& each : calibration.motion_predictions) {
    ratio = std::max(ratio, motion_ratio(each));
  }
  Message reason(MessageCode::kPredictionsMatchNoise,
                 {{"percent", 100.0 * share}, {"ratio", ratio}});
  if (!std::isnan(calibration.agreement.statistic)) add_statistic(calibration.agreement, reason);
  return reason;
}

/// Returns whether inverse dynamics leaves more than a third of a joint's torque unexplained.
bool is_torque_unexplained(const TorquePrediction& each) {
  return torque_ratio(each) > kFarTooNoisy && torque_share(each) > kUnexplainedShare;
}

/// Returns the duration of the longest segment [s].
double longest_duration(const Calibration& calibration) {
  double longest = 0.0;
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    const Eigen::Index rows = trajectory.measured.rows();
    if (rows > 0) longest = std::max(longest, trajectory.time(rows - 1) - trajectory.time(0));
  }
  return longest;
}

/// Returns the largest unexplained share of the accelerations. Returns NaN if the share is unknown
/// for a joint with unexplained accelerations.
double unexplained_share(const Calibration& calibration,
                         const std::vector<SensorFitQuality>& fits) {
  double largest = 0.0;
  for (Eigen::Index j = 0; j < calibration.acceleration_noise.size(); ++j) {
    if (!(calibration.acceleration_noise[j] > 0.0)) continue;
    const std::string& name = calibration.mechanism.joints[static_cast<std::size_t>(j)].name;
    const auto fit = std::ranges::find(fits, name, &SensorFitQuality::name);
    if (fit == fits.end() || !(fit->unexplained > 0.0)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    largest = std::max(largest, fit->unexplained);
  }
  return largest;
}

/// Collects the largest relative error.
class LargestError {
 public:
  LargestError(PredictionKind kind, double horizon) : error_{0.0, horizon, kind, true} {}

  /// @param ratio  of the error to the noise
  void add(double share, double ratio) {
    const bool at_noise = ratio <= kDoubtfulResidualRatio;
    if (error_.at_noise && !at_noise) error_.share = 0.0;
    if (at_noise && !error_.at_noise) return;
    error_.at_noise = at_noise;
    error_.share = std::max(error_.share, share);
  }

  [[nodiscard]] const RelativeError& get() const { return error_; }

 private:
  RelativeError error_;
};

/// Returns the relative error of the torques along the motion. Returns that of the motions
/// predicted over the longest horizon if there are no torques, or if only the motions differ by
/// more than the noise. Returns none if a prediction failed.
RelativeError measure_prediction_error(const Calibration& calibration,
                                       const std::vector<SensorFitQuality>& fits) {
  double horizon = 0.0;
  for (const MotionPrediction& each : calibration.motion_predictions) {
    if (!std::isfinite(each.rmse)) return {};
    horizon = std::max(horizon, each.horizon);
  }
  LargestError torques(PredictionKind::kTorque, 0.0);
  for (const TorquePrediction& each : calibration.torque_predictions) {
    torques.add(torque_share(each), torque_ratio(each));
  }
  LargestError motions(PredictionKind::kShortTerm, horizon);
  for (const MotionPrediction& each : calibration.motion_predictions) {
    const auto fit = std::ranges::find(fits, each.encoder, &SensorFitQuality::name);
    if (each.horizon < horizon || fit == fits.end()) continue;
    motions.add(ratio_to(each.rmse, fit->motion), motion_ratio(each));
  }
  const bool only_motions = torques.get().at_noise && !motions.get().at_noise;
  return calibration.torque_predictions.empty() || only_motions ? motions.get() : torques.get();
}

RelativeError measure_relative_error(const Calibration& calibration,
                                     const std::vector<SensorFitQuality>& fits) {
  if (is_judged_by_predictions(calibration)) return measure_prediction_error(calibration, fits);
  if (is_judged_by_states(calibration)) {
    return {unexplained_share(calibration, fits), kHorizon, PredictionKind::kAcceleration, false};
  }
  const double duration = longest_duration(calibration);
  LargestError largest(calibration.simulation_horizon < duration ? PredictionKind::kShortTerm
                                                                 : PredictionKind::kOpenLoop,
                       std::min(calibration.simulation_horizon, duration));
  for (std::size_t i = 0; i < calibration.simulation.size(); ++i) {
    const double rmse = calibration.simulation[i].rmse;
    largest.add(ratio_to(rmse, fits[i].motion), ratio_to(rmse, fits[i].noise));
  }
  return largest.get();
}

/// Returns the reason to accept the model.
Message acceptance(const Calibration& calibration, const std::vector<SensorFitQuality>& fits) {
  double worst = 0.0;
  for (const SensorFitQuality& fit : fits) {
    if (fit.noise > 0.0) worst = std::max(worst, fit.residual / fit.noise);
  }
  const bool is_alone = std::isnan(calibration.agreement.statistic);
  Message reason(MessageCode::kResidualsMatchNoise, {{"ratio", worst}, {"is_alone", is_alone}});
  if (!is_alone) add_statistic(calibration.agreement, reason);
  return reason;
}

/// Returns why the model does not fit at all; no message if it does.
std::optional<Message> describe_misfit(const Calibration& calibration,
                                       const std::vector<SensorFitQuality>& fits) {
  const auto& torques = calibration.torque_predictions;
  const auto torque = std::ranges::find_if(torques, is_torque_unexplained);
  if (torque != torques.end()) {
    return Message(MessageCode::kUnexplainedTorque,
                   {{"percent", std::min(100.0 * torque_share(*torque), kLargestPercent)},
                    {"joint", torque->joint}});
  }
  const auto worst = std::ranges::max_element(fits, {}, &SensorFitQuality::unexplained);
  if (!is_judged_by_predictions(calibration) && worst != fits.end() &&
      is_motion_unexplained(*worst)) {
    return Message(MessageCode::kUnexplainedShare,
                   {{"share", std::vector<Message>{describe_unexplained_share(worst->unexplained)}},
                    {"encoder", worst->name}});
  }
  return std::nullopt;
}

}  // namespace

bool is_motion_unexplained(const SensorFitQuality& fit) {
  return fit.unexplained > kUnexplainedShare;
}

Message describe_unexplained_share(double unexplained) {
  if (!(unexplained < kMultiple)) return MessageCode::kMultipleOfMotion;
  return {MessageCode::kMotionShare,
          {{"percent", static_cast<int>(std::lround(100.0 * unexplained))}}};
}

std::vector<SensorFitQuality> assess_sensor_fits(const Calibration& calibration) {
  const std::vector<Segment> segments = readings_of(calibration);
  const bool by_states = is_judged_by_states(calibration);
  std::vector<SensorFitQuality> fits;
  for (std::size_t i = 0; i < calibration.simulation.size(); ++i) {
    const auto sensor = static_cast<Eigen::Index>(i);
    const OpenLoopError& error = calibration.simulation[i];
    const double scale = joint_units(error.kind).scale;
    const double quantum = find_quantization_step(segments, static_cast<int>(i), scale);
    SensorFitQuality fit;
    fit.name = error.joint;
    fit.noise = estimate_reading_noise(segments, static_cast<int>(i), scale);
    const std::vector<Eigen::VectorXd> residuals = residuals_of(calibration, sensor, error.kind);
    fit.residual = calibration.refined ? error.rmse : root_mean_square(residuals, false);
    const double pre_quantization_variance =
        quantum > 0.0 ? estimate_noise_before_quantization(segments, static_cast<int>(i), quantum)
                      : 0.0;
    const bool counts =
        quantum > 0.0 && can_be_quantization_error(residuals, quantum, pre_quantization_variance);
    fit.correlated =
        calibration.refined &&
        (counts ? is_correlated_beyond_quantization(
                      residuals, columns(calibration, &SegmentTrajectory::simulated, sensor),
                      segments.front().period, quantum, pre_quantization_variance)
                : compute_autocorrelation_inflation(residuals) > kInflation);
    fit.motion = root_mean_square(columns(calibration, &SegmentTrajectory::measured, sensor), true);
    if (by_states) {
      fit.unexplained = unexplained_acceleration(calibration, segments, fit.name, sensor);
    } else if (!(error.rmse <= kFarTooNoisy * fit.noise) && fit.motion > 0.0) {
      // A failed simulation explains nothing.
      fit.unexplained = std::isfinite(error.rmse) ? error.rmse / fit.motion
                                                  : std::numeric_limits<double>::infinity();
    }
    fits.push_back(std::move(fit));
  }
  return fits;
}

Verdict judge_model(const Calibration& calibration) {
  const std::vector<SensorFitQuality> fits = assess_sensor_fits(calibration);
  Verdict verdict;
  verdict.error = measure_relative_error(calibration, fits);
  if (std::optional<Message> misfit = describe_misfit(calibration, fits)) {
    object(VerdictKind::kNoFit, *std::move(misfit), verdict);
    return verdict;
  }
  const bool by_predictions = is_judged_by_predictions(calibration);
  if (by_predictions) {
    // Predictions at noise level show that a disagreement is small; the intervals include it.
    doubt_predictions(calibration, verdict);
    const bool is_at_noise = verdict.kind == VerdictKind::kAccepted;
    doubt_agreement(calibration.agreement,
                    is_at_noise ? VerdictKind::kDoubtful : VerdictKind::kRejected, verdict);
    doubt_residuals(fits, verdict);
  } else {
    doubt_agreement(calibration.agreement, VerdictKind::kRejected, verdict);
    doubt_residuals(fits, verdict);
    doubt_accelerations(calibration, fits, verdict);
  }
  if (!calibration.cross_axes.empty()) {
    const CrossAxisSensitivity& first = calibration.cross_axes.front();
    object(VerdictKind::kRejected,
           {MessageCode::kCrossAxisSensitivity,
            {{"instrument", first.instrument}, {"sensor", first.sensor}}},
           verdict);
  }
  if (!calibration.contradictions.empty()) {
    const ContradictedParameter& first = calibration.contradictions.front();
    object(VerdictKind::kRejected,
           {MessageCode::kContradictedValue,
            {{"parameter", first.name},
             {"fixed", Quantity{first.kept, first.unit}},
             {"estimate", Quantity{first.value, first.unit, first.standard_deviation}}}},
           verdict);
  }
  if (verdict.reasons.empty()) {
    verdict.reasons.push_back(by_predictions ? accept_predictions(calibration)
                                             : acceptance(calibration, fits));
  }
  if (verdict.kind == VerdictKind::kRejected &&
      (verdict.error.at_noise || verdict.error.share <= kApproximateShare)) {
    verdict.kind = VerdictKind::kApproximate;
  }
  return verdict;
}

std::string_view to_string(VerdictKind kind) {
  constexpr std::string_view kNames[] = {"accepted", "doubtful", "approximate", "rejected",
                                         "no-fit"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace estimator
