#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/recording/recording_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace proto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

InertialReading make_reading(std::uint64_t sequence, std::uint32_t sensor) {
  InertialReading reading{.timestamp_s = 1e-3 * static_cast<double>(sequence),
                          .sequence = sequence,
                          .sensor = sensor,
                          .saturated = 0b100101};
  for (std::size_t k = 0; k < kInertialAxes; ++k) {
    reading.value[k] = 0.5 + static_cast<double>(k);
    reading.counts[k] = -7 * static_cast<std::int32_t>(k) - 1;
  }
  return reading;
}

// A struct's member goes into the field of its name, and comes back.
TEST(InertialReading, PutsMembersIntoTheirFields) {
  const InertialReading reading = make_reading(9, 2);
  rigcal::v1::InertialReading message;
  to_message(reading, message);
  EXPECT_EQ(message.timestamp(), reading.timestamp_s);
  EXPECT_EQ(message.sequence(), 9U);
  EXPECT_EQ(message.sensor(), 2U);
  EXPECT_EQ(message.angular_velocity().x(), 0.5);
  EXPECT_EQ(message.angular_velocity().y(), 1.5);
  EXPECT_EQ(message.angular_velocity().z(), 2.5);
  EXPECT_EQ(message.linear_acceleration().x(), 3.5);
  EXPECT_EQ(message.linear_acceleration().y(), 4.5);
  EXPECT_EQ(message.linear_acceleration().z(), 5.5);
  ASSERT_EQ(message.counts_size(), 6);
  EXPECT_EQ(message.counts(5), -36);
  EXPECT_EQ(message.saturated(), 0b100101U);
  const auto back = from_message(message);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->value, reading.value);
  EXPECT_EQ(back->counts, reading.counts);
  EXPECT_EQ(back->saturated, reading.saturated);
  message.add_counts(0);
  EXPECT_FALSE(from_message(message).has_value()) << "a count too many";
}

TEST(InertialReading, IsCheckedAgainstTheRules) {
  RecordingRules rules({.joints = 1, .inertial_sensors = 2});
  const auto takes = [&](const InertialReading& reading) { return !rules.take(reading); };
  EXPECT_TRUE(takes(make_reading(3, 0)));
  EXPECT_FALSE(takes(make_reading(3, 0))) << "twice";
  EXPECT_FALSE(takes(make_reading(2, 0))) << "back";
  EXPECT_TRUE(takes(make_reading(2, 1))) << "each sensor has an order of its own";
  EXPECT_FALSE(takes(make_reading(4, 2))) << "no such sensor";
  EXPECT_FALSE(takes(make_reading(kSequenceMax, 0)));
  InertialReading reading = make_reading(4, 0);
  for (const double wrong : {kInfinity, -kInfinity, 1.01e12, -1.01e12}) {
    reading.value[4] = wrong;
    EXPECT_FALSE(takes(reading)) << wrong;
  }
  reading.timestamp_s = kNaN;
  reading.value[4] = kNaN;
  EXPECT_FALSE(takes(reading)) << "a time that is none";
  reading.timestamp_s = 0.0;
  EXPECT_TRUE(takes(reading)) << "an axis that was not read";
}

TEST(InertialReading, NamesOfSensorsAreCheckedAgainstTheRules) {
  RecordingHeader header{.joints = {"1"}};
  EXPECT_FALSE(find_violation(header).has_value());
  header.inertial_sensors = {"a", "b", "c", "d"};
  EXPECT_FALSE(find_violation(header).has_value());
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"a", "a"}, {"a", ""}, {"a,b"}, {"a", "b", "c", "d", "e"}}) {
    header.inertial_sensors = wrong;
    EXPECT_TRUE(find_violation(header).has_value());
  }
}

// Each sensor has its own topic, under which plotting programs list it.
TEST(InertialReading, ComesBackFromARecordingByItsTopic) {
  const test_support::TemporaryFolder folder;
  auto writer = RecordingWriter::create(folder.file("r.mcap"),
                                        {.joints = {"1"}, .inertial_sensors = {"front", "rear"}});
  ASSERT_TRUE(writer.ok()) << writer.error().detail;
  for (std::uint64_t k = 0; k < 3; ++k) {
    ASSERT_TRUE(
        writer.value()
            .write(Sample{
                .timestamp_s = 1e-3 * static_cast<double>(k), .sequence = k, .channel_count = 1})
            .ok());
    for (const std::uint32_t sensor : {0U, 1U}) {
      ASSERT_TRUE(writer.value().write(make_reading(k, sensor)).ok());
    }
  }
  EXPECT_FALSE(writer.value().write(make_reading(1, 0)).ok());
  ASSERT_TRUE(writer.value().finish().ok());
  const auto read = read_recording(folder.file("r.mcap"));
  ASSERT_TRUE(read.ok()) << read.error().detail;
  EXPECT_EQ(read.value().header.inertial_sensors, (std::vector<std::string>{"front", "rear"}));
  EXPECT_FALSE(read.value().header.facts.contains("inertial_sensors"));
  ASSERT_EQ(read.value().inertial.size(), 6U);
  EXPECT_EQ(read.value().inertial[5].sensor, 1U);
  EXPECT_EQ(read.value().inertial[5].sequence, 2U);
  EXPECT_EQ(read.value().inertial[5].value, make_reading(2, 1).value);
  EXPECT_EQ(read.value().scan.foreign_count, 0U);

  struct Topics final : McapVisitor {
    std::map<std::string, int> count;
    bool on_message(const McapChannel& channel, const McapSchema*, const McapMessage&) override {
      ++count[channel.topic];
      return true;
    }
  } topics;
  auto file = open_input_file(folder.file("r.mcap"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(scan_mcap(*file.value(), topics).ok());
  EXPECT_EQ(topics.count["/rig/inertial/front"], 3);
  EXPECT_EQ(topics.count["/rig/inertial/rear"], 3);
}

}  // namespace
}  // namespace proto
