#include "estimator/assessment/model_test/cross_axes.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/assessment/model_test/score_step.hpp"
#include "estimator/math/distributions.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

constexpr double kResidualShare = 0.25;  // least share of an instrument's squared residuals
constexpr int kShares = 6;               // cross-axis parameters of one instrument

struct ReadAcross {
  int sensor, place;        ///< `place`: instrument of the sensor, 0 or 1
  std::vector<int> shares;  ///< parameter indices, of the axes with readings
  double readings = 0.0;    ///< number of readings of these axes
};

/// Returns the instruments for which the rig description has no cross-axis sensitivity.
std::vector<ReadAcross> candidates(const ShootingProblem& fitted) {
  const Mechanism& mechanism = fitted.mechanism();
  std::vector<ReadAcross> found;
  for (std::size_t at = 0; at < fitted.sensed().size(); ++at) {
    const int axis = fitted.sensed()[at];
    const int sensor = axis / Sensor::kAxes, place = axis % Sensor::kAxes / 3;
    const Sensor& own = mechanism.sensors[static_cast<std::size_t>(sensor)];
    if (!own.traits().has_cross) continue;
    const int first = mechanism.index_of_sensor(
        sensor, place == 0 ? SensorQuantity::kRateCrossXY : SensorQuantity::kForceCrossXY);
    bool is_told = false;
    for (int index = first; index < first + kShares; ++index) {
      is_told |= changes_in_fit(mechanism, index) || parameter_at(mechanism, index).value != 0.0;
    }
    if (is_told) continue;
    if (found.empty() || found.back().sensor != sensor || found.back().place != place) {
      found.push_back({sensor, place, {}});
    }
    found.back().readings += fitted.inertial_reading_count(static_cast<int>(at));
    for (const int k : {0, 1}) found.back().shares.push_back(first + 2 * (axis % 3) + k);
  }
  return found;
}

ShootingProblem with_shares(const ShootingProblem& fitted, const ShootingInput& input,
                            const ShootingGrid& grid, const std::vector<ReadAcross>& instruments) {
  Mechanism mechanism = fitted.mechanism();
  for (const ReadAcross& instrument : instruments) {
    for (const int index : instrument.shares) {
      mechanism.parameters[static_cast<std::size_t>(index)].free = true;
    }
  }
  return fitted.restated(mechanism, input.segments, grid, fitted.noise());
}

}  // namespace

std::vector<CrossAxisSensitivity> find_cross_axes(const ShootingProblem& fitted,
                                                  const ShootingInput& input,
                                                  const ShootingGrid& grid) {
  std::vector<CrossAxisSensitivity> found;
  const std::vector<ReadAcross> instruments = candidates(fitted);
  if (instruments.empty()) return found;
  const ShootingProblem problem = with_shares(fitted, input, grid, instruments);
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  if (!information.valid) return found;
  const FreeParameters free(problem.mechanism()), described(fitted.mechanism());
  std::vector<int> estimated;  // positions
  for (const int index : described.indices()) {
    const int position = free.position(index);
    if (information.at_bound[position] == 0) estimated.push_back(position);
  }
  const ScoreStep before = step_along(information, information.schur, estimated);
  for (const ReadAcross& instrument : instruments) {
    std::vector<int> taken = estimated;
    for (const int index : instrument.shares) taken.push_back(free.position(index));
    const ScoreStep after = step_along(information, information.schur, taken);
    const int added = after.rank - before.rank;
    if (added <= 0) continue;
    const double decrease = after.decrease - before.decrease;
    if (!(chi_square_tail(decrease, added) < kSignificanceLevel)) continue;

    const auto kept = static_cast<Eigen::Index>(estimated.size());
    const auto in_deviations = [](const Eigen::ArrayXd& change, const Eigen::ArrayXd& deviation) {
      return Eigen::ArrayXd((deviation > 0.0).select(change.abs() / deviation, 0.0));
    };
    Eigen::Index moved = 0, worst = 0;
    const double shift =
        kept == 0 ? 0.0
                  : in_deviations(after.change.head(kept) - before.change, before.deviation)
                        .maxCoeff(&moved);
    const bool moves = shift > 1.0;
    if (!moves && !(decrease > kResidualShare * instrument.readings)) continue;
    const Eigen::Index shares = std::ssize(instrument.shares);
    in_deviations(after.change.tail(shares), after.deviation.tail(shares)).maxCoeff(&worst);
    const auto name_of = [&](int position) {
      return parameter_at(problem.mechanism(), free.indices()[static_cast<std::size_t>(position)])
          .name;
    };
    const Sensor& sensor = problem.mechanism().sensors[static_cast<std::size_t>(instrument.sensor)];
    found.push_back({.sensor = sensor.name,
                     .instrument = sensor.traits().instruments[instrument.place].name,
                     .share = name_of(taken[static_cast<std::size_t>(kept + worst)]),
                     .value = after.change[kept + worst],
                     .standard_deviation = after.deviation[kept + worst],
                     .moved = moves ? name_of(estimated[static_cast<std::size_t>(moved)]) : "",
                     .shift = moves ? shift : 0.0});
  }
  return found;
}

Message cross_axis_note(const CrossAxisSensitivity& found) {
  constexpr double kPercent = 100.0;
  Message note(
      MessageCode::kMissingCrossAxis,
      {{"instrument", found.instrument},
       {"sensor", found.sensor},
       {"parameter", found.share},
       {"share", Quantity{kPercent * found.value, "%", kPercent * found.standard_deviation}}});
  if (!found.moved.empty()) {
    note.arguments.push_back({"moved", found.moved});
    note.arguments.push_back({"shift", found.shift});
  }
  return note;
}

}  // namespace estimator
