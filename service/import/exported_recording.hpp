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

// Import of files written by `rigcal export`, equivalent to the original recording: signs and zeros
// are applied already; gaps, clock and release are kept. The rig file's recording { } is not used.

/// Whether a CSV file has the columns of proto/recording/export_csv.hpp. Older exports, without the
/// last two columns, count too.
bool is_exported_csv(const std::vector<std::string>& header);

/// @throws proto::InputError with file and line
ImportedRecording import_exported_csv(const std::string& path, std::string_view text,
                                      const Rig& rig);

/// Whether a MAT file has the variables of proto/recording/export_mat.hpp.
bool is_exported_mat(const proto::MatFile& file);

/// @throws proto::InputError with file and variable
ImportedRecording import_exported_mat(const std::string& path, const proto::MatFile& file,
                                      const Rig& rig);

}  // namespace service
