#pragma once

#include <limits>
#include <string>
#include <vector>

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

}  // namespace service
