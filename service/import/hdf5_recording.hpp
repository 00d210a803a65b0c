#pragma once

#include <string>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Reads an HDF5 file whose columns are called as those of the rig file's recording { }: see
/// proto::Hdf5File.
/// @throws proto::InputError naming file and data set
ImportedRecording import_hdf5(const std::string& path, const Rig& rig);

}  // namespace service
