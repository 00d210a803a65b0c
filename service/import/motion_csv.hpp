#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Whether a header is that of states written by `rigcal estimate`.
bool is_state_csv(const std::vector<std::string>& header);

/// Imports estimated angles and their controls as a recording, with at least one segment per
/// original recording.
/// @throws proto::InputError with file, line and column
ImportedRecording import_state_csv(const std::string& path, std::string_view text, const Rig& rig);

/// Whether a header is that of `rigcal-sim --truth`.
bool is_truth_csv(const std::vector<std::string>& header);

/// Imports the exact motion of a simulated rig as a recording, without the time it was held. Joints
/// are in the rig file's order. @throws proto::InputError likewise
ImportedRecording import_truth_csv(const std::string& path, std::string_view text, const Rig& rig);

}  // namespace service
