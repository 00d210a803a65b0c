#pragma once

#include <string>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Imports an MCAP file of `rigcal estimate` as a recording of the estimated joint positions and
/// the controls.
/// @throws proto::InputError naming the file and the remedy
ImportedRecording import_state_mcap(const std::string& path, const Rig& rig);

}  // namespace service
