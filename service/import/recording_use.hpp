#pragma once

#include <vector>

#include "service/import/csv_recording.hpp"
#include "service/import/file_digest.hpp"
#include "service/import/recording_selection.hpp"

namespace service {

/// Recording used in a calibration.
struct RecordingUse {
  ImportSummary summary;
  std::vector<SegmentUse> segments;
  FileDigest mark = {};
};

}  // namespace service
