#include "estimator/calibrate/shooting_problem.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/calibrate/shooting_interval.hpp"

namespace estimator {
namespace {

constexpr double kClockTolerance = 0.01;  // by which a step may exceed the longest

std::vector<double> parameter_values(const Mechanism& mechanism) {
  std::vector<double> values;
  values.reserve(mechanism.parameters.size());
  for (const Parameter& parameter : mechanism.parameters) values.push_back(parameter.value);
  return values;
}

}  // namespace

ShootingProblem::ShootingProblem(const Mechanism& mechanism, const std::vector<Segment>& segments,
                                 const std::vector<Eigen::MatrixXd>& states,
                                 const std::vector<double>& state_spacing, const ShootingGrid& grid,
                                 const ShootingNoise& noise)
    : hinge_count_(mechanism.hinge_count()), free_(mechanism), noise_(noise) {
  for (int j = 0; j < hinge_count_; ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    if (hinge.measured) sensors_.push_back(j);
    if (hinge.motorised) motors_.push_back(j);
  }
  for (int i = 0; i < free_.size(); ++i) {
    const int index = free_.indices()[static_cast<std::size_t>(i)];
    bool is_offset = false;
    for (int j = 0; j < hinge_count_; ++j) {
      is_offset |= index == mechanism.index_of_hinge(j, HingeQuantity::kEncoderOffset);
    }
    if (!is_offset) moving_.push_back(i);
  }
  point_.mechanism = mechanism;
  for (const Segment& segment : segments) add_segment(segment, grid);
  place_nodes(states, state_spacing);
  make_blocks();
  update_controls(point_);
  simulate(point_);
  candidate_ = point_;
}

void ShootingProblem::add_segment(const Segment& segment, const ShootingGrid& grid) {
  ShotSegment shot{segment, 0.0, 0, node_count_, 0, 0};
  const double ratio = grid.step / segment.period;
  shot.step = ratio >= 1.0 ? segment.period * std::floor(ratio * (1.0 + kClockTolerance))
                           : segment.period / std::ceil(1.0 / ratio * (1.0 - kClockTolerance));
  const double duration = segment.period * (segment.sample_count() - 1);
  shot.step_count = std::max(
      1, static_cast<int>(std::ceil(duration / shot.step * (1.0 - kShootingGridTolerance))));
  shot.steps_per_interval =
      std::isinf(grid.interval)
          ? shot.step_count
          : std::clamp(static_cast<int>(std::lround(grid.interval / shot.step)), 1,
                       shot.step_count);
  shot.node_count = shot.step_count / shot.steps_per_interval;
  node_count_ += shot.node_count;
  segments_.push_back(std::move(shot));
}

void ShootingProblem::place_nodes(const std::vector<Eigen::MatrixXd>& states,
                                  const std::vector<double>& state_spacing) {
  point_.states.resize(2 * hinge_count_, node_count_);
  start_.resize(2 * hinge_count_, segment_count());
  for (int s = 0; s < segment_count(); ++s) {
    const auto at = static_cast<std::size_t>(s);
    const ShotSegment& segment = segments_[at];
    for (int k = 0; k < segment.node_count; ++k) {
      const double time = k * spacing(s);
      const Eigen::Index column =
          std::clamp<Eigen::Index>(std::lround(time / state_spacing[at]), 0, states[at].cols() - 1);
      point_.states.col(segment.first_node + k) = states[at].col(column);
    }
    start_.col(s) = point_.states.col(segment.first_node);
  }
}

double ShootingProblem::spacing(int segment) const {
  const ShotSegment& shot = segments_[static_cast<std::size_t>(segment)];
  return shot.step * shot.steps_per_interval;
}

Eigen::MatrixXd ShootingProblem::states(int segment) const {
  const ShotSegment& shot = segments_[static_cast<std::size_t>(segment)];
  return point_.states.middleCols(shot.first_node, shot.node_count);
}

ShootingProblem::Span ShootingProblem::span_of(const ShotSegment& segment, int interval) const {
  const bool last = interval + 1 == segment.node_count;
  Span span;
  span.begin = interval * segment.steps_per_interval;
  span.end = last ? segment.step_count : span.begin + segment.steps_per_interval;
  const auto sample_at = [&](int step) {
    return static_cast<int>(
        std::ceil(step * segment.step / segment.data.period - kShootingGridTolerance));
  };
  span.first = sample_at(span.begin);
  span.last = last ? segment.data.sample_count() : sample_at(span.end);
  return span;
}

void ShootingProblem::make_blocks() {
  max_rows_ = std::max(2 * hinge_count_, free_.prior_count());
  for (int s = 0; s < segment_count(); ++s) {
    const ShotSegment& segment = segments_[static_cast<std::size_t>(s)];
    blocks_.push_back({BlockKind::kStart, s, 0, 0});
    for (int k = 0; k < segment.node_count; ++k) {
      const Span span = span_of(segment, k);
      max_rows_ = std::max(max_rows_, span.last - span.first);
      for (int sensor = 0; sensor < sensor_count(); ++sensor) {
        blocks_.push_back({BlockKind::kReadings, s, k, sensor});
      }
      if (k + 1 == segment.node_count) continue;
      for (int j = 0; j < hinge_count_; ++j) {
        blocks_.push_back({BlockKind::kAcceleration, s, k, j});
      }
    }
  }
  if (free_.prior_count() > 0) blocks_.push_back({BlockKind::kPrior, 0, 0, 0});
}

ArrowLayout ShootingProblem::layout() const {
  return {.node_count = node_count_,
          .node_size = 2 * hinge_count_,
          .bandwidth = 1,
          .arrow_size = free_.size()};
}

// --- simulation ---------------------------------------------------------------------------------

/// Controls change with the delays alone.
void ShootingProblem::update_controls(Point& point) const {
  std::vector<ControlDelay> delays;
  bool moves = point.controls == nullptr;
  for (const int motor : motors_) {
    const Parameter& delay = point.mechanism.hinge_parameter(motor, HingeQuantity::kInputDelay);
    delays.push_back({delay.value, delay.free});
    moves |= delay.free;
  }
  if (!moves) return;
  std::vector<HeldControls> controls;
  for (const ShotSegment& segment : segments_) {
    controls.emplace_back(segment.data, segment.step, segment.step_count, delays);
  }
  point.controls = std::make_shared<const std::vector<HeldControls>>(std::move(controls));
}

std::vector<int> ShootingProblem::delay_lanes(int first_direction) const {
  std::vector<int> lanes(motors_.size(), -1);
  for (std::size_t motor = 0; motor < motors_.size(); ++motor) {
    const int position =
        free_.position(point_.mechanism.index_of_hinge(motors_[motor], HingeQuantity::kInputDelay));
    const auto found = std::find(moving_.begin(), moving_.end(), position);
    if (found == moving_.end()) continue;
    const int lane = 2 * hinge_count_ + static_cast<int>(found - moving_.begin()) - first_direction;
    if (lane >= 0 && lane < kDualLanes) lanes[motor] = lane;
  }
  return lanes;
}

void ShootingProblem::simulate(Point& point) const {
  TreeMotion<double> motion(point.mechanism, parameter_values(point.mechanism));
  point.angles.resize(segments_.size());
  point.ends.resize(2 * hinge_count_, node_count_);
  JointState<double> state;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const ShotSegment& segment = segments_[s];
    Eigen::MatrixXd& angles = point.angles[s];
    angles.resize(segment.data.sample_count(), sensor_count());
    for (int k = 0; k < segment.node_count; ++k) {
      const int node = segment.first_node + k;
      state.angle = point.states.col(node).head(hinge_count_);
      state.rate = point.states.col(node).tail(hinge_count_);
      shoot(motion, segment, (*point.controls)[s], span_of(segment, k), 0, state,
            [&](int sample, double time) {
              for (int sensor = 0; sensor < sensor_count(); ++sensor) {
                const int j = sensors_[static_cast<std::size_t>(sensor)];
                angles(sample, sensor) =
                    motion.angle_at(j, time) -
                    point.mechanism.hinge_parameter(j, HingeQuantity::kEncoderOffset).value;
              }
            });
      point.ends.col(node).head(hinge_count_) = state.angle;
      point.ends.col(node).tail(hinge_count_) = state.rate;
    }
  }
  point.cost = total_cost(point);
}

// --- residuals ----------------------------------------------------------------------------------

double ShootingProblem::reading_error(const Point& point, int segment, int sample,
                                      int sensor) const {
  const auto s = static_cast<std::size_t>(segment);
  const int hinge = sensors_[static_cast<std::size_t>(sensor)];
  return difference(hinge,
                    point.angles[s](sample, sensor) - segments_[s].data.angles(sample, sensor));
}

/// L⁻¹ with L Lᵀ = σ_a² [T³/3, T²/2; T²/2, T], so that whitened = L⁻¹ (Δθ, Δω).
Eigen::Matrix2d ShootingProblem::whitening(int segment, int hinge) const {
  const double T = spacing(segment);
  const double scale = 1.0 / (noise_.acceleration[hinge] * std::sqrt(T));
  Eigen::Matrix2d inverse;
  inverse << std::sqrt(3.0) / T, 0.0, -3.0 / T, 2.0;
  return scale * inverse;
}

Eigen::Vector2d ShootingProblem::whitened_defect(const Point& point, int segment, int interval,
                                                 int hinge) const {
  const int node = segments_[static_cast<std::size_t>(segment)].first_node + interval;
  const Eigen::Vector2d defect(
      difference(hinge, point.states(hinge, node + 1) - point.ends(hinge, node)),
      point.states(hinge_count_ + hinge, node + 1) - point.ends(hinge_count_ + hinge, node));
  return whitening(segment, hinge) * defect;
}

double ShootingProblem::total_cost(const Point& point) const {
  double sum = free_.prior_cost(point.mechanism);
  for (int s = 0; s < segment_count(); ++s) {
    const ShotSegment& segment = segments_[static_cast<std::size_t>(s)];
    const Eigen::VectorXd moved = point.states.col(segment.first_node) - start_.col(s);
    sum += moved.head(hinge_count_).squaredNorm() / std::pow(kStartAngleDeviation, 2) +
           moved.tail(hinge_count_).squaredNorm() / std::pow(kStartRateDeviation, 2);
    for (int k = 0; k + 1 < segment.node_count; ++k) {
      for (int j = 0; j < hinge_count_; ++j) {
        sum += whitened_defect(point, s, k, j).squaredNorm();
      }
    }
    for (int sensor = 0; sensor < sensor_count(); ++sensor) {
      double squares = 0.0;
      for (int sample = 0; sample < segment.data.sample_count(); ++sample) {
        if (std::isnan(segment.data.angles(sample, sensor))) continue;
        const double error = reading_error(point, s, sample, sensor);
        squares += error * error;
      }
      sum += squares / (noise_.angle[sensor] * noise_.angle[sensor]);
    }
  }
  return sum;
}

void ShootingProblem::set_noise(const ShootingNoise& noise) {
  noise_ = noise;
  point_.cost = total_cost(point_);
}

int ShootingProblem::reading_count(int sensor) const {
  int count = 0;
  for (const ShotSegment& segment : segments_) {
    for (const double angle : segment.data.angles.col(sensor)) count += std::isnan(angle) ? 0 : 1;
  }
  return count;
}

double ShootingProblem::squared_error(int sensor) const {
  double sum = 0.0;
  for (int s = 0; s < segment_count(); ++s) {
    const Eigen::MatrixXd& readings = segments_[static_cast<std::size_t>(s)].data.angles;
    for (int sample = 0; sample < readings.rows(); ++sample) {
      if (std::isnan(readings(sample, sensor))) continue;
      sum += std::pow(reading_error(point_, s, sample, sensor), 2);
    }
  }
  return sum;
}

// --- moves --------------------------------------------------------------------------------------

double ShootingProblem::evaluate_candidate(const Eigen::VectorXd& node_step,
                                           const Eigen::VectorXd& arrow_step) {
  free_.move(point_.mechanism, arrow_step, candidate_.mechanism);
  candidate_.states =
      point_.states + node_step.reshaped(point_.states.rows(), point_.states.cols());
  update_controls(candidate_);
  simulate(candidate_);
  return candidate_.cost;
}

void ShootingProblem::accept_candidate() {
  std::swap(point_, candidate_);
  sensitivities_current_ = false;
}

void ShootingProblem::restore() {
  point_ = marked_;
  sensitivities_current_ = false;
}

}  // namespace estimator
