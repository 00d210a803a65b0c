#include "estimator/assess/profile_interval.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/number_text.hpp"

namespace estimator {
namespace {

constexpr double kLinear = 0.25;  // relative half-width of a rate's interval that is linear enough
constexpr double kWidened = 1.1;  // relative widening above which it is reported
constexpr double kShortfall = 0.9;  // share of the rise above which the linear end is kept
constexpr double kGrowthLeast = 1.5, kGrowthMost = 4.0;  // of the distance per trial
constexpr int kTries = 6;
constexpr int kProfileIterations = 20;
constexpr double kProfileDecrease = 0.05;  // of the whitened cost

class Profile {
 public:
  Profile(const ShootingProblem& problem, const std::vector<Segment>& segments,
          const ShootingGrid& grid, const CalibrationOptions& options,
          const CalibrationMonitor& monitor)
      : problem_(problem),
        free_(problem.mechanism()),
        segments_(segments),
        grid_(grid),
        options_(options),
        monitor_(monitor) {}

  /// Returns the distance from a parameter's estimate to the point on one side where the cost has
  /// risen by `rise`, or to the parameter's bound. Infinite if the cost does not rise as much
  /// within the trials.
  /// @param position  position of the parameter in the problem's parameter vector (arrow)
  /// @param rise      cost increase that a quadratic cost reaches at `distance`
  double reach(int position, double side, double distance, double rise) const {
    const double value = problem_.arrow()[position];
    const double room = side > 0.0 ? problem_.arrow_upper()[position] - value
                                   : value - problem_.arrow_lower()[position];
    double near = 0.0, at_near = 0.0;
    double far = std::min(distance, room);
    for (int i = 0; i < kTries; ++i) {
      const double at_far = std::sqrt(std::max(rise_at(position, value + side * far), 0.0));
      if (is_stopped(monitor_)) return distance;
      if (at_far * at_far >= kShortfall * rise) {
        const double share = (std::sqrt(rise) - at_near) / (at_far - at_near);
        return std::max(near + std::min(share, 1.0) * (far - near), std::min(distance, far));
      }
      if (far >= room) return room;
      near = far;
      at_near = at_far;
      const double growth = at_far > 0.0 ? std::sqrt(rise) / at_far : kGrowthMost;
      far = std::min(far * std::clamp(growth, kGrowthLeast, kGrowthMost), room);
    }
    return HUGE_VAL;
  }

 private:
  /// Returns the cost increase with one parameter fixed at a value and all others re-optimised.
  double rise_at(int position, double value) const {
    Mechanism mechanism = problem_.mechanism();
    const int index = free_.indices()[static_cast<std::size_t>(position)];
    Parameter& held = mechanism.parameters[static_cast<std::size_t>(index)];
    // The value may be outside the bounds by round-off. Bounds that other parameters imply would
    // then contradict it.
    held.value = held.lower = held.upper =
        std::clamp(value, problem_.arrow_lower()[position], problem_.arrow_upper()[position]);
    ShootingProblem problem = problem_.restated(mechanism, segments_, grid_, problem_.noise());
    LmOptions options;
    options.max_iterations = kProfileIterations;
    options.cost_tolerance = kProfileDecrease / problem_.cost();
    options.stagnant_gain = options.cost_tolerance;
    const LmSummary summary = solve_parameterized(
        problem, mechanism, options_.inertia_parameterization, options, {}, monitor_.stop);
    return std::isfinite(summary.cost) ? summary.cost - problem_.cost() : HUGE_VAL;
  }

  const ShootingProblem& problem_;
  const FreeParameters free_;
  const std::vector<Segment>& segments_;
  const ShootingGrid& grid_;
  const CalibrationOptions& options_;
  const CalibrationMonitor& monitor_;
};

/// Returns the positions, in the problem's parameter vector, of the identifiable friction
/// parameters of joints whose Stribeck decay rate is too uncertain for linearisation.
std::vector<int> nonlinear_friction_positions(const Mechanism& mechanism,
                                              const FreeParameters& free,
                                              const ParameterInformation& information,
                                              const Eigen::VectorXd& half) {
  std::vector<int> positions;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int rate = free.position(mechanism.index_of_joint(j, JointQuantity::kStribeckRate));
    if (rate < 0) continue;
    const double value = mechanism.joint_parameter(j, JointQuantity::kStribeckRate).value;
    if (half[rate] <= kLinear * value) continue;
    for (const JointQuantity quantity :
         {JointQuantity::kViscous, JointQuantity::kCoulombTorque, JointQuantity::kStribeckTorque,
          JointQuantity::kStribeckRate}) {
      const int at = free.position(mechanism.index_of_joint(j, quantity));
      if (at < 0 || information.at_bound[at] != 0 || !std::isfinite(half[at])) continue;
      if (half[at] > 0.0) positions.push_back(at);
    }
  }
  return positions;
}

std::string end_text(const Parameter& parameter, double reach, double side) {
  return std::isinf(reach) ? "no limit found"
                           : number_text(parameter.value + side * reach, 3) + " " + parameter.unit;
}

}  // namespace

std::vector<std::string> widen_by_profile(
    const ShootingProblem& problem, const std::vector<Segment>& segments, const ShootingGrid& grid,
    const ParameterInformation& information, const CalibrationOptions& options,
    const CalibrationMonitor& monitor, Eigen::VectorXd& half) {
  std::vector<std::string> notes;
  const Mechanism& mechanism = problem.mechanism();
  const FreeParameters free(mechanism);
  const Profile profile(problem, segments, grid, options, monitor);
  for (const int at : nonlinear_friction_positions(mechanism, free, information, half)) {
    if (is_stopped(monitor)) break;
    const double rise = half[at] * half[at] / information.inverse(at, at);
    const double down = profile.reach(at, -1.0, half[at], rise);
    const double up = profile.reach(at, 1.0, half[at], rise);
    const double widest = std::max(down, up);
    if (widest > kWidened * half[at]) {
      const int index = free.indices()[static_cast<std::size_t>(at)];
      const Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
      notes.push_back(parameter.name +
                      ": it depends nonlinearly on other parameters, so its interval is that of "
                      "the profile likelihood: from " +
                      end_text(parameter, down, -1.0) + " to " + end_text(parameter, up, 1.0) +
                      " (95 %)");
    }
    half[at] = std::max(half[at], widest);
  }
  return notes;
}

}  // namespace estimator
