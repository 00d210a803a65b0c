#include "estimator/fit/physical/modulated_motion.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/fit/physical/control_noise_effect.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/signal/low_pass.hpp"
#include "estimator/signal/resample.hpp"

namespace estimator {
namespace {

/// Distance of the knots of a test function [s]. Its bandwidth, 0.2/knot, is half the default
/// cutoff of the states' filter.
constexpr double kKnot = 0.03;
constexpr int kKnots = 4;             // length of a cubic B-spline [knots]
constexpr int kKnotInstantsMin = 2;   // instants per knot
constexpr int kInstantsMax = 20000;   // approximate number over the recordings
constexpr int kFunctionsMax = 2000;   // distributed evenly over the recordings
constexpr double kMargin = 0.05;      // beside gaps and ends of segments [s]
constexpr double kGap = 2.5;          // shortest gap, in mean distances of an encoder's readings
constexpr double kSlowest = 0.03;     // least speed with a sure direction, of the joint's largest
constexpr double kRateTime = 0.02;    // time in which this speed must exceed reading noise [s]

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

/// Returns the cubic B-spline with knots at 0, 1, 2, 3 and 4 and the integral 1.
double cubic_spline(double x) {
  const double u = std::abs(x - 2.0);
  if (u >= 2.0) return 0.0;
  return u >= 1.0 ? std::pow(2.0 - u, 3) / 6.0 : (4.0 - 6.0 * u * u + 3.0 * u * u * u) / 6.0;
}

/// Instants and knots of the test functions of a segment.
struct FunctionGrid {
  Eigen::Index stride;  ///< of the instants [columns of the states]
  Eigen::Index knot;    ///< distance of the knots [instants]

  Eigen::Index column(Eigen::Index instant) const { return instant * stride; }
};

FunctionGrid choose_grid(double spacing, Eigen::Index columns_of_all_segments) {
  const Eigen::Index enough = (columns_of_all_segments + kInstantsMax - 1) / kInstantsMax;
  const auto coarsest =
      std::max<Eigen::Index>(1, std::lround(kKnot / (kKnots * spacing)));
  const Eigen::Index stride = std::min(enough, coarsest);
  const double instant = spacing * static_cast<double>(stride);
  return {stride, std::max<Eigen::Index>(kKnotInstantsMin, std::lround(kKnot / instant))};
}

/// Returns the sum of squares of weights at every `stride`-th column after the low pass.
double filtered_squares(const Eigen::VectorXd& weights, Eigen::Index stride, double cutoff,
                        double column_spacing) {
  const auto margin = static_cast<Eigen::Index>(std::ceil(2.0 / (cutoff * column_spacing)));
  Eigen::VectorXd columns = Eigen::VectorXd::Zero(2 * margin + weights.size() * stride);
  for (Eigen::Index k = 0; k < weights.size(); ++k) columns[margin + k * stride] = weights[k];
  return apply_low_pass(columns, cutoff, column_spacing).squaredNorm();
}

/// @param cutoffs  of the low pass of each joint [Hz]
ModulatedMotion::FunctionShape make_shape(const FunctionGrid& grid, double column_spacing,
                                          const Eigen::VectorXd& cutoffs) {
  ModulatedMotion::FunctionShape shape;
  shape.spacing = column_spacing * static_cast<double>(grid.stride);
  const auto knot = static_cast<double>(grid.knot);
  const Eigen::Index count = kKnots * grid.knot - 1;
  shape.values = Eigen::VectorXd::NullaryExpr(count, [&](Eigen::Index k) {
    return cubic_spline(static_cast<double>(k + 1) / knot) / (knot * shape.spacing);
  });
  // With two zeros at either end, so that all second differences are included.
  Eigen::VectorXd padded = Eigen::VectorXd::Zero(count + 4), bend = padded;
  padded.segment(2, count) = shape.values;
  bend.segment(1, count + 2) =
      (padded.head(count + 2) - 2.0 * padded.segment(1, count + 2) + padded.tail(count + 2)) /
      (shape.spacing * shape.spacing);
  for (Eigen::Index lag = 0; lag < kKnots; ++lag) {
    const Eigen::Index shift = lag * grid.knot, overlap = padded.size() - shift;
    shape.torque[lag] = shape.spacing * padded.head(overlap).dot(padded.tail(overlap));
    shape.inertia[lag] =
        column_spacing * shape.spacing * bend.head(overlap).dot(bend.tail(overlap));
  }
  shape.filtered_torque = shape.filtered_inertia = cutoffs;
  for (Eigen::Index j = 0; j < cutoffs.size(); ++j) {
    const auto squares = [&](const Eigen::VectorXd& weights) {
      return shape.spacing * shape.spacing *
             filtered_squares(weights, grid.stride, cutoffs[j], column_spacing);
    };
    shape.filtered_torque[j] = squares(padded) / column_spacing;
    shape.filtered_inertia[j] = squares(bend);
  }
  return shape;
}

std::vector<ModulatedMotion::TestFunction> place_functions(const ShootingInput& input,
                                                           const std::vector<FunctionGrid>& grids) {
  std::vector<ModulatedMotion::TestFunction> functions;
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    const Eigen::Index columns = input.states[s].cols();
    const std::vector<bool> inaccurate =
        find_inaccurate_columns(input.segments[s], input.state_spacing[s], columns);
    const FunctionGrid& grid = grids[s];
    const Eigen::Index length = kKnots * grid.knot;
    for (Eigen::Index first = 0; grid.column(first + length) < columns; first += grid.knot) {
      const auto begin = inaccurate.begin() + grid.column(first);
      if (std::find(begin, begin + grid.column(length) + 1, true) ==
          begin + grid.column(length) + 1) {
        functions.push_back({static_cast<int>(s), static_cast<int>(first / grid.knot), 0});
      }
    }
  }
  const std::size_t count = functions.size(), most = kFunctionsMax;
  if (count <= most) return functions;
  for (std::size_t i = 0; i < most; ++i) functions[i] = functions[i * count / most];
  functions.resize(most);
  return functions;
}

/// A grid instant of a segment.
struct GridInstant {
  std::size_t segment;
  Eigen::Index column, stride;
};

/// Returns the instants under the functions, which overlap, and stores where each function begins.
std::vector<GridInstant> place_instants(const std::vector<FunctionGrid>& grids,
                                        std::vector<ModulatedMotion::TestFunction>& functions) {
  std::vector<GridInstant> instants;
  for (ModulatedMotion::TestFunction& function : functions) {
    const auto s = static_cast<std::size_t>(function.segment);
    const FunctionGrid& grid = grids[s];
    const Eigen::Index begin = function.position * grid.knot + 1;
    const Eigen::Index end = begin + kKnots * grid.knot - 1;
    Eigen::Index next = begin;
    if (!instants.empty() && instants.back().segment == s) {
      next = std::max(begin, instants.back().column / grid.stride + 1);
    }
    function.first_instant = static_cast<int>(std::ssize(instants) - (next - begin));
    for (; next < end; ++next) instants.push_back({s, grid.column(next), grid.stride});
  }
  return instants;
}

}  // namespace

Eigen::VectorXd ModulatedMotion::control_integrals(int motor) const {
  Eigen::VectorXd integrals(function_count());
  for (int f = 0; f < function_count(); ++f) {
    const TestFunction& function = functions[static_cast<std::size_t>(f)];
    const FunctionShape& shape = shapes[static_cast<std::size_t>(function.segment)];
    integrals[f] = shape.spacing * control.row(motor)
                                       .segment(function.first_instant, shape.values.size())
                                       .dot(shape.values.transpose());
  }
  return integrals;
}

ModulatedMotion place_test_functions(const Mechanism& mechanism, const ShootingInput& input,
                                     double cutoff) {
  ModulatedMotion motion;
  const Eigen::Index n = mechanism.joint_count();
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  motion.offsets.resize(std::ssize(sensors));
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    motion.offsets[static_cast<Eigen::Index>(i)] = mechanism.at(sensors[i].offset).value;
  }
  motion.angle_variance = joint_angle_variances(mechanism, input.noise.angle);
  Eigen::Index columns = 0;
  for (const Eigen::MatrixXd& states : input.states) columns += states.cols();
  std::vector<FilteredInputs> inputs;
  std::vector<FunctionGrid> grids;
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    motion.absent.push_back(input.segments[s].absent_bodies);
    inputs.push_back(filter_inputs(mechanism, input, s, cutoff));
    grids.push_back(choose_grid(input.state_spacing[s], columns));
    motion.shapes.push_back(make_shape(
        grids.back(), input.state_spacing[s],
        joint_cutoffs(mechanism, remove_encoder_slips(mechanism, input.segments[s]), cutoff)));
  }
  motion.functions = place_functions(input, grids);
  const std::vector<GridInstant> instants = place_instants(grids, motion.functions);
  const auto count = std::ssize(instants);
  for (Eigen::MatrixXd* each :
       {&motion.angle, &motion.rate, &motion.acceleration, &motion.direction}) {
    each->resize(n, count);
  }
  motion.control.resize(std::ssize(joints_with_motor(mechanism)), count);
  motion.time.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto [s, k, stride] = instants[static_cast<std::size_t>(i)];
    motion.time[i] =
        input.segments[s].time_in_recording() + static_cast<double>(k) * input.state_spacing[s];
    const Eigen::MatrixXd& states = input.states[s];
    motion.segment.push_back(static_cast<int>(s));
    motion.angle.col(i) = states.col(k).head(n);
    motion.rate.col(i) = states.col(k).tail(n);
    motion.acceleration.col(i) = (states.col(k + stride) - states.col(k - stride)).tail(n) /
                                 (2.0 * motion.shapes[s].spacing);
    motion.direction.col(i) = inputs[s].directions.row(k);
    motion.control.col(i) = inputs[s].controls.row(k);
  }
  const Eigen::ArrayXd least = least_sure_speeds(mechanism, input);
  motion.undirected.setZero(n, motion.function_count());
  for (int f = 0; f < motion.function_count(); ++f) {
    const ModulatedMotion::TestFunction& function = motion.functions[static_cast<std::size_t>(f)];
    const auto& shape = motion.shapes[static_cast<std::size_t>(function.segment)];
    for (Eigen::Index k = 0; k < shape.values.size(); ++k) {
      motion.undirected.col(f) +=
          shape.spacing * shape.values[k] *
          (motion.rate.col(function.first_instant + k).array().abs() < least).cast<double>();
    }
  }
  for (int j = 0; j < n; ++j) {
    if (!has_dry_friction(mechanism, j)) motion.undirected.row(j).setZero();
  }
  return motion;
}

}  // namespace estimator
