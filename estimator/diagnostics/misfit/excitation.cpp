#include "estimator/diagnostics/misfit/excitation.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/diagnostics/misfit/clock_rate.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

/// Process noise relative to the large process noise with which fits start. It is small enough that
/// intervals join to one motion, and large enough for a well-conditioned information matrix.
constexpr double kProcessShare = 1e-4;

/// Ratio of standard deviation to value above which a parameter is not identifiable.
constexpr double kHopeless = 1e6;

/// Relative coefficient below which a parameter is not part of a null direction.
constexpr double kNoPart = 1e-6;

/// Predicts the precision of the parameters, linearised about the states of `input`.
Excitation predict(const Mechanism& mechanism, const ShootingInput& input, int threads) {
  Excitation excitation;
  const ShootingProblem problem(mechanism, input.segments, input.states, input.state_spacing,
                                input.grid, input.noise, threads);
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  EstimateTable book(mechanism);
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.group_count());
  const Uncertainty uncertainty =
      make_uncertainty(mechanism, book.requested(), book.estimated(), information, unit);
  for (std::size_t i = 0; i < book.requested().size(); ++i) {
    const Parameter& parameter = parameter_at(mechanism, book.requested()[i]);
    double deviation = uncertainty.standard_deviation[static_cast<Eigen::Index>(i)];
    if (!(deviation < kHopeless * std::max(std::abs(parameter.value), 1.0))) {
      deviation = std::numeric_limits<double>::infinity();
    }
    excitation.parameters.push_back({parameter.name, parameter.unit, parameter.value, deviation});
  }
  excitation.null_directions = uncertainty.null_directions;
  return excitation;
}

/// Returns the predicted precision of the clock rate.
/// @param clocked  excitation of a mechanism whose last parameter is the clock's rate
ClockExcitation clock_of(const Excitation& clocked) {
  ClockExcitation clock{.deviation = clocked.parameters.back().deviation, .absorbed_by = {}};
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

Excitation predict_excitation(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                              const CalibrationOptions& options, int threads) {
  const bool asks = std::ranges::any_of(mechanism.parameters, &Parameter::free);
  if (!asks || chosen_kind(mechanism, options) != EstimateKind::kPhysical) return {};
  ShootingInput input =
      prepare_shooting(mechanism, split_held_out_sensors(mechanism, recordings), options);
  input.noise.acceleration *= kProcessShare;
  Excitation excitation = predict(mechanism, input, threads);
  excitation.clock = clock_of(predict(with_clock_rate(mechanism).mechanism, input, threads));
  return excitation;
}

}  // namespace estimator
