#pragma once

#include <cstdint>
#include <string>

#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace service {

/// State of a closed session that is needed to store its recording.
struct StoreRequest {
  std::uint64_t batch_count = 0;  ///< at the closing of the session
  bool interrupted = false;       ///< the end of the run was not declared
  bool last_try = false;          ///< accept a damaged recording
};

/// Summary of a stored recording.
struct StoredRecording {
  std::uint64_t sample_count = 0;
  std::uint64_t size_bytes = 0;
  std::string problem;  ///< losses, for people; empty if complete
};

/// Writes a closed session's log as a recording, reads it back, and deletes the log. After a crash
/// at any point the next call can finish. The log is read once, the recording is written and read
/// once, so the time grows with the session's size.
///
/// Batches damaged on disk and messages that violate RecordingRules are left out. An event in the
/// recording and `problem` in the result report this, and the log is kept. An undeclared end of the
/// run is also recorded as an event.
///
/// @param folder  session folder with spool/ and recording.mcap
/// @param header  joints, epoch and facts of the session
/// @return kDiskFull if a retry needs more space; other errors may be temporary
proto::Result<StoredRecording> store_recording(const std::string& folder,
                                               const proto::RecordingHeader& header,
                                               const StoreRequest& order);

}  // namespace service
