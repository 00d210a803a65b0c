#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/result.hpp"
#include "proto/stream/spool.hpp"
#include "service/server/batch_check.hpp"

namespace service {

/// The batches of a session that is being recorded, on disk. For the one thread that stores them.
class SessionLog {
 public:
  /// Opens the log in `folder`, made if it does not exist, and reads what it holds. That is
  /// durable, whatever happened to the process that wrote it.
  /// @return kDamaged where what was acknowledged is not there any more, or cannot be in a
  /// recording
  static proto::Result<SessionLog> open(const std::string& folder,
                                        const proto::RecordingShape& shape,
                                        std::uint64_t size_bytes_max);

  /// Stores batches, serialized with their numbers, behind the last one and makes them durable.
  /// After an error the first of them may be stored; through() tells how many. Where the disk has
  /// failed, nothing more is stored until the log is opened again.
  proto::Status commit(const std::vector<std::string>& batches);

  /// Whether batch `sequence`, which is durable, is just this one.
  proto::Result<bool> holds(std::uint64_t sequence, const std::string& batch);

  std::uint64_t through() const { return through_; }            ///< last batch that is durable
  std::uint64_t sample_count() const { return sample_count_; }  ///< found by open()
  std::uint64_t size_bytes() const { return spool_.size_bytes(); }
  const BatchCheck& check() const { return check_; }  ///< having seen what open() found

 private:
  SessionLog(proto::Spool spool, const proto::RecordingShape& shape)
      : spool_(std::move(spool)), check_(shape) {}

  proto::Spool spool_;
  BatchCheck check_;
  std::uint64_t through_ = 0;
  std::uint64_t sample_count_ = 0;
};

/// Where a session's batches are.
std::string log_folder(const std::string& session_folder);

/// Size of the log's files, at which another one is begun [byte].
inline constexpr std::uint64_t kLogFileSize = 16u << 20;

/// Batch `sequence` of a log. @return kDamaged if it is not there any more
proto::Result<rigcal::v1::SampleBatch> read_batch(proto::Spool& spool, std::uint64_t sequence);

}  // namespace service
