// Feeds arbitrary messages with corrected checksums to both ends of a running link, so that they
// pass the frame decoder. Neither end may break, samples must come in order, and a tripped unit's
// output must be zero.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/message_type.h"
#include "tests/fuzz/refusal.hpp"
#include "tests/support/virtual_time.hpp"

namespace {

using fuzz::require;
using namespace firmware_iface;
using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

// The frame with the length and checksum of its type; bytes that are no frame are unchanged.
Bytes repaired(const Bytes& stuffed) {
  Bytes message(std::max<std::size_t>(stuffed.size(), 1) + 64);
  std::size_t size_bytes = 0;
  Bytes as_it_is = stuffed;
  as_it_is.push_back(0);
  if (!cobs_decode(stuffed.data(), stuffed.size(), message.data(), message.size(), &size_bytes) ||
      size_bytes == 0) {
    return as_it_is;
  }
  // Without its checksum, then cut or filled to the nearest size that its type allows.
  size_bytes -= std::min(size_bytes - 1, message_crc_size_bytes(message[0]));
  std::size_t fitting = size_bytes;
  while (fitting > 1 && !message_size_is_valid(message[0], fitting)) --fitting;
  if (!message_size_is_valid(message[0], fitting)) {
    fitting = size_bytes;
    while (fitting < MESSAGE_SIZE_BYTES_MAX && !message_size_is_valid(message[0], fitting))
      ++fitting;
  }
  Bytes frame(FRAME_SIZE_BYTES_MAX);
  frame.resize(frame_encode(message.data(), fitting, frame.data(), frame.size()));
  return frame.empty() ? as_it_is : frame;
}

std::vector<Bytes> split(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kFramesMax = 64;
  std::vector<Bytes> frames(1);
  for (std::size_t k = 0; k < size && frames.size() < kFramesMax; ++k) {
    if (data[k] == 0) {
      frames.emplace_back();
    } else {
      frames.back().push_back(data[k]);
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sim::SimulationSettings settings;
  settings.unit.inertial_count = 2;
  auto simulation = std::make_unique<sim::UnitSimulation>(
      settings,
      sim::Plant(std::make_unique<sim::FurutaModel>(sim::FurutaParameters{}), sim::JointState{}),
      Nanoseconds(0));
  sim::SimTransport transport(std::move(simulation), std::make_shared<VirtualTime>(), "fuzz", 0);
  UnitLink link(transport);
  require(link.connect().ok());
  const bool compact = size % 2 == 1;
  require(link.start_stream({.compact = compact, .inertial_divider = {compact ? 0 : 1, 0}}).ok());

  std::uint64_t next_sequence = 0;
  sim::SimulatedUnit& unit = transport.simulation().unit();
  for (const Bytes& stuffed : split(data, size)) {
    const Bytes frame = repaired(stuffed);
    transport.simulation().to_host().push(frame, transport.now());
    transport.simulation().to_unit().push(frame, transport.now());
    UnitSample sample;
    for (int k = 0; k < 4; ++k) {
      const ReadStatus status = link.read_sample(transport.now() + 1ms, sample);
      require(!unit.is_tripped() || unit.output_V() == 0.0);
      require(std::abs(unit.output_V()) <= settings.unit.motor[0].command_max);
      if (status != ReadStatus::kSample) continue;
      require(sample.sequence == next_sequence + sample.lost_before);
      next_sequence = sample.sequence + 1;
      require(sample.encoder_count == 2 && sample.encoders_valid <= 3);
      require(sample.inertial.sensors <= 3);
      require(sample.inertial.sensors == 0 || sample.inertial.sequence < sample.sequence);
      if (k == 0) link.write_command(std::array{1.0}, 20);
    }
    if (link.trip_clear_state() != ClearTripState::kPending) link.request_trip_clear();
  }
  const LinkCounters& counters = link.counters();
  require(counters.samples_received + counters.samples_lost == next_sequence);
  return 0;
}
