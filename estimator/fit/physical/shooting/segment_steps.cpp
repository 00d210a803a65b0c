#include "estimator/fit/physical/shooting/segment_steps.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace estimator {
namespace {

using RowMajor = IntervalSensitivities::RowMajor;

/// Frees the given parameters and fixes all other parameters.
Mechanism free_only(Mechanism mechanism, const std::vector<int>& parameters) {
  mechanism = fix_parameters(std::move(mechanism));
  for (const int index : parameters) mechanism.parameters[index].free = true;
  return mechanism;
}

/// Returns the free parameters that affect motion and readings, and the delays of delayed sensors.
/// Readings of delayed sensors belong to no particular sample.
std::vector<int> sensing_columns(const TreeProgram& program, const Mechanism& mechanism) {
  std::vector<int> columns = program.motion_parameters();
  for (const int index : free_sensor_parameters(mechanism)) columns.push_back(index);
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    const int delay = mechanism.sensor_parameter_index(i, SensorParameter::kDelay);
    const bool has_delay = mechanism.at(delay).value > 0.0;
    if (has_delay && std::ranges::count(columns, delay) == 0) columns.push_back(delay);
  }
  return columns;
}

int place_of(const std::vector<int>& list, int value) {
  const auto found = std::ranges::find(list, value);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

SegmentSimulator::SegmentSimulator(const Mechanism& mechanism, const Segment& segment,
                                   const ShootingGrid& grid, const std::vector<double>& node_times,
                                   const std::vector<int>& parameters, int threads)
    : segment_(segment),
      node_times_(node_times),
      threads_(threads),
      near_rest_(grid.near_rest),
      freed_mechanism_(free_only(mechanism, parameters)),
      programs_(freed_mechanism_, grid.coordinates, {segment.absent_bodies}),
      run_(programs_.runs(freed_mechanism_, std::vector<int>{0}).front()),
      sensing_(run_.values, find_read_sensor_axes(mechanism, {segment}),
               sensing_columns(run_.program, freed_mechanism_),
               static_cast<int>(run_.program.motion_parameters().size())) {
  for (int k = 0; k < segment.sample_count(); ++k) times_.push_back(segment.time(k));
  place_step_boundaries(grid.step);
  assign_derivative_columns(parameters);
  controls_ = SegmentControls(segment_, edges_, control_delays(tree_program(), freed_mechanism_));
}

/// Divides time into steps of at most `step` that end at every sample and every node.
void SegmentSimulator::place_step_boundaries(double step) {
  std::vector<double> instants = times_;
  instants.insert(instants.end(), node_times_.begin(), node_times_.end());
  std::ranges::sort(instants);
  edges_ = {instants.front()};
  for (const double instant : instants) {
    const double from = edges_.back(), gap = instant - from;
    if (gap <= kSampleTolerance * segment_.period) continue;
    const int parts = static_cast<int>(std::ceil(gap / step * (1.0 - kSampleTolerance)));
    for (int i = 1; i < parts; ++i) edges_.push_back(from + gap * i / parts);
    edges_.push_back(instant);
  }
}

void SegmentSimulator::assign_derivative_columns(const std::vector<int>& parameters) {
  const int states = 2 * coordinate_count();
  const auto column = [&](const std::vector<int>& list, int index) {
    const int place = place_of(list, index);
    return place < 0 ? -1 : states + place;
  };
  for (const int index : parameters) {
    const bool acts = !belongs_to_absent_body(index);
    motion_columns_.push_back(acts ? column(tree_program().motion_parameters(), index) : -1);
  }
  for (int axis = 0; axis < sensing_.axis_count(); ++axis) {
    const auto own = [&](int index) {
      const int place = place_of(sensing_.parameters(), index);
      return place < 0 ? -1 : sensing_.derivative_column(axis, place, states);
    };
    std::vector<int>& columns = sensing_columns_.emplace_back();
    for (const int index : parameters)
      columns.push_back(belongs_to_absent_body(index) ? -1 : own(index));
    const int sensor = inertial_axes()[axis] / Sensor::kAxes;
    delay_columns_.push_back(
        own(freed_mechanism_.sensor_parameter_index(sensor, SensorParameter::kDelay)));
  }
}

/// Returns whether a parameter belongs to a body that is absent in this segment.
bool SegmentSimulator::belongs_to_absent_body(int parameter) const {
  return std::ranges::count(run_.without_effect,
                            place_of(tree_program().motion_parameters(), parameter)) > 0;
}

bool SegmentSimulator::affects_motion(int parameter) const {
  return place_of(tree_program().motion_parameters(), parameter) >= 0 &&
         !belongs_to_absent_body(parameter);
}

double SegmentSimulator::sample_period(int sample) const {
  const auto at = static_cast<std::size_t>(std::min(sample, sample_count() - 2));
  return times_[at + 1] - times_[at];
}

/// Returns the integration step that begins at an instant.
int SegmentSimulator::step_index_at(double time) const {
  const double slack = kSampleTolerance * segment_.period;
  return static_cast<int>(std::ranges::lower_bound(edges_, time - slack) - edges_.begin());
}

MotionInterval SegmentSimulator::make_motion_interval(double begin, double end, int first_instant,
                                                      int last_instant) const {
  return {.controls = &controls_,
          .first_substep = controls_.first(step_index_at(begin)),
          .last_substep = controls_.first(step_index_at(end)),
          .period = segment_.period,
          .sample_instants = times_.data(),
          .first_instant = first_instant,
          .last_instant = last_instant};
}

SegmentSimulator::SampleStates SegmentSimulator::simulate(const Eigen::MatrixXd& nodes) const {
  std::vector<MotionInterval> intervals;
  for (Eigen::Index k = 0; k < nodes.cols(); ++k) {
    const double begin = node_times_[k];
    const bool is_last = k + 1 == nodes.cols();
    const double end = is_last ? edges_.back() : node_times_[k + 1];
    intervals.push_back(
        make_motion_interval(begin, end, segment_.first_sample_at_or_after(begin),
                             is_last ? sample_count() : segment_.first_sample_at_or_after(end)));
    intervals.back().start = select_independent_coordinates(nodes.col(k));
    intervals.back().guess = nodes.col(k).head(joint_count());
  }
  std::vector<Eigen::MatrixXd> unused(intervals.size());
  IntervalIntegrator(tree_program(), segment_mechanism(), threads_, near_rest_)
      .run(intervals, unused);
  SampleStates at{Eigen::MatrixXd(2 * coordinate_count(), sample_count()),
                  Eigen::MatrixXd(tree_program().has_loops() ? joint_count() : 0, sample_count())};
  for (const MotionInterval& each : intervals) {
    if (!each.instants) continue;
    const Eigen::Index instants = each.last_instant - each.first_instant;
    at.states.middleCols(each.first_instant, instants) = each.instants->states;
    at.guesses.middleCols(each.first_instant, instants) = each.instants->guesses;
  }
  return at;
}

Eigen::VectorXd SegmentSimulator::select_independent_coordinates(
    const Eigen::VectorXd& joints) const {
  const int c = coordinate_count();
  Eigen::VectorXd state(2 * c);
  for (int p = 0; p < c; ++p) {
    const int joint = tree_program().independent_joints()[p];
    state[p] = joints[joint];
    state[c + p] = joints[joint_count() + joint];
  }
  return state;
}

/// Sets up the last sample like the previous sample, since no integration step follows it.
void SegmentSimulator::complete_last_sample(const Eigen::VectorXd& guess,
                                            MotionInterval& last) const {
  last.first_substep = controls_.first(step_index_at(times_.rbegin()[1]));
  last.last_substep = last.first_substep;
  last.end = last.start;
  auto instants = std::make_shared<SampleInstantMotion>(*last_instants_);
  instants->first = sample_count() - 1;
  instants->states = last.start;
  if (tree_program().has_loops()) instants->guesses = guess;
  last.instants = std::move(instants);
}

std::vector<SampleTransition> SegmentSimulator::linearize(int first, const SampleStates& at) {
  std::vector<MotionInterval> steps;
  const int count = static_cast<int>(at.states.cols());
  const bool is_to_end = first + count == sample_count();
  for (int k = first; k < first + count; ++k) {
    const auto from = static_cast<std::size_t>(k);
    const bool is_last = k + 1 == sample_count();
    steps.push_back(
        make_motion_interval(times_[from], times_[is_last ? from : from + 1], k, k + 1));
    steps.back().start = at.states.col(k - first);
    if (tree_program().has_loops()) steps.back().guess = at.guesses.col(k - first);
  }
  const std::size_t motion_parameters = steps.size() - (is_to_end ? 1 : 0);
  std::vector<Eigen::MatrixXd> unused(steps.size());
  std::vector<IntervalSensitivities::IntervalDerivatives> slopes(steps.size());
  const auto on = std::span(steps).first(motion_parameters);
  IntervalIntegrator(tree_program(), segment_mechanism(), threads_, near_rest_)
      .run(on, std::span(unused).first(motion_parameters));
  IntervalSensitivities(tree_program(), segment_mechanism(), {}, threads_)
      .run(on, std::span(slopes).first(motion_parameters));
  if (motion_parameters > 0) last_instants_ = steps[motion_parameters - 1].instants;
  if (is_to_end) complete_last_sample(at.guesses.col(count - 1), steps.back());
  const int states = 2 * coordinate_count();
  for (IntervalSensitivities::IntervalDerivatives& each : slopes)
    each.instants = RowMajor::Identity(states, program_column_count());
  std::vector<Eigen::MatrixXd> sensed_values(steps.size());
  if (sensing_.axis_count() > 0) {
    compute_sensor_readings(tree_program(), sensing_, segment_mechanism(), steps, sensed_values,
                            threads_);
    differentiate_sensor_readings(tree_program(), sensing_, segment_mechanism(), steps, slopes);
  }
  Eigen::MatrixXd motion;
  std::vector<RowMajor> motion_sensitivities;
  linearize_sample_instant_motion(tree_program(), segment_mechanism(), steps, motion,
                                  motion_sensitivities);
  std::vector<SampleTransition> result(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SampleTransition& out = result[i];
    out.end = steps[i].end;
    if (i < motion_parameters)
      out.end_sensitivities = select_columns(slopes[i].end, motion_columns_);
    out.motion = motion.col(i);
    out.motion_sensitivities = select_columns(motion_sensitivities[i], motion_columns_);
    store_sensor_readings(sensed_values[i], slopes[i].inertial, out);
  }
  return result;
}

/// @param slopes  derivatives of each axis, one row
void SegmentSimulator::store_sensor_readings(const Eigen::MatrixXd& values,
                                             const std::vector<RowMajor>& slopes,
                                             SampleTransition& out) const {
  out.sensed = out.sensed_rate = Eigen::VectorXd::Zero(sensing_.axis_count());
  out.sensed_sensitivities.resize(sensing_.axis_count(), selected_column_count());
  for (int axis = 0; axis < sensing_.axis_count(); ++axis) {
    const RowMajor& own = slopes[axis];
    out.sensed[axis] = values(0, axis);
    out.sensed_sensitivities.row(axis) = select_columns(own, sensing_columns_[axis]);
    const int delay = delay_columns_[axis];
    if (delay >= 0) out.sensed_rate[axis] = -own(0, delay);
  }
}

/// Returns the columns of the state and the selected columns of the parameters; −1 selects zero.
Eigen::MatrixXd SegmentSimulator::select_columns(const Eigen::Ref<const RowMajor>& slopes,
                                                 const std::vector<int>& columns) const {
  const int states = 2 * coordinate_count();
  Eigen::MatrixXd chosen = Eigen::MatrixXd::Zero(slopes.rows(), selected_column_count());
  chosen.leftCols(states) = slopes.leftCols(states);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0) continue;
    chosen.col(states + static_cast<Eigen::Index>(i)) = slopes.col(columns[i]);
  }
  return chosen;
}

}  // namespace estimator
