#pragma once

#include <limits>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/file_digest.hpp"

namespace rigcal::v1 {
class JobRecording;
}  // namespace rigcal::v1

namespace service {

/// Part of a recording to use: a topic of a bag, a time interval and segments. The default is the
/// whole recording.
struct RecordingSelection {
  double from = -std::numeric_limits<double>::infinity();  ///< start time [s]
  double to = std::numeric_limits<double>::infinity();     ///< end time [s]
  std::vector<int> segments;  ///< indices from 0; if empty, all segments
  std::string topic = {};     ///< topic of a ROS 2 bag; if empty, see import_recording

  /// Returns the time interval outside of which rows need not be read. Segments are numbered in the
  /// whole recording.
  TimeWindow window() const { return segments.empty() ? TimeWindow{from, to} : TimeWindow{}; }
};

/// Segment of a recording from which a calibration uses at least a part.
struct UsedSegment {
  int index = 0;       ///< segment index in the file, from 0
  double start = 0.0;  ///< start time of the segment [s]
  double end = 0.0;    ///< end time of the segment [s]
  int samples = 0;     ///< number of used samples
};

/// Recording that a calibration uses: import summary, used segments and file checksum.
struct UsedRecording {
  ImportSummary summary;
  std::vector<UsedSegment> segments;
  FileDigest mark = {};
};

/// Reads which part of a recording a service job uses.
/// @throws proto::InputError if the end is before the start
RecordingSelection read_job_selection(const rigcal::v1::JobRecording& recording);

/// Parses a list of segment numbers and ranges, e.g. "0,2-4" for {0, 2, 3, 4}.
std::vector<int> parse_segment_list(const std::string& text);

/// Removes the samples outside the selected part from a recording. Returns the used segments with
/// their numbers of samples.
/// @throws InputError if a segment does not exist or nothing is left
std::vector<UsedSegment> keep_selected_part(const RecordingSelection& selection,
                                            ImportedRecording& imported);

/// Kind of part of the recordings that a cross-validation holds out in one fold.
enum class HeldOutPartKind {
  kRecording,  ///< a whole recording with all its segments
  kSegment,    ///< one segment of a recording
};

/// Options for cutting recordings into parts for a cross-validation. At most one of `count` and
/// `length` is set.
struct HeldOutPartOptions {
  HeldOutPartKind kind = HeldOutPartKind::kRecording;
  int count = 0;        ///< number of equally long parts per segment; 0 does not cut
  double length = 0.0;  ///< length of the parts [s]; 0 does not cut
};

/// Cuts recordings into parts for a cross-validation. A part is a recording with a name such as
/// "run.csv", "run.csv segment 2" or "run.csv 5 s to 10 s". A requested length determines the
/// number of parts per segment, which is rounded. The last part of a segment has the remaining
/// rows.
/// @param uses  used segments of each recording, for the segment numbers in the names
/// @throws proto::InputError for fewer than two parts, or a part with too few samples
std::vector<estimator::Recording> cut_into_parts(
    const std::vector<estimator::Recording>& recordings, const std::vector<UsedRecording>& uses,
    const HeldOutPartOptions& cut);

/// Cuts every segment of the recordings into windows of equal length. The last window of a segment
/// has the remaining rows. A segment shorter than `length` stays whole.
/// @param length  length of the new segments [s]; 0 does not cut
/// @throws proto::InputError for a new segment with too few samples
std::vector<estimator::Recording> cut_into_windows(
    const std::vector<estimator::Recording>& recordings, double length);

/// Returns file paths without the leading folders that all of them have in common.
std::vector<std::string> remove_common_folders(const std::vector<std::string>& names);

}  // namespace service
