#pragma once

#include <string>
#include <vector>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/mcap_format.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/topics.hpp"
#include "tests/proto/recording_support.hpp"

namespace test_support {

/// A recording as left by a writer that checks no rules.
inline Bytes record_unchecked(const std::vector<proto::Sample>& samples,
                              const std::string& joints = "arm,pendulum",
                              const std::vector<proto::ClockFit>& clock_fits = {}) {
  const auto disk = std::make_shared<Disk>();
  proto::McapWriter writer(std::make_unique<MemoryOutputFile>(disk), {});
  EXPECT_TRUE(ok(writer.start()));
  const proto::McapMap header = {
      {std::string(proto::kFormatKey), std::string(proto::kFormatVersion)},
      {std::string(proto::kEpochKey), "0"},
      {std::string(proto::kJointsKey), joints}};
  const auto add_channel = [&](const proto::Topic& topic) {
    return writer.add_channel(std::string(topic.name), "protobuf", std::string(topic.message_type),
                              "protobuf", proto::as_bytes("schema"), header);
  };
  const auto write = [&](std::uint16_t channel, const std::string& bytes) {
    EXPECT_TRUE(ok(writer.write_message({channel, 0, 0, 0, proto::as_bytes(bytes)})));
  };
  const std::uint16_t sample_channel = add_channel(proto::kSampleTopic);
  for (const proto::Sample& sample : samples) {
    rigcal::v1::Sample message;
    proto::to_message(sample, message);
    write(sample_channel, message.SerializeAsString());
  }
  for (const proto::ClockFit& fit : clock_fits) {
    rigcal::v1::ClockFit message;
    proto::to_message(fit, message);
    write(add_channel(proto::kClockTopic), message.SerializeAsString());
  }
  EXPECT_TRUE(ok(writer.complete()));
  return disk->content;
}

}  // namespace test_support
