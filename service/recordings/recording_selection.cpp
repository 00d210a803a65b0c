#include "service/recordings/recording_selection.hpp"

#include <algorithm>
#include <charconv>

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
  const int first = std::max(0, segment.first_sample_from(since_start(from)));
  const double last_time = since_start(to) + slack;
  int end = std::max(0, segment.first_sample_from(last_time));
  if (end < segment.sample_count() && segment.time(end) <= last_time) ++end;
  return rows_of(segment, std::min(first, end), std::max(0, end - first));
}

}  // namespace

Selection selection_of(const rigcal::v1::JobRecording& recording) {
  Selection selection;
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

std::vector<SegmentUse> select_part(const Selection& selection, ImportedRecording& imported) {
  std::vector<estimator::Segment>& segments = imported.recording.segments;
  const std::string& file = imported.summary.file;
  for (const int index : selection.segments) {
    if (index < static_cast<int>(segments.size())) continue;
    throw proto::InputError(file + ": has no segment " + std::to_string(index) +
                            "; its segments are 0 to " + std::to_string(segments.size() - 1) +
                            " (rigcal info lists them)");
  }
  std::vector<SegmentUse> uses;
  std::vector<estimator::Segment> kept;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SegmentUse use;
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

}  // namespace service
