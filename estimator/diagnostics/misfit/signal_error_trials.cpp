
#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

/// Ratio of costs below which the first steps of a search are promising, so that it continues.
constexpr double kPromising = 0.9;

constexpr double kDelayMost = 0.1;    // [s]
constexpr double kDelayLeast = 5e-5;  // [s]
constexpr double kClockMost = 0.2;    // [-]
constexpr double kClipStep = 0.1;     // relative to the largest command
constexpr double kClipLeast = 0.2;
constexpr std::size_t kClipPatience = 2;  // steps without improvement that end the search
constexpr int kClipRounds = 2;            // parabola fits, with steps reduced by kClipFiner
constexpr double kClipFiner = 0.3;
constexpr int kPlateauRows = 5;         // least number of readings at an end of the range
constexpr double kPlateauShare = 1e-9;  // tolerance of equal readings, relative to the range

std::vector<Recording> clipped(std::vector<Recording> excerpts, Eigen::Index motor, double level) {
  for (Recording& recording : excerpts) {
    for (Segment& segment : recording.segments) {
      segment.controls.col(motor) = segment.controls.col(motor).cwiseMax(-level).cwiseMin(level);
    }
  }
  return excerpts;
}

double largest_command(const std::vector<Recording>& excerpts, Eigen::Index motor) {
  double largest = 0.0;
  for (const Recording& recording : excerpts) {
    for (const Segment& segment : recording.segments) {
      largest = std::max(largest, segment.controls.col(motor).cwiseAbs().maxCoeff());
    }
  }
  return largest;
}

/// The position of the minimum, and the curvature, of a parabola through three points.
struct Parabola {
  double lowest = 0.0, curvature = 0.0;
};
Parabola through(double middle, double step, double before, double at, double after) {
  const double curvature = (before - 2.0 * at + after) / (step * step);
  const double slope = (after - before) / (2.0 * step);
  return {curvature > 0.0 ? middle - slope / curvature : std::numeric_limits<double>::quiet_NaN(),
          curvature};
}

/// Returns the standard deviation of the parameter of a cost parabola: the change that raises the
/// cost by 1, for white noise.
double parabola_deviation(const Parabola& parabola, double cost_per_reading) {
  return std::sqrt(2.0 * std::max(cost_per_reading, 1.0) / parabola.curvature);
}

/// The clipping level of least cost, relative to the largest command; 1 if no clipping is best.
struct ClippedShare {
  double share = 1.0;
  Parabola parabola;  ///< cost around this level
};

/// Searches the clipping level downward. The cost falls until the true level and rises below it.
template <typename Cost>
ClippedShare search_clipped_share(const Cost& cost_at) {
  std::vector<double> costs = {cost_at(1.0)};
  std::size_t best = 0;
  while (costs.size() <= best + kClipPatience &&
         kClipStep * static_cast<double>(costs.size()) < 1.0 - kClipLeast) {
    costs.push_back(cost_at(1.0 - kClipStep * static_cast<double>(costs.size())));
    if (costs.back() < costs[best]) best = costs.size() - 1;
  }
  if (!(costs[best] < kPromising * costs.front()) || best + 1 >= costs.size()) return {};
  ClippedShare found{1.0 - kClipStep * static_cast<double>(best),
                     through(1.0 - kClipStep * static_cast<double>(best), kClipStep,
                             costs[best + 1], costs[best], costs[best - 1])};
  double step = kClipStep;
  for (int round = 0; round < kClipRounds && found.parabola.curvature > 0.0; ++round) {
    found.share = std::clamp(found.parabola.lowest, found.share - step, found.share + step);
    step *= kClipFiner;
    found.parabola = through(found.share, step, cost_at(found.share - step), cost_at(found.share),
                             cost_at(found.share + step));
  }
  return found;
}

/// Removes runs of readings at one value, which is the largest or smallest reading of a sensor.
/// @return number of removed readings
int mask_plateau(std::vector<Recording>& recordings, Eigen::Index sensor, double value,
                 double tolerance) {
  int masked = 0;
  for (Recording& recording : recordings) {
    for (Segment& segment : recording.segments) {
      auto column = segment.angles.col(sensor);
      Eigen::Index first = 0;
      for (Eigen::Index k = 0; k <= column.size(); ++k) {
        if (k < column.size() && std::abs(column[k] - value) <= tolerance) continue;
        if (k - first >= kPlateauRows) {
          column.segment(first, k - first).setConstant(std::numeric_limits<double>::quiet_NaN());
          masked += static_cast<int>(k - first);
        }
        first = k + 1;
      }
    }
  }
  return masked;
}

}  // namespace

void try_command_delays(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  for (int joint = 0; joint < problem.estimate.joint_count(); ++joint) {
    const Joint& of = problem.estimate.joints[static_cast<std::size_t>(joint)];
    if (!of.motor.present) continue;
    const int index = problem.estimate.joint_parameter_index(joint, JointParameter::kInputDelay);
    const double now = problem.estimate.at(index).value;
    const auto finding_of = [&](double change, double deviation) {
      return make_finding({change > 0.0 ? MessageCode::kLateCommand : MessageCode::kEarlyCommand,
                           {{"motor", of.name},
                            {"delay", Quantity{1e3 * std::abs(change), "ms", 1e3 * deviation}},
                            {"input_delay", now + change}}},
                          "", of.name, {change, "s"});
    };
    try_other_parameter_value(problem, index, -kDelayMost, kDelayMost, kDelayLeast, finding_of,
                              causes);
  }
}

void try_clipped_commands(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  Eigen::Index motor = 0;
  for (const Joint& joint : problem.estimate.joints) {
    if (!joint.motor.present) continue;
    const Eigen::Index column = motor++;
    const double largest = largest_command(problem.excerpts, column);
    if (!(largest > 0.0)) continue;
    const auto fit_at = [&](double share) {
      return problem.fit(problem.estimate, clipped(problem.excerpts, column, share * largest));
    };
    const ClippedShare found = search_clipped_share([&](double at) { return fit_at(at).cost(); });
    if (!(found.share < 1.0)) continue;
    const double best = found.share;
    const ExcerptFit fit = fit_at(best);
    const double deviation = largest * parabola_deviation(found.parabola, fit.cost_per_reading());
    if (!is_significant(largest * (1.0 - best), deviation)) continue;
    const Quantity level{best * largest, "", deviation};
    add_cause_if_fit_improves(
        problem, fit,
        make_finding({MessageCode::kClippedCommand,
                      {{"motor", joint.name}, {"level", level}, {"largest", largest}}},
                     "", joint.name, level),
        clipped(problem.excerpts, column, best * largest), causes);
  }
}

void try_clock_error(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  ClockRateMechanism clocked = add_clock_rate_parameter(problem.estimate);
  const ExcerptFit loose = fit_if_promising(problem, clocked.mechanism, problem.excerpts);
  if (!improves_fit_enough(problem, loose)) return;
  clocked.mechanism = loose.mechanism();
  const double rate = clocked.mechanism.parameters.back().value;
  const double deviation = loose.standard_deviation(clocked.rate);
  if (!is_significant(rate, deviation) || !(std::abs(rate) < kClockMost)) return;
  // The clock rate was fitted to first order; with corrected time stamps the fit is exact.
  const std::vector<Recording> excerpts = correct_clock_error(problem.excerpts, rate);
  Mechanism mechanism = problem.estimate;
  convert_from_clock_seconds(clocked, mechanism);
  add_cause_if_fit_improves(
      problem, fit_if_promising(problem, mechanism, excerpts),
      make_finding({MessageCode::kClockRate,
                    {{"error", Quantity{100.0 * std::abs(rate), "%", 100.0 * deviation}},
                     {"fast", rate > 0.0},
                     {"rate", Quantity{1.0 + rate, "", deviation}},
                     {"factor", 1.0 / (1.0 + rate)}}},
                   "", "", {rate, "-"}),
      excerpts, causes);
}

void try_clipped_readings(const MisfitProblem& problem, const std::vector<Recording>& recordings,
                          std::vector<MisfitCause>& causes) {
  const std::vector<Encoder> sensors = used_encoders(problem.estimate);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    ValueRange range;
    for (const Recording& recording : recordings) range.add(recording.segments, column);
    for (const double end : {range.low, range.high}) {
      std::vector<Recording> without = recordings;
      const int masked = mask_plateau(without, column, end, kPlateauShare * range.width());
      if (masked == 0) continue;
      const std::vector<Recording> excerpts =
          select_excerpts(problem.estimate, without, problem.excerpt_limits);
      const Quantity level{end, sensors[i].units().coordinate};
      add_cause_if_fit_improves(
          problem, fit_if_promising(problem, problem.estimate, excerpts),
          make_finding({MessageCode::kClippedAngle,
                        {{"encoder", sensors[i].name}, {"level", level}, {"count", masked}}},
                       "", sensors[i].name, level),
          excerpts, causes);
    }
  }
}

}  // namespace estimator
