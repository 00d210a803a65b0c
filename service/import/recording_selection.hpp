#pragma once

#include <limits>
#include <string>
#include <vector>

#include "service/import/csv_recording.hpp"

namespace service {

/// Part of a recording; by default all of it.
struct Selection {
  double from = -std::numeric_limits<double>::infinity();  ///< [s]
  double to = std::numeric_limits<double>::infinity();     ///< [s]
  std::vector<int> segments;                               ///< indices from 0; empty: all
};

/// Segment of a file and its used part.
struct SegmentUse {
  int index = 0;       ///< in the file, from 0
  double start = 0.0;  ///< [s]
  double end = 0.0;    ///< [s]
  int samples = 0;     ///< number used; 0: none
};

/// Parses "0,2-4" as {0, 2, 3, 4}. @throws InputError
std::vector<int> parse_segment_list(const std::string& text);

/// Keeps the selected part of the recording and returns the use of each segment.
/// @throws InputError if a segment does not exist or nothing is left
std::vector<SegmentUse> select_part(const Selection& selection, ImportedRecording& imported);

}  // namespace service
