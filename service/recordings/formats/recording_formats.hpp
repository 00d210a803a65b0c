#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/rig/rig_file.hpp"

namespace proto {
class ArrayFile;
}

namespace service {

// The import functions throw proto::InputError with the file, the location in the file and a
// remedy.

// Import of files written by `rigcal export`, equivalent to the original recording: signs and zeros
// are applied already; gaps, clock and release are kept. The rig file's recording { } is not used.

/// Returns whether a CSV file was written by `rigcal export`, judged by its column names. Older
/// exports without the last two columns are accepted.
bool is_exported_csv(const std::vector<std::string>& header);

/// Imports CSV text that `rigcal export` wrote.
ImportedRecording import_exported_csv(const std::string& path, std::string_view text,
                                      const Rig& rig);

/// Returns whether a MAT file was written by `rigcal export`, judged by its variables.
bool is_exported_mat(const proto::ArrayFile& file);

/// Imports a MAT file that `rigcal export` wrote.
ImportedRecording import_exported_mat(const std::string& path, const proto::ArrayFile& file,
                                      const Rig& rig);

/// Imports a recording from a file that proto::open_array_file reads: MAT, HDF5 or NumPy. The file
/// is from `rigcal export`, or its arrays have the column names in the rig file's recording { }.
/// The column names "theta(:,2)" and "theta(2)" mean the second column of the matrix theta, and
/// "theta(2,:)" its second row.
ImportedRecording import_arrays(const std::string& path, const Rig& rig,
                                const TimeWindow& window = {});

/// Returns the signals in the arrays of a MAT, HDF5 or NumPy file as columns. Arrays of another
/// length than most signals are listed only.
RecordingColumns read_array_columns(const std::string& path);

/// Returns a message on a file of another program: what it is and how to convert it. Returns an
/// empty text if it can be a recording.
/// @param begin  first bytes of the file
std::string describe_foreign_file(const std::string& path, std::string_view begin);

/// Returns whether a file name ends in ".mcap" (finished recording of rigcal-daq) or ".mcap.part"
/// (interrupted recording).
bool has_mcap_extension(const std::string& path);

/// Stores in the import summary how many rows were left out because the rig was held by hand, and
/// adds a note.
void report_rows_before_release(int rows_before_release, ImportSummary& summary);

/// Imports an MCAP recording of rigcal-daq. Channels and motors are matched to the joints of the
/// rig by name. Damaged samples are left out and counted in the notes.
ImportedRecording import_daq_mcap(const std::string& path, const Rig& rig);

/// Imports a recording of rigcal-daq whose samples are in memory. Commands of a tripped unit are
/// zero. A trip ends the recording, unless the unit was tripped from the first sample on.
/// @param path       name of the recording for messages
/// @param release_s  time at which the rig was released by hand [s], see find_release_time
ImportedRecording import_daq_samples(const std::string& path, proto::Recording recording,
                                     double release_s, const Rig& rig);

/// Imports a recording from the joint states of a ROS 2 bag. Times are header stamps relative to
/// the first stamp. Messages that are out of order are sorted by their time stamps.
///
/// Columns of the rig file's recording { } name joints of the bag, e.g. "elbow" or
/// "elbow.position", with unit, sign and offset. Otherwise joints are matched to encoders by name.
/// The control of a motor is the column in control { }, e.g. "elbow.effort". Without control { },
/// the control is the effort of the motor's joint, if the control unit is a torque or force.
/// @param topic  topic to read; empty: the topic in the rig file, or all topics of the bag, which
///               must then have different joints
ImportedRecording import_joint_states(const std::string& path, const Rig& rig,
                                      const std::string& topic);

/// Returns the joint states of a ROS 2 bag as columns with names such as "header.stamp" (first
/// column), "elbow" or "elbow.effort".
/// @param topic  topic to read; empty: all topics of the bag, which must have different joints
std::vector<NamedColumn> read_joint_state_columns(const std::string& path,
                                                  const std::string& topic);

/// Returns whether a CSV file contains states estimated by `rigcal estimate`, judged by its header.
bool is_estimated_state_csv(const std::vector<std::string>& header);

/// Imports a CSV file of `rigcal estimate` as a recording of estimated joint positions and
/// controls. Each original recording gives at least one segment.
ImportedRecording import_estimated_states_csv(const std::string& path, std::string_view text,
                                              const Rig& rig);

/// Returns whether a CSV file was written by `rigcal-sim --truth`, judged by its header.
bool is_true_motion_csv(const std::vector<std::string>& header);

/// Imports the exact motion of a simulated rig from a CSV file of `rigcal-sim --truth`. Rows in
/// which the rig is held by hand are left out. Joints must be in the order of the rig file.
ImportedRecording import_true_motion_csv(const std::string& path, std::string_view text,
                                         const Rig& rig);

/// Imports an MCAP file of `rigcal estimate` as a recording of estimated joint positions and
/// controls.
ImportedRecording import_estimated_states_mcap(const std::string& path, const Rig& rig);

}  // namespace service
