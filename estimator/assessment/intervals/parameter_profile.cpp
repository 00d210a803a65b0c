#include "estimator/assessment/intervals/parameter_profile.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/intervals/confidence_intervals.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/inertia_parameterized_problem.hpp"

namespace estimator {
namespace {

constexpr double kLinear = 0.25;  // relative half-width of a rate's interval that is linear enough
constexpr double kWidened = 1.1;  // relative widening above which it is reported
constexpr double kSlowestDecay = 3.0, kFastestDecay = 0.01;  // decay speeds, of the largest speed
constexpr double kDecayStep = 2.0;                           // ratio of consecutive decay speeds
constexpr double kFirstInside = 0.5, kLastInside = 8.0;  // of the linear distance from a bound
// Rises of the cost beyond which no more values are tried. Decay rates may have several minima.
constexpr double kRiseMax = 10.0, kRateRiseMax = 100.0;
constexpr double kBetter = 0.5;          // decrease of the cost that matters
constexpr int kIterations = 20;
constexpr double kDecrease = 0.05;  // of the whitened cost

const Parameter& free_parameter(const Mechanism& mechanism, int position) {
  const int index =
      FreeParameters(mechanism).parameter_indices()[static_cast<std::size_t>(position)];
  return mechanism.at(index);
}

bool is_uncertain(const ParameterInformation& information, const Eigen::VectorXd& half,
                  int position, double value) {
  return information.at_bound[position] != 0 || !(half[position] <= kLinear * value);
}

/// Fits with a parameter held at consecutive values, each from the result of the one before.
class ProfileScan {
 public:
  ProfileScan(const ShootingProblem& optimum, const std::vector<Segment>& segments,
           const ShootingGrid& grid, const CalibrationOptions& options,
           const CalibrationMonitor& monitor, int position, double rise_max)
      : optimum_(optimum),
        segments_(segments),
        grid_(grid),
        options_(options),
        monitor_(monitor),
        position_(position),
        rise_max_(rise_max) {}

  /// Returns the fits at `values`, which lead away from the optimum. Ends early if the cost has
  /// risen too far, if a fit fails, or if the caller stops.
  std::vector<ParameterProfile::FixedParameterFit> run(
      const std::vector<double>& held_values) const {
    std::vector<ParameterProfile::FixedParameterFit> fits;
    std::unique_ptr<ShootingProblem> last;
    for (const double value : held_values) {
      if (is_stop_requested(monitor_)) break;
      std::unique_ptr<ShootingProblem> held = fit_at(value, last ? *last : optimum_);
      const ParameterInformation information =
          compute_information(*held, {.effective_parameters = false});
      const double rise = held->cost() - optimum_.cost();
      if (!std::isfinite(rise) || !information.valid) break;
      Mechanism values = optimum_.mechanism();
      copy_parameter_values(held->mechanism(), values);
      fits.push_back({.rise = rise,
                      .values = std::move(values),
                      .conditional = information.inverse.diagonal()});
      if (rise > rise_max_) break;
      last = std::move(held);
    }
    return fits;
  }

 private:
  std::unique_ptr<ShootingProblem> fit_at(double value, const ShootingProblem& from) const {
    Mechanism mechanism = from.mechanism();
    const int index =
        FreeParameters(mechanism).parameter_indices()[static_cast<std::size_t>(position_)];
    Parameter& held = mechanism.at(index);
    held.value = held.lower = held.upper = value;
    auto problem = std::make_unique<ShootingProblem>(
        from.copy_with_changes(mechanism, segments_, grid_, optimum_.noise()));
    const double tolerance = kDecrease / optimum_.cost();
    solve_in_inertia_coordinates(*problem, mechanism, options_.inertia_parameterization,
                                 {.max_iterations = kIterations,
                                  .cost_tolerance = tolerance,
                                  .stagnant_gain = tolerance},
                                 {}, monitor_.stop);
    return problem;
  }

  const ShootingProblem& optimum_;
  const std::vector<Segment>& segments_;
  const ShootingGrid& grid_;
  const CalibrationOptions& options_;
  const CalibrationMonitor& monitor_;
  int position_;
  double rise_max_;
};

/// Returns the rates to hold, ascending, within the bounds of the rate.
std::vector<double> rates_to_hold(double max_speed, double lower, double upper) {
  std::vector<double> rates;
  for (double share = kSlowestDecay; share >= kFastestDecay; share /= kDecayStep) {
    const double rate = 1.0 / std::pow(share * max_speed, 2);
    if (rate > lower && rate < upper) rates.push_back(rate);
  }
  return rates;
}

/// Returns the values at which to hold a parameter at a bound, ascending; empty if no other
/// estimate depends on it noticeably.
std::vector<double> values_inside_bound(const ShootingProblem& problem,
                                        const ParameterInformation& information,
                                        const Eigen::VectorXd& variances, int position) {
  const ReleasedParameter released = release_from_bound(information, variances, position);
  const double reach = released.reach();
  std::vector<double> values;
  if (!(released.deviation > 0.0) || !(reach > 0.0) || !released.changes_others()) return values;
  const bool is_lower = information.at_bound[position] < 0;
  const double bound =
      is_lower ? problem.lower_bounds()[position] : problem.upper_bounds()[position];
  for (double distance = kFirstInside * reach; distance <= kLastInside * reach; distance *= 2.0) {
    const double value = is_lower ? bound + distance : bound - distance;
    if (value > problem.lower_bounds()[position] && value < problem.upper_bounds()[position])
      values.push_back(value);
  }
  if (!is_lower) std::ranges::reverse(values);
  return values;
}

/// Returns the rise of the cost at the end of a parameter's linearized interval.
double allowed_rise(const ParameterInformation& information, const Eigen::VectorXd& half, int at) {
  const double variance = information.inverse(at, at);
  return variance > 0.0 ? half[at] * half[at] / variance : 0.0;
}

/// The widest interval of one parameter, as distances from its estimate.
struct Reach {
  double down = 0.0, up = 0.0;

  void include(double from, double to) {
    down = std::max(down, -from);
    up = std::max(up, to);
  }
  double widest() const { return std::max(down, up); }
};

/// Returns the interval of the held parameter itself. At an end of the profile that is still
/// probable, the interval is open.
Reach reach_of_held_parameter(const ParameterProfile& profile, const Mechanism& mechanism,
                              double rise) {
  const auto value_of = [&](const Mechanism& values) {
    return free_parameter(values, profile.position).value;
  };
  const double estimate = value_of(mechanism);
  const auto is_probable = [&](std::size_t k) { return profile.fits[k].rise <= rise; };
  Reach reach;
  for (std::size_t k = 0; k < profile.fits.size(); ++k) {
    if (!is_probable(k)) continue;
    const double own = value_of(profile.fits[k].values);
    // Toward an improbable neighbour, the root of the rise is linear in the logarithm of a rate,
    // and in a value from zero on.
    const auto edge = [&](std::size_t other) {
      const double beyond = value_of(profile.fits[other].values);
      const double begin = std::sqrt(std::max(profile.fits[k].rise, 0.0));
      const double end = std::sqrt(profile.fits[other].rise);
      const double share = (std::sqrt(rise) - begin) / (end - begin);
      return own * beyond > 0.0 ? own * std::pow(beyond / own, share)
                                : own + share * (beyond - own);
    };
    const double lowest = k == 0 ? -HUGE_VAL : is_probable(k - 1) ? own : edge(k - 1);
    const double highest =
        k + 1 == profile.fits.size() ? HUGE_VAL : is_probable(k + 1) ? own : edge(k + 1);
    reach.include(lowest - estimate, highest - estimate);
  }
  return reach;
}

/// Returns a note about the interval of a parameter, whose ends may be infinitely far.
Message interval_note(const Parameter& parameter, const Reach& reach) {
  Message note(MessageCode::kProfileInterval, {{"parameter", parameter.name},
                                               {"is_open_below", std::isinf(reach.down)},
                                               {"is_open_above", std::isinf(reach.up)}});
  const auto add_end = [&](const char* name, double end) {
    if (std::isfinite(end)) note.arguments.push_back({name, Quantity{end, parameter.unit}});
  };
  add_end("lower", parameter.value - reach.down);
  add_end("upper", parameter.value + reach.up);
  return note;
}

}  // namespace

std::vector<ParameterProfile> profile_parameters(
    const ShootingProblem& problem, const std::vector<Segment>& segments, const ShootingGrid& grid,
    const ParameterInformation& information, const Eigen::VectorXd& variances,
    const Eigen::VectorXd& half, const Eigen::VectorXd& max_speed,
    const CalibrationOptions& options, const CalibrationMonitor& monitor) {
  std::vector<ParameterProfile> profiles;
  const Mechanism& mechanism = problem.mechanism();
  const auto add_profile = [&](int position, const std::vector<double>& held_values,
                               double rise_max) {
    const double value = free_parameter(mechanism, position).value;
    const ProfileScan scan(problem, segments, grid, options, monitor, position, rise_max);
    const auto above = std::ranges::upper_bound(held_values, value);
    ParameterProfile profile{.position = position};
    profile.fits = scan.run({std::make_reverse_iterator(above), held_values.rend()});
    std::ranges::reverse(profile.fits);
    profile.fits.push_back({.values = mechanism, .conditional = information.inverse.diagonal()});
    for (ParameterProfile::FixedParameterFit& fit : scan.run({above, held_values.end()}))
      profile.fits.push_back(std::move(fit));
    profiles.push_back(std::move(profile));
  };
  std::vector<bool> is_rate(static_cast<std::size_t>(half.size()), false);
  const FreeParameters free(mechanism);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int at =
        free.find_position(mechanism.joint_parameter_index(j, JointParameter::kStribeckRate));
    if (at < 0 || !(max_speed[j] > 0.0)) continue;
    is_rate[static_cast<std::size_t>(at)] = true;
    const double value = mechanism.joint_parameter(j, JointParameter::kStribeckRate).value;
    if (!is_uncertain(information, half, at, value)) continue;
    add_profile(
        at, rates_to_hold(max_speed[j], problem.lower_bounds()[at], problem.upper_bounds()[at]),
        kRateRiseMax);
  }
  for (int at = 0; at < half.size(); ++at) {
    if (information.at_bound[at] == 0 || is_rate[static_cast<std::size_t>(at)]) continue;
    const std::vector<double> values = values_inside_bound(problem, information, variances, at);
    if (!values.empty()) add_profile(at, values, kRiseMax);
  }
  return profiles;
}

std::optional<Mechanism> find_better_optimum(const std::vector<ParameterProfile>& profiles) {
  const ParameterProfile::FixedParameterFit* best = nullptr;
  for (const ParameterProfile& profile : profiles) {
    for (const ParameterProfile::FixedParameterFit& fit : profile.fits) {
      if (fit.rise < (best != nullptr ? best->rise : -kBetter)) best = &fit;
    }
  }
  return best != nullptr ? std::optional(best->values) : std::nullopt;
}

std::vector<Message> widen_intervals_by_profiles(const std::vector<ParameterProfile>& profiles,
                                                 const Mechanism& mechanism,
                                                 const ParameterInformation& information,
                                                 Eigen::VectorXd& half) {
  std::vector<Message> notes;
  const auto typical = kNormalHalfWidth95 * kNormalHalfWidth95;
  for (int at = 0; at < half.size(); ++at) {
    if (!std::isfinite(half[at])) continue;
    const double rise = std::max(allowed_rise(information, half, at), typical);
    const Parameter& own = free_parameter(mechanism, at);
    Reach reach;
    for (const ParameterProfile& profile : profiles) {
      if (profile.position == at) {
        const Reach held = reach_of_held_parameter(profile, mechanism, rise);
        reach.include(-held.down, held.up);
        continue;
      }
      for (const ParameterProfile::FixedParameterFit& fit : profile.fits) {
        if (fit.rise > rise || information.at_bound[at] != 0 || !(half[at] > 0.0)) continue;
        const double moved = free_parameter(fit.values, at).value - own.value;
        const double width = std::sqrt(std::max(0.0, (rise - fit.rise) * fit.conditional[at]));
        reach.include(moved - width, moved + width);
      }
    }
    reach.down = std::min(reach.down, own.value - own.lower);
    reach.up = std::min(reach.up, own.upper - own.value);
    if (!(reach.widest() > half[at])) continue;
    if (reach.widest() > kWidened * half[at]) notes.push_back(interval_note(own, reach));
    half[at] = reach.widest();
  }
  return notes;
}

}  // namespace estimator
