#pragma once

#include <vector>

#include "proto/framing/frame.hpp"

namespace proto {

/// Version of proto/stream.proto that this program speaks.
inline constexpr std::uint32_t kStreamVersion = 1;

/// A batch as it is spooled and sent, at most [byte]: over a thousand samples of eight channels.
inline constexpr std::size_t kBatchSizeMax = 256u << 10;

/// What frames of StreamRequest and of StreamReply may be.
const std::vector<FrameLimit>& stream_request_limits();
const std::vector<FrameLimit>& stream_reply_limits();

/// A session id is 1 to 64 characters of [A-Za-z0-9._-] and does not start with a dot, so that a
/// receiver may use it as a file name.
bool is_session_id(const std::string& text);

}  // namespace proto
