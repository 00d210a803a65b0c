#pragma once

#include <vector>

#include "service/recordings/csv_recording.hpp"
#include "service/recordings/file_digest.hpp"
#include "service/recordings/recording_selection.hpp"

namespace service {

/// Import summary, used segments and file digest of a recording that a calibration uses.
struct RecordingUse {
  ImportSummary summary;
  std::vector<SegmentUse> segments;
  FileDigest mark = {};
};

}  // namespace service
