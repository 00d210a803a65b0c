// Feeds arbitrary bytes to the frame decoder. It must accept only frames that encode back to the
// received bytes, account for every delimited run, and read the next valid frame.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/wire/command.h"
#include "tests/fuzz/refusal.hpp"

namespace {

using firmware_iface::FrameDecoder;
using fuzz::require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FrameDecoder decoder;
  static std::vector<std::uint8_t> run;  // since the last delimiter; keeps its capacity
  run.clear();
  std::uint64_t runs = 0;
  for (std::size_t k = 0; k < size; ++k) {
    const bool good = decoder.push(data[k]);
    if (data[k] != 0) {
      require(!good);
      run.push_back(data[k]);
      continue;
    }
    if (!run.empty()) ++runs;
    run.push_back(0);
    if (good) {
      std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> again{};
      const auto message = decoder.message();
      const std::size_t size_bytes =
          frame_encode(message.data(), message.size(), again.data(), again.size());
      require(size_bytes == run.size() && std::equal(run.begin(), run.end(), again.begin()));
    }
    run.clear();
  }
  const auto& counters = decoder.counters();
  require(counters.good + counters.damaged_count() == runs);

  // Resynchronization: a delimiter ends any frame in progress, and the next frame is read.
  const command_request command{1, 2, COMMAND_ENABLE, 3, {4}};
  std::array<std::uint8_t, COMMAND_SIZE_BYTES_MAX> message{};
  std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> frame{};
  const std::size_t message_size = command_request_encode(&command, 1, message.data());
  const std::size_t frame_size =
      frame_encode(message.data(), message_size, frame.data(), frame.size());
  decoder.push(0);
  bool found = false;
  for (std::size_t k = 0; k < frame_size; ++k) found = decoder.push(frame[k]);
  require(found && std::ranges::equal(std::span(message).first(message_size), decoder.message()));
  return 0;
}
