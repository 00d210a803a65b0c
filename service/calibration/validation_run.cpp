#include "service/calibration/validation_run.hpp"

#include <chrono>
#include <stdexcept>

#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_pieces.hpp"

namespace service {
namespace {

/// Sets the kind, step and weight that the options leave open to those of the given values. Shadow
/// parameters are valid only for the step and the weight with which they were estimated.
void take_choices(const ParameterValues& values, estimator::CalibrationOptions& options) {
  if (!options.kind) options.kind = values.kind;
  if (options.kind != estimator::EstimateKind::kShadow) return;
  if (options.step == 0.0) options.step = values.step;
  if (options.state_error_weight == 0.0) options.state_error_weight = values.state_error_weight;
}

void note_short_segments(const CalibrationInput& input, double window,
                         estimator::Validation& validation) {
  for (const estimator::Recording& recording : input.recordings) {
    for (const estimator::Segment& segment : recording.segments) {
      if (segment.duration() + segment.period >= window) continue;
      validation.notes.push_back(
          recording.name + ": a segment is shorter than the window and was evaluated as a whole");
    }
  }
}

}  // namespace

estimator::Validation run_validation(const CalibrationRequest& request,
                                     const ValidationWindows& windows, CalibrationInput& input,
                                     const estimator::CalibrationMonitor& monitor,
                                     const WindowCallback& on_window) {
  take_choices(request.values, input.context.options);
  const std::vector<estimator::Recording> pieces = cut_windows(input.recordings, windows.length);
  int count = 0;
  for (const auto& piece : pieces) count += static_cast<int>(piece.segments.size());
  estimator::Mechanism rig = parse_rig(request.rig_name, request.rig_text).mechanism;
  rig.held_out = input.rig.mechanism.held_out;
  try {
    const auto start = std::chrono::steady_clock::now();
    estimator::Validation validation =
        estimator::validate(rig, input.rig.mechanism, pieces, input.context.options, windows.start,
                            monitor, [&](int window) { on_window(window, count); });
    input.context.wall_time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    note_short_segments(input, windows.length, validation);
    return validation;
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_fault(input, fault.what()) +
                            (windows.length > 0.0 ? ", or give a longer --window" : ""));
  }
}

}  // namespace service
