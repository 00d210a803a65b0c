#pragma once

#include <string>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// True for the names of rigcal-daq's recordings, finished (".mcap") or cut off (".mcap.part").
bool is_mcap(const std::string& path);

/// Reads a recording of rigcal-daq into gap-free segments [rad, unit of the control]. Channels are
/// found by the names of their hinges; what is damaged is left out and told in the notes.
/// @throws InputError naming the file, for a file that cannot be read, a hinge it does not hold, a
///         recording too short, or a rig with several motors (a recording holds one command)
ImportedRecording import_mcap(const std::string& path, const Rig& rig);

/// Reads a recording of either kind.
/// @throws InputError also when a CSV file is given and the rig file does not describe any
ImportedRecording import_recording(const std::string& path, const Rig& rig);

}  // namespace service
