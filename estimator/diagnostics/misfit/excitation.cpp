#include "estimator/diagnostics/misfit/excitation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {
namespace {

/// Returns the power of the second in the unit of a joint parameter, such as "N·m·s²/rad²", where N
/// is kg·m/s². A motor's control counts as a force in the amplifier's own unit. Delays are not
/// converted.
int power_in_unit(std::string_view unit) {
  if (unit == "s") return 0;
  int power = 0, sign = 1;
  const auto count = [&](std::string_view factor) {
    const bool is_force = factor.starts_with("N"), is_second = factor.starts_with("s");
    if (is_force || is_second) {
      power += sign * (is_force ? -2 : 1) * (factor.substr(1) == "²" ? 2 : 1);
    }
  };
  constexpr std::string_view kTimes = "·";
  while (!unit.empty()) {
    const std::size_t end = std::min({unit.find(kTimes), unit.find('/'), unit.size()});
    count(unit.substr(0, end));
    unit.remove_prefix(end);
    if (unit.starts_with('/')) sign = -1;
    if (!unit.empty()) unit.remove_prefix(unit.starts_with('/') ? 1 : kTimes.size());
  }
  return power;
}

int power_of_second(const Mechanism& mechanism, int index) {
  if (index == mechanism.index(GravityParameter::kGravity)) return -2;
  const ParameterOwner target = find_parameter_owner(mechanism, index);
  if (target.kind != ParameterOwner::Kind::kJoint) return 0;
  const Joint& joint = mechanism.joints[static_cast<std::size_t>(target.element)];
  return power_in_unit(
      joint_parameter_unit(joint.kind, static_cast<JointParameter>(target.quantity)));
}

/// Process noise relative to the large process noise with which fits start. It is small enough that
/// intervals join to one motion, and large enough for a well-conditioned information matrix.
constexpr double kProcessShare = 1e-4;

/// Ratio of standard deviation to value above which a parameter is not identifiable.
constexpr double kHopeless = 1e6;

/// Relative coefficient below which a parameter is not part of a null direction.
constexpr double kNoPart = 1e-6;

/// Predicts the precision of the parameters, linearised about the states of `input`.
PredictedPrecision predict(const Mechanism& mechanism, const ShootingInput& input, int threads) {
  PredictedPrecision precision;
  const ShootingProblem problem(mechanism, input.segments, input.states, input.state_spacing,
                                input.grid, input.noise, threads);
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  EstimateTable table(mechanism);
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.noise_group_count());
  const ParameterUncertainty uncertainty = compute_parameter_uncertainty(
      mechanism, table.free_parameters(), table.estimated_parameters(), information, unit);
  for (std::size_t i = 0; i < table.free_parameters().size(); ++i) {
    const Parameter& parameter = mechanism.at(table.free_parameters()[i]);
    double deviation = uncertainty.standard_deviation[static_cast<Eigen::Index>(i)];
    if (!(deviation < kHopeless * std::max(std::abs(parameter.value), 1.0))) {
      deviation = std::numeric_limits<double>::infinity();
    }
    precision.parameters.push_back({parameter.name, parameter.unit, parameter.value, deviation});
  }
  precision.null_directions = uncertainty.null_directions;
  return precision;
}

/// Returns the predicted precision of the clock rate.
/// @param clocked  precision of a mechanism whose last parameter is the clock's rate
PredictedClockPrecision clock_of(const PredictedPrecision& clocked) {
  PredictedClockPrecision clock{.deviation = clocked.parameters.back().deviation,
                                .absorbed_by = {}};
  if (clock.deviation < kDetectableClockDeviation) return clock;
  const auto rate = static_cast<Eigen::Index>(clocked.parameters.size()) - 1;
  for (const NullDirection& direction : clocked.null_directions) {
    // Units differ, so compare shares of the parameters' values.
    Eigen::VectorXd shares = direction.coefficients;
    for (Eigen::Index i = 0; i < rate; ++i) {
      const double value = clocked.parameters[static_cast<std::size_t>(i)].start;
      if (value != 0.0) shares[i] /= value;
    }
    if (!(std::abs(shares[rate]) > kNoPart * shares.cwiseAbs().maxCoeff())) continue;
    for (Eigen::Index i = 0; i < rate; ++i) {
      if (std::abs(shares[i]) > kNoPart * std::abs(shares[rate])) {
        clock.absorbed_by.push_back(clocked.parameters[static_cast<std::size_t>(i)].name);
      }
    }
  }
  return clock;
}

}  // namespace

ClockRateMechanism add_clock_rate_parameter(const Mechanism& mechanism) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ClockRateMechanism clocked{mechanism, static_cast<int>(mechanism.parameters.size())};
  Mechanism& in_clock = clocked.mechanism;
  for (int i = 0; i < clocked.rate; ++i) {
    Parameter& parameter = in_clock.at(i);
    const double power = power_of_second(mechanism, i);
    if (power == 0.0) continue;
    parameter.prior_standard_deviation = kInfinity;
    if (parameter.free) continue;
    auto tie = std::ranges::find(in_clock.dependencies, i, &ParameterDependency::parameter);
    if (tie == in_clock.dependencies.end()) {
      if (parameter.value == 0.0) continue;
      tie = in_clock.dependencies.insert(tie, {.parameter = i, .constant = parameter.value});
    }
    if (tie->constant != 0.0) tie->terms.push_back({clocked.rate, power * tie->constant});
    parameter.lower = -kInfinity;
    parameter.upper = kInfinity;
  }
  in_clock.parameters.push_back({.name = "clock rate", .unit = "-", .free = true});
  return clocked;
}

void convert_from_clock_seconds(const ClockRateMechanism& clocked, Mechanism& mechanism) {
  const double rate = clocked.mechanism.parameters.back().value;
  for (int i = 0; i < clocked.rate; ++i) {
    Parameter& parameter = mechanism.at(i);
    if (!parameter.free) continue;
    const double value =
        clocked.mechanism.at(i).value / (1.0 + power_of_second(mechanism, i) * rate);
    parameter.value = std::clamp(value, parameter.lower, parameter.upper);
  }
  apply_dependencies(mechanism);
}

std::vector<Recording> correct_clock_error(std::vector<Recording> recordings, double rate) {
  for (Recording& recording : recordings) {
    for (Segment& segment : recording.segments) {
      segment.period /= 1.0 + rate;
      for (double& time : segment.times) time /= 1.0 + rate;
    }
  }
  return recordings;
}

PredictedPrecision predict_precision(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings,
                                     const CalibrationOptions& options, int threads) {
  const bool has_free_parameters = std::ranges::any_of(mechanism.parameters, &Parameter::free);
  if (!has_free_parameters || select_estimate_kind(mechanism, options) != EstimateKind::kPhysical)
    return {};
  ShootingInput input =
      prepare_shooting_input(mechanism, split_held_out_sensors(mechanism, recordings), options);
  input.noise.acceleration *= kProcessShare;
  PredictedPrecision precision = predict(mechanism, input, threads);
  precision.clock =
      clock_of(predict(add_clock_rate_parameter(mechanism).mechanism, input, threads));
  return precision;
}

}  // namespace estimator
