#pragma once

#include <limits>
#include <string>
#include <vector>

#include "service/import/csv_recording.hpp"

namespace service {

/// Part of a recording. The defaults take all of it.
struct Selection {
  double from = -std::numeric_limits<double>::infinity();  ///< [s]
  double to = std::numeric_limits<double>::infinity();     ///< [s]
  std::vector<int> segments;                               ///< indices from 0; empty: all
};

/// A segment of a file and how much of it was taken.
struct SegmentUse {
  int index = 0;       ///< in the file, from 0
  double start = 0.0;  ///< [s]
  double end = 0.0;    ///< [s]
  int samples = 0;     ///< taken; 0: none
};

/// "0,2-4" as {0, 2, 3, 4}. @throws InputError
std::vector<int> parse_segment_list(const std::string& text);

/// Keeps the selected part of the recording and tells what became of each segment.
/// @throws InputError when a segment does not exist or nothing is left
std::vector<SegmentUse> select_part(const Selection& selection, ImportedRecording& imported);

}  // namespace service
