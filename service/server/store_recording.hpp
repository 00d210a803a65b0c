#pragma once

#include <cstdint>
#include <string>

#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace service {

/// What is to be known about a closed session's log to store it.
struct StoreOrder {
  std::uint64_t batch_count = 0;  ///< that the session was closed with
  bool interrupted = false;       ///< nobody declared the end of the run
  bool last_try = false;          ///< better a recording with damage than none
};

/// What a stored recording holds.
struct StoredRecording {
  std::uint64_t sample_count = 0;
  std::uint64_t size_bytes = 0;
  std::string problem;  ///< what it lacks, for people; empty where it lacks nothing
};

/// Writes a closed session's log as a recording, reads it back, and deletes the log. A crash at any
/// point leaves enough for the next call to finish. The log is read and the recording written and
/// read once, so the call takes as long as the session is large.
///
/// What the disk has damaged, and what RecordingRules do not allow, is left out: the recording says
/// so in an event, the result in `problem`, and the log is kept. An ending that nobody declared is
/// an event, too.
///
/// @param folder  of the session: spool/ and recording.mcap
/// @param header  hinges, epoch and facts of the session
/// @return kDiskFull if another try can only succeed with more space; other errors may pass
proto::Result<StoredRecording> store_recording(const std::string& folder,
                                               const proto::RecordingHeader& header,
                                               const StoreOrder& order);

}  // namespace service
