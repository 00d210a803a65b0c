#pragma once

#include <vector>

#include "proto/framing/frame.hpp"

namespace proto {

/// Version of proto/service.proto that this program implements.
inline constexpr std::uint32_t kServiceVersion = 2;

/// Largest data of a FilePart or an UploadPart [byte].
inline constexpr std::size_t kFilePartSizeMax = 1u << 20;

/// Return the limits of frames with a ServiceRequest and with a ServiceReply.
const std::vector<FrameLimit>& service_request_limits();
const std::vector<FrameLimit>& service_reply_limits();

}  // namespace proto
