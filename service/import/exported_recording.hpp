#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace proto {
class MatFile;
}

namespace service {

// What `rigcal export` wrote reads as the recording it was made of: angles with signs and zeros
// applied, gaps, clock and release as they were. The rig file's recording { } plays no part.

/// Whether a CSV file's columns are those of proto/recording/export_csv.hpp, also of a version that
/// left out the last two.
bool is_exported_csv(const std::vector<std::string>& header);

/// @throws proto::InputError naming file and line
ImportedRecording import_exported_csv(const std::string& path, std::string_view text,
                                      const Rig& rig);

/// Whether a MAT file's variables are those of proto/recording/export_mat.hpp.
bool is_exported_mat(const proto::MatFile& file);

/// @throws proto::InputError naming file and variable
ImportedRecording import_exported_mat(const std::string& path, const proto::MatFile& file,
                                      const Rig& rig);

}  // namespace service
