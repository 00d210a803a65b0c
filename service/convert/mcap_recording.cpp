#include "service/convert/mcap_recording.hpp"

#include <algorithm>

#include "proto/recording/recording_reader.hpp"
#include "proto/recording/series.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

/// Columns of the series that hold the rig's measured hinges, in hinge order.
std::vector<std::size_t> find_channels(const std::string& path, const Rig& rig,
                                       const std::vector<std::string>& recorded) {
  std::vector<std::size_t> channels;
  for (const estimator::Hinge& hinge : rig.mechanism.hinges) {
    if (!hinge.measured) continue;
    const auto found = std::find(recorded.begin(), recorded.end(), hinge.name);
    if (found == recorded.end()) {
      std::string names;
      for (const std::string& name : recorded) names += " '" + name + "'";
      throw proto::InputError(path + ": holds no hinge '" + hinge.name + "' but" + names +
                              "; use the rig file it was recorded with");
    }
    channels.push_back(static_cast<std::size_t>(found - recorded.begin()));
  }
  if (channels.empty()) {
    throw proto::InputError(rig.path + ": no hinge is measured; give one an encoder { }");
  }
  return channels;
}

Eigen::Index count_motors(const std::string& path, const Rig& rig) {
  const auto motors = std::count_if(rig.mechanism.hinges.begin(), rig.mechanism.hinges.end(),
                                    [](const estimator::Hinge& hinge) { return hinge.motorised; });
  if (motors > 1) {
    throw proto::InputError(path + ": holds one command, but the rig in " + rig.path + " has " +
                            std::to_string(motors) + " motors; use a CSV recording");
  }
  return motors;
}

estimator::Segment make_segment(const proto::SeriesSegment& source, std::size_t hinge_count,
                                const std::vector<std::size_t>& channels, Eigen::Index motors) {
  estimator::Segment segment;
  segment.start = source.start_s;
  segment.period = source.period_s;
  const auto rows = static_cast<Eigen::Index>(source.row_count);
  segment.angles.resize(rows, static_cast<Eigen::Index>(channels.size()));
  segment.controls.resize(rows, motors);
  for (std::size_t k = 0; k < source.row_count; ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    for (std::size_t j = 0; j < channels.size(); ++j) {
      segment.angles(row, static_cast<Eigen::Index>(j)) =
          source.angle_rad[k * hinge_count + channels[j]];
    }
    if (motors > 0) segment.controls(row, 0) = source.command_V[k];
  }
  return segment;
}

void note_damage(const proto::RecordingScan& scan, std::vector<std::string>& notes) {
  if (!scan.container.finished) {
    notes.push_back("was cut off; what is intact is used (rigcal recover makes a finished file)");
  }
  if (scan.container.damaged_chunk_count > 0) {
    notes.push_back(std::to_string(scan.container.damaged_chunk_count) +
                    " chunks were damaged and left out; the recording is split there");
  }
  if (scan.unreadable_count > 0) {
    notes.push_back(std::to_string(scan.unreadable_count) +
                    " messages were damaged and left out (rigcal info tells more)");
  }
}

}  // namespace

bool is_mcap(const std::string& path) {
  return path.ends_with(".mcap") || path.ends_with(".mcap.part");
}

ImportedRecording import_mcap(const std::string& path, const Rig& rig) {
  auto recording = proto::read_recording(path);
  if (!recording.ok()) throw proto::InputError(recording.error().detail);
  auto series = proto::make_series(recording.value());
  if (!series.ok()) throw proto::InputError(path + ": " + series.error().detail);
  const std::vector<std::string>& hinges = series.value().hinges;
  const std::vector<std::size_t> channels = find_channels(path, rig, hinges);
  const Eigen::Index motors = count_motors(path, rig);

  ImportedRecording result;
  result.recording.name = path;
  ImportSummary& summary = result.summary;
  summary.file = path;
  summary.rows = static_cast<int>(recording.value().samples.size());
  int kept = 0;
  double last_end = 0.0;
  for (const proto::SeriesSegment& source : series.value().segments) {
    if (&source != &series.value().segments.front()) {
      summary.gaps.push_back({0, last_end, source.start_s - last_end});
    }
    last_end = source.start_s + static_cast<double>(source.row_count - 1) * source.period_s;
    summary.period = source.period_s;
    if (source.row_count < static_cast<std::size_t>(kSegmentSamplesMin)) continue;
    kept += static_cast<int>(source.row_count);
    result.recording.segments.push_back(make_segment(source, hinges.size(), channels, motors));
  }
  summary.dropped_rows = summary.rows - kept;
  if (result.recording.segments.empty()) {
    throw proto::InputError(path + ": the record is too short: no stretch without a gap has " +
                            std::to_string(kSegmentSamplesMin) + " samples; record longer");
  }
  note_damage(recording.value().scan, summary.notes);
  return result;
}

ImportedRecording import_recording(const std::string& path, const Rig& rig) {
  if (is_mcap(path)) return import_mcap(path, rig);
  if (rig.format) return import_csv(path, *rig.format);
  throw proto::InputError(rig.path + ": does not say how CSV recordings look; add recording { }");
}

}  // namespace service
