#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"

namespace service {

/// Creates the folder of a new session durably. A session's folder contains the session's record
/// from the moment it has its final name.
proto::Status create_session_folder(const std::string& folder, const rigcal::v1::SessionInfo& info,
                                    const std::string& secret);

/// Writes the record of a streamed session durably into the session's folder.
proto::Status save_session(const std::string& folder, const rigcal::v1::SessionInfo& info,
                           const std::string& secret);

/// Checks that the disk of `folder` has `needed_bytes` free.
/// @return error kDiskFull with the remedy if it has not
proto::Status check_space(const std::string& folder, std::uint64_t needed_bytes);

}  // namespace service
