#pragma once

#include <string>
#include <vector>

#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"

namespace daq {

/// Largest number of messages in a batch for the service. A sample takes about 100 bytes, so a
/// batch of this many messages is far below the size limit.
inline constexpr int kBatchMessagesMax = 500;

/// Folder beside a recording with the data of the run that the service has not received yet: the
/// session and the unsent batches. The folder remains after the process has ended.
struct SpoolFolder {
  proto::Spool spool;
  proto::StreamSession session;
  bool ended = false;  ///< the end of the run was recorded
};

/// Creates a spool folder that only its owner can access, because the folder contains the session's
/// secret. If `session` has no secret, one is created. @return kExists, without changes, if the
/// name is taken
proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session);

/// Marks a spool folder as belonging to a run that has ended. A process that sends the remaining
/// data later needs this mark.
proto::Status mark_run_ended(const std::string& folder);

/// Opens the spool folder of an earlier process. If an older release of rigcal wrote it without a
/// session secret, a secret is added and the run counts as ended.
/// @return kNotFound if it is not a spool folder
proto::Result<SpoolFolder> open_spool_folder(const std::string& folder);

/// Removes a spool folder after the service has received all data. No process may have the folder
/// open. Ignores errors, because no data are lost.
void remove_spool_folder(const std::string& folder);

/// Result of completing the spool folder of an earlier process from the recording beside the
/// folder.
struct SpoolCompletion {
  bool ended = false;              ///< the end of the run was recorded
  std::vector<std::string> notes;  ///< sentences for users
};

/// Appends all messages to a spool that are in the recording but not in the spool, so that the
/// service gets them. If the recording process died, spool and recording may each lack up to a
/// quarter of a second of data. Differences that cannot be resolved are reported in `notes`.
///
/// The recording of a spool RECORDING.spool is RECORDING, RECORDING.part or the output of `rigcal
/// recover`. The recording is only read.
proto::Result<SpoolCompletion> append_missing_messages(const std::string& spool_folder,
                                                       SpoolFolder& folder);

}  // namespace daq
