#include "estimator/fit/physical/equation_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/signal/low_pass.hpp"
#include "estimator/signal/resample.hpp"

namespace estimator {
namespace {

constexpr double kWindow = 0.03;      // length of a window [s]
constexpr int kWindowColumnsMin = 3;  // shortest window, in sampling periods
constexpr int kInstants = 10;         // approximate number per window
constexpr int kWindowsMax = 1000;     // distributed evenly over the recordings
constexpr double kMargin = 0.05;      // beside gaps and ends of segments [s]
constexpr double kGap = 2.5;          // shortest gap, in mean distances of an encoder's readings
constexpr double kSlowest = 0.03;     // least speed with a sure direction, of the joint's largest
constexpr double kRateTime = 0.02;    // time in which this speed must exceed reading noise [s]

constexpr int kInstantLanes = 8;
constexpr int kBlockRows = 64;
constexpr double kCauchy = 2.385;      // imbalance with half the weight, in standard deviations
constexpr double kNormalMad = 1.4826;  // standard deviation over median, for normal errors

/// Returns which columns of the states are within kMargin of a gap of any encoder's readings, or of
/// an end of the segment.
std::vector<bool> find_inaccurate_columns(const Segment& segment, double spacing,
                                          Eigen::Index columns) {
  std::vector<bool> inaccurate(static_cast<std::size_t>(columns), false);
  const double margin = std::min(kMargin, 0.1 * segment.duration());
  const auto mark = [&](double begin, double end) {
    const auto first = std::max<Eigen::Index>(std::lround((begin - margin) / spacing), 0);
    const auto last = std::min<Eigen::Index>(std::lround((end + margin) / spacing), columns - 1);
    for (Eigen::Index k = first; k <= last; ++k) inaccurate[static_cast<std::size_t>(k)] = true;
  };
  mark(0.0, 0.0);
  mark(segment.duration(), segment.duration());
  for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
    const auto readings = segment.angles.col(sensor);
    const auto count = static_cast<double>((!readings.array().isNaN()).count());
    const double most = kGap * segment.duration() / std::max(count - 1.0, 1.0);
    double last = 0.0;
    for (Eigen::Index k = 0; k < readings.size(); ++k) {
      if (std::isnan(readings[k])) continue;
      if (segment.time(k) - last > most) mark(last, segment.time(k));
      last = segment.time(k);
    }
    if (segment.duration() - last > most) mark(last, segment.duration());
  }
  return inaccurate;
}

/// Returns the least speed of every joint at which the direction of its motion is sure [rad/s].
Eigen::VectorXd least_sure_speeds(const Mechanism& mechanism, const ShootingInput& input) {
  Eigen::VectorXd least = kSlowest * input.max_speed;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (const Encoder::JointTerm& term : sensors[i].terms) {
      const double noise = input.noise.angle[static_cast<Eigen::Index>(i)];
      least[term.joint] = std::max(least[term.joint], noise / kRateTime);
    }
  }
  return least;
}

/// A column of a segment's states, or a window that begins with it.
struct WindowColumns {
  std::size_t segment;
  Eigen::Index first;
};

Eigen::Index window_length(double spacing) {
  return std::max<Eigen::Index>(kWindowColumnsMin, std::lround(kWindow / spacing));
}

std::vector<WindowColumns> find_windows(const ShootingInput& input) {
  std::vector<WindowColumns> windows;
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    const Eigen::Index columns = input.states[s].cols();
    const std::vector<bool> inaccurate =
        find_inaccurate_columns(input.segments[s], input.state_spacing[s], columns);
    const Eigen::Index length = window_length(input.state_spacing[s]);
    for (Eigen::Index first = 1; first + length < columns; first += length) {
      const auto begin = inaccurate.begin() + first;
      if (std::none_of(begin, begin + length, [](bool each) { return each; })) {
        windows.push_back({s, first});
      }
    }
  }
  const std::size_t count = windows.size(), most = kWindowsMax;
  if (count <= most) return windows;
  for (std::size_t i = 0; i < most; ++i) windows[i] = windows[i * count / most];
  windows.resize(most);
  return windows;
}

/// Returns the cutoff of the low pass that filtered the coordinate of each joint [Hz].
Eigen::VectorXd joint_cutoffs(const Mechanism& mechanism, const Segment& segment, double cutoff) {
  Eigen::VectorXd cutoffs = Eigen::VectorXd::Constant(mechanism.joint_count(), cutoff);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const Eigen::VectorXd readings = segment.angles.col(static_cast<Eigen::Index>(i));
    const double own = noise_matched_cutoff(
        sensors[i].kind_traits().wraps ? unwrap(readings) : readings, cutoff, segment.period);
    for (const Encoder::JointTerm& term : sensors[i].terms) {
      cutoffs[term.joint] = std::max(cutoffs[term.joint], own);
    }
  }
  return cutoffs;
}

/// Filtered directions and controls of a segment, at the columns of its states.
struct FilteredInputs {
  Eigen::MatrixXd directions;  ///< columns × joints
  Eigen::MatrixXd controls;    ///< columns × motors
};

FilteredInputs filter_inputs(const Mechanism& mechanism, const ShootingInput& input, std::size_t s,
                             double cutoff) {
  const Segment& segment = remove_encoder_slips(mechanism, input.segments[s]);
  const Eigen::Index n = mechanism.joint_count(), columns = input.states[s].cols();
  const double spacing = input.state_spacing[s];
  const Eigen::VectorXd cutoffs = joint_cutoffs(mechanism, segment, cutoff);
  FilteredInputs inputs;
  inputs.directions = input.states[s].bottomRows(n).cwiseSign().transpose();
  for (Eigen::Index j = 0; j < n; ++j) {
    inputs.directions.col(j) =
        apply_low_pass(inputs.directions.col(j), cutoffs[j], spacing).col(0).eval();
  }
  const std::vector<int> motors = joints_with_motor(mechanism);
  inputs.controls.resize(columns, std::ssize(motors));
  std::vector<double> positions;
  for (const double time : segment.times) positions.push_back(time / segment.period);
  for (Eigen::Index m = 0; m < std::ssize(motors); ++m) {
    const int joint = motors[static_cast<std::size_t>(m)];
    const double delay = mechanism.joint_parameter(joint, JointParameter::kInputDelay).value;
    Eigen::VectorXd held(columns);
    for (Eigen::Index k = 0; k < columns; ++k) {
      const double at = (static_cast<double>(k) * spacing - delay) / segment.period;
      held[k] = average_held_control(segment.controls.col(m), at - 0.5, at + 0.5, positions).mean;
    }
    inputs.controls.col(m) = apply_low_pass(held, cutoffs[joint], spacing).col(0);
  }
  return inputs;
}

}  // namespace

MotionWindows select_motion_windows(const Mechanism& mechanism, const ShootingInput& input,
                                    double cutoff) {
  MotionWindows motion;
  const Eigen::Index n = mechanism.joint_count();
  const Eigen::VectorXd least = least_sure_speeds(mechanism, input);
  const std::vector<WindowColumns> windows = find_windows(input);
  motion.usable.resize(n, std::ssize(windows));
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  motion.offsets.resize(std::ssize(sensors));
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    motion.offsets[static_cast<Eigen::Index>(i)] = mechanism.at(sensors[i].offset).value;
  }
  std::vector<FilteredInputs> inputs;
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    motion.absent.push_back(input.segments[s].absent_bodies);
    inputs.push_back(filter_inputs(mechanism, input, s, cutoff));
  }
  std::vector<WindowColumns> instants;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const auto [s, first] = windows[w];
    const Eigen::Index length = window_length(input.state_spacing[s]);
    const auto rates = input.states[s].block(n, first, n, length);
    for (int j = 0; j < n; ++j) {
      const bool one_direction =
          rates.row(j).minCoeff() > least[j] || rates.row(j).maxCoeff() < -least[j];
      motion.usable(j, static_cast<Eigen::Index>(w)) =
          one_direction || !has_dry_friction(mechanism, j);
    }
    const Eigen::Index stride = std::max<Eigen::Index>(1, length / kInstants);
    for (Eigen::Index k = 0; k < length; k += stride) {
      instants.push_back({s, first + k});
      motion.segment.push_back(static_cast<int>(s));
      motion.window.push_back(static_cast<int>(w));
    }
  }
  const auto count = std::ssize(instants);
  for (Eigen::MatrixXd* each :
       {&motion.angle, &motion.rate, &motion.acceleration, &motion.direction}) {
    each->resize(n, count);
  }
  motion.control.resize(std::ssize(joints_with_motor(mechanism)), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto [s, k] = instants[static_cast<std::size_t>(i)];
    const Eigen::MatrixXd& states = input.states[s];
    motion.angle.col(i) = states.col(k).head(n);
    motion.rate.col(i) = states.col(k).tail(n);
    motion.acceleration.col(i) =
        (states.col(k + 1) - states.col(k - 1)).tail(n) / (2.0 * input.state_spacing[s]);
    motion.direction.col(i) = inputs[s].directions.row(k);
    motion.control.col(i) = inputs[s].controls.row(k);
  }
  return motion;
}

EquationErrorProblem::EquationErrorProblem(const Mechanism& mechanism, const MotionWindows& motion)
    : free_(mechanism),
      programs_(mechanism, choose_all_coordinates(mechanism), motion.absent),
      motion_(motion),
      weights_(Eigen::VectorXd::Zero(motion.usable.size())),
      window_share_(Eigen::VectorXd::Zero(motion.usable.cols())) {
  for (const int window : motion.window) window_share_[window] += 1.0;
  window_share_ = window_share_.cwiseInverse();
  const EncoderToJointMap map(mechanism);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (Eigen::Index i = 0; i < std::ssize(sensors); ++i) {
    const int offset = sensors[static_cast<std::size_t>(i)].offset;
    if (!mechanism.at(offset).free) continue;
    offsets_.push_back({free_.find_position(offset), motion.offsets[i],
                        map.joint_coordinates(Eigen::VectorXd::Unit(std::ssize(sensors), i))});
  }
  point_.mechanism = mechanism;
  candidate_ = point_;
  evaluate(point_, true);
  update_weights();
}

/// Returns the change of the joint coordinates by changed encoder offsets.
Eigen::VectorXd EquationErrorProblem::angle_shift(const Mechanism& mechanism) const {
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(joint_count());
  for (const FreeOffset& offset : offsets_) {
    const int index = free_.parameter_indices()[static_cast<std::size_t>(offset.position)];
    shift += (mechanism.at(index).value - offset.in_use) * offset.joints;
  }
  return shift;
}

/// Computes the averaged imbalances r = M ω̇ + h + σ B, and their derivatives if requested.
void EquationErrorProblem::evaluate(Iterate& point, bool with_slopes) const {
  const int n = joint_count();
  const Eigen::Index count = n * motion_.usable.cols();
  const Eigen::VectorXd shift = angle_shift(point.mechanism);
  point.imbalance.setZero(count);
  if (with_slopes) point.slopes.setZero(count, free_.size());
  for (const ProgramVariants::IntervalRun& run :
       programs_.runs(point.mechanism, motion_.segment)) {
    const TreeProgram& program = run.program;
    std::vector<int> positions;  // of the motion parameters; −1 without effect
    for (const int index : program.motion_parameters()) {
      positions.push_back(free_.find_position(index));
    }
    for (const int place : run.without_effect) positions[static_cast<std::size_t>(place)] = -1;
    Rows rows = program.make_value_rows(run.values, kInstantLanes);
    const auto row = [&](int index) { return row_at<kInstantLanes>(rows, index); };
    program.program().run<kInstantLanes>(TreeProgram::kParameters, rows.data());
    for (std::size_t first = 0; first < run.count; first += kInstantLanes) {
      const auto instant = [&](std::size_t lane) {
        return static_cast<Eigen::Index>(run.first + std::min(first + lane, run.count - 1));
      };
      for (std::size_t lane = 0; lane < kInstantLanes; ++lane) {
        const Eigen::Index i = instant(lane);
        for (int j = 0; j < n; ++j) {
          row(program.angle_row(j))[lane] = motion_.angle(j, i) + shift[j];
          row(program.rate_row(j))[lane] = motion_.rate(j, i);
          row(program.acceleration_row(j))[lane] = motion_.acceleration(j, i);
          row(program.slip_input_row(j))[lane] = motion_.direction(j, i);
        }
        for (int m = 0; m < std::ssize(program.motor_joints()); ++m) {
          row(program.control_row(m))[lane] = motion_.control(m, i);
        }
      }
      const int last = with_slopes ? TreeProgram::kSensitivities : TreeProgram::kLoad;
      for (int section = TreeProgram::kClosure; section <= last; ++section) {
        program.program().run<kInstantLanes>(section, rows.data());
      }
      const std::size_t lanes = std::min<std::size_t>(kInstantLanes, run.count - first);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const Eigen::Index i = instant(lane);
        const int window = motion_.window[static_cast<std::size_t>(i)];
        const double share = window_share_[window];
        for (int j = 0; j < n; ++j) {
          double sum = row(program.bias_torque_row(j))[lane] +
                       row(program.slip_direction_row(j))[lane] *
                           row(program.friction_bound_row(j))[lane];
          for (int k = 0; k < n; ++k) {
            sum += row(program.mass_matrix_row(j, k))[lane] * motion_.acceleration(k, i);
          }
          point.imbalance[window * n + j] += share * sum;
        }
        if (!with_slopes) continue;
        for (const TreeProgram::SparseEntry& entry : program.derivatives()) {
          const double slope = share * row(entry.row)[lane];
          auto along = point.slopes.row(window * n + entry.joint);
          if (entry.column < n) {
            for (const FreeOffset& offset : offsets_) {
              along[offset.position] += slope * offset.joints[entry.column];
            }
          }
          if (entry.column < 2 * n) continue;
          const int position = positions[static_cast<std::size_t>(entry.column - 2 * n)];
          if (position >= 0) along[position] += slope;
        }
      }
    }
  }
  point.cost = total_cost(point);
}

double EquationErrorProblem::total_cost(const Iterate& point) const {
  if (!FreeParameters::has_valid_dependent_parameters(point.mechanism)) {
    return std::numeric_limits<double>::infinity();
  }
  double sum = free_.prior_cost(point.mechanism);
  for (const int row : rows_) {
    sum += std::pow(weights_[row] * point.imbalance[row], 2);
  }
  return sum;
}

void EquationErrorProblem::update_weights() {
  const Eigen::Index n = joint_count();
  rows_.clear();
  for (Eigen::Index j = 0; j < n; ++j) {
    std::vector<double> sizes;
    for (Eigen::Index w = 0; w < motion_.usable.cols(); ++w) {
      if (!motion_.usable(j, w)) continue;
      rows_.push_back(static_cast<int>(w * n + j));
      sizes.push_back(std::abs(point_.imbalance[rows_.back()]));
    }
    if (sizes.empty()) continue;
    const auto middle = sizes.begin() + std::ssize(sizes) / 2;
    std::nth_element(sizes.begin(), middle, sizes.end());
    const double scatter = std::max(kNormalMad * *middle, std::numeric_limits<double>::min());
    for (Eigen::Index row = j; row < weights_.size(); row += n) {
      weights_[row] = 1.0 / std::hypot(scatter, point_.imbalance[row] / kCauchy);
    }
  }
  point_.cost = total_cost(point_);
}

int EquationErrorProblem::block_count() const {
  return (row_count() + kBlockRows - 1) / kBlockRows + (free_.prior_residual_count() > 0 ? 1 : 0);
}

int EquationErrorProblem::max_block_rows() const {
  return std::max(kBlockRows, free_.prior_residual_count());
}

void EquationErrorProblem::linearize(int index, ResidualBlock& out) const {
  const int first = index * kBlockRows;
  if (first >= row_count()) return free_.linearize_priors(point_.mechanism, 1, out);
  const int count = std::min(kBlockRows, row_count() - first);
  resize_block(out, 0, 0, 1, free_.size(), count, 0);
  for (int i = 0; i < count; ++i) {
    const int row = rows_[static_cast<std::size_t>(first + i)];
    const double weight = weights_[row];
    out.residual[i] = weight * point_.imbalance[row];
    out.parameter_jacobian.row(i) = weight * point_.slopes.row(row);
  }
}

double EquationErrorProblem::evaluate_trial_step(const Eigen::VectorXd&,
                                                 const Eigen::VectorXd& parameter_step) {
  free_.move(point_.mechanism, parameter_step, candidate_.mechanism);
  evaluate(candidate_, false);
  return candidate_.cost;
}

void EquationErrorProblem::accept_trial_step() {
  std::swap(point_, candidate_);
  evaluate(point_, true);
}

}  // namespace estimator
