#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"

namespace service {

/// Makes the folder of a new session, durably. Under its final name a folder always has its record.
proto::Status create_session_folder(const std::string& folder, const rigcal::v1::SessionInfo& info,
                                    const std::string& secret);

/// Writes the record of a streamed session into its folder, durably.
proto::Status save_session(const std::string& folder, const rigcal::v1::SessionInfo& info,
                           const std::string& secret);

/// @return kDiskFull, with the remedy, unless the disk of `folder` has `needed_bytes` free
proto::Status check_space(const std::string& folder, std::uint64_t needed_bytes);

}  // namespace service
