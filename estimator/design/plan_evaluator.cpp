#include "estimator/design/plan_evaluator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "estimator/assessment/quantization.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"

namespace estimator {
namespace {

constexpr int kHarmonics = 8;  // of quantization errors; the rest, 7 % of the variance, is white

/// Returns the joint coordinates at rest with loops closed, and zero rates.
Eigen::MatrixXd closed_rest(const Mechanism& mechanism, const Eigen::VectorXd& joints,
                            double period) {
  Eigen::MatrixXd state = Eigen::MatrixXd::Zero(2 * joints.size(), 1);
  state.topRows(joints.size()) = joints;
  close_loops(mechanism, period, "the start", state);
  return state;
}

/// Growth rate, relative to the fastest mode (both squared), above which a mode is an upright
/// balance. Slower growth is the slight tilt of an axis that friction holds.
constexpr double kUprightShare = 0.05;

constexpr double kSettling = 30.0;  // [s]
constexpr double kPeriod = 0.004;   // [s]

bool is_upright(const Mechanism& mechanism, const Eigen::VectorXd& joints) {
  StaticPotential statics(mechanism);
  const std::vector<NormalMode> modes = normal_modes(mechanism, statics.at(joints));
  double fastest = 0.0, growing = 0.0;
  for (const NormalMode& mode : modes) {
    fastest = std::max(fastest, std::abs(mode.rate_squared));
    growing = std::max(growing, -mode.rate_squared);
  }
  return growing > kUprightShare * fastest;
}

}  // namespace

PlanEvaluator::PlanEvaluator(const Mechanism& mechanism, PlanSettings facts, int threads)
    : facts_(std::move(facts)),
      sensors_(used_encoders(mechanism)),
      start_(closed_rest(mechanism, facts_.start, facts_.period).col(0).head(facts_.start.size())),
      program_(mechanism, choose_independent_joints(
                              mechanism, {closed_rest(mechanism, facts_.start, facts_.period)})),
      threads_(threads) {
  assert(facts_.noise.size() == static_cast<Eigen::Index>(sensors_.size()));
  const FreeParameters free(mechanism);
  free_count_ = free.size();
  for (const int index : program_.motion_parameters()) moving_.push_back(free.find_position(index));
  const auto sources_of = [&](int parameter) {
    std::vector<FreeDependency> sources;
    for (const DependencyTerm& source : free_dependencies(mechanism, parameter)) {
      sources.push_back({free.find_position(source.parameter), source.factor});
    }
    return sources;
  };
  for (const Encoder& sensor : sensors_) {
    offsets_.push_back(sources_of(sensor.offset));
    delays_.push_back(sources_of(sensor.delay));
  }
  const FrictionStepLimits longest = compute_friction_step_limits(
      mechanism, {closed_rest(mechanism, facts_.start, facts_.period)});
  steps_a_sample_ = std::max(1, static_cast<int>(std::ceil(facts_.period / longest.everywhere)));
  near_rest_ = longest.near_rest;
}

std::vector<SegmentControls> PlanEvaluator::hold(const Mechanism& values,
                                                 const Eigen::MatrixXd& commands) const {
  const std::vector<int>& motors = program_.motor_joints();
  std::vector<double> edges;
  for (Eigen::Index k = 0; k <= (commands.rows() - 1) * steps_a_sample_; ++k) {
    edges.push_back(static_cast<double>(k) * facts_.period / steps_a_sample_);
  }
  const std::vector<ControlDelay> delays = control_delays(program_, values);
  std::vector<SegmentControls> controls;
  for (const auto& command : commands.colwise()) {
    Segment segment;
    segment.period = facts_.period;
    segment.angles.resize(commands.rows(), 0);
    segment.controls.setZero(commands.rows(), static_cast<Eigen::Index>(motors.size()));
    segment.controls.col(facts_.motor) = command;
    controls.emplace_back(segment, edges, delays);
  }
  return controls;
}

MotionInterval PlanEvaluator::make_motion_interval(const SegmentControls& controls,
                                                   Eigen::Index samples) const {
  return {.controls = &controls,
          .last_substep = controls.first(static_cast<int>(samples - 1) * steps_a_sample_),
          .last_sample = static_cast<int>(samples),
          .period = facts_.period};
}

/// Returns the initial independent coordinates and zero rates.
Eigen::VectorXd PlanEvaluator::initial_state() const {
  const std::vector<int>& independent = program_.independent_joints();
  const auto n = static_cast<Eigen::Index>(independent.size());
  Eigen::VectorXd state = Eigen::VectorXd::Zero(2 * n);
  state.head(n) = start_(independent);
  return state;
}

/// Returns the size of a count of each joint that has its own encoder with quantization errors
/// [rad or m]; 0 for the other joints.
Eigen::VectorXd PlanEvaluator::joint_counts() const {
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(start_.size());
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    if (sensors_[i].terms.size() != 1) continue;
    counts[sensors_[i].terms.front().joint] = facts_.quantum[static_cast<Eigen::Index>(i)];
  }
  return counts;
}

Eigen::MatrixXd PlanEvaluator::simulate_feedback_law(const Mechanism& values, Eigen::Index samples,
                                                     Eigen::Index plans,
                                                     const PlanFeedback& feedback) const {
  double latest = 0.0;
  for (const ControlDelay& delay : control_delays(program_, values)) {
    latest = std::max(latest, delay.value);
  }
  // Delayed commands up to this many samples old still act.
  const auto acting = static_cast<Eigen::Index>(std::ceil(latest / facts_.period)) + 1;
  const auto count = static_cast<std::size_t>(plans);
  std::vector<MotionInterval> intervals(count);
  for (MotionInterval& interval : intervals) interval.start = initial_state();
  std::vector<Eigen::MatrixXd> joints(count, start_.transpose().replicate(2, 1));
  const Eigen::VectorXd counts = joint_counts();
  // Readings of the last samples, joints × samples, as a ring.
  const auto window =
      std::max<Eigen::Index>(1, std::lround(facts_.rate_window / facts_.period));
  std::vector<Eigen::MatrixXd> readings(count, Eigen::MatrixXd(start_.size(), window + 1));
  Eigen::MatrixXd commands = Eigen::MatrixXd::Zero(samples, plans);
  std::vector<BatchIntegrator> batches;
  for (std::size_t first = 0; first < count; first += kSideBySide)
    batches.emplace_back(program_, values, near_rest_, std::min(kSideBySide, count - first));
  for (Eigen::Index k = 0; k + 1 < samples; ++k) {
    const Eigen::Index before = std::min(k, window);
    for (Eigen::Index plan = 0; plan < plans; ++plan) {
      const auto at = static_cast<std::size_t>(plan);
      Eigen::VectorXd now = joints[at].row(1);
      for (Eigen::Index j = 0; j < now.size(); ++j) {
        if (counts[j] > 0.0) now[j] = std::round(now[j] / counts[j]) * counts[j];
      }
      readings[at].col(k % (window + 1)) = now;
      Eigen::VectorXd rates = Eigen::VectorXd::Zero(now.size());
      if (before > 0) {
        rates = (now - readings[at].col((k - before) % (window + 1))) /
                (static_cast<double>(before) * facts_.period);
      }
      commands(k, plan) = feedback(plan, k, now, rates);
    }
    Eigen::MatrixXd recent(acting + 2, plans);  // from `acting` samples ago to the next one
    for (Eigen::Index i = 0; i < recent.rows(); ++i) {
      recent.row(i) = commands.row(std::clamp<Eigen::Index>(k - acting + i, 0, k));
    }
    const std::vector<SegmentControls> controls = hold(values, recent);
    for (std::size_t at = 0; at < count; ++at) {
      MotionInterval& interval = intervals[at];
      interval.controls = &controls[at];
      interval.first_substep = controls[at].first(static_cast<int>(acting) * steps_a_sample_);
      interval.last_substep = controls[at].first(static_cast<int>(acting + 1) * steps_a_sample_);
      interval.first_sample = static_cast<int>(acting);
      interval.last_sample = static_cast<int>(acting) + 2;
      interval.period = facts_.period;
      interval.guess = joints[at].row(1);
    }
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::size_t first = i * kSideBySide, size = std::min(kSideBySide, count - first);
      batches[i].run(std::numeric_limits<int>::max(), std::span(intervals).subspan(first, size),
                     std::span(joints).subspan(first, size));
    }
    for (MotionInterval& interval : intervals) interval.start = interval.end;
  }
  return commands;
}

PlanMotion PlanEvaluator::move(const Mechanism& values, const Eigen::MatrixXd& commands) const {
  const Eigen::Index samples = commands.rows();
  const auto plans = static_cast<std::size_t>(commands.cols());
  PlanMotion motion;
  motion.controls = hold(values, commands);
  for (const SegmentControls& controls : motion.controls) {
    MotionInterval interval = make_motion_interval(controls, samples);
    interval.guess = start_;
    interval.start = initial_state();
    motion.intervals.push_back(interval);
  }
  std::vector<Eigen::MatrixXd> joints(plans, Eigen::MatrixXd(samples, program_.joint_count()));
  IntervalIntegrator(program_, values, threads_, near_rest_).run(motion.intervals, joints);
  motion.end.resize(program_.joint_count(), commands.cols());
  for (std::size_t k = 0; k < plans; ++k) {
    motion.end.col(static_cast<Eigen::Index>(k)) = joints[k].row(samples - 1);
  }
  motion.joints = joints;
  if (facts_.coast > 0.0) coast(values, motion, joints);
  for (const Eigen::MatrixXd& own : joints)
    motion.excursions.push_back(compute_motion_extremes(own));
  return motion;
}

/// Simulates the motion after the last command and appends its samples to `joints`.
void PlanEvaluator::coast(const Mechanism& values, const PlanMotion& motion,
                          std::vector<Eigen::MatrixXd>& joints) const {
  const auto samples = static_cast<Eigen::Index>(facts_.coast / facts_.period) + 2;
  const std::vector<SegmentControls> none = hold(values, Eigen::MatrixXd::Zero(samples, 1));
  std::vector<MotionInterval> intervals;
  for (std::size_t k = 0; k < motion.intervals.size(); ++k) {
    intervals.push_back(make_motion_interval(none.front(), samples));
    intervals.back().start = motion.intervals[k].end;
    intervals.back().guess = motion.end.col(static_cast<Eigen::Index>(k));
  }
  std::vector<Eigen::MatrixXd> after(intervals.size(),
                                     Eigen::MatrixXd(samples, program_.joint_count()));
  IntervalIntegrator(program_, values, threads_, near_rest_).run(intervals, after);
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    joints[k].conservativeResize(joints[k].rows() + samples - 1, Eigen::NoChange);
    joints[k].bottomRows(samples) = after[k];  // its first sample is the commands' last
  }
}

/// Returns the readings of a sensor without constant offsets.
Eigen::VectorXd PlanEvaluator::readings_without_offset(int sensor,
                                                       const Eigen::MatrixXd& joints) const {
  Eigen::VectorXd turn = Eigen::VectorXd::Zero(joints.rows());
  for (const Encoder::JointTerm& term : sensors_[static_cast<std::size_t>(sensor)].terms) {
    turn += term.sign * joints.col(term.joint);
  }
  return turn;
}

MotionExtremes PlanEvaluator::compute_motion_extremes(const Eigen::MatrixXd& joints) const {
  const auto count = static_cast<Eigen::Index>(sensors_.size());
  MotionExtremes excursion;
  excursion.lowest.resize(count);
  excursion.highest.resize(count);
  excursion.fastest.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::VectorXd readings = readings_without_offset(static_cast<int>(i), joints);
    const Eigen::Index steps = readings.size() - 1;
    // NaN must not be masked by other values.
    excursion.lowest[i] = readings.minCoeff<Eigen::PropagateNaN>();
    excursion.highest[i] = readings.maxCoeff<Eigen::PropagateNaN>();
    excursion.fastest[i] =
        (readings.tail(steps) - readings.head(steps)).cwiseAbs().maxCoeff<Eigen::PropagateNaN>() /
        facts_.period;
  }
  return excursion;
}

std::vector<PlanInformation> PlanEvaluator::predict_information(
    const Mechanism& values, const PlanMotion& motion,
    const std::vector<std::size_t>& places) const {
  std::vector<MotionInterval> intervals;
  for (const std::size_t place : places) intervals.push_back(motion.intervals[place]);
  std::vector<IntervalSensitivities::IntervalDerivatives> slopes(places.size());
  IntervalSensitivities(program_, values, sensors_, threads_).run(intervals, slopes);
  std::vector<PlanInformation> informations;
  for (std::size_t i = 0; i < places.size(); ++i) {
    informations.push_back(compute_plan_information(slopes[i], motion.joints[places[i]]));
  }
  return informations;
}

/// Returns the covariance of the cost gradient due to the errors of one sensor. The sensor is read
/// several times between two samples of a plan.
/// @param rows  derivatives of whitened readings with respect to parameters, one row per sample
/// @param turn  readings without offsets, one per sample
Eigen::MatrixXd PlanEvaluator::compute_gradient_covariance(int sensor, const Eigen::MatrixXd& rows,
                                                           const Eigen::VectorXd& turn) const {
  const double quantum = facts_.quantum[sensor];
  if (!(quantum > 0.0)) return rows.transpose() * rows;
  const auto readings = std::max<Eigen::Index>(1, std::lround(facts_.rate * facts_.period));
  const Eigen::Index samples = rows.rows();
  Eigen::MatrixXd all(readings * samples, rows.cols());
  Eigen::VectorXd angles(readings * samples);
  for (Eigen::Index i = 0; i < readings; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(readings);
    all.middleRows(i * samples, samples) = rows / std::sqrt(static_cast<double>(readings));
    auto own = angles.segment(i * samples, samples);
    own = turn;
    own.head(samples - 1) += share * (turn.tail(samples - 1) - turn.head(samples - 1));
  }
  return compute_quantization_covariance(
      all, angles, kHarmonics, {.sensor = sensor, .quantum = quantum}, 1.0 / facts_.noise[sensor]);
}

/// Computes the information about the parameters by QR decomposition of the Jacobian J = [J_x, J_χ]
/// of the whitened readings and the prior of the initial state x. The block of R for the parameters
/// χ satisfies RᵀR = Σ TᵀT with T = J_χ − J_x R_x⁻¹ R_xχ. Encoder delays are neglected: delayed
/// readings have as much information.
PlanInformation PlanEvaluator::compute_plan_information(
    const IntervalSensitivities::IntervalDerivatives& slopes, const Eigen::MatrixXd& joints) const {
  const Eigen::Index states = 2 * program_.coordinate_count();
  const Eigen::Index samples = slopes.readings.front().rows();
  const auto sensors = static_cast<Eigen::Index>(sensors_.size());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(sensors * samples + states, states + free_count_);
  PlanInformation result;
  for (Eigen::Index i = 0; i < sensors; ++i) {
    const IntervalSensitivities::RowMajor& own = slopes.readings[static_cast<std::size_t>(i)];
    // Weight each row by the number of readings that it represents.
    const double weight = std::sqrt(facts_.rate * facts_.period) / facts_.noise[i];
    auto rows = J.middleRows(i * samples, samples);
    rows.leftCols(states) = weight * own.leftCols(states);
    for (std::size_t k = 0; k < moving_.size(); ++k) {
      rows.col(states + moving_[k]) = weight * own.col(states + static_cast<Eigen::Index>(k));
    }
    for (const FreeDependency& source : offsets_[static_cast<std::size_t>(i)]) {
      rows.col(states + source.place).array() -= weight * source.factor;
    }
    const std::vector<FreeDependency>& delays = delays_[static_cast<std::size_t>(i)];
    if (!delays.empty()) {
      const Eigen::VectorXd turn = readings_without_offset(static_cast<int>(i), joints);
      Eigen::VectorXd rate = turn;  // [rad/s or m/s]
      rate.segment(1, samples - 2) = 0.5 * (turn.tail(samples - 2) - turn.head(samples - 2));
      rate[0] = turn[1] - turn[0];
      rate[samples - 1] = turn[samples - 1] - turn[samples - 2];
      for (const FreeDependency& source : delays) {
        rows.col(states + source.place) -= weight * source.factor / facts_.period * rate;
      }
    }
    result.initial_state_sensitivity =
        std::max(result.initial_state_sensitivity, own.leftCols(states / 2).cwiseAbs().maxCoeff());
  }
  auto start = J.bottomLeftCorner(states, states).diagonal();
  start.head(states / 2).setConstant(1.0 / kStartAngleDeviation);
  start.tail(states / 2).setConstant(1.0 / kStartRateDeviation);
  result.information.setConstant(free_count_, free_count_,
                                 std::numeric_limits<double>::quiet_NaN());
  result.scatter = result.information;
  if (!J.allFinite()) {
    result.initial_state_sensitivity = std::numeric_limits<double>::infinity();
    return result;
  }
  result.scale = J.rightCols(free_count_).colwise().squaredNorm();
  Eigen::MatrixXd factored = J;
  const Eigen::MatrixXd all = triangular_factor(factored);
  const auto R = all.bottomRightCorner(free_count_, free_count_);
  result.information.noalias() = R.transpose() * R;
  J.rightCols(free_count_) -=
      J.leftCols(states) * all.topLeftCorner(states, states)
                               .triangularView<Eigen::Upper>()
                               .solve(all.topRightCorner(states, free_count_));
  const Eigen::MatrixXd of_start = J.bottomRightCorner(states, free_count_);
  result.scatter = of_start.transpose() * of_start;
  for (Eigen::Index i = 0; i < sensors; ++i) {
    const auto sensor = static_cast<int>(i);
    result.scatter +=
        compute_gradient_covariance(sensor, J.block(i * samples, states, samples, free_count_),
                                    readings_without_offset(sensor, joints));
  }
  return result;
}

Eigen::VectorXd simulate_release_to_rest(const Mechanism& mechanism,
                                         const Eigen::VectorXd& joints) {
  const auto motors = std::ranges::count(mechanism.joints, true,
                                         [](const Joint& joint) { return joint.motor.present; });
  if (motors == 0) return joints;
  const Eigen::VectorXd unit =
      Eigen::VectorXd::Ones(static_cast<Eigen::Index>(used_encoders(mechanism).size()));
  const PlanEvaluator bench(
      mechanism, {.period = kPeriod, .rate = 1.0 / kPeriod, .start = joints, .noise = unit}, 1);
  const auto samples = static_cast<Eigen::Index>(kSettling / kPeriod);
  const PlanMotion motion = bench.move(mechanism, Eigen::MatrixXd::Zero(samples, 1));
  return motion.end.allFinite() ? Eigen::VectorXd(motion.end.col(0)) : joints;
}

Eigen::VectorXd compute_resting_coordinates(const Mechanism& mechanism,
                                            const Eigen::VectorXd& placed) {
  Eigen::VectorXd start(mechanism.joint_count());
  for (Eigen::Index j = 0; j < start.size(); ++j) {
    const double stated = mechanism.joints[static_cast<std::size_t>(j)].assembly_guess;
    start[j] = std::isfinite(placed[j]) ? placed[j] : std::isfinite(stated) ? stated : 0.0;
  }
  start = closed_rest(mechanism, start, kPeriod).col(0).head(start.size());
  if (placed.array().isFinite().all()) return start;
  if (is_upright(mechanism, start)) {
    if (const auto rest = find_stable_equilibrium(mechanism)) start = rest->coordinates;
  }
  start = simulate_release_to_rest(mechanism, start);
  return placed.array().isFinite().select(placed, start);
}

ParameterUncertainty predict_plan_uncertainty(const Mechanism& mechanism,
                                              const std::vector<Recording>& earlier,
                                              const Segment& run, const Eigen::VectorXd& noise,
                                              const Eigen::VectorXd& quantum,
                                              const Eigen::MatrixXd& known, int threads) {
  std::vector<Recording> recordings = earlier;
  recordings.push_back({.name = "the plan", .segments = {run}});
  recordings = thin_readings_at_rest(mechanism, std::move(recordings), quantum);
  ShootingInput input = prepare_shooting_input(mechanism, recordings, {});
  input.noise.angle = noise;
  input.grid.interval = std::numeric_limits<double>::infinity();
  const ShootingProblem problem(mechanism, input.segments, input.states, input.state_spacing,
                                input.grid, input.noise, threads);
  ParameterInformation information = compute_information(problem, {.effective_parameters = false});
  if (information.valid) {
    if (known.size() > 0) {
      information.group_schur[static_cast<std::size_t>(problem.prior_noise_group())] = known;
      recompute_information(information);
    }
    std::vector<QuantizedSensor> counting;
    for (int i = 0; i < problem.encoder_count(); ++i) {
      if (quantum[i] > 0.0) counting.push_back({i, quantum[i], 0.0});
    }
    const QuantizationErrors errors = compute_quantization_errors(problem, counting);
    for (std::size_t i = 0; i < counting.size(); ++i) {
      information.group_schur[static_cast<std::size_t>(counting[i].sensor)] = errors.scatter[i];
    }
  }
  const std::vector<int> free = FreeParameters(mechanism).parameter_indices();
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.noise_group_count());
  return compute_parameter_uncertainty(mechanism, free, free, information, unit);
}

}  // namespace estimator
