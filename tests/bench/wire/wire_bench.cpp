// Processor time of a frame compared with its time on the line: a SAMPLE of two channels takes 29
// bytes, 315 µs at 921 600 baud. Each benchmark handles one frame per iteration; percent_of_line is
// the processor's time over the time on the line.

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <ctime>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/sample.h"

namespace {

constexpr double kBaud = 921'600.0;
constexpr double kBitsPerByte = 10.0;  // 8N1

constexpr sample_shape kShape{2, 1, false};

struct Frame {
  std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> bytes{};
  std::size_t size_bytes = 0;
};

sample_report make_sample(std::uint16_t k) {
  sample_report sample{};
  sample.sequence = k;
  sample.tick_us = 1000U * k;
  sample.command_q15[0] = static_cast<std::int16_t>(k);
  sample.command_sequence = k;
  sample.encoders_valid = 3;
  sample.status = STATUS_DRIVING;
  sample.encoder_counts[0] = 7 * k;
  sample.encoder_counts[1] = -3 * k;
  return sample;
}

Frame frame_of(const std::uint8_t* message, std::size_t size_bytes) {
  Frame frame;
  frame.size_bytes = frame_encode(message, size_bytes, frame.bytes.data(), frame.bytes.size());
  return frame;
}

Frame sample_frame(std::uint16_t k) {
  std::array<std::uint8_t, SAMPLE_SIZE_BYTES_MAX> message{};
  const sample_report sample = make_sample(k);
  return frame_of(message.data(), sample_report_encode(&sample, kShape, message.data()));
}

// Reports the figures of one benchmark at its end, from the elapsed processor time.
class Tally {
 public:
  explicit Tally(benchmark::State& state) : state_(state) {}

  void report(std::size_t size_bytes) {
    const double used_s = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
    const double line_s = static_cast<double>(size_bytes) * kBitsPerByte / kBaud;
    state_.SetBytesProcessed(static_cast<std::int64_t>(size_bytes) * state_.iterations());
    state_.counters["bytes"] = static_cast<double>(size_bytes);
    state_.counters["percent_of_line"] =
        100.0 * used_s / (line_s * static_cast<double>(state_.iterations()));
  }

 private:
  benchmark::State& state_;
  std::clock_t start_ = std::clock();
};

// From the bytes of the line to the fields of the sample, as in the host.
void decode_sample(benchmark::State& state) {
  std::array<Frame, 256> frames;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    frames[k] = sample_frame(static_cast<std::uint16_t>(k));
  }
  firmware_iface::FrameDecoder decoder;
  std::size_t k = 0;
  Tally tally(state);
  for (auto _ : state) {
    const Frame& frame = frames[k++ % frames.size()];
    bool found = false;
    for (std::size_t i = 0; i < frame.size_bytes; ++i) found = decoder.push(frame.bytes[i]);
    sample_report sample;
    const auto message = decoder.message();
    found = found && sample_report_decode(message.data(), message.size(), kShape, &sample);
    benchmark::DoNotOptimize(found);
    benchmark::DoNotOptimize(sample);
  }
  tally.report(frames[0].size_bytes);
}
BENCHMARK(decode_sample);

// From the fields to the bytes, as in the unit.
void encode_sample(benchmark::State& state) {
  std::uint16_t k = 0;
  std::size_t size_bytes = 0;
  Tally tally(state);
  for (auto _ : state) {
    const Frame frame = sample_frame(k++);
    size_bytes = frame.size_bytes;
    benchmark::DoNotOptimize(frame);
  }
  tally.report(size_bytes);
}
BENCHMARK(encode_sample);

// The compact variant, with its CRC-16.
void encode_sample_compact(benchmark::State& state) {
  std::uint16_t k = 0;
  std::size_t size_bytes = 0;
  Tally tally(state);
  for (auto _ : state) {
    std::array<std::uint8_t, SAMPLE_SIZE_BYTES_MAX> message{};
    const sample_report sample = make_sample(k++);
    const Frame frame =
        frame_of(message.data(), sample_compact_encode(&sample, kShape, message.data()));
    size_bytes = frame.size_bytes;
    benchmark::DoNotOptimize(frame);
  }
  tally.report(size_bytes);
}
BENCHMARK(encode_sample_compact);

void encode_command(benchmark::State& state) {
  std::uint16_t k = 0;
  std::size_t size_bytes = 0;
  Tally tally(state);
  for (auto _ : state) {
    std::array<std::uint8_t, COMMAND_SIZE_BYTES_MAX> message{};
    const command_request command{k++, k, COMMAND_ENABLE, 20, {1234}};
    const Frame frame = frame_of(
        message.data(), command_request_encode(&command, kShape.motor_count, message.data()));
    size_bytes = frame.size_bytes;
    benchmark::DoNotOptimize(frame);
  }
  tally.report(size_bytes);
}
BENCHMARK(encode_command);

// A lower bound without framing and fields: the checksum of a sample alone, and its copy.
void checksum_sample(benchmark::State& state) {
  const Frame frame = sample_frame(77);
  Tally tally(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(crc32c(0, frame.bytes.data(), frame.size_bytes));
  }
  tally.report(frame.size_bytes);
}
BENCHMARK(checksum_sample);

void copy_sample(benchmark::State& state) {
  Frame from = sample_frame(77);
  Frame to;
  Tally tally(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(from);
    std::memcpy(to.bytes.data(), from.bytes.data(), from.size_bytes);
    benchmark::DoNotOptimize(to);
  }
  tally.report(from.size_bytes);
}
BENCHMARK(copy_sample);

}  // namespace
