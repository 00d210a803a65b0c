#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// True for the names of rigcal-daq's recordings, finished (".mcap") or cut off (".mcap.part").
bool is_mcap(const std::string& path);

/// Counts and tells the rows that are left out since a hand held the rig.
void note_released(int held_rows, ImportSummary& summary);

/// Reads a recording of rigcal-daq into gap-free segments [rad, unit of the control]. Channels and
/// motors are found by the names of their joints; damaged samples are left out and counted in the
/// notes.
/// @throws InputError naming the file, for a file that cannot be read, a joint or a motor it does
/// not
///         hold, or a recording too short
ImportedRecording import_mcap(const std::string& path, const Rig& rig);

/// The same of what was read from elsewhere.
/// @param release_s  when a hand let the rig go, as find_release tells
/// (proto/recording/release.hpp)
ImportedRecording import_samples(const std::string& path, const proto::Recording& recording,
                                 double release_s, const Rig& rig);

}  // namespace service
