#include "estimator/fit/physical/shooting/shooting_problem.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/fit/physical/shooting/control_noise.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/signal/step_grid.hpp"
#include "estimator/simulation/interval/inertial_sensing.hpp"

namespace estimator {
namespace {

std::vector<std::vector<int>> absent_bodies(const std::vector<Segment>& segments) {
  std::vector<std::vector<int>> absent;
  for (const Segment& segment : segments) absent.push_back(segment.absent_bodies);
  return absent;
}

}  // namespace

ShootingProblem::ShootingProblem(const Mechanism& mechanism, const std::vector<Segment>& segments,
                                 const std::vector<Eigen::MatrixXd>& states,
                                 const std::vector<double>& state_spacing, const ShootingGrid& grid,
                                 const ShootingNoise& noise, int threads)
    : joint_count_(mechanism.joint_count()),
      free_(mechanism),
      programs_(mechanism,
                grid.coordinates.independent.empty() ? choose_all_coordinates(mechanism)
                                                     : grid.coordinates,
                absent_bodies(segments)),
      inertial_axes_(find_read_sensor_axes(mechanism, segments)),
      sensors_(used_encoders(mechanism)),
      sampled_(find_sampled_axes(mechanism, segments)),
      noise_(noise),
      threads_(std::max(threads, 1)),
      near_rest_(grid.near_rest) {
  assert(grid.step > 0.0 && std::isfinite(grid.step) && grid.interval > 0.0);
  assert((noise.angle.array() > 0.0).all() && (noise.acceleration.array() > 0.0).all());
  for (const int index : programs_.common_program().motion_parameters())
    moving_.push_back(free_.find_position(index));
  if (!sampled_.empty()) {
    std::vector<int> columns = programs_.common_program().motion_parameters();
    for (const int index : free_sensor_parameters(mechanism)) {
      sensing_.push_back(free_.find_position(index));
      columns.push_back(index);
    }
    sensing_program_ = std::make_shared<const SensingProgram>(mechanism, sampled_, columns,
                                                              static_cast<int>(moving_.size()));
  }
  point_.mechanism = mechanism;
  apply_dependencies(point_.mechanism);
  find_delayed_encoders();
  for (const Segment& segment : segments) add_segment(segment, grid);
  place_shooting_nodes(states, state_spacing);
  update_acceleration_whitening();
  update_sample_instants(point_);
  update_controls(point_);
  make_residual_blocks();
  simulate(point_);
  candidate_ = point_;
  point_.slopes = std::make_shared<Sensitivities>();
}

ShootingProblem ShootingProblem::copy_with_changes(const Mechanism& mechanism,
                                                   const std::vector<Segment>& segments,
                                                   const ShootingGrid& grid,
                                                   const ShootingNoise& noise) const {
  assert(segments.size() == segments_.size());
  std::vector<Eigen::MatrixXd> states;
  std::vector<double> spacing;
  for (int s = 0; s < segment_count(); ++s) {
    states.push_back(node_states(s));
    spacing.push_back(node_spacing(s));
  }
  return {mechanism, segments, states, spacing, grid, noise, threads_};
}

/// Adds a segment. Its integration steps are multiples of the sampling period, or integer fractions
/// of it for fast motion.
void ShootingProblem::add_segment(const Segment& segment, const ShootingGrid& grid) {
  const double tick = tick_dividing_steps(grid.step, segment.period);
  const int ticks = tick_count_of_duration(segment.duration(), tick);
  const int in_period = tick_count_of_duration(segment.period, tick);
  const int shortest = std::min(tick_count_of_step(grid.step, tick), ticks);
  int per_node = ticks;
  if (std::isfinite(grid.interval)) {
    const auto steps = static_cast<int>(std::lround(grid.interval / (shortest * tick)));
    per_node = std::clamp(steps * shortest, shortest, ticks);
  }
  ShootingSegment shot{.data = remove_excluded_readings(point_.mechanism, segment),
                       .edges = {0.0},
                       .spacing = per_node * tick,
                       .first_node = node_count_,
                       .node_count = ticks / per_node};
  const auto step_at = [&](double time) {
    if (grid.local_steps.empty()) return shortest;
    const std::vector<double>& steps = grid.local_steps[segments_.size()];
    const auto piece = static_cast<std::size_t>(time / kStepPiece);
    return std::max(shortest, tick_count_of_step(steps[std::min(piece, steps.size() - 1)], tick));
  };
  const std::vector<int> striking = find_encoders_at_end_stops(point_.mechanism, sensors_);
  for (int node = 0, at = 0; node < shot.node_count; ++node) {
    int end = node + 1 == shot.node_count ? ticks : (node + 1) * per_node;
    if (end < ticks) end = find_impact_free_tick(segment, sensors_, striking, tick, end, per_node);
    shot.node_times.push_back(striking.empty() ? node * shot.spacing : at * tick);
    const auto begin = static_cast<int>(shot.edges.size()) - 1;
    const int first = shot.data.first_sample_at_or_after(shot.edges.back());
    while (at < end) {
      at = std::min(step_end_tick(at, step_at(at * tick), in_period), end);
      shot.edges.push_back(at * tick);
    }
    const int last = node + 1 == shot.node_count
                         ? shot.data.sample_count()
                         : shot.data.first_sample_at_or_after(shot.edges.back());
    shot.spans.push_back({first, last, begin, static_cast<int>(shot.edges.size()) - 1});
  }
  node_count_ += shot.node_count;
  segments_.push_back(std::move(shot));
}

void ShootingProblem::place_shooting_nodes(const std::vector<Eigen::MatrixXd>& states,
                                           const std::vector<double>& state_spacing) {
  const int c = coordinate_count();
  point_.states.resize(2 * c, node_count_);
  point_.guesses.resize(joint_count_, node_count_);
  start_.resize(2 * c, segment_count());
  start_deviation_.resize(2 * c, segment_count());
  for (int s = 0; s < segment_count(); ++s) {
    const auto at = static_cast<std::size_t>(s);
    const ShootingSegment& segment = segments_[at];
    for (int k = 0; k < segment.node_count; ++k) {
      const double time = segment.node_times[k];
      const Eigen::Index column =
          std::clamp<Eigen::Index>(std::lround(time / state_spacing[at]), 0, states[at].cols() - 1);
      const int node = segment.first_node + k;
      point_.guesses.col(node) = states[at].col(column).head(joint_count_);
      for (int p = 0; p < c; ++p) {
        const int joint = independent_joints()[p];
        point_.states(p, node) = states[at](joint, column);
        point_.states(c + p, node) = states[at](joint_count_ + joint, column);
      }
    }
    groups_.insert(groups_.end(), static_cast<std::size_t>(segment.node_count), s);
    set_expected_initial_state(s);
  }
}

/// Sets the expected initial state of a segment from the priors at the start of its recording.
void ShootingProblem::set_expected_initial_state(int segment) {
  const int c = coordinate_count();
  const ShootingSegment& shot = segments_[segment];
  start_.col(segment) = point_.states.col(shot.first_node);
  start_deviation_.col(segment).head(c).setConstant(kStartAngleDeviation);
  start_deviation_.col(segment).tail(c).setConstant(kStartRateDeviation);
  if (!shot.data.is_first_of_recording) return;
  for (int p = 0; p < c; ++p) {
    const auto index = static_cast<std::size_t>(independent_joints()[p]);
    const Joint& joint = point_.mechanism.joints[index];
    const auto expect = [&](const GaussianPrior& known, int row) {
      if (std::isinf(known.standard_deviation)) return;
      start_(row, segment) = known.mean;
      start_deviation_(row, segment) = known.standard_deviation;
    };
    expect(joint.start.angle, p);
    expect(joint.start.rate, c + p);
  }
}

/// Returns the deviation of a segment's initial state from its expectation, in standard deviations.
Eigen::VectorXd ShootingProblem::initial_state_error(const Iterate& point, int segment) const {
  const int node = segments_[segment].first_node;
  Eigen::VectorXd error = point.states.col(node) - start_.col(segment);
  for (int p = 0; p < coordinate_count(); ++p) {
    const auto index = static_cast<std::size_t>(independent_joints()[p]);
    const Joint& joint = point.mechanism.joints[index];
    if (!std::isinf(joint.start.angle.standard_deviation))
      error[p] = joint.coordinate_difference(error[p]);
  }
  return error.cwiseQuotient(start_deviation_.col(segment));
}

Eigen::MatrixXd ShootingProblem::node_states(int segment) const {
  const ShootingSegment& shot = segments_[segment];
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * joint_count_, shot.node_count);
  states.topRows(joint_count_) = point_.guesses.middleCols(shot.first_node, shot.node_count);
  const auto nodes = point_.states.middleCols(shot.first_node, shot.node_count);
  const int c = coordinate_count();
  for (int p = 0; p < c; ++p) {
    const int joint = independent_joints()[p];
    states.row(joint) = nodes.row(p);
    states.row(joint_count_ + joint) = nodes.row(c + p);
  }
  return states;
}

void ShootingProblem::make_residual_blocks() {
  max_rows_ = std::max({2 * coordinate_count(), free_.prior_residual_count(), max_instant_count(),
                        programs_.common_program().contact_equation_count()});
  for (int s = 0; s < segment_count(); ++s) {
    const ShootingSegment& segment = segments_[s];
    blocks_.push_back({ResidualBlockKind::kStart, s, 0, 0});
    for (int k = 0; k < segment.node_count; ++k) {
      const NodeInterval& span = segment.spans[k];
      max_rows_ = std::max(max_rows_, span.last - span.first);
      for (int sensor = 0; sensor < encoder_count(); ++sensor) {
        blocks_.push_back({ResidualBlockKind::kReadings, s, k, sensor});
      }
      for (int place = 0; place < std::ssize(inertial_axes_); ++place) {
        blocks_.push_back({ResidualBlockKind::kInertial, s, k, place});
      }
      if (k + 1 == segment.node_count) continue;
      for (int p = 0; p < coordinate_count(); ++p) {
        blocks_.push_back({ResidualBlockKind::kAcceleration, s, k, p});
      }
      if (!lasting_contact_equations(point_, s, k).empty()) {
        blocks_.push_back({ResidualBlockKind::kContact, s, k, 0});
      }
    }
  }
  if (free_.prior_residual_count() > 0) blocks_.push_back({ResidualBlockKind::kPrior, 0, 0, 0});
}

ProblemShape ShootingProblem::shape() const {
  return {.node_count = node_count_,
          .node_size = 2 * coordinate_count(),
          .bandwidth = 1,
          .parameter_count = free_.size()};
}

// --- simulation ---------------------------------------------------------------------------------

/// Recomputes the controls, which change only with the delays.
void ShootingProblem::update_controls(Iterate& point) const {
  const std::vector<ControlDelay> delays =
      control_delays(programs_.common_program(), point.mechanism);
  if (point.controls && std::ranges::none_of(delays, &ControlDelay::free)) return;
  std::vector<SegmentControls> controls;
  for (const ShootingSegment& segment : segments_) {
    controls.emplace_back(segment.data, segment.edges, delays);
  }
  point.controls = std::make_shared<const std::vector<SegmentControls>>(std::move(controls));
}

void ShootingProblem::simulate(Iterate& point) const {
  std::vector<Eigen::MatrixXd> angles(static_cast<std::size_t>(node_count_));
  point.intervals.resize(static_cast<std::size_t>(node_count_));
  for (int s = 0; s < segment_count(); ++s) {
    const ShootingSegment& segment = segments_[s];
    const SegmentControls& controls = (*point.controls)[s];
    for (int k = 0; k < segment.node_count; ++k) {
      const NodeInterval& span = segment.spans[k];
      const int node = segment.first_node + k;
      point.intervals[node] = {
          .controls = &controls,
          .first_substep = controls.first(span.begin),
          .last_substep = controls.first(span.end),
          .first_sample = span.first,
          .last_sample = span.last,
          .period = segment.data.period,
          .times = segment.data.times.empty() ? nullptr : segment.data.times.data(),
          .start = point.states.col(node),
          .guess = point.guesses.col(node)};
    }
  }
  if (!sampled_.empty()) {
    assign_sample_instants(point);
    point.sampled.resize(point.intervals.size());
  }
  for (const ProgramVariants::IntervalRun& run : programs_.runs(point.mechanism, groups_)) {
    const auto own = std::span(point.intervals).subspan(run.first, run.count);
    IntervalIntegrator(run.program, run.values, threads_, near_rest_)
        .run(own, std::span(angles).subspan(run.first, run.count));
    if (sampled_.empty()) continue;
    compute_sensor_readings(run.program, *sensing_program_, run.values, own,
                            std::span(point.sampled).subspan(run.first, run.count), threads_);
  }
  if (programs_.common_program().has_loops()) {
    for (int node = 0; node < node_count_; ++node) {
      point.guesses.col(node) = point.intervals[node].start_angles;
    }
  }
  predict_encoder_readings(point, angles);
  compute_contact_jumps(point);
  point.cost = total_cost(point);
}

/// Computes encoder readings from joint coordinates, one matrix per node.
void ShootingProblem::predict_encoder_readings(
    Iterate& point, const std::vector<Eigen::MatrixXd>& coordinates) const {
  point.angles.resize(segments_.size());
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const ShootingSegment& segment = segments_[s];
    point.angles[s].resize(segment.data.sample_count(), encoder_count());
    for (int i = 0; i < encoder_count(); ++i) {
      if (sampled_index_[i] >= 0) continue;
      const double offset = point.mechanism.parameters[encoder(i).offset].value;
      for (int k = 0; k < segment.node_count; ++k) {
        const auto node = static_cast<std::size_t>(segment.first_node + k);
        const Eigen::MatrixXd& own = coordinates[node];
        auto readings =
            point.angles[s].col(i).segment(point.intervals[node].first_sample, own.rows());
        readings.setConstant(-offset);
        for (const Encoder::JointTerm& term : encoder(i).terms) {
          readings += term.sign * own.col(term.joint);
        }
      }
    }
    predict_delayed_encoders(point, static_cast<int>(s));
    for (const EncoderShift& shift : segment.data.shifts) {
      const double by = point.mechanism.parameters[shift.parameter].value;
      point.angles[s].col(shift.sensor).tail(segment.data.sample_count() - shift.sample).array() +=
          by;
    }
  }
}

int ShootingProblem::unresolved_step_count() const {
  int count = 0;
  for (const MotionInterval& interval : point_.intervals) count += interval.log.unresolved;
  return count;
}

// --- residuals ----------------------------------------------------------------------------------

double ShootingProblem::reading_error(const Iterate& point, int segment, int sample,
                                      int sensor) const {
  const double error =
      point.angles[segment](sample, sensor) - segments_[segment].data.angles(sample, sensor);
  return sensors_[sensor].reading_difference(error);
}

/// Returns L⁻¹ with L Lᵀ = [T³/3, T²/2; T²/2, T] for a node interval T. It makes the defects of
/// angle and rate white for accelerations of unit density.
Eigen::Matrix2d ShootingProblem::defect_whitening(int segment, int interval) const {
  const std::vector<double>& times = node_times(segment);
  const bool is_even = times[interval] == interval * node_spacing(segment) &&
                       times[interval + 1] == (interval + 1) * node_spacing(segment);
  const double T = is_even ? node_spacing(segment) : times[interval + 1] - times[interval];
  Eigen::Matrix2d inverse;
  inverse << std::sqrt(3.0) / T, 0.0, -3.0 / T, 2.0;
  return inverse / std::sqrt(T);
}

/// Returns the weights of the coordinates' accelerations in a combination that is white with unit
/// density.
Eigen::VectorXd ShootingProblem::acceleration_weights(int node, int coordinate) const {
  if (!whitening_.empty()) return whitening_[node].row(coordinate);
  return Eigen::VectorXd::Unit(coordinate_count(), coordinate) / noise_.acceleration[coordinate];
}

/// Updates the whitening of the defects from the current nodes; it is constant during a solve.
void ShootingProblem::update_acceleration_whitening() {
  if (noise_.control.size() == 0) return;
  whitening_.clear();
  for (const ShootingSegment& segment : segments_) {
    ControlNoiseModel noise(point_.mechanism, noise_.control, segment.data.period);
    for (int k = 0; k < segment.node_count; ++k) {
      whitening_.push_back(compute_acceleration_whitening(
          noise, noise_.acceleration,
          point_.states.col(segment.first_node + k).head(coordinate_count())));
    }
  }
}

Eigen::Vector2d ShootingProblem::whitened_defect(const Iterate& point, int segment, int interval,
                                                 int coordinate) const {
  const int node = segments_[segment].first_node + interval;
  const Eigen::VectorXd& end = point.intervals[node].end;
  const auto defect = [&](int p) {
    const auto joint = static_cast<std::size_t>(independent_joints()[p]);
    return Eigen::Vector2d(
        point.mechanism.joints[joint].coordinate_difference(point.states(p, node + 1) - end[p]),
        point.states(coordinate_count() + p, node + 1) - end[coordinate_count() + p]);
  };
  if (whitening_.empty()) {
    return defect_whitening(segment, interval) * defect(coordinate) /
           noise_.acceleration[coordinate];
  }
  Eigen::Vector2d mixed = Eigen::Vector2d::Zero();
  const Eigen::MatrixXd& mix = whitening_[node];
  for (int p = 0; p <= coordinate; ++p) mixed += mix(coordinate, p) * defect(p);
  return defect_whitening(segment, interval) * mixed;
}

double ShootingProblem::total_cost(const Iterate& point) const {
  double sum = free_.prior_cost(point.mechanism);
  for (const Eigen::VectorXd& jump : point.contact_jumps) sum += jump.squaredNorm();
  for (int s = 0; s < segment_count(); ++s) {
    const ShootingSegment& segment = segments_[s];
    sum += initial_state_error(point, s).squaredNorm();
    for (int k = 0; k + 1 < segment.node_count; ++k) {
      for (int p = 0; p < coordinate_count(); ++p) {
        sum += whitened_defect(point, s, k, p).squaredNorm();
      }
    }
    for (int sensor = 0; sensor < encoder_count(); ++sensor) {
      double squares = 0.0;
      for (int sample = 0; sample < segment.data.sample_count(); ++sample) {
        if (std::isnan(segment.data.angles(sample, sensor))) continue;
        const double error = reading_error(point, s, sample, sensor);
        squares += error * error;
      }
      sum += squares / (noise_.angle[sensor] * noise_.angle[sensor]);
    }
    for (int place = 0; place < std::ssize(inertial_axes_); ++place) {
      sum += inertial_square_sum(point, s, place) /
             std::pow(noise_.inertial[inertial_axes()[place]], 2);
    }
  }
  return sum;
}

void ShootingProblem::set_noise_levels(const ShootingNoise& noise) {
  noise_ = noise;
  update_acceleration_whitening();
  point_.cost = total_cost(point_);
}

int ShootingProblem::integration_step_count() const {
  int count = 0;
  for (const ShootingSegment& segment : segments_) count += segment.spans.back().end;
  for (const MotionInterval& interval : point_.intervals) {
    count += static_cast<int>(interval.log.cuts.size());
  }
  return count;
}

int ShootingProblem::reading_count(int sensor) const {
  int count = 0;
  for (const ShootingSegment& segment : segments_) {
    for (const double angle : segment.data.angles.col(sensor)) count += std::isnan(angle) ? 0 : 1;
  }
  return count;
}

int ShootingProblem::reading_count() const {
  int count = 0;
  for (int sensor = 0; sensor < encoder_count(); ++sensor) count += reading_count(sensor);
  return count;
}

double ShootingProblem::squared_error(int sensor) const {
  double sum = 0.0;
  for (int s = 0; s < segment_count(); ++s) {
    const Eigen::MatrixXd& readings = segments_[s].data.angles;
    for (int sample = 0; sample < readings.rows(); ++sample) {
      if (std::isnan(readings(sample, sensor))) continue;
      sum += std::pow(reading_error(point_, s, sample, sensor), 2);
    }
  }
  return sum;
}

// --- moves --------------------------------------------------------------------------------------

double ShootingProblem::evaluate_trial_step(const Eigen::VectorXd& node_step,
                                            const Eigen::VectorXd& parameter_step) {
  free_.move(point_.mechanism, parameter_step, candidate_.mechanism);
  if (!FreeParameters::has_valid_dependent_parameters(candidate_.mechanism)) {
    candidate_.cost = std::numeric_limits<double>::infinity();
    return candidate_.cost;
  }
  candidate_.states =
      point_.states + node_step.reshaped(point_.states.rows(), point_.states.cols());
  candidate_.guesses = point_.guesses;
  update_controls(candidate_);
  update_sample_instants(candidate_);
  simulate(candidate_);
  return candidate_.cost;
}

void ShootingProblem::accept_trial_step() {
  std::swap(point_, candidate_);
  const std::shared_ptr<Sensitivities> old = std::move(candidate_.slopes);
  point_.slopes = std::make_shared<Sensitivities>();
  if (old.use_count() == 1) point_.slopes->of_nodes = std::move(old->of_nodes);  // reuses memory
}

}  // namespace estimator
