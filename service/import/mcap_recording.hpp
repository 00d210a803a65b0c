#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "service/import/csv_recording.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Whether a file name is that of a rigcal-daq recording, finished (".mcap") or cut off
/// (".mcap.part").
bool is_mcap(const std::string& path);

/// Stores the number of rows left out because the rig was held by hand, with a note.
void note_rows_before_release(int rows_before_release, ImportSummary& summary);

/// Imports a recording of rigcal-daq into segments [rad, unit of the control]. Channels and motors
/// are matched by joint names; damaged samples are left out and counted in the notes.
/// @throws InputError for an unreadable or too short file, or a joint or motor that it lacks
ImportedRecording import_mcap(const std::string& path, const Rig& rig);

/// The same for samples read from another source.
/// @param release_s  time at which the rig was released by hand, see find_release
ImportedRecording import_samples(const std::string& path, const proto::Recording& recording,
                                 double release_s, const Rig& rig);

}  // namespace service
