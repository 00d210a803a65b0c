#include "estimator/diagnostics/misfit/single_jump_test.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"

namespace estimator {
namespace {

/// Largest ratio of residuals to noise of an accepted model on short excerpts.
constexpr double kPiecesMost = 3.0;

Mechanism with_free_offsets(Mechanism mechanism) {
  for (const Encoder& sensor : used_encoders(mechanism)) {
    if (find_dependency(mechanism, sensor.offset) != nullptr) continue;
    mechanism.parameters[static_cast<std::size_t>(sensor.offset)].free = true;
  }
  return mechanism;
}

/// Splits a recording at its middle row.
std::vector<Recording> halves_of(const Recording& recording) {
  int rows = 0;
  for (const Segment& segment : recording.segments) rows += segment.sample_count();
  std::vector<Recording> halves(2, {recording.name, {}});
  int left = rows / 2;
  for (const Segment& segment : recording.segments) {
    const int before = std::clamp(left, 0, segment.sample_count());
    const int behind = segment.sample_count() - before;
    left -= before;
    if (before > 0) halves[0].segments.push_back(rows_of(segment, 0, before));
    if (behind > 0) halves[1].segments.push_back(rows_of(segment, before, behind));
  }
  return halves;
}

bool is_explained(const Mechanism& mechanism, const Recording& half, const Eigen::VectorXd& noise,
                  const CalibrationMonitor& monitor) {
  const std::vector<Recording> pieces = select_excerpts(mechanism, {half}, kMisfitBudget);
  if (pieces.empty()) return true;
  const ExcerptFit fit(mechanism, pieces, noise, monitor, kPiecesMost * kPiecesMost);
  if (!std::isfinite(fit.cost())) return false;
  for (int sensor = 0; sensor < noise.size(); ++sensor) {
    if (!(fit.rmse(sensor) <= kPiecesMost * noise[sensor])) return false;
  }
  return true;
}

}  // namespace

bool is_single_jump_plausible(const Mechanism& estimate, const std::vector<Recording>& recordings,
                              const CalibrationMonitor& monitor) {
  const Mechanism mechanism = with_free_offsets(estimate);
  const Eigen::VectorXd noise = reading_noise(mechanism, recordings);
  return std::ranges::all_of(recordings, [&](const Recording& recording) {
    return std::ranges::any_of(halves_of(recording), [&](const Recording& half) {
      return is_explained(mechanism, half, noise, monitor);
    });
  });
}

}  // namespace estimator
