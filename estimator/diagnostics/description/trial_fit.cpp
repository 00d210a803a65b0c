#include "estimator/diagnostics/description/trial_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {
namespace {

/// Process noise of the coarse and the fine fit, relative to the accelerations.
constexpr double kRoughShare = 1.0;
constexpr double kFineShare = 0.03;

constexpr double kInterval = 0.1;         // [s]
constexpr double kIntervalRowsMin = 4.0;  // least number of rows in an interval
constexpr int kRoughIterations = 6;
constexpr int kFineIterations = 8;
constexpr double kTrialTolerance = 1e-2;  // relative decrease of the cost that ends a fit

/// Ratio of the integration step to that of a calibration, and upper bound on this step.
constexpr double kStepFactor = 4.0;
constexpr double kLongestStep = 0.01;  // [s]

/// Smallest assumed reading noise relative to the motion [-]. Neither the encoder's error pattern
/// nor small errors of a friction law matter here.
constexpr double kResolution = 1e-3;

constexpr double kTurnMost = 0.7;    // largest joint motion between rows [rad]
constexpr double kFastShare = 0.05;  // of the rows

/// Standard deviation, relative to the initial value, of priors for parameters without one.
constexpr double kPriorWidth = 10.0;

/// Returns the root-mean-square reading of a sensor about the mean of each segment [rad or m].
double amplitude(const std::vector<Segment>& segments, Eigen::Index sensor) {
  double squares = 0.0, count = 0.0;
  for (const Segment& segment : segments) {
    double sum = 0.0, own = 0.0, square = 0.0;
    for (const double reading : segment.angles.col(sensor)) {
      if (std::isnan(reading)) continue;
      sum += reading;
      square += reading * reading;
      own += 1.0;
    }
    if (own == 0.0) continue;
    squares += std::max(square - sum * sum / own, 0.0);
    count += own;
  }
  return count > 0.0 ? std::sqrt(squares / count) : 0.0;
}

double longest_period(const std::vector<Segment>& segments) {
  double longest = 0.0;
  for (const Segment& segment : segments) longest = std::max(longest, segment.period);
  return longest;
}

/// Returns the joint that most often turns by more than kTurnMost between rows. The motion between
/// two such readings is ambiguous. Returns nullopt if this is no more frequent than spikes are.
std::optional<FastJoint> find_fast_joint(const Mechanism& mechanism, const ShootingInput& input) {
  const Eigen::Index joints = mechanism.joint_count();
  Eigen::VectorXd fast = Eigen::VectorXd::Zero(joints);
  double rows = 0.0;
  for (std::size_t s = 0; s < input.states.size(); ++s) {
    const Eigen::MatrixXd& states = input.states[s];
    rows += static_cast<double>(states.cols());
    for (Eigen::Index j = 0; j < joints; ++j) {
      if (!mechanism.joints[static_cast<std::size_t>(j)].kind_traits().wraps) continue;
      const auto turns = states.row(joints + j).array().abs() * input.segments[s].period;
      fast[j] += static_cast<double>((turns > kTurnMost).count());
    }
  }
  FastJoint worst;
  const double most = joints > 0 ? fast.maxCoeff(&worst.joint) : 0.0;
  if (!(most > kFastShare * rows)) return std::nullopt;
  worst.share = most / rows;
  worst.turn = kTurnMost;
  worst.within = longest_period(input.segments);
  return worst;
}

void keep_sign(Parameter& gain) {
  if (!gain.free || gain.value == 0.0) return;
  if (gain.value > 0.0) {
    gain.lower = std::max(gain.lower, 0.0);
  } else {
    gain.upper = std::min(gain.upper, 0.0);
  }
}

/// Adds priors to parameters without a prior, and bounds that keep the sign of motor gains.
Mechanism with_priors_and_gain_signs(Mechanism mechanism) {
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    keep_sign(mechanism.joint_parameter(joint, JointParameter::kMotorGain));
    mechanism.joints[static_cast<std::size_t>(joint)].transition_speed = 0.0;
  }
  for (Parameter& parameter : mechanism.parameters) {
    if (!parameter.free || parameter.value == 0.0) continue;
    if (std::isfinite(parameter.prior_standard_deviation)) continue;
    parameter.prior_mean = parameter.value;
    parameter.prior_standard_deviation = kPriorWidth * std::abs(parameter.value);
  }
  return mechanism;
}

void coarsen_noise(ShootingInput& input, const Mechanism& mechanism) {
  const Eigen::VectorXd scales = readings_per_radian(mechanism);
  for (Eigen::Index i = 0; i < input.noise.angle.size(); ++i) {
    const double quantum = find_quantization_step(input.segments, static_cast<int>(i), scales[i]);
    double& noise = input.noise.angle[i];
    const double moved = std::min(amplitude(input.segments, i), scales[i]);
    noise = std::max({noise, quantum / std::sqrt(12.0), kResolution * moved});
  }
}

LmOptions few_iterations(int iterations) {
  return {.max_iterations = iterations,
          .cost_tolerance = kTrialTolerance,
          .stagnant_gain = kTrialTolerance};
}

}  // namespace

TrialFit::TrialFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                   const TrialFit* near) {
  try {
    const Mechanism start = with_priors_and_gain_signs(mechanism);
    ShootingInput input = prepare_shooting_input(start, excerpts, {});
    fast_joint_ = find_fast_joint(start, input);
    if (fast_joint_) return;
    coarsen_noise(input, start);
    if (near != nullptr && near->is_valid() &&
        near->problem_->segment_count() == std::ssize(input.segments)) {
      for (std::size_t s = 0; s < input.segments.size(); ++s) {
        input.states[s] = near->problem_->node_states(static_cast<int>(s));
        input.state_spacing[s] = near->problem_->node_spacing(static_cast<int>(s));
      }
    }
    const double longest = longest_period(input.segments);
    input.grid.local_steps.clear();
    input.grid.step = std::min(kStepFactor * input.grid.step, kLongestStep);
    // `prepare_shooting_input` sets a share of 0.02 over 0.2 s.
    noise_ = input.noise;
    input.grid.interval = std::max(kInterval, kIntervalRowsMin * longest);
    noise_.acceleration *= std::sqrt(input.grid.interval / 0.2) / 0.02;
    problem_ = std::make_unique<ShootingProblem>(start, input.segments, input.states,
                                                 input.state_spacing, input.grid, noise_);
  } catch (const std::invalid_argument&) {
    return;  // a meaningless mechanism explains nothing
  }
  const double states = 2.0 * problem_->coordinate_count();
  for (int s = 0; s < problem_->segment_count(); ++s) {
    defects_ += states * static_cast<double>(problem_->node_states(s).cols() - 1);
  }
  const double unknowns =
      states * problem_->segment_count() + static_cast<double>(problem_->parameter_values().size());
  freedoms_ = static_cast<int>(std::max(problem_->reading_count() - unknowns, 1.0));
}

void TrialFit::set_process_noise_share(double share) {
  ShootingNoise noise = noise_;
  noise.acceleration *= share;
  share_ = share;
  problem_->set_noise_levels(noise);
}

void TrialFit::run_coarse_fit(const std::atomic<bool>* stop) {
  if (!is_valid()) return;
  set_process_noise_share(kRoughShare);
  solve(*problem_, few_iterations(kRoughIterations), {}, stop);
}

void TrialFit::run_fine_fit(const std::atomic<bool>* stop) {
  if (!is_valid()) return;
  set_process_noise_share(kFineShare);
  solve(*problem_, few_iterations(kFineIterations), {}, stop);
  for (int round = 0; round < kNodeRepairRounds && move_nodes_to_simulated_ends(*problem_);
       ++round) {
    solve(*problem_, few_iterations(kFineIterations), {}, stop);
  }
  evaluate_accelerations();
}

void TrialFit::evaluate_accelerations() {
  const int coordinates = problem_->coordinate_count();
  Eigen::VectorXd squares = Eigen::VectorXd::Zero(coordinates);
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(coordinates);
  ResidualBlock block;
  for (int i = 0; i < problem_->block_count(); ++i) {
    problem_->linearize(i, block);
    const int coordinate = block.group - problem_->acceleration_noise_group(0);
    if (coordinate < 0 || coordinate >= coordinates) continue;
    squares[coordinate] += block.residual.squaredNorm();
    counts[coordinate] += static_cast<double>(block.residual.size());
  }
  unexplained_accelerations_ = share_ * (squares.array() / counts.array().max(1.0)).sqrt();
}

double TrialFit::misfit() const {
  const double cost = is_valid() ? problem_->cost() : std::numeric_limits<double>::infinity();
  return std::isfinite(cost) ? cost / freedoms_ : std::numeric_limits<double>::infinity();
}

double TrialFit::unexplained_acceleration_share() const {
  return share_ * std::sqrt(misfit() * freedoms_ / std::max(defects_, 1.0));
}

}  // namespace estimator
