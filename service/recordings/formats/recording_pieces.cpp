#include "service/recordings/formats/recording_pieces.hpp"

#include <algorithm>
#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kPiecesMax = 1000;  // each needs one calibration

int piece_count(const estimator::Segment& segment, const PieceOptions& cut) {
  if (cut.count > 0) return cut.count;
  const double duration = segment.duration() + segment.period;
  return std::max(1, static_cast<int>(std::lround(std::min(duration / cut.length, 1e6))));
}

void cut_segment(const std::string& name, const estimator::Segment& segment,
                 const PieceOptions& cut, std::vector<estimator::Recording>& pieces) {
  const int count = piece_count(segment, cut);
  const int rows = segment.sample_count();
  const auto first_of = [&](int piece) {
    if (piece == count) return rows;
    return cut.length > 0.0 ? segment.first_sample_from(piece * cut.length)
                            : piece * (rows / count);
  };
  for (int i = 0; i < count; ++i) {
    const int first = first_of(i), samples = first_of(i + 1) - first;
    if (samples < kSegmentSamplesMin) {
      throw proto::InputError(name + ": a piece would have only " + std::to_string(samples) +
                              " samples, fewer than " + std::to_string(kSegmentSamplesMin) +
                              ". Use fewer or longer pieces");
    }
    const estimator::Segment part = rows_of(segment, first, samples);
    const double end = part.start + part.duration();
    pieces.push_back(
        {name + " " + format_number(part.start, 6) + " s to " + format_number(end, 6) + " s",
         {part}});
  }
}

/// Returns the name of a piece of a recording, e.g. "run.csv". It includes the segment number if
/// the file has several segments, and the start time if the segment was split later.
std::string segment_name(const estimator::Recording& recording, const RecordingUse& use,
                         const estimator::Segment& segment) {
  const auto holds = [](const SegmentUse& whole, const estimator::Segment& part) {
    const double slack = 0.5 * part.period;
    return whole.samples > 0 && part.start > whole.start - slack && part.start < whole.end + slack;
  };
  std::string name = recording.name;
  for (const SegmentUse& whole : use.segments) {
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
                             const PieceOptions& cut) {
  std::string what = recordings.front().name + ": cross-validation needs at least two pieces";
  what +=
      cut.kind == PieceKind::kRecording ? ". Give several recordings, --by segment, or" : ". Give";
  throw proto::InputError(what + " --pieces N or --piece-length S");
}

}  // namespace

std::vector<estimator::Recording> cut_pieces(const std::vector<estimator::Recording>& recordings,
                                             const std::vector<RecordingUse>& uses,
                                             const PieceOptions& cut) {
  const bool inside_segments = cut.count > 0 || cut.length > 0.0;
  std::vector<estimator::Recording> pieces;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const estimator::Recording& recording = recordings[i];
    if (!inside_segments && cut.kind == PieceKind::kRecording) {
      pieces.push_back(recording);
      continue;
    }
    for (const estimator::Segment& segment : recording.segments) {
      const std::string name = segment_name(recording, uses[i], segment);
      if (inside_segments) {
        cut_segment(name, segment, cut, pieces);
      } else {
        pieces.push_back({name, {segment}});
      }
    }
  }
  if (pieces.size() < 2) refuse_few(recordings, cut);
  if (pieces.size() > kPiecesMax) {
    throw proto::InputError("there would be " + std::to_string(pieces.size()) +
                            " pieces; ask for at most " + std::to_string(kPiecesMax));
  }
  return pieces;
}

std::vector<estimator::Recording> cut_windows(const std::vector<estimator::Recording>& recordings,
                                              double length) {
  if (length == 0.0) return recordings;
  PieceOptions cut;
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

std::vector<std::string> short_names(const std::vector<std::string>& names) {
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
