// Feeds arbitrary bytes to the input chain of the service's socket: the frame decoder with the
// limits of requests and of replies, the element counter, the parser, and the check of batches.
// Each input is read as one piece, and again cut at every size, with the same result.

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"
#include "proto/stream/service_limits.hpp"
#include "service/server/storage/session_log.hpp"
#include "tests/fuzz/refusal.hpp"

namespace {

using fuzz::require;

struct Decoded {
  std::vector<proto::Frame> frames;
  bool failed = false;
};

Decoded decode(const std::vector<proto::FrameLimit>& limits, const std::uint8_t* data,
               std::size_t size, std::size_t piece) {
  proto::FrameDecoder decoder(limits);
  Decoded decoded;
  for (std::size_t at = 0; at < size && !decoded.failed; at += piece) {
    decoded.failed = !decoder.feed({data + at, std::min(piece, size - at)}, decoded.frames).ok();
  }
  return decoded;
}

template <typename Envelope>
void check(const std::vector<proto::FrameLimit>& limits, const std::uint8_t* data,
           std::size_t size) {
  const Decoded whole = decode(limits, data, size, std::max<std::size_t>(size, 1));
  const Decoded cut = decode(limits, data, size, 1 + size % 7);
  require(whole.failed == cut.failed && whole.frames.size() == cut.frames.size());
  service::BatchValidator batches({2});
  for (std::size_t k = 0; k < whole.frames.size(); ++k) {
    const proto::Frame& frame = whole.frames[k];
    require(frame.payload == cut.frames[k].payload && frame.type == cut.frames[k].type);
    Envelope envelope;
    if (!proto::parse_frame(frame, limits, envelope).ok()) continue;
    // Accepted messages can be sent, and arrive unchanged.
    std::string bytes;
    require(proto::append_frame(envelope, limits, bytes).ok() || frame.payload.size() > 60'000);
    if constexpr (std::is_same_v<Envelope, rigcal::v1::ServiceRequest>) {
      if (envelope.has_sample_batch())
        static_cast<void>(batches.validate_and_add(envelope.sample_batch()));
      if (envelope.has_open_session()) {
        const auto& metadata = envelope.open_session().metadata();
        const auto header = proto::header_from_metadata([&](std::string_view key) {
          const auto found = metadata.find(std::string(key));
          return found == metadata.end() ? std::string() : found->second;
        });
        require(!header || !proto::find_violation(*header));
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  google::protobuf::SetLogHandler(nullptr);  // otherwise it logs every bad string
  check<rigcal::v1::ServiceRequest>(proto::service_request_limits(), data, size);
  check<rigcal::v1::ServiceReply>(proto::service_reply_limits(), data, size);
  return 0;
}
