#include "estimator/diagnostics/repair/slip_trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "estimator/diagnostics/jumps/lost_time_scores.hpp"
#include "estimator/diagnostics/jumps/noise_scale.hpp"
#include "estimator/diagnostics/jumps/slip_scores.hpp"
#include "estimator/diagnostics/misfit/cause_acceptance.hpp"
#include "estimator/diagnostics/signal/finding_text.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

/// Whitened cost per reading up to which a simulation is considered to fit.
constexpr double kExplained = 1.5;

/// The recording and the segment in it that a fitted segment comes from.
struct SegmentPlace {
  int recording = -1, segment = -1;
};

SegmentPlace place_of(const std::vector<Recording>& recordings, const std::string& source,
                      const Segment& wanted) {
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const Recording& recording = recordings[static_cast<std::size_t>(r)];
    if (recording.name != source) continue;
    for (int s = 0; s < std::ssize(recording.segments); ++s) {
      const Segment& each = recording.segments[static_cast<std::size_t>(s)];
      if (each.start == wanted.start && each.sample_count() == wanted.sample_count()) {
        return {r, s};
      }
    }
  }
  return {};
}

/// Returns the likeliest encoder slip. Uses the simulation over whole segments, which locates the
/// row best, if it would fit with this slip. Otherwise uses free states, which absorb part of the
/// slip.
std::optional<SlipScore> likeliest_of(const ShootingFit& fit, bool simulates) {
  const ShootingInput& input = fit.input();
  if (simulates) {
    ShootingGrid whole = input.grid;
    whole.interval = std::numeric_limits<double>::infinity();
    const std::optional<SlipScore> slip =
        likeliest_slip(fit.simulation(), input.segments, input.sources, whole);
    const double most = kExplained * fit.simulation().reading_count();
    if (slip && fit.simulation().cost() - slip->gain < most) return slip;
  }
  return likeliest_slip(fit.joint(), input.segments, input.sources, input.grid);
}

}  // namespace

SuspectedJump find_likeliest_jump(const Mechanism& estimate,
                                  const std::vector<Recording>& recordings,
                                  const CalibrationOptions& options,
                                  const CalibrationMonitor& monitor) {
  SuspectedJump out;
  ShootingFit fit(prepare_shooting(estimate, recordings, options), options,
                  {.threads = monitor.threads, .stop = monitor.stop});
  fit.shorten_intervals(estimate);
  fit.estimate_jointly(estimate);
  const bool simulates = fit.fit_simulation();
  if (fit.is_cancelled()) return out;
  const ShootingInput& input = fit.input();
  const double bound = normal_quantile(kFalseAlarm / fit.joint().reading_count());
  const auto place_of_score = [&](const auto& score) {
    if (!score || !(score->gain > bound * bound)) return SegmentPlace{};
    const auto s = static_cast<std::size_t>(score->segment);
    return place_of(recordings, input.sources[s], input.segments[s]);
  };
  const std::optional<LostTimeScore> lost =
      likeliest_lost_time(fit.joint(), input.segments, input.grid);
  if (const SegmentPlace place = place_of_score(lost); place.recording >= 0) {
    out.lost_times.push_back({place.recording, place.segment, lost->row});
  }
  const std::optional<SlipScore> slip = likeliest_of(fit, simulates);
  const SegmentPlace place = place_of_score(slip);
  if (place.recording < 0) return out;
  const bool is_same = !out.lost_times.empty() && out.lost_times[0].recording == place.recording &&
                       out.lost_times[0].segment == place.segment &&
                       out.lost_times[0].row == slip->row;
  if (!is_same) out.lost_times.push_back({place.recording, place.segment, slip->row});
  const auto s = static_cast<std::size_t>(slip->segment);
  const std::vector<Encoder> sensors = used_encoders(estimate);
  const auto sensor = static_cast<std::size_t>(slip->sensor);
  out.slip.findings = {slip_finding(sensors[sensor], input.sources[s],
                                    input.segments[s].start + input.segments[s].time(slip->row),
                                    slip->size, std::abs(slip->size) / std::sqrt(slip->gain),
                                    observed_quanta(sensors, recordings)[sensor])};
  out.slip.freed = {{place.recording, place.segment, slip->sensor, slip->row, slip->size, 0}};
  return out;
}

bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset) {
  if (without.verdict.kind == VerdictKind::kAccepted ||
      with.verdict.kind != VerdictKind::kAccepted) {
    return false;
  }
  const auto estimate = std::ranges::find(with.parameters, offset, &ParameterEstimate::name);
  return estimate != with.parameters.end() &&
         is_significant(estimate->value, estimate->standard_deviation);
}

}  // namespace estimator
