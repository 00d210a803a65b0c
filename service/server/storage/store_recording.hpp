#pragma once

#include <cstdint>
#include <string>

#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace service {

/// State of a closed session that determines how its recording is stored.
struct StoreRecordingRequest {
  std::uint64_t batch_count = 0;  ///< number of batches when the session was closed
  bool interrupted = false;       ///< true if the rig computer did not declare the end of the run
  bool last_try = false;          ///< true to accept a damaged recording
};

/// Summary of a stored recording.
struct StoredRecording {
  std::uint64_t sample_count = 0;
  std::uint64_t size_bytes = 0;
  std::string problem;  ///< data that were lost, for users; empty if complete
};

/// Writes the log of a closed session as a recording, verifies the recording by reading it, writes
/// its checksum, and deletes the log. After a crash at any point, another call can complete the
/// work.
///
/// The recording omits batches that are damaged on disk and messages that violate RecordingRules.
/// An event in the recording and `problem` in the result describe the omissions, and the log is
/// kept. Another event marks a run whose end was not declared.
///
/// @param folder  session folder, which contains spool/ and receives recording.mcap
/// @param header  joints, epoch and metadata of the session
/// @return error kDiskFull if a retry needs more space; other errors may be temporary
proto::Result<StoredRecording> store_recording(const std::string& folder,
                                               const proto::RecordingHeader& header,
                                               const StoreRecordingRequest& order);

}  // namespace service
