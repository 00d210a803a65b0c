#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace proto {
class MatFile;
}

namespace service {

// Import of files written by `rigcal export`, equivalent to the original recording: signs and zeros
// are applied already; gaps, clock and release are kept. The rig file's recording { } is not used.

/// Checks whether the header of a CSV file is that of a file written by `rigcal export`. Older
/// exports without the last two columns are accepted.
bool is_exported_csv(const std::vector<std::string>& header);

/// Imports CSV text that `rigcal export` wrote.
/// @throws proto::InputError naming file and line
ImportedRecording import_exported_csv(const std::string& path, std::string_view text,
                                      const Rig& rig);

/// Checks whether a MAT file has the variables of a file written by `rigcal export`.
bool is_exported_mat(const proto::MatFile& file);

/// Imports a MAT file that `rigcal export` wrote.
/// @throws proto::InputError naming file and variable
ImportedRecording import_exported_mat(const std::string& path, const proto::MatFile& file,
                                      const Rig& rig);

}  // namespace service
