#pragma once

#include <string>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Imports a MAT file (version 4, 5 or 7.3). `rigcal export` must have written it, or its variables
/// must have the column names in the rig file's recording { }. The column name "theta(2)" means the
/// second column of the matrix theta.
/// @throws proto::InputError naming file and variable
ImportedRecording import_mat(const std::string& path, const Rig& rig);

/// Imports an HDF5 file. Its data sets must have the column names in the rig file's recording { };
/// see proto::Hdf5File.
/// @throws proto::InputError naming file and data set
ImportedRecording import_hdf5(const std::string& path, const Rig& rig);

}  // namespace service
