#include "estimator/doctor/misfit_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "estimator/calibrate/number_text.hpp"
#include "estimator/doctor/clock_rate.hpp"
#include "estimator/doctor/hypothesis.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/model/ties.hpp"

namespace estimator {
namespace {

/// A cause is told where it takes the cost down to this, and is this many of its deviations large.
constexpr double kHelps = 0.6;
constexpr double kSure = 5.0;

/// A search goes on only where its first steps take the cost down to this.
constexpr double kPromising = 0.9;

constexpr double kDelayMost = 0.1;      // [s]
constexpr double kClockMost = 0.2;      // [-]
constexpr double kStribeckShare = 0.1;  // of τ_c, start of an excess
constexpr double kDragShare = 0.1;      // of viscous friction at 1 rad/s, start of a drag
constexpr double kDryShare = 0.1;       // of viscous friction at 1 rad/s, start of a dry one
constexpr double kViscousShare = 0.01;  // of dry friction at 1 rad/s, start of a viscous one
constexpr double kClipStep = 0.1;       // of the largest command
constexpr double kClipLeast = 0.2;
constexpr std::size_t kClipPatience = 2;  // steps without a gain that end the search
constexpr int kClipRounds = 2;            // of parabolas, over steps that shrink to this part
constexpr double kClipFiner = 0.3;
constexpr int kPlateauRows = 5;         // readings that stay at an end of the range
constexpr double kPlateauShare = 1e-9;  // within which readings are the same, of the range

/// Whether a fit helps enough to be told; then with its errors.
std::optional<Cause> judged(const MisfitCase& on, const PieceFit& fit, Finding finding,
                            const std::vector<Recording>& pieces) {
  if (!(fit.cost_per_reading() < kHelps * on.cost_per_reading)) return std::nullopt;
  return Cause{std::move(finding), fit.cost_per_reading(), errors_of(fit, on.noise.size()),
               fit.mechanism(), pieces};
}

/// Frees one parameter and fits. What it becomes, less what it was, is the size.
struct Freed {
  double size = 0.0, deviation = 0.0;
  std::optional<Cause> cause;
};

Freed free_one(const MisfitCase& on, int index, double start, double lower, double upper) {
  Mechanism mechanism = on.estimate;
  Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
  const double before = parameter.value;
  parameter.free = true;
  parameter.value = start;
  parameter.lower = lower;
  parameter.upper = upper;
  const PieceFit fit = on.fit(mechanism);
  Freed freed;
  if (!(fit.cost_per_reading() < kHelps * on.cost_per_reading)) return freed;
  freed.size = fit.mechanism().parameters[static_cast<std::size_t>(index)].value - before;
  freed.deviation = fit.deviation(index);
  if (!(std::abs(freed.size) > kSure * freed.deviation)) return freed;
  freed.cause = judged(on, fit, {}, on.pieces);
  return freed;
}

void add(std::vector<Cause>& causes, std::optional<Cause> cause) {
  if (cause) causes.push_back(std::move(*cause));
}

// --- command ------------------------------------------------------------------------------------

void try_delays(const MisfitCase& on, std::vector<Cause>& causes) {
  for (int hinge = 0; hinge < on.estimate.hinge_count(); ++hinge) {
    const Hinge& of = on.estimate.hinges[static_cast<std::size_t>(hinge)];
    if (!of.motorised) continue;
    const int index = on.estimate.index_of_hinge(hinge, HingeQuantity::kInputDelay);
    const double now = on.estimate.parameters[static_cast<std::size_t>(index)].value;
    Freed freed = free_one(on, index, now, -kDelayMost, kDelayMost);
    if (!freed.cause) continue;
    const bool late = freed.size > 0.0;
    freed.cause->finding = {
        .kind = late ? "late-command" : "early-command",
        .severity = Severity::kWarning,
        .channel = of.name,
        .size = freed.size,
        .unit = "s",
        .what = "the command of hinge " + quoted(of.name) + " acts " +
                notation::format_with_deviation(1e3 * std::abs(freed.size), 1e3 * freed.deviation) +
                " ms " + (late ? "later" : "earlier") + " than it is recorded",
        .advice = late ? "estimate it: `motor { input_delay { value: " +
                             number_text(now + freed.size) + " free: true } }`"
                       : "the time stamps of commands lie behind those of angles: shift the column "
                         "of the control by that much",
    };
    causes.push_back(std::move(*freed.cause));
  }
}

std::vector<Recording> clipped(std::vector<Recording> pieces, Eigen::Index motor, double level) {
  for (Recording& recording : pieces) {
    for (Segment& segment : recording.segments) {
      segment.controls.col(motor) = segment.controls.col(motor).cwiseMax(-level).cwiseMin(level);
    }
  }
  return pieces;
}

double largest_command(const std::vector<Recording>& pieces, Eigen::Index motor) {
  double largest = 0.0;
  for (const Recording& recording : pieces) {
    for (const Segment& segment : recording.segments) {
      largest = std::max(largest, segment.controls.col(motor).cwiseAbs().maxCoeff());
    }
  }
  return largest;
}

/// Lowest point of the parabola through three, and its curvature.
struct Parabola {
  double lowest = 0.0, curvature = 0.0;
};
Parabola through(double middle, double step, double before, double at, double after) {
  const double curvature = (before - 2.0 * at + after) / (step * step);
  const double slope = (after - before) / (2.0 * step);
  return {curvature > 0.0 ? middle - slope / curvature : std::numeric_limits<double>::quiet_NaN(),
          curvature};
}

/// Standard deviation of what a parabola of costs is over, ∆cost = 1 at one of white noise.
double parabola_deviation(const Parabola& parabola, double cost_per_reading) {
  return std::sqrt(2.0 * std::max(cost_per_reading, 1.0) / parabola.curvature);
}

/// Share of the largest command at which the cost is least; 1: nowhere below that of no clipping.
struct ClippedShare {
  double share = 1.0;
  Parabola parabola;  ///< of the cost about it
};

/// The cost falls down to the level that is right, and rises below it.
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

void try_clipped_commands(const MisfitCase& on, std::vector<Cause>& causes) {
  Eigen::Index motor = 0;
  for (const Hinge& hinge : on.estimate.hinges) {
    if (!hinge.motorised) continue;
    const Eigen::Index column = motor++;
    const double largest = largest_command(on.pieces, column);
    if (!(largest > 0.0)) continue;
    const auto fit_at = [&](double share) {
      return on.fit(on.estimate, clipped(on.pieces, column, share * largest));
    };
    const ClippedShare found = search_clipped_share([&](double at) { return fit_at(at).cost(); });
    if (!(found.share < 1.0)) continue;
    const double best = found.share;
    const PieceFit fit = fit_at(best);
    const double deviation = largest * parabola_deviation(found.parabola, fit.cost_per_reading());
    if (!(largest * (1.0 - best) > kSure * deviation)) continue;
    add(causes,
        judged(on, fit,
               {.kind = "clipped-command",
                .severity = Severity::kWarning,
                .channel = hinge.name,
                .size = best * largest,
                .unit = "",
                .what = "the command of hinge " + quoted(hinge.name) + " acts no further than to " +
                        notation::format_with_deviation(best * largest, deviation) + " of the " +
                        number_text(largest) + " recorded",
                .advice = "record what the amplifier puts out, limit the command to what "
                          "it can, or leave out the parts beyond"},
               clipped(on.pieces, column, best * largest)));
  }
}

// --- clock --------------------------------------------------------------------------------------

void try_clock(const MisfitCase& on, std::vector<Cause>& causes) {
  ClockedMechanism clocked = with_clock_rate(on.estimate);
  const PieceFit loose = on.fit(clocked.mechanism);
  if (!(loose.cost_per_reading() < kHelps * on.cost_per_reading)) return;
  clocked.mechanism = loose.mechanism();
  const double rate = clocked.mechanism.parameters.back().value;
  const double deviation = loose.deviation(clocked.rate);
  if (!(std::abs(rate) > kSure * deviation) || !(std::abs(rate) < kClockMost)) return;
  // Rates are of first order there; with right times nothing is.
  const std::vector<Recording> pieces = without_clock_error(on.pieces, rate);
  Mechanism mechanism = on.estimate;
  take_from_clock(clocked, mechanism);
  add(causes,
      judged(on, on.fit(mechanism, pieces),
             {.kind = "clock-rate",
              .severity = Severity::kWarning,
              .size = rate,
              .unit = "-",
              .what = "the clock of the time stamps is " +
                      notation::format_with_deviation(100.0 * std::abs(rate), 100.0 * deviation) +
                      " % too " + (rate > 0.0 ? "fast" : "slow") + " (rate " +
                      notation::format_with_deviation(1.0 + rate, deviation) + ")",
              .advice = "check the sampling rate against another clock: times are to be "
                        "multiplied by " +
                        number_text(1.0 / (1.0 + rate), 5)},
             pieces));
}

// --- encoders -----------------------------------------------------------------------------------

/// Takes away the readings that stay at one value, the largest or the smallest of all.
/// @return how many
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

std::pair<double, double> range_of(const std::vector<Recording>& recordings, Eigen::Index sensor) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      for (const double reading : segment.angles.col(sensor)) {
        if (std::isnan(reading)) continue;
        lowest = std::min(lowest, reading);
        highest = std::max(highest, reading);
      }
    }
  }
  return {lowest, highest};
}

void try_clipped_angles(const MisfitCase& on, const std::vector<Recording>& recordings,
                        std::vector<Cause>& causes) {
  const std::vector<Sensor> sensors = sensors_of(on.estimate);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const auto [lowest, highest] = range_of(recordings, column);
    for (const double end : {lowest, highest}) {
      std::vector<Recording> without = recordings;
      const int masked = mask_plateau(without, column, end, kPlateauShare * (highest - lowest));
      if (masked == 0) continue;
      const std::vector<Recording> pieces = take_excerpts(on.estimate, without, kMisfitBudget);
      const PieceFit fit = on.fit(on.estimate, pieces);
      add(causes,
          judged(on, fit,
                 {.kind = "clipped-angle",
                  .severity = Severity::kWarning,
                  .channel = sensors[i].name,
                  .size = end,
                  .unit = sensors[i].units().coordinate,
                  .what = "the encoder of hinge " + quoted(sensors[i].name) + " reads no further " +
                          "than " + number_text(end, 4) + " " + sensors[i].units().coordinate +
                          ": " + std::to_string(masked) + " readings stay there",
                  .advice = "leave these rows out, or mark their readings as missing"},
                 pieces));
    }
  }
}

// --- geometry and friction ----------------------------------------------------------------------

void try_lengths(const MisfitCase& on, std::vector<Cause>& causes) {
  for (int hinge = 0; hinge < on.estimate.hinge_count(); ++hinge) {
    for (int k = 0; k < 6; ++k) {
      const int index = on.estimate.index_of_hinge(hinge, static_cast<HingeQuantity>(k));
      const Parameter& point = on.estimate.parameters[static_cast<std::size_t>(index)];
      if (point.value == 0.0 || varies(on.estimate, index)) continue;
      if (find_tie(on.estimate, index) != nullptr) continue;
      Freed freed = free_one(on, index, point.value, -2.0 * std::abs(point.value),
                             2.0 * std::abs(point.value));
      if (!freed.cause) continue;
      freed.cause->finding = {
          .kind = "wrong-length",
          .severity = Severity::kWarning,
          .channel = point.name,
          .size = freed.size,
          .unit = "m",
          .what = point.name + " is " +
                  notation::format_with_deviation(point.value + freed.size, freed.deviation) +
                  " m instead of " + number_text(point.value, 4) + " m",
          .advice = "measure it again, or estimate it",
      };
      causes.push_back(std::move(*freed.cause));
    }
  }
}

void try_signs(const MisfitCase& on, std::vector<Cause>& causes) {
  for (const Hypothesis& hypothesis : likely_mistakes(on.estimate)) {
    if (hypothesis.kind != "wrong-point-sign") continue;
    const PieceFit fit = on.fit(mended(on.estimate, hypothesis));
    add(causes, judged(on, fit,
                       {.kind = hypothesis.kind,
                        .severity = Severity::kFault,
                        .channel = hypothesis.channel,
                        .what = hypothesis.mistake,
                        .advice = hypothesis.remedy},
                       on.pieces));
  }
}

/// Viscous friction, dry friction, drag, and an excess of dry friction at rest, free at every joint
/// that has friction of a kind that goes with it.
/// @param freed  their parameters
Mechanism with_all_friction(const Mechanism& estimate, std::vector<int>& freed) {
  Mechanism richer = estimate;
  const auto free_beside = [&](int hinge, HingeQuantity quantity, HingeQuantity beside,
                               double share) {
    const int index = richer.index_of_hinge(hinge, quantity);
    const double known = estimate.hinge_parameter(hinge, beside).value;
    if (varies(richer, index) || find_tie(richer, index) != nullptr || !(known > 0.0)) return false;
    Parameter& parameter = richer.parameters[static_cast<std::size_t>(index)];
    parameter.free = true;
    parameter.value = std::max(parameter.value, share * known);
    freed.push_back(index);
    return true;
  };
  for (int hinge = 0; hinge < richer.hinge_count(); ++hinge) {
    free_beside(hinge, HingeQuantity::kViscous, HingeQuantity::kCoulombTorque, kViscousShare);
    free_beside(hinge, HingeQuantity::kCoulombTorque, HingeQuantity::kViscous, kDryShare);
    free_beside(hinge, HingeQuantity::kQuadraticDrag, HingeQuantity::kViscous, kDragShare);
    if (free_beside(hinge, HingeQuantity::kStribeckTorque, HingeQuantity::kCoulombTorque,
                    kStribeckShare)) {
      richer.hinge_parameter(hinge, HingeQuantity::kStribeckRate).free = true;
    }
  }
  return richer;
}

void try_friction(const MisfitCase& on, std::vector<Cause>& causes) {
  std::vector<int> freed;
  const Mechanism richer = with_all_friction(on.estimate, freed);
  if (freed.empty()) return;
  const PieceFit fit = on.fit(richer);
  if (!(fit.cost_per_reading() < kHelps * on.cost_per_reading)) return;
  Finding finding{.kind = "friction-law", .severity = Severity::kWarning};
  for (const int index : freed) {
    const Parameter& parameter = fit.mechanism().parameters[static_cast<std::size_t>(index)];
    const double deviation = fit.deviation(index);
    if (!(parameter.value > kSure * deviation)) continue;
    finding.what +=
        (finding.what.empty() ? "friction has parts that the description does not know: " : ", ") +
        parameter.name + " " + notation::format_with_deviation(parameter.value, deviation) + " " +
        parameter.unit;
  }
  if (finding.what.empty()) return;
  finding.advice =
      "estimate them too (`rigcal compare` tells which of them predict); they stand in "
      "`friction { }` of the joint";
  add(causes, judged(on, fit, std::move(finding), on.pieces));
}

}  // namespace

Eigen::VectorXd errors_of(const PieceFit& fit, Eigen::Index sensors) {
  Eigen::VectorXd rmse(sensors);
  for (Eigen::Index i = 0; i < sensors; ++i) rmse[i] = fit.rmse(static_cast<int>(i));
  return rmse;
}

void MisfitCase::take(const Cause& cause) {
  estimate = cause.mechanism;
  pieces = cause.pieces;
  cost_per_reading = cause.cost_per_reading;
  rmse = cause.rmse;
}

PieceFit MisfitCase::fit(const Mechanism& mechanism,
                         const std::vector<Recording>& recordings) const {
  if (!(budget.left > 0.0)) {
    budget.exceeded = true;
    return {};
  }
  PieceFit fit(mechanism, recordings, noise, monitor);
  budget.left -= fit.work();
  return fit;
}

std::optional<Cause> fit_all_friction(const MisfitCase& on) {
  std::vector<int> freed;
  const Mechanism richer = with_all_friction(on.estimate, freed);
  if (freed.empty()) return std::nullopt;
  const PieceFit fit = on.fit(richer);
  if (!(fit.cost_per_reading() < on.cost_per_reading)) return std::nullopt;
  return Cause{
      {}, fit.cost_per_reading(), errors_of(fit, on.noise.size()), fit.mechanism(), on.pieces};
}

std::vector<Cause> try_causes(const MisfitCase& on, const std::vector<Recording>& recordings) {
  std::vector<Cause> causes;
  try_delays(on, causes);
  try_clock(on, causes);
  try_friction(on, causes);
  try_clipped_angles(on, recordings, causes);
  try_lengths(on, causes);
  try_signs(on, causes);
  try_clipped_commands(on, causes);
  return causes;
}

}  // namespace estimator
