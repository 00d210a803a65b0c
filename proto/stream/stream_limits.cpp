#include "proto/stream/stream_limits.hpp"

#include <algorithm>
#include <string_view>

#include "proto/stream.pb.h"

namespace proto {
namespace {

// Every message counts as one element, and a sample has up to three arrays of eight channels.
constexpr std::size_t kBatchElementsMax = 40'000;
constexpr std::size_t kEnvelopeSize = 32;  // of a batch: tags, lengths, sequence [byte]

}  // namespace

const std::vector<FrameLimit>& stream_request_limits() {
  using rigcal::v1::StreamRequest;
  static const std::vector<FrameLimit> kLimits = {
      {StreamRequest::kOpenSession, 64u << 10, 257},
      {StreamRequest::kSampleBatch, kBatchSizeMax + kEnvelopeSize, kBatchElementsMax},
      {StreamRequest::kCloseSession, 64, 1},
  };
  return kLimits;
}

const std::vector<FrameLimit>& stream_reply_limits() {
  using rigcal::v1::StreamReply;
  static const std::vector<FrameLimit> kLimits = {
      {StreamReply::kSessionOpened, 64, 1},
      {StreamReply::kAcknowledge, 64, 1},
      {StreamReply::kSessionClosed, 64, 1},
      {StreamReply::kSessionRefused, 4096, 1},
  };
  return kLimits;
}

bool is_session_id(const std::string& text) {
  constexpr std::size_t kSizeMax = 64;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kSizeMax && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace proto
