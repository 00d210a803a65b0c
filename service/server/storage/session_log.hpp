#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_rules.hpp"
#include "proto/result.hpp"
#include "proto/service.pb.h"
#include "proto/stream.pb.h"
#include "proto/stream/spool.hpp"

namespace service {

/// Maximum number of sample batches in one session: more than two days at ten batches a second. The
/// memory that the service needs per batch is small compared with the batch's samples on disk.
inline constexpr std::uint64_t kBatchCountMax = std::uint64_t{1} << 21;

/// Metadata of a session: a value for each key.
using SessionMetadata = google::protobuf::Map<std::string, std::string>;

/// Reads the names of joints, sensors and motors from the metadata of a session.
/// @return nullopt if the names are not valid in a recording
std::optional<proto::RecordingHeader> parse_joint_and_sensor_names(const SessionMetadata& metadata);

/// Returns an upper bound for the size that a batch of samples takes in a recording file [byte].
/// The file stores each message of the batch as a separate record, so a batch of small messages
/// takes many times its own size.
std::uint64_t recorded_size_bytes(const rigcal::v1::SampleBatch& batch);

/// Validator of the sample batches of one session. Checks the rules for recordings, so that the
/// service can store every batch that it acknowledged.
class BatchValidator {
 public:
  explicit BatchValidator(const proto::RecordingShape& shape) : rules_(shape) {}

  /// Returns nullopt and counts the batch's samples if the batch is valid; otherwise returns the
  /// reason for rejecting it.
  std::optional<std::string> validate_and_add(const rigcal::v1::SampleBatch& batch);

  /// Returns the sum of recorded_size_bytes() over all accepted batches [byte].
  std::uint64_t recorded_bytes() const { return recorded_bytes_; }

 private:
  proto::RecordingRules rules_;
  std::uint64_t recorded_bytes_ = 0;
};

/// Log on disk that contains the sample batches of an open session. Used on the session's storage
/// thread only.
class SessionLog {
 public:
  /// Opens the log in `folder`, or creates it, and reads its batches. All batches in an opened log
  /// are durable, even if the process that wrote them crashed.
  /// @return error kDamaged if an acknowledged batch is missing or violates the rules for
  /// recordings
  static proto::Result<SessionLog> open(const std::string& folder,
                                        const proto::RecordingShape& shape,
                                        std::uint64_t size_bytes_max);

  /// Appends serialized batches in the order of their numbers and makes them durable. If this
  /// fails, some of the batches may be durable; last_durable_batch() gives the last of them. If the
  /// disk has failed, the log stores no more batches until it is opened again.
  proto::Status append_durably(const std::vector<std::string>& batches);

  /// Returns whether the stored batch with number `sequence` is identical to `batch`. The stored
  /// batch must be durable.
  proto::Result<bool> holds(std::uint64_t sequence, const std::string& batch);

  /// Returns the stored batch with number `sequence`; an error if the disk has lost it.
  proto::Result<std::string> read(std::uint64_t sequence);

  /// Returns the number of the last durable batch.
  std::uint64_t last_durable_batch() const { return last_durable_; }
  /// Returns the number of samples that open() found in the log.
  std::uint64_t sample_count() const { return sample_count_; }
  std::uint64_t size_bytes() const { return spool_.size_bytes(); }
  /// Returns the validator. It has already checked the batches that open() found.
  const BatchValidator& check() const { return check_; }

 private:
  SessionLog(proto::Spool spool, const proto::RecordingShape& shape)
      : spool_{std::move(spool)}, check_{shape} {}

  proto::Spool spool_;
  BatchValidator check_;
  std::uint64_t last_durable_ = 0;
  std::uint64_t sample_count_ = 0;
};

/// Name of the file in a session's folder that contains the SessionRecord (proto/service.proto).
inline constexpr const char* kSessionRecordFile = "session.textproto";
/// Rig file in the folder of a session, as the rig computer sent it.
inline constexpr const char* kSessionRigFile = "rig.textproto";

/// Returns the record of a streamed session.
rigcal::v1::SessionRecord make_session_record(const rigcal::v1::SessionInfo& info,
                                              const std::string& secret);

/// Writes the record of a streamed session durably into the session's folder.
proto::Status save_session(const std::string& folder, const rigcal::v1::SessionInfo& info,
                           const std::string& secret);

/// Returns the folder that contains the log of a session's batches.
std::string session_log_folder(const std::string& session_folder);

/// Size at which the log continues in another file [byte].
inline constexpr std::uint64_t kLogFileSize = 16u << 20;

/// Reads the batch with number `sequence` from a log.
/// @return error kDamaged if the batch is missing or damaged
proto::Result<rigcal::v1::SampleBatch> read_batch(proto::Spool& spool, std::uint64_t sequence);

}  // namespace service
