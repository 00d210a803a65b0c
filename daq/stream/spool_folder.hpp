#pragma once

#include <string>

#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"

namespace daq {

/// Messages of all kinds in a batch, at most. A sample takes some 100 bytes, so that a batch stays
/// far below its limits even when the supervisor finds a full ring.
inline constexpr int kBatchMessagesMax = 500;

/// What a run has for the service, in a folder beside its recording: the session and the batches
/// that the service does not have yet. It outlives the process.
struct SpoolFolder {
  proto::Spool spool;
  proto::StreamSession session;
  bool ended = false;  ///< the run declared its end
};

/// Makes a new folder, which only its owner may look into: it holds the session's secret, made here
/// where `session` has none. @return kExists, with nothing touched, if there is something of that
/// name
proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session);

/// Notes that the run has come to its end. Whoever sends the rest later declares no other.
proto::Status mark_ended(const std::string& folder);

/// Opens what an earlier process left. A folder of a release without secrets is given one; that
/// release noted no end, and its runs count as ended.
/// @return kNotFound if it is no such folder
proto::Result<SpoolFolder> open_spool_folder(const std::string& folder);

/// Removes the folder once the service has everything; nothing may have it open. Says nothing when
/// that fails, as nothing is lost by it.
void remove_spool_folder(const std::string& folder);

}  // namespace daq
