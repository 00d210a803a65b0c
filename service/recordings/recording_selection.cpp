#include "service/recordings/recording_selection.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "proto/service.pb.h"
#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kSegmentIndexMax = 1'000'000;

int parse_index(std::string_view text, const std::string& list) {
  int index = -1;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), index);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || index < 0 ||
      index > kSegmentIndexMax) {
    throw proto::InputError("segments \"" + list + "\": write indices from 0, for example 0,2-4");
  }
  return index;
}

/// Returns the rows of a segment with times from `from` to `to` [s].
estimator::Segment crop(const estimator::Segment& segment, double from, double to) {
  const double slack = estimator::kSampleTolerance * segment.period;
  const auto since_start = [&](double time) {
    return std::clamp(time - segment.start, -segment.period, segment.duration() + segment.period);
  };
  const int first = std::max(0, segment.first_sample_at_or_after(since_start(from)));
  const double last_time = since_start(to) + slack;
  int end = std::max(0, segment.first_sample_at_or_after(last_time));
  if (end < segment.sample_count() && segment.time(end) <= last_time) ++end;
  return segment_rows(segment, std::min(first, end), std::max(0, end - first));
}

constexpr int kPartsMax = 1000;  // each needs one calibration

int part_count(const estimator::Segment& segment, const HeldOutPartOptions& cut) {
  if (cut.count > 0) return cut.count;
  const double duration = segment.duration() + segment.period;
  return std::max(1, static_cast<int>(std::lround(std::min(duration / cut.length, 1e6))));
}

void cut_segment(const std::string& name, const estimator::Segment& segment,
                 const HeldOutPartOptions& cut, std::vector<estimator::Recording>& parts) {
  const int count = part_count(segment, cut);
  const int rows = segment.sample_count();
  const auto first_of = [&](int part) {
    if (part == count) return rows;
    return cut.length > 0.0 ? segment.first_sample_at_or_after(part * cut.length)
                            : part * (rows / count);
  };
  for (int i = 0; i < count; ++i) {
    const int first = first_of(i), samples = first_of(i + 1) - first;
    if (samples < kSegmentSamplesMin) {
      throw proto::InputError(name + ": a part would have only " + std::to_string(samples) +
                              " samples, fewer than " + std::to_string(kSegmentSamplesMin) +
                              ". Use fewer or longer parts");
    }
    const estimator::Segment part = segment_rows(segment, first, samples);
    const double end = part.start + part.duration();
    parts.push_back(
        {name + " " + format_number(part.start, 6) + " s to " + format_number(end, 6) + " s",
         {part}});
  }
}

/// Returns the name of a part of a recording, e.g. "run.csv". It includes the segment number if the
/// file has several segments, and the start time if the segment was split later.
std::string segment_name(const estimator::Recording& recording, const UsedRecording& use,
                         const estimator::Segment& segment) {
  const auto holds = [](const UsedSegment& whole, const estimator::Segment& part) {
    const double slack = 0.5 * part.period;
    return whole.samples > 0 && part.start > whole.start - slack && part.start < whole.end + slack;
  };
  std::string name = recording.name;
  for (const UsedSegment& whole : use.segments) {
    if (!holds(whole, segment)) continue;
    if (use.segments.size() > 1) name += " segment " + std::to_string(whole.index);
    const auto parts = std::ranges::count_if(
        recording.segments, [&](const estimator::Segment& part) { return holds(whole, part); });
    if (parts > 1) name += " from " + format_number(segment.start, 6) + " s";
    break;
  }
  return name;
}

[[noreturn]] void refuse_few(const std::vector<estimator::Recording>& recordings,
                             const HeldOutPartOptions& cut) {
  std::string what = recordings.front().name + ": cross-validation needs at least two parts";
  what += cut.kind == HeldOutPartKind::kRecording ? ". Give several recordings, --by segment, or"
                                                  : ". Give";
  throw proto::InputError(what + " --parts N or --part-length S");
}

}  // namespace

RecordingSelection read_job_selection(const rigcal::v1::JobRecording& recording) {
  RecordingSelection selection;
  if (recording.has_from_s()) selection.from = recording.from_s();
  if (recording.has_to_s()) selection.to = recording.to_s();
  selection.segments.assign(recording.segments().begin(), recording.segments().end());
  if (!(selection.from < selection.to)) {
    throw proto::InputError("session \"" + recording.session_id() +
                            "\": from_s must be less than to_s");
  }
  return selection;
}

std::vector<int> parse_segment_list(const std::string& text) {
  std::vector<int> indices;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t dash = item.find('-');
    const int first = parse_index(item.substr(0, dash), text);
    const int last = dash == std::string::npos ? first : parse_index(item.substr(dash + 1), text);
    for (int index = first; index <= last; ++index) indices.push_back(index);
  }
  if (indices.empty()) parse_index("", text);
  return indices;
}

std::vector<UsedSegment> keep_selected_part(const RecordingSelection& selection,
                                            ImportedRecording& imported) {
  std::vector<estimator::Segment>& segments = imported.recording.segments;
  const std::string& file = imported.summary.file;
  for (const int index : selection.segments) {
    if (index < static_cast<int>(segments.size())) continue;
    throw proto::InputError(file + ": has no segment " + std::to_string(index) +
                            "; its segments are 0 to " + std::to_string(segments.size() - 1) +
                            " (rigcal info lists them)");
  }
  std::vector<UsedSegment> uses;
  std::vector<estimator::Segment> kept;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    UsedSegment use;
    use.index = static_cast<int>(i);
    use.start = segments[i].start;
    use.end = segments[i].start + segments[i].duration();
    const bool wanted = selection.segments.empty() ||
                        std::find(selection.segments.begin(), selection.segments.end(),
                                  use.index) != selection.segments.end();
    if (wanted) {
      estimator::Segment part = crop(segments[i], selection.from, selection.to);
      if (part.sample_count() >= kSegmentSamplesMin) {
        use.samples = part.sample_count();
        kept.push_back(std::move(part));
      }
    }
    uses.push_back(use);
  }
  if (kept.empty()) {
    throw proto::InputError(file + ": no segment has " + std::to_string(kSegmentSamplesMin) +
                            " samples in the selected part; the recording runs from " +
                            format_number(uses.front().start, 6) + " s to " +
                            format_number(uses.back().end, 6) +
                            " s: widen --from, --to or --segments");
  }
  segments = std::move(kept);
  return uses;
}

std::vector<estimator::Recording> cut_into_parts(
    const std::vector<estimator::Recording>& recordings, const std::vector<UsedRecording>& uses,
    const HeldOutPartOptions& cut) {
  const bool inside_segments = cut.count > 0 || cut.length > 0.0;
  std::vector<estimator::Recording> parts;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const estimator::Recording& recording = recordings[i];
    if (!inside_segments && cut.kind == HeldOutPartKind::kRecording) {
      parts.push_back(recording);
      continue;
    }
    for (const estimator::Segment& segment : recording.segments) {
      const std::string name = segment_name(recording, uses[i], segment);
      if (inside_segments) {
        cut_segment(name, segment, cut, parts);
      } else {
        parts.push_back({name, {segment}});
      }
    }
  }
  if (parts.size() < 2) refuse_few(recordings, cut);
  if (parts.size() > kPartsMax) {
    throw proto::InputError("there would be " + std::to_string(parts.size()) +
                            " parts; reduce them to at most " + std::to_string(kPartsMax));
  }
  return parts;
}

std::vector<estimator::Recording> cut_into_windows(
    const std::vector<estimator::Recording>& recordings, double length) {
  if (length == 0.0) return recordings;
  HeldOutPartOptions cut;
  cut.length = length;
  std::vector<estimator::Recording> result;
  for (const estimator::Recording& recording : recordings) {
    std::vector<estimator::Recording> windows;
    for (const estimator::Segment& segment : recording.segments) {
      cut_segment(recording.name, segment, cut, windows);
    }
    result.push_back({recording.name, {}});
    for (estimator::Recording& window : windows) {
      result.back().segments.push_back(std::move(window.segments.front()));
    }
  }
  return result;
}

std::vector<std::string> remove_common_folders(const std::vector<std::string>& names) {
  if (names.empty()) return names;
  std::size_t shared = names.front().size();
  for (const std::string& name : names) {
    const auto end =
        std::mismatch(name.begin(), name.end(), names.front().begin(), names.front().end());
    shared = std::min(shared, static_cast<std::size_t>(end.first - name.begin()));
  }
  // Go back to the end of the last complete folder.
  const std::size_t slash = shared == 0 ? std::string::npos : names.front().rfind('/', shared - 1);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(name.substr(begin));
  return result;
}

}  // namespace service
