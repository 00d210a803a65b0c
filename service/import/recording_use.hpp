#pragma once

#include <vector>

#include "service/import/csv_recording.hpp"
#include "service/import/file_digest.hpp"
#include "service/import/recording_selection.hpp"

namespace service {

/// Import summary, used segments and file digest of a recording that a calibration uses.
struct RecordingUse {
  ImportSummary summary;
  std::vector<SegmentUse> segments;
  FileDigest mark = {};
};

}  // namespace service
