#pragma once

#include <string>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Reads a MAT file (version 4, 5 or 7.3): one that rigcal export wrote, or one whose variables are
/// called as the columns of the rig file's recording { }. "theta(2)" is the second column of a
/// matrix.
/// @throws proto::InputError naming file and variable
ImportedRecording import_mat(const std::string& path, const Rig& rig);

}  // namespace service
