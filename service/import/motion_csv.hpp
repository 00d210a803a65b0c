#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Whether a header is that of the states that `rigcal estimate` writes.
bool is_state_csv(const std::vector<std::string>& header);

/// Reads estimated angles, with the controls beside them, as a recording; a recording that they
/// were estimated of is a segment at least.
/// @throws proto::InputError naming the file, line and column
ImportedRecording import_state_csv(const std::string& path, std::string_view text, const Rig& rig);

/// Whether a header is that of what `rigcal-sim --truth` writes.
bool is_truth_csv(const std::vector<std::string>& header);

/// Reads the exact motion of a simulated rig as a recording, without the time that it was held.
/// Joints are in the rig file's order. @throws proto::InputError likewise
ImportedRecording import_truth_csv(const std::string& path, std::string_view text, const Rig& rig);

}  // namespace service
