#pragma once

#include <string>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Imports an HDF5 file. Its data sets must have the column names in the rig file's recording { };
/// see proto::Hdf5File.
/// @throws proto::InputError naming file and data set
ImportedRecording import_hdf5(const std::string& path, const Rig& rig);

}  // namespace service
