#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/recording/recording_writer.hpp"
#include "tests/support/results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace test_support {

using Bytes = std::vector<std::uint8_t>;

/// Behaviour of the simulated disk, shared with the file inside a writer.
struct Disk {
  Bytes content;
  std::uint64_t capacity = std::numeric_limits<std::uint64_t>::max();  // bytes; beyond: kDiskFull
  bool can_reserve = true;    // otherwise reserve() does nothing, as on some file systems
  bool appends_fail = false;  // every append fails with kInputOutput after half of its bytes
  int failing_appends = 0;    // so many appends fail like this, then none
  bool truncate_fails = false;
  bool published = false;
  int sync_count = 0;
  std::atomic<bool> hangs = false;       // appends do not return until it is false again
  std::atomic<bool> waited_for = false;  // a caller is waiting
};

/// An OutputFile in memory that fails as the Disk specifies. A full disk stores the bytes that fit.
class MemoryOutputFile final : public proto::OutputFile {
 public:
  explicit MemoryOutputFile(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}

  proto::Status append(std::span<const std::uint8_t> bytes) override {
    if (disk_->hangs) disk_->waited_for = true;
    disk_->hangs.wait(true);
    if (disk_->appends_fail || disk_->failing_appends > 0) {
      --disk_->failing_appends;
      take(bytes.first(bytes.size() / 2));
      return proto::Error{proto::ErrorCode::kInputOutput, "memory: input/output error"};
    }
    const std::uint64_t room =
        disk_->capacity - std::min<std::uint64_t>(disk_->capacity, disk_->content.size());
    take(bytes.first(std::min<std::uint64_t>(room, bytes.size())));
    if (room < bytes.size()) return full();
    return proto::success();
  }

  proto::Status truncate(std::uint64_t size_bytes) override {
    if (disk_->truncate_fails)
      return proto::Error{proto::ErrorCode::kInputOutput, "memory: broken"};
    disk_->content.resize(size_bytes);
    return proto::success();
  }

  proto::Status reserve(std::uint64_t size_bytes) override {
    if (disk_->can_reserve && disk_->content.size() + size_bytes > disk_->capacity) return full();
    return proto::success();
  }

  proto::Status sync() override {
    ++disk_->sync_count;
    return proto::success();
  }

  proto::Status publish() override {
    disk_->published = true;
    return proto::success();
  }

 private:
  void take(std::span<const std::uint8_t> bytes) {
    disk_->content.insert(disk_->content.end(), bytes.begin(), bytes.end());
  }
  static proto::Error full() { return {proto::ErrorCode::kDiskFull, "memory: disk full"}; }

  std::shared_ptr<Disk> disk_;
};

inline Bytes read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

inline void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

inline proto::RecordingHeader furuta_header() {
  return {.joints = {"arm", "pendulum"},
          .epoch_unix_ns = 1'700'000'000'123'456'789,
          .facts = {{"rig", "furuta"}, {"scenario", "chirp"}, {"seed", "7"}}};
}

/// The same channels, the first of which is prismatic.
inline proto::RecordingHeader cart_header() {
  proto::RecordingHeader header = furuta_header();
  header.slides = {"arm"};
  return header;
}

/// Sample k of an artificial run. Every field differs from sample to sample, and the encoder on
/// channel 1 drops out now and then.
inline proto::Sample make_sample(std::uint64_t k, double period_s = 1e-3) {
  proto::Sample sample;
  const auto time_s = static_cast<double>(k) * period_s;
  sample.timestamp_s = time_s;
  sample.sequence = k;
  sample.device_time_us = 5'000'000 + std::llround(1e6 * time_s);
  sample.channel_count = 2;
  sample.encoder_counts = {static_cast<std::int64_t>(k) * 3 - 500, -static_cast<std::int64_t>(k)};
  sample.angle_rad = {1e-3 * (static_cast<double>(k) - 300.0),  // same bits, whether inlined or not
                      std::sin(0.01 * static_cast<double>(k))};
  sample.valid = {true, k % 17 != 5};
  if (!sample.valid[1]) sample.angle_rad[1] = std::numeric_limits<double>::quiet_NaN();
  sample.command[0] = 2.0 * std::cos(0.02 * static_cast<double>(k));
  sample.command_sequence = k + 3;
  sample.tripped = k % 5 == 0;
  sample.driving = k % 3 == 0;
  sample.fault_flags = static_cast<std::uint32_t>(k % 7);
  sample.error_count = k / 100;
  return sample;
}

/// Equal bit for bit, except that all NaNs are equal.
inline bool same(const proto::Sample& a, const proto::Sample& b) {
  bool equal = a.timestamp_s == b.timestamp_s && a.sequence == b.sequence &&
               a.device_time_us == b.device_time_us && a.channel_count == b.channel_count &&
               a.command[0] == b.command[0] && a.command_sequence == b.command_sequence &&
               a.tripped == b.tripped && a.driving == b.driving && a.fault_flags == b.fault_flags &&
               a.error_count == b.error_count;
  for (std::size_t c = 0; equal && c < a.channel_count; ++c) {
    equal = a.valid[c] == b.valid[c] && a.encoder_counts[c] == b.encoder_counts[c] &&
            (a.angle_rad[c] == b.angle_rad[c] ||
             (std::isnan(a.angle_rad[c]) && std::isnan(b.angle_rad[c])));
  }
  return equal;
}

}  // namespace test_support
