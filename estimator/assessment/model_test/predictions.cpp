#include "estimator/assessment/model_test/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/control_noise_effect.hpp"
#include "estimator/fit/physical/equation_error.hpp"
#include "estimator/fit/physical/inverse_dynamics_start.hpp"
#include "estimator/fit/physical/shooting/control_noise.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/simulation/interval/joint_dynamics.hpp"

namespace estimator {
namespace {

constexpr int kWindowsMost = 20;   // whose expected errors are averaged
constexpr int kSubstepsMost = 20;  // per window, between linearizations

/// Returns the mechanism without gravity, friction, springs and motors. Its torque imbalance is the
/// inertial torque.
Mechanism without_forces(Mechanism mechanism) {
  mechanism.dependencies.clear();
  mechanism.parameter(GravityParameter::kGravity).value = 0.0;
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    for (int k = static_cast<int>(JointParameter::kFriction);
         k <= static_cast<int>(JointParameter::kMotorGain); ++k) {
      mechanism.joint_parameter(joint, static_cast<JointParameter>(k)).value = 0.0;
    }
  }
  return mechanism;
}

/// The covariance of the state of all joints, propagated by a linear model with white acceleration.
class StateCovariance {
 public:
  /// Starts with the covariance of smoothed states of a joint with the acceleration of spectral
  /// density S and readings of spectral density r: √2/4 r^¾ S^¼ and √2/4 r^¼ S^¾.
  StateCovariance(const Eigen::VectorXd& readings, const Eigen::VectorXd& accelerations)
      : value_(Eigen::MatrixXd::Zero(2 * readings.size(), 2 * readings.size())) {
    const Eigen::Index n = readings.size();
    for (Eigen::Index j = 0; j < n; ++j) {
      const double r = readings[j], S = accelerations[j];
      value_(j, j) = std::sqrt(0.125) * std::pow(r, 0.75) * std::pow(S, 0.25);
      value_(n + j, n + j) = std::sqrt(0.125) * std::pow(r, 0.25) * std::pow(S, 0.75);
    }
  }

  /// Propagates the covariance by `time` seconds.
  /// @param A  derivatives of the state's rate, 2n × 2n
  /// @param S  spectral density of the accelerations, n × n
  void propagate(const Eigen::MatrixXd& A, const Eigen::MatrixXd& S, double time) {
    const Eigen::Index n = S.rows();
    const Eigen::MatrixXd step =
        Eigen::MatrixXd::Identity(2 * n, 2 * n) + time * A + 0.5 * time * time * A * A;
    value_ = step * value_ * step.transpose();
    value_.topLeftCorner(n, n) += time * time * time / 3.0 * S;
    value_.topRightCorner(n, n) += 0.5 * time * time * S;
    value_.bottomLeftCorner(n, n) += 0.5 * time * time * S;
    value_.bottomRightCorner(n, n) += time * S;
  }

  double variance_of(const Encoder& sensor) const {
    double variance = 0.0;
    for (const Encoder::JointTerm& a : sensor.terms) {
      for (const Encoder::JointTerm& b : sensor.terms) {
        variance += a.sign * b.sign * value_(a.joint, b.joint);
      }
    }
    return variance;
  }

 private:
  Eigen::MatrixXd value_;
};

/// Computes expected errors of predictions from the estimated states of a fit.
class ExpectedErrors {
 public:
  explicit ExpectedErrors(const ShootingFit& fit)
      : fit_(fit),
        problem_(fit.joint_problem()),
        sensors_(used_encoders(problem_.mechanism())),
        dynamics_(problem_.mechanism()),
        joint_variances_(joint_angle_variances(problem_.mechanism(), problem_.noise().angle)) {}

  /// Returns the expected root-mean-square error of each encoder over windows of `horizon` seconds.
  Eigen::VectorXd errors(double horizon) {
    const int n = problem_.mechanism().joint_count();
    sums_ = Eigen::VectorXd::Zero(std::ssize(sensors_));
    count_ = 0.0;
    for (const Window& window : choose_windows(horizon)) add_window(window, horizon, n);
    const Eigen::VectorXd readings = problem_.noise().angle.cwiseAbs2();
    return (readings + sums_ / std::max(count_, 1.0)).cwiseSqrt();
  }

 private:
  struct Window {
    int segment;
    double start;  // [s] in the segment
  };

  std::vector<Window> choose_windows(double horizon) const {
    std::vector<Window> all, chosen;
    for (int s = 0; s < problem_.segment_count(); ++s) {
      const double duration = fit_.input().segments[static_cast<std::size_t>(s)].duration();
      for (int k = 0; (k + 1) * horizon <= duration; ++k) all.push_back({s, k * horizon});
    }
    const std::size_t count = std::min<std::size_t>(all.size(), kWindowsMost);
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
    return chosen;
  }

  void add_window(const Window& window, double horizon, int n) {
    const Segment& segment = fit_.input().segments[static_cast<std::size_t>(window.segment)];
    const Eigen::MatrixXd states = problem_.node_states(window.segment);
    const std::vector<double>& times = problem_.node_times(window.segment);
    const double step = horizon / kSubstepsMost;
    ControlNoiseModel noise(problem_.mechanism(), fit_.input().noise.control, segment.period);
    std::optional<StateCovariance> covariance;
    for (int k = 0; k < kSubstepsMost; ++k) {
      const double time = window.start + (k + 0.5) * step;
      const auto next = std::upper_bound(times.begin(), times.end(), time);
      const auto node = std::max<Eigen::Index>(next - times.begin() - 1, 0);
      const auto sample = std::min(segment.first_sample_at_or_after(time),
                                   static_cast<int>(segment.controls.rows()) - 1);
      const OperatingPoint point{states.col(node).head(n), states.col(node).segment(n, n),
                                 segment.controls.row(sample).transpose()};
      const Eigen::MatrixXd S = noise.density(point.coordinates);
      if (!covariance) covariance.emplace(segment.period * joint_variances_, S.diagonal());
      covariance->propagate(dynamics_.linearize(point).A, S, step);
      for (Eigen::Index i = 0; i < sums_.size(); ++i) {
        sums_[i] += covariance->variance_of(sensors_[static_cast<std::size_t>(i)]);
      }
      count_ += 1.0;
    }
  }

  const ShootingFit& fit_;
  const ShootingProblem& problem_;
  std::vector<Encoder> sensors_;
  JointDynamics dynamics_;
  Eigen::VectorXd joint_variances_;
  Eigen::VectorXd sums_;
  double count_ = 0.0;
};

}  // namespace

std::vector<TorquePrediction> predict_torques(const Mechanism& at, const ShootingInput& input,
                                              const CalibrationOptions& options) {
  if (!is_tree_mechanism(at) || EncoderToJointMap(at).observed_joint_count() < at.joint_count()) {
    return {};
  }
  const Mechanism fixed = fix_parameters(with_set_valued_friction(at));
  const ModulatedMotion motion = place_test_functions(fixed, input, options.filter_cutoff);
  if (motion.function_count() == 0) return {};
  const EquationErrorProblem equations(fixed, motion);
  const EquationErrorProblem inertial(without_forces(fixed), motion);
  const double period = std::ranges::min_element(input.segments, {}, &Segment::period)->period;
  const std::vector<int> motors = joints_with_motor(fixed);
  std::vector<TorquePrediction> predictions;
  for (int j = 0; j < fixed.joint_count(); ++j) {
    const auto motor = std::ranges::find(motors, j) - motors.begin();
    if (fixed.joints[static_cast<std::size_t>(j)].motor.is_prescribed) continue;
    const bool is_driven = motor < std::ssize(motors);
    const double gain = fixed.joint_parameter(j, JointParameter::kMotorGain).value;
    const double noise =
        is_driven && input.noise.control.size() > 0 ? gain * input.noise.control[motor] : 0.0;
    const TorqueComparison comparison = equations.compare_torques(
        j,
        is_driven ? Eigen::VectorXd(gain * motion.control_integrals(static_cast<int>(motor)))
                  : inertial.imbalance_integrals(j),
        noise * noise * period);
    if (comparison.count == 0) continue;
    const Joint& joint = fixed.joints[static_cast<std::size_t>(j)];
    predictions.push_back(
        {joint.name, joint.kind, comparison.error, comparison.expected, comparison.torque});
  }
  return predictions;
}

std::vector<TorquePrediction> predict_torques(const Mechanism& start, const ShootingFit& fit,
                                              const CalibrationOptions& options) {
  const Mechanism& at = fit.joint_problem().mechanism();
  ShootingInput input = fit.input();
  add_offset_changes_to_states(start, at, input);
  input.noise = fit.joint_problem().noise();
  return predict_torques(at, input, options);
}

std::vector<MotionPrediction> predict_motions(const ShootingFit& fit) {
  const ShootingProblem& problem = fit.joint_problem();
  if (!is_tree_mechanism(problem.mechanism())) return {};
  for (int s = 1; s < problem.segment_count(); ++s) {
    if (problem.node_spacing(s) != problem.node_spacing(0)) return {};
  }
  const double longest =
      std::ranges::max_element(fit.input().segments, {}, &Segment::duration)->duration();
  ExpectedErrors expected(fit);
  std::vector<std::vector<MotionPrediction>> of_encoders(
      static_cast<std::size_t>(problem.encoder_count()));
  for (const double wanted : kPredictionHorizons) {
    if (wanted > longest) break;
    const auto predicted = fit.make_prediction_problem(problem.mechanism(), wanted);
    const double horizon = predicted->node_spacing(0);
    const Eigen::VectorXd errors = expected.errors(horizon);
    for (int i = 0; i < predicted->encoder_count(); ++i) {
      of_encoders[static_cast<std::size_t>(i)].push_back(
          {predicted->encoder(i).name, predicted->encoder(i).kind, horizon,
           std::sqrt(predicted->squared_error(i) / predicted->reading_count(i)), errors[i]});
    }
  }
  std::vector<MotionPrediction> predictions;
  for (const std::vector<MotionPrediction>& own : of_encoders) {
    predictions.insert(predictions.end(), own.begin(), own.end());
  }
  return predictions;
}

}  // namespace estimator
