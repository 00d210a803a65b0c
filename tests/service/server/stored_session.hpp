#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "tests/proto/recording_support.hpp"

namespace test_support {

/// Checks that a recording holds the samples of batch_request(1) to batch_request(batch_count),
/// each once, unaltered, in order, with their commands.
inline void expect_recording_of(const std::string& path, std::uint64_t batch_count,
                                std::uint64_t sample_count = 20) {
  const auto recording = proto::read_recording(path);
  ASSERT_TRUE(ok(recording));
  EXPECT_TRUE(recording.value().scan.container.intact());
  EXPECT_EQ(recording.value().scan.unreadable_count, 0u);
  EXPECT_TRUE(recording.value().gaps.empty());
  ASSERT_EQ(recording.value().samples.size(), batch_count * sample_count);
  ASSERT_EQ(recording.value().commands.size(), batch_count * sample_count);
  for (std::uint64_t k = 0; k < batch_count * sample_count; ++k) {
    ASSERT_TRUE(same(recording.value().samples[k], make_sample(k))) << k;
    ASSERT_EQ(recording.value().commands[k].command_sequence, k);
  }
}

}  // namespace test_support
