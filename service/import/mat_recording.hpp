#pragma once

#include <string>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Imports a MAT file (version 4, 5 or 7.3), written by rigcal export or with variables named like
/// the columns of the rig file's recording { }. "theta(2)" is the second column of a matrix.
/// @throws proto::InputError with file and variable
ImportedRecording import_mat(const std::string& path, const Rig& rig);

}  // namespace service
