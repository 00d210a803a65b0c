#pragma once

#include <string>

#include "proto/text/files.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"

namespace service {

/// Imports a CSV file as a recording.
inline ImportedRecording import_csv(const std::string& path, const RecordingFormat& format) {
  return import_csv_text(path, proto::read_file(path, proto::kTableSizeMax), format);
}

}  // namespace service
