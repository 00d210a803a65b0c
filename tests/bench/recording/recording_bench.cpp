// Speed of the recorder compared with its upper bounds: writing the same bytes without processing,
// and their checksum. The rig needs 1000 samples per second.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

constexpr std::uint64_t kSampleCount = 60'000;  // one minute

proto::Sample make_sample(std::uint64_t k) {
  proto::Sample sample;
  sample.timestamp_s = 1e-3 * static_cast<double>(k);
  sample.sequence = k;
  sample.device_time_us = static_cast<std::int64_t>(1000 * k);
  sample.channel_count = 2;
  sample.encoder_counts = {static_cast<std::int64_t>(k % 8192),
                           -static_cast<std::int64_t>(k % 4096)};
  sample.angle_rad = {1.5e-3 * static_cast<double>(k % 8192),
                      -1.5e-3 * static_cast<double>(k % 4096)};
  sample.valid = {true, true};
  sample.command[0] = 1e-2 * static_cast<double>(k % 100);
  sample.command_sequence = k;
  sample.driving = true;
  return sample;
}

std::uint64_t record(const std::string& path) {
  auto writer = proto::RecordingWriter::create(
      path, {.joints = {"arm", "pendulum"}, .epoch_unix_ns = 1'700'000'000'000'000'000});
  for (std::uint64_t k = 0; k < kSampleCount; ++k) {
    benchmark::DoNotOptimize(writer.value().write(make_sample(k)).ok());
  }
  benchmark::DoNotOptimize(writer.value().finish().ok());
  return writer.value().size_bytes();
}

void count(benchmark::State& state, std::uint64_t size_bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(size_bytes) * state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(kSampleCount) * state.iterations());
}

// One minute of samples into a file, with the final fdatasync.
void record_a_minute(benchmark::State& state) {
  const test_support::TemporaryFolder folder;
  std::uint64_t size_bytes = 0;
  for (auto _ : state) {
    size_bytes = record(folder.file("run.mcap"));
    state.PauseTiming();
    std::filesystem::remove(folder.file("run.mcap"));
    state.ResumeTiming();
  }
  count(state, size_bytes);
  state.counters["bytes_per_sample"] = static_cast<double>(size_bytes) / kSampleCount;
}
BENCHMARK(record_a_minute)->Unit(benchmark::kMillisecond)->UseRealTime();

// The same number of bytes in as many blocks, written and synced without processing.
void write_as_many_bytes(benchmark::State& state) {
  const test_support::TemporaryFolder folder;
  const std::uint64_t size_bytes = record(folder.file("run.mcap"));
  const std::vector<std::uint8_t> block(size_bytes / (kSampleCount / 250));
  for (auto _ : state) {
    auto file = proto::create_output_file(folder.file("raw"));
    for (std::uint64_t k = 0; k < kSampleCount / 250; ++k) {
      benchmark::DoNotOptimize(file.value()->append(block).ok());
    }
    benchmark::DoNotOptimize(file.value()->sync().ok());
    benchmark::DoNotOptimize(file.value()->publish().ok());
    state.PauseTiming();
    std::filesystem::remove(folder.file("raw"));
    state.ResumeTiming();
  }
  count(state, size_bytes);
}
BENCHMARK(write_as_many_bytes)->Unit(benchmark::kMillisecond)->UseRealTime();

void checksum_as_many_bytes(benchmark::State& state) {
  const test_support::TemporaryFolder folder;
  const std::uint64_t size_bytes = record(folder.file("run.mcap"));
  const std::vector<std::uint8_t> bytes(size_bytes, 7);
  for (auto _ : state) benchmark::DoNotOptimize(proto::crc32(bytes));
  count(state, size_bytes);
}
BENCHMARK(checksum_as_many_bytes)->Unit(benchmark::kMillisecond);

// Reading the minute back: checksums, parsing and validation of every sample.
void read_a_minute(benchmark::State& state) {
  const test_support::TemporaryFolder folder;
  const std::uint64_t size_bytes = record(folder.file("run.mcap"));
  for (auto _ : state) {
    benchmark::DoNotOptimize(proto::read_recording(folder.file("run.mcap")).value().samples.size());
  }
  count(state, size_bytes);
}
BENCHMARK(read_a_minute)->Unit(benchmark::kMillisecond);

}  // namespace
