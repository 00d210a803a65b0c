#pragma once

#include <string>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Imports states that `rigcal estimate` wrote as MCAP, as import_state_csv does.
/// @throws proto::InputError with the file and the remedy
ImportedRecording import_state_mcap(const std::string& path, const Rig& rig);

}  // namespace service
