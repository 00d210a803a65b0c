#pragma once

#include <string>
#include <vector>

#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"

namespace daq {

/// Largest number of messages in a batch. A sample takes about 100 bytes, so a batch stays far
/// below its size limit even if the supervisor finds a full ring.
inline constexpr int kBatchMessagesMax = 500;

/// Data of a run for the service, in a folder beside its recording: the session, and the batches
/// that the service does not have yet. It outlives the process.
struct SpoolFolder {
  proto::Spool spool;
  proto::StreamSession session;
  bool ended = false;  ///< the end of the run was recorded
};

/// Creates a folder that only its owner can access, because it contains the session's secret. The
/// secret is created if `session` has none. @return kExists, without changes, if the name is taken
proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session);

/// Marks the run of a spool folder as ended, for a process that sends the remaining data later.
proto::Status mark_ended(const std::string& folder);

/// Opens the spool folder of an earlier process. If an older release of rigcal wrote it without a
/// session secret, a secret is added and the run counts as ended.
/// @return kNotFound if it is not a spool folder
proto::Result<SpoolFolder> open_spool_folder(const std::string& folder);

/// Removes a spool folder once the service has everything; no process may have it open. Ignores
/// errors, as no data are lost by them.
void remove_spool_folder(const std::string& folder);

/// Result of completing another process's spool from the recording beside it.
struct SpoolCompletion {
  bool ended = false;              ///< the end of the run was recorded
  std::vector<std::string> notes;  ///< sentences for people
};

/// Appends to the spool all messages that only the recording has, so that the service gets them. If
/// the recording process died, either of them may lack up to a quarter of a second of data that the
/// other has. Differences that cannot be resolved are reported in `notes`.
///
/// The recording of a spool RECORDING.spool is RECORDING, RECORDING.part or the output of `rigcal
/// recover`. The recording is only read.
proto::Result<SpoolCompletion> append_rest(const std::string& spool_folder, SpoolFolder& folder);

}  // namespace daq
