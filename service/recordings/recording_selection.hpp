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

/// Part of a recording to use. By default it is the whole recording.
struct Selection {
  double from = -std::numeric_limits<double>::infinity();  ///< start time [s]
  double to = std::numeric_limits<double>::infinity();     ///< end time [s]
  std::vector<int> segments;  ///< indices from 0; if empty, all segments
};

/// Segment of a recording, with the number of samples that a calibration uses.
struct SegmentUse {
  int index = 0;       ///< segment index in the file, from 0
  double start = 0.0;  ///< start time of the segment [s]
  double end = 0.0;    ///< end time of the segment [s]
  int samples = 0;     ///< number of used samples
};

/// Import summary, used segments and file digest of a recording that a calibration uses.
struct RecordingUse {
  ImportSummary summary;
  std::vector<SegmentUse> segments;
  FileDigest mark = {};
};

/// Returns the part of a recording that a service job uses.
/// @throws proto::InputError if the end is before the start
Selection selection_of(const rigcal::v1::JobRecording& recording);

/// Parses a list of segment numbers and ranges. For example, "0,2-4" gives {0, 2, 3, 4}.
/// @throws InputError for any other format
std::vector<int> parse_segment_list(const std::string& text);

/// Removes everything except the selected part from the recording. Returns for each segment how
/// many samples are used.
/// @throws InputError if a segment does not exist or nothing is left
std::vector<SegmentUse> select_part(const Selection& selection, ImportedRecording& imported);

/// Unit of data that a cross-validation holds out in one fold.
enum class PieceKind {
  kRecording,  ///< a whole recording with all its segments
  kSegment,    ///< one segment of a recording
};

/// Options for cutting recordings into pieces for cross-validation. At most one of `count` and
/// `length` is set.
struct PieceOptions {
  PieceKind kind = PieceKind::kRecording;
  int count = 0;        ///< number of equally long pieces per segment; 0 does not cut
  double length = 0.0;  ///< length of the pieces [s]; 0 does not cut
};

/// Cuts recordings into pieces for cross-validation. A piece is a recording whose name gives its
/// origin, e.g. "run.csv", "run.csv segment 2" or "run.csv 5 s to 10 s". For a given piece length,
/// the number of pieces per segment is rounded. The last piece of a segment has the remaining rows.
///
/// @param uses  used segments of each recording, for the segment numbers in the names
/// @throws proto::InputError for fewer than two pieces, or a piece with too few samples
std::vector<estimator::Recording> cut_pieces(const std::vector<estimator::Recording>& recordings,
                                             const std::vector<RecordingUse>& uses,
                                             const PieceOptions& cut);

/// Cuts every segment into shorter segments of equal length. The last one has the remaining rows. A
/// segment shorter than `length` stays whole.
/// @param length  length of the new segments [s]; 0 does not cut
/// @throws proto::InputError for a new segment with too few samples
std::vector<estimator::Recording> cut_windows(const std::vector<estimator::Recording>& recordings,
                                              double length);

/// Returns file names without the folders that are common to all of them.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace service
