#include "estimator/diagnostics/repair/lost_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "estimator/diagnostics/jumps/segment_end_fit.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/sample_gaps.hpp"

namespace estimator {
namespace {

constexpr double kLeastLost = 0.5;  // rows; shorter gaps are not lost time
/// Time error due to the noise of a reading above which joints are almost at rest [rows].
constexpr double kSlow = 5.0;
constexpr double kWhole = 0.2;  // of a row, tolerance of a gap from whole rows

/// Cost reduction that a free state may achieve by chance: per component, plus a constant. A χ²
/// variable with so few degrees of freedom exceeds this with a probability of 1e-4.
constexpr double kSavedEach = 2.0;
constexpr double kSavedOnce = 16.0;

/// The estimated number of rows between two segments.
struct Between {
  double rows = 0.0;       ///< from the last row of the first segment to the first row of the next
  double deviation = 0.0;  ///< standard deviation, by the noise of one reading
  CutEnds ends = {};
};

/// Estimates the number of rows between two segments by the trapezoidal rule, corrected for
/// accelerations and weighted by the sensors' squared speeds. Returns nullopt without a model or
/// motion.
std::optional<Between> between(const Calibration& calibration, const Recording& recording,
                               int behind) {
  constexpr int kRounds = 5;
  const std::optional<CutEnds> ends = ends_at_cut(calibration, recording, behind);
  if (!ends) return {};
  const std::vector<Encoder> sensors = used_encoders(calibration.mechanism);
  Between found{.rows = 1.0, .ends = *ends};
  for (int round = 0; round < kRounds; ++round) {
    double along = 0.0, square = 0.0;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const SegmentEndFit &a = ends->before[i], &b = ends->after[i];
      const double noise = calibration.angle_noise[static_cast<Eigen::Index>(i)];
      const double rate = 0.5 * (a.rate + b.rate) / noise;
      const double bent = found.rows * found.rows * (b.curvature - a.curvature) / 12.0;
      along += rate * (sensors[i].difference(b.value - a.value) + bent) / noise;
      square += rate * rate;
    }
    if (!(square > 0.0)) return {};
    found.rows = along / square;
    found.deviation = 1.0 / std::sqrt(square);
  }
  return found;
}

/// Returns whether the motion determines the number of rows between two segments. Fitted segment
/// ends are more precise than a single reading.
bool is_told(const Between& found) {
  return found.deviation < std::min(std::max(1.0, 0.5 * (found.rows - 1.0)), kSlow);
}

/// Returns the number of rows missing between two segments; 0 if none or not a whole number.
int whole_rows(const Calibration& calibration, const Recording& recording, int behind) {
  const Segment& before = recording.segments[static_cast<std::size_t>(behind) - 1];
  const Segment& after = recording.segments[static_cast<std::size_t>(behind)];
  if (!before.times.empty() || !after.times.empty()) return 0;
  const std::optional<Between> found = between(calibration, recording, behind);
  if (!found || std::abs(found->rows - std::round(found->rows)) > kWhole) return 0;
  const double missing = std::round(found->rows) - 1.0;
  if (!(missing >= 1.0) || !(missing <= before.sample_count())) return 0;
  const int rows = static_cast<int>(missing);
  const CommandChange change =
      command_change(before, after, rows, largest_controls(recording.segments));
  const double duration = (missing + 1.0) * after.period;
  return continues_across_gap(duration, missing, change, before.sample_count()) ? rows : 0;
}

}  // namespace

JumpExplanation explain_cut(const Calibration& calibration, const Recording& recording,
                            int behind) {
  JumpExplanation out;
  out.cause = JumpCause::kBreak;
  out.confidence = 1.0;
  const std::optional<Between> found = between(calibration, recording, behind);
  const double period = recording.segments[static_cast<std::size_t>(behind)].period;
  const double lost = found ? (found->rows - 1.0) * period : 0.0;
  if (found && lost > kLeastLost * period && lost <= kBridgedGapMax && is_told(*found)) {
    out.cause = JumpCause::kLostTime;
    out.lost_time = lost;
    out.time_deviation = found->deviation * period;
  }
  for (std::size_t i = 0; i < used_encoders(calibration.mechanism).size(); ++i) {
    out.rates_before.push_back(found ? found->ends.before[i].rate / period : 0.0);
    out.rates_after.push_back(found ? found->ends.after[i].rate / period : 0.0);
    out.sizes.push_back(0.5 * (out.rates_before[i] + out.rates_after[i]) * lost);
    out.deviations.push_back(0.0);
  }
  return out;
}

std::vector<LostRows> find_lost_rows(const Calibration& calibration,
                                     const std::vector<Recording>& recordings,
                                     const std::vector<Finding>& findings) {
  std::vector<LostRows> lost;
  for (int f = 0; f < std::ssize(findings); ++f) {
    const Finding& finding = findings[static_cast<std::size_t>(f)];
    if (finding.message.code != MessageCode::kLostTime) continue;
    for (int r = 0; r < std::ssize(recordings); ++r) {
      const Recording& recording = recordings[static_cast<std::size_t>(r)];
      if (recording.name != finding.recording) continue;
      for (int s = 1; s < std::ssize(recording.segments); ++s) {
        const Segment& after = recording.segments[static_cast<std::size_t>(s)];
        if (std::abs(after.start - finding.from) > 0.5 * after.period) continue;
        const int rows = whole_rows(calibration, recording, s);
        if (rows > 0) lost.push_back({f, r, s, rows});
      }
    }
  }
  return lost;
}

std::vector<Recording> with_lost_rows(std::vector<Recording> recordings,
                                      const std::vector<LostRows>& lost) {
  std::vector<LostRows> from_behind = lost;
  std::ranges::sort(from_behind, std::greater<>(), &LostRows::segment);
  for (const LostRows& each : from_behind) {
    std::vector<Segment>& segments = recordings[static_cast<std::size_t>(each.recording)].segments;
    append_to_last(segments, each.segment, each.rows);
    for (auto later = segments.begin() + each.segment; later != segments.end(); ++later) {
      later->start += each.rows * later->period;
    }
  }
  return recordings;
}

bool are_rows_confirmed(const Calibration& cut, const Calibration& joined, int lost_times) {
  if (cut.verdict.kind != VerdictKind::kAccepted || joined.verdict.kind != VerdictKind::kAccepted ||
      cut.refined != joined.refined) {
    return false;
  }
  // Squared errors in variances of readings, as estimated by the residuals with free states.
  double saved = 0.0;
  for (std::size_t i = 0; i < cut.simulation.size(); ++i) {
    double readings = 0.0;
    for (const SegmentTrajectory& trajectory : joined.trajectories) {
      readings += static_cast<double>(
          trajectory.measured.col(static_cast<Eigen::Index>(i)).array().isFinite().count());
    }
    saved +=
        readings *
        (std::pow(joined.simulation[i].rmse / std::max(cut.simulation[i].rmse, 1e-12), 2) - 1.0);
  }
  const double states = 2.0 * joined.mechanism.joint_count();
  return saved < lost_times * (kSavedOnce + kSavedEach * states);
}

}  // namespace estimator
