#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/result.hpp"
#include "proto/stream/spool.hpp"
#include "service/server/batch_check.hpp"

namespace service {

/// The batches of an open session on disk. For its storage thread only.
class SessionLog {
 public:
  /// Opens the log in `folder`, making it if needed, and reads its batches. They are durable, even
  /// if the process that wrote them crashed.
  /// @return kDamaged if an acknowledged batch is missing or is invalid in a recording
  static proto::Result<SessionLog> open(const std::string& folder,
                                        const proto::RecordingShape& shape,
                                        std::uint64_t size_bytes_max);

  /// Appends serialized batches in the order of their numbers and makes them durable. After an
  /// error some of them may be stored; through() returns the last one. If the disk has failed,
  /// nothing more is stored until the log is opened again.
  proto::Status commit(const std::vector<std::string>& batches);

  /// Whether the stored batch `sequence` is identical to `batch`. It must be durable.
  proto::Result<bool> holds(std::uint64_t sequence, const std::string& batch);

  std::uint64_t last_durable() const {
    return last_durable_;
  }  ///< number of the last durable batch
  std::uint64_t sample_count() const { return sample_count_; }  ///< found by open()
  std::uint64_t size_bytes() const { return spool_.size_bytes(); }
  const BatchCheck& check() const { return check_; }  ///< after the batches found by open()

 private:
  SessionLog(proto::Spool spool, const proto::RecordingShape& shape)
      : spool_(std::move(spool)), check_(shape) {}

  proto::Spool spool_;
  BatchCheck check_;
  std::uint64_t last_durable_ = 0;
  std::uint64_t sample_count_ = 0;
};

/// Folder of a session's batches.
std::string log_folder(const std::string& session_folder);

/// File size at which the log starts another file [byte].
inline constexpr std::uint64_t kLogFileSize = 16u << 20;

/// Reads batch `sequence` of a log. @return kDamaged if it is missing or damaged
proto::Result<rigcal::v1::SampleBatch> read_batch(proto::Spool& spool, std::uint64_t sequence);

}  // namespace service
