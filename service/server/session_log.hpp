#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"
#include "proto/stream/spool.hpp"
#include "service/server/batch_check.hpp"

namespace service {

/// The batches of a session that is being recorded, on disk. For the one thread that stores them.
class SessionLog {
 public:
  /// Opens the log in `folder`, made if it does not exist, and reads what it holds. That is
  /// durable, whatever happened to the process that wrote it.
  /// @return an error also for a batch that is damaged: what was acknowledged is not there any more
  static proto::Result<SessionLog> open(const std::string& folder, std::size_t hinge_count,
                                        std::uint64_t size_bytes_max);

  /// Stores batches, serialized with their numbers, behind the last one and makes them durable.
  /// After an error the first of them may be stored; through() tells how many. Where the disk has
  /// failed, nothing more is stored until the log is opened again.
  proto::Status commit(const std::vector<std::string>& batches);

  std::uint64_t through() const { return through_; }            ///< last batch that is durable
  std::uint64_t sample_count() const { return sample_count_; }  ///< found by open()
  std::uint64_t size_bytes() const { return spool_.size_bytes(); }
  const BatchCheck& check() const { return check_; }  ///< having seen what open() found

 private:
  SessionLog(proto::Spool spool, std::size_t hinge_count)
      : spool_(std::move(spool)), check_(hinge_count) {}

  proto::Spool spool_;
  BatchCheck check_;
  std::uint64_t through_ = 0;
  std::uint64_t sample_count_ = 0;
};

/// What a stored recording holds.
struct StoredRecording {
  std::uint64_t sample_count = 0;
  std::uint64_t size_bytes = 0;
};

/// Writes a closed session's log as a recording, reads it back, and deletes the log. A crash at any
/// point leaves enough for the next call to finish.
/// @param folder       of the session: spool/ and recording.mcap
/// @param header       hinges, epoch and facts of the session
/// @param batch_count  that the session was closed with
proto::Result<StoredRecording> store_recording(const std::string& folder,
                                               const proto::RecordingHeader& header,
                                               std::uint64_t batch_count);

std::string log_folder(const std::string& session_folder);

}  // namespace service
