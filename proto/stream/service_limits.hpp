#pragma once

#include <vector>

#include "proto/framing/frame.hpp"

namespace proto {

/// Version of proto/service.proto that this program speaks.
inline constexpr std::uint32_t kServiceVersion = 1;

/// Most data of a FilePart and an UploadPart [byte].
inline constexpr std::size_t kFilePartSizeMax = 1u << 20;

/// What frames of ServiceRequest and of ServiceReply may be.
const std::vector<FrameLimit>& service_request_limits();
const std::vector<FrameLimit>& service_reply_limits();

}  // namespace proto
