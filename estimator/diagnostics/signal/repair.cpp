#include <algorithm>
#include <limits>
#include <tuple>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

/// Adds a free parameter for the offset of an encoder's readings after a slip.
int add_offset(const Encoder& sensor, const std::string& recording, double time, double size,
               bool name_recording, Mechanism& mechanism) {
  Parameter parameter;
  parameter.name = sensor.name + " slip at " + number_text(time, 6) + " s";
  if (name_recording) parameter.name += " of " + recording;
  const std::string plain = parameter.name;
  for (int copy = 2; mechanism.find_parameter(parameter.name) >= 0; ++copy) {
    parameter.name = plain + " (" + std::to_string(copy) + ")";
  }
  parameter.unit = sensor.units().coordinate;
  parameter.value = size;
  parameter.free = true;
  mechanism.parameters.push_back(parameter);
  return static_cast<int>(mechanism.parameters.size()) - 1;
}

}  // namespace

RepairedInput repair(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                     const SignalExamination& examination) {
  RepairedInput out{mechanism, recordings};
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  const auto segment_of = [&](const auto& place) -> Segment& {
    return out.recordings[static_cast<std::size_t>(place.recording)]
        .segments[static_cast<std::size_t>(place.segment)];
  };
  for (const RejectedReading& rejected : examination.rejected) {
    segment_of(rejected).angles(rejected.row, rejected.sensor) =
        std::numeric_limits<double>::quiet_NaN();
  }
  for (const FreedOffset& freed : examination.freed) {
    Recording& recording = out.recordings[static_cast<std::size_t>(freed.recording)];
    const Segment& own = segment_of(freed);
    const int parameter = add_offset(sensors[static_cast<std::size_t>(freed.sensor)],
                                     recording.name, own.start + own.time(freed.row), freed.size,
                                     recordings.size() > 1, out.mechanism);
    // A slip lasts to the recording's end.
    for (auto s = static_cast<std::size_t>(freed.segment); s < recording.segments.size(); ++s) {
      const bool is_own = s == static_cast<std::size_t>(freed.segment);
      recording.segments[s].shifts.push_back({freed.sensor, is_own ? freed.row : 0, parameter});
    }
  }
  std::vector<Cut> cuts = examination.cuts;
  // From the last cut on, so that the indices of the others remain valid.
  const auto place = [](const Cut& cut) { return std::tuple(cut.recording, cut.segment, cut.row); };
  std::ranges::sort(cuts, std::greater<>(), place);
  for (const Cut& cut : cuts) {
    std::vector<Segment>& segments =
        out.recordings[static_cast<std::size_t>(cut.recording)].segments;
    const Segment whole = segments[static_cast<std::size_t>(cut.segment)];
    if (cut.row <= 0 || cut.row >= whole.sample_count()) continue;
    segments[static_cast<std::size_t>(cut.segment)] = rows_of(whole, 0, cut.row);
    segments.insert(segments.begin() + cut.segment + 1,
                    rows_of(whole, cut.row, whole.sample_count() - cut.row));
  }
  return out;
}

}  // namespace estimator
