#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Checks whether a CSV header is that of a state file written by `rigcal estimate`.
bool is_state_csv(const std::vector<std::string>& header);

/// Imports a state file of `rigcal estimate` as a recording of the estimated joint positions and
/// the controls. Each original recording gives at least one segment.
/// @throws proto::InputError naming file, line and column
ImportedRecording import_state_csv(const std::string& path, std::string_view text, const Rig& rig);

/// Checks whether a CSV header is that of a file written by `rigcal-sim --truth`.
bool is_truth_csv(const std::vector<std::string>& header);

/// Imports a file of `rigcal-sim --truth`, the exact motion of a simulated rig, as a recording.
/// Rows in which the rig is held by hand are left out. Joints must be in the order of the rig file.
/// @throws proto::InputError naming file, line and column
ImportedRecording import_truth_csv(const std::string& path, std::string_view text, const Rig& rig);

}  // namespace service
