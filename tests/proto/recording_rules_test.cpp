#include <gtest/gtest.h>

#include <algorithm>
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

// Whether fresh rules accept a message of each kind with this time.
bool take_time(double timestamp_s, int kind) {
  RecordingRules rules(0);
  switch (kind) {
    case 0:
      return !rules.take(Sample{.timestamp_s = timestamp_s});
    case 1:
      return !rules.take(Command{.timestamp_s = timestamp_s});
    case 2:
      return !rules.take(Gap{.timestamp_s = timestamp_s});
    case 3:
      return !rules.take(Event{.timestamp_s = timestamp_s});
    case 4:
      return !rules.take(ClockFit{.timestamp_s = timestamp_s});
    default:
      return !rules.take(LoopStats{.timestamp_s = timestamp_s});
  }
}

// Every kind of message has a time, and all have the same bound, tested at and beyond it on both
// sides. NaN is refused.
TEST(RecordingRules, CheckEveryTimeBound) {
  for (int kind = 0; kind < 6; ++kind) {
    SCOPED_TRACE(kind);
    for (const double time_s : {0.0, kTimeMax_s, -kTimeMax_s}) {
      EXPECT_TRUE(take_time(time_s, kind)) << time_s;
    }
    for (const double time_s :
         {std::nextafter(kTimeMax_s, kInfinity), std::nextafter(-kTimeMax_s, -kInfinity), kInfinity,
          -kInfinity, kNaN}) {
      EXPECT_FALSE(take_time(time_s, kind)) << time_s;
    }
  }
}

// Only a recorded joint can be listed as prismatic, and only once.
TEST(RecordingRules, CheckPrismaticJointsAgainstTheJoints) {
  const auto breach = [](const std::vector<std::string>& slides) {
    return find_violation(RecordingHeader{.joints = {"cart", "pole"}, .slides = slides});
  };
  EXPECT_FALSE(breach({}));
  EXPECT_FALSE(breach({"pole", "cart"}));
  for (const std::vector<std::string>& slides :
       {std::vector<std::string>{"arm"}, {"cart", "cart"}, {"cart,pole"}, {""}}) {
    EXPECT_TRUE(breach(slides)) << join_names(slides);
  }
  EXPECT_NE(breach({"arm"}).value_or("").find("\"arm\""), std::string::npos);
}

// Each motor is listed once. Units are given for all motors in their order, or for none.
TEST(RecordingRules, CheckMotorsAgainstTheirUnits) {
  const auto breach = [](const std::vector<std::string>& motors,
                         const std::vector<std::string>& units) {
    return find_violation(
        RecordingHeader{.joints = {"arm"}, .motors = motors, .command_units = units});
  };
  EXPECT_FALSE(breach({}, {}));
  EXPECT_FALSE(breach({"rod", "arm"}, {}));
  EXPECT_FALSE(breach({"rod", "arm"}, {"V", "V"}));
  EXPECT_FALSE(breach({"rod", "arm"}, {"", "duty"}));
  EXPECT_FALSE(breach({"1", "2", "3", "4", "5", "6", "7", "8"}, {}));
  EXPECT_TRUE(breach({"1", "2", "3", "4", "5", "6", "7", "8", "9"}, {}));
  EXPECT_TRUE(breach({"arm", "arm"}, {}));
  EXPECT_TRUE(breach({"arm,rod"}, {}));
  EXPECT_TRUE(breach({""}, {}));
  EXPECT_TRUE(breach({"arm"}, {"V", "V"}));
  EXPECT_TRUE(breach({}, {"V"}));
  EXPECT_TRUE(breach({"rod", "arm"}, {"V,V", "V"}));
}

// Names written as metadata must read back unchanged. A recording from before several motors were
// supported holds its motor under other keys.
TEST(RecordingRules, ReadTheMotorsOfAHeader) {
  const auto read = [](std::map<std::string, std::string> entries) {
    entries["hinges"] = "arm,rod";
    return header_from_metadata([&](std::string_view key) { return entries[std::string(key)]; });
  };
  const RecordingHeader two{
      .joints = {"arm", "rod"}, .motors = {"rod", "arm"}, .command_units = {"A", "duty"}};
  const auto again = read(make_name_metadata(two));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->motors, two.motors);
  EXPECT_EQ(again->command_units, two.command_units);
  EXPECT_EQ(command_unit(*again, 1), "duty");
  EXPECT_EQ(recording_shape(*again).commands(), 2U);

  const auto old = read({{"motor", "arm"}, {"command_unit", "A"}});
  ASSERT_TRUE(old);
  EXPECT_EQ(old->motors, std::vector<std::string>{"arm"});
  EXPECT_EQ(command_unit(*old, 0), "A");
  const auto unmotorised = read({{"motor", ""}, {"command_unit", ""}});
  ASSERT_TRUE(unmotorised);
  EXPECT_TRUE(unmotorised->motors.empty());
  EXPECT_EQ(recording_shape(*unmotorised).commands(), 1U);
  EXPECT_EQ(command_unit(*unmotorised, 0), "");

  EXPECT_FALSE(read({{"motors", "arm,arm"}}));
  EXPECT_FALSE(read({{"motors", "arm,rod"}, {"command_units", "V"}}));
}

// Each sample and command has one entry per motor, and a rig without a motor one zero.
TEST(RecordingRules, CheckCommandsAgainstTheMotors) {
  for (const std::size_t motors : {0U, 1U, 2U, 8U}) {
    for (std::uint32_t count = 0; count <= 8; ++count) {
      const bool fits = count == std::max<std::size_t>(motors, 1);
      const auto rules = [&] { return RecordingRules(RecordingShape{.motors = motors}); };
      EXPECT_EQ(!rules().take(Sample{.motor_count = count}), fits) << motors << ' ' << count;
      EXPECT_EQ(!rules().take(Command{.motor_count = count}), fits) << motors << ' ' << count;
    }
  }
  RecordingRules two(RecordingShape{.motors = 2});
  EXPECT_TRUE(two.take(Sample{.motor_count = 2, .command = {0.0, 1.1e6}})) << "the second as well";
  EXPECT_TRUE(two.take(Command{.motor_count = 2, .command = {0.0, kNaN}}));
  EXPECT_FALSE(two.take(Command{.motor_count = 2, .command_requested = {kNaN, kInfinity}}));
}

// A gap ends at the largest sequence number at the latest, and does not wrap to its start.
TEST(RecordingRules, CheckTheEndOfAGap) {
  const auto takes = [](std::uint64_t first, std::uint64_t count) {
    return !RecordingRules(0).take(Gap{0.0, first, count, GapCause::kLink});
  };
  EXPECT_TRUE(takes(0, kSequenceMax));
  EXPECT_FALSE(takes(0, kSequenceMax + 1));
  EXPECT_TRUE(takes(5, kSequenceMax - 5));
  EXPECT_FALSE(takes(5, kSequenceMax - 4));
  EXPECT_FALSE(takes(kSequenceMax + 1, 0));
  EXPECT_FALSE(takes(5, std::numeric_limits<std::uint64_t>::max() - 4)) << "wraps to 0";
  EXPECT_FALSE(takes(std::numeric_limits<std::uint64_t>::max(), 1)) << "wraps to 0";
}

// Sequence numbers rise. Time must not decrease, but may repeat.
TEST(RecordingRules, CheckTheOrderOfSamples) {
  RecordingRules rules(0);
  const auto takes = [&](std::uint64_t sequence, double time_s) {
    return !rules.take(Sample{.timestamp_s = time_s, .sequence = sequence});
  };
  EXPECT_TRUE(takes(3, 1.0));
  EXPECT_FALSE(takes(3, 1.1)) << "twice";
  EXPECT_FALSE(takes(2, 1.1)) << "back";
  EXPECT_FALSE(takes(4, std::nextafter(1.0, 0.0))) << "time goes back";
  EXPECT_TRUE(takes(4, 1.0)) << "what was refused left no trace";
  EXPECT_FALSE(takes(kSequenceMax, 2.0));
  EXPECT_TRUE(takes(kSequenceMax - 1, 2.0));
}

// The table of ranges for numbers from a socket also holds for those in a file, at both bounds.
TEST(RecordingRules, CheckNumbersAgainstTheTableOfRanges) {
  const auto takes = [](const auto& message) { return !RecordingRules(1).take(message); };
  const auto angle = [&](double angle_rad, bool valid = true) {
    return takes(Sample{.channel_count = 1, .angle_rad = {angle_rad}, .valid = {valid}});
  };
  for (const double sign : {1.0, -1.0}) {
    EXPECT_TRUE(angle(sign * 1e12));
    EXPECT_FALSE(angle(sign * 1.01e12));
    EXPECT_FALSE(angle(sign * kInfinity));
    EXPECT_TRUE(angle(sign * 1.01e12, false)) << "nobody reads it";
    for (const double factor : {1.0, 1.01}) {
      const double command = sign * factor * 1e6;
      EXPECT_EQ(takes(Sample{.channel_count = 1, .command = {command}}), factor == 1.0);
      EXPECT_EQ(takes(Command{.command = {command}}), factor == 1.0);
      EXPECT_EQ(takes(ClockFit{.rate_error_ppm = sign * factor * 1e12}), factor == 1.0);
    }
  }
  EXPECT_FALSE(angle(kNaN)) << "a valid angle is a number";
}

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
TEST(InertialReading, IsReadFromARecordingByItsTopic) {
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
