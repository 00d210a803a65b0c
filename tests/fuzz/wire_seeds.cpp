// Writes frames of every kind as seeds for the fuzzers of the wire: one file each, and all in one.
//   wire_seeds FOLDER

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes frame_of(const std::uint8_t* message, std::size_t size_bytes) {
  Bytes frame(FRAME_SIZE_BYTES_MAX);
  frame.resize(frame_encode(message, size_bytes, frame.data(), frame.size()));
  return frame;
}

std::vector<Bytes> frames() {
  std::array<std::uint8_t, MESSAGE_SIZE_BYTES_MAX> out{};
  std::vector<Bytes> all;
  const auto add = [&](std::size_t size_bytes) { all.push_back(frame_of(out.data(), size_bytes)); };
  const hello_head head{PROTOCOL_VERSION, LAYOUT_HASH, 7};
  hello_encode(&head, out.data());
  add(HELLO_SIZE_BYTES);
  hello_reply reply{};
  reply.protocol_version = PROTOCOL_VERSION;
  reply.layout_hash = LAYOUT_HASH;
  reply.encoder_count = 2;
  reply.motor_count = 1;
  reply.tick_rate_Hz = 1000;
  hello_reply_encode(&reply, out.data());
  add(HELLO_REPLY_SIZE_BYTES);
  const configure_request configure{9, STREAM_ON | STREAM_COMPACT, 1, 10, {1, 10}};
  configure_request_encode(&configure, out.data());
  add(CONFIGURE_SIZE_BYTES);
  const configure_reply configured{9, CONFIGURE_DONE, STREAM_ON, 1, 0, 5000, 1};
  configure_reply_encode(&configured, out.data());
  add(CONFIGURE_REPLY_SIZE_BYTES);
  for (const std::uint8_t step : std::array<std::uint8_t, 2>{1, 2}) {
    const clear_request clear{step, 0x1234};
    clear_request_encode(&clear, out.data());
    add(CLEAR_SIZE_BYTES);
    const clear_reply cleared{step, CLEAR_DONE, 0x1234, 0};
    clear_reply_encode(&cleared, out.data());
    add(CLEAR_REPLY_SIZE_BYTES);
  }
  const fault_report fault{FAULT_TTL, FAULT_TTL, 17, 17'000, 20};
  fault_report_encode(&fault, out.data());
  add(FAULT_SIZE_BYTES);
  const describe_request describe{PART_MOTOR, 0};
  describe_request_encode(&describe, out.data());
  add(DESCRIBE_SIZE_BYTES);
  const describe_reply described{PART_ENCODER, 1, {ENCODER_ABSOLUTE, 0, 4096, 65'536}};
  describe_reply_encode(&described, out.data());
  add(DESCRIBE_REPLY_SIZE_BYTES);
  const sample_report sample{3, 3000, 2, 3, STATUS_DRIVING, 0, 0, {1000, -1000}, {100, -100, 7},
                             1, 2};
  add(sample_report_encode(&sample, {2, 1, false}, out.data()));
  add(sample_report_encode(&sample, {3, 2, true}, out.data()));
  add(sample_compact_encode(&sample, {2, 1, false}, out.data()));
  inertial_report inertial{};
  inertial.sequence = 3;
  for (const std::uint8_t sensors : std::array<std::uint8_t, 3>{1, 2, 15}) {
    inertial.sensors = sensors;
    add(inertial_report_encode(&inertial, out.data()));
  }
  for (const std::uint8_t flags : std::array<std::uint8_t, 3>{0, COMMAND_ENABLE, COMMAND_TRIP}) {
    const command_request command{5, 3, flags, 20, {12'345, -1}};
    add(command_request_encode(&command, 1, out.data()));
    add(command_request_encode(&command, 2, out.data()));
    command_compact_encode(&command, out.data());
    add(COMMAND_COMPACT_SIZE_BYTES);
  }
  return all;
}

bool write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: wire_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  Bytes all;
  bool fine = true;
  int index = 0;
  for (const Bytes& frame : frames()) {
    fine = write(folder / ("frame" + std::to_string(index++)), frame) && fine;
    all.insert(all.end(), frame.begin(), frame.end());
  }
  return write(folder / "all", all) && fine ? 0 : 1;
}
