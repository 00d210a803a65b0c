#pragma once

#include <string>

#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"

namespace daq {

/// What a run has for the service, in a folder beside its recording: the session and the batches
/// that the service does not have yet. It outlives the process.
struct SpoolFolder {
  proto::Spool spool;
  proto::StreamSession session;
};

/// Makes a new folder. @return kExists, with nothing touched, if there is something of that name
proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session);

/// Opens what an earlier process left. @return kNotFound if it is no such folder
proto::Result<SpoolFolder> open_spool_folder(const std::string& folder);

/// Removes the folder once the service has everything; nothing may have it open. Says nothing when
/// that fails, as nothing is lost by it.
void remove_spool_folder(const std::string& folder);

}  // namespace daq
