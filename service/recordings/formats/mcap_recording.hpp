#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Checks whether a file name ends in ".mcap", as finished rigcal-daq recordings do, or in
/// ".mcap.part", as interrupted ones do.
bool is_mcap(const std::string& path);

/// Stores in the summary how many rows were left out because the rig was held by hand, and adds a
/// note.
void note_rows_before_release(int rows_before_release, ImportSummary& summary);

/// Imports a recording of rigcal-daq. Its channels and motors are matched to the rig by joint name.
/// Damaged samples are left out and counted in the notes.
/// @throws InputError for a file that is unreadable, too short, or lacks a joint or motor of the
/// rig
ImportedRecording import_mcap(const std::string& path, const Rig& rig);

/// Imports samples of a rigcal-daq recording that have already been read.
/// @param path       name of the recording for messages
/// @param release_s  time at which the rig was released by hand [s], see find_release
ImportedRecording import_samples(const std::string& path, const proto::Recording& recording,
                                 double release_s, const Rig& rig);

}  // namespace service
