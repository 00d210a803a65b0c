#pragma once

#include <vector>

#include "proto/framing/frame.hpp"

namespace proto {

/// Version of proto/stream.proto that this program implements.
inline constexpr std::uint32_t kStreamVersion = 1;

/// Largest size of a batch [byte]: over a thousand samples of eight channels.
inline constexpr std::size_t kBatchSizeMax = 256u << 10;

/// Return the limits of frames with a StreamRequest and with a StreamReply.
const std::vector<FrameLimit>& stream_request_limits();
const std::vector<FrameLimit>& stream_reply_limits();

/// Returns whether an id is 1 to 64 characters of [A-Za-z0-9._-] without a leading dot, so that it
/// can be used as a file name.
bool is_session_id(const std::string& text);

}  // namespace proto
