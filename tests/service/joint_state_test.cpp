#include "proto/recording/joint_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "proto/recording/mcap/mcap_writer.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "tests/proto/mcap_compress.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using proto::JointState;

/// Plain CDR, written according to its specification.
class CdrWriter {
 public:
  explicit CdrWriter(bool little_endian) : little_(little_endian) {}

  template <typename Number>
  void put(Number number) {
    while (bytes_.size() % sizeof(Number) != 0) bytes_.push_back(0);
    std::uint8_t raw[sizeof(Number)];
    std::memcpy(raw, &number, sizeof(Number));
    if (little_ != (std::endian::native == std::endian::little)) {
      std::reverse(std::begin(raw), std::end(raw));
    }
    for (const std::uint8_t byte : raw) bytes_.push_back(byte);
  }
  void append_text(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size() + 1));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.push_back(0);
  }
  void put_numbers(const std::vector<double>& numbers) {
    put(static_cast<std::uint32_t>(numbers.size()));
    for (const double number : numbers) put(number);
  }
  std::vector<std::uint8_t> message() const {
    std::vector<std::uint8_t> all = {0, static_cast<std::uint8_t>(little_ ? 1 : 0), 0, 0};
    for (const std::uint8_t byte : bytes_) all.push_back(byte);
    return all;
  }

 private:
  bool little_;
  std::vector<std::uint8_t> bytes_;
};

std::vector<std::uint8_t> encode(const JointState& state, bool little_endian = true) {
  CdrWriter writer(little_endian);
  writer.put(static_cast<std::int32_t>(state.stamp_ns / 1'000'000'000));
  writer.put(static_cast<std::uint32_t>(state.stamp_ns % 1'000'000'000));
  writer.append_text("base");
  writer.put(static_cast<std::uint32_t>(state.names.size()));
  for (const std::string& name : state.names) writer.append_text(name);
  writer.put_numbers(state.positions);
  writer.put_numbers(state.velocities);
  writer.put_numbers(state.efforts);
  return writer.message();
}

const JointState kState = {.stamp_ns = 1'700'000'000'123'456'789,
                           .names = {"arm", "pendulum"},
                           .positions = {0.25, -1.0 / 3.0},
                           .velocities = {},
                           .efforts = {0.5, 0.0}};

TEST(JointStateCdr, ReadsBothByteOrders) {
  for (const bool little : {true, false}) {
    const auto state = proto::parse_joint_state(encode(kState, little));
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->stamp_ns, kState.stamp_ns);
    EXPECT_EQ(state->names, kState.names);
    EXPECT_EQ(state->positions, kState.positions);
    EXPECT_TRUE(state->velocities.empty());
    EXPECT_EQ(state->efforts, kState.efforts);
  }
}

// A truncated message is refused, and no altered byte breaks the reader.
TEST(JointStateCdr, ResistsDamage) {
  const std::vector<std::uint8_t> whole = encode(kState);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(proto::parse_joint_state({whole.data(), size}).has_value()) << size;
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::uint8_t> bytes = whole;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    const auto state = proto::parse_joint_state(bytes);
    if (!state) continue;
    EXPECT_LE(state->names.size(), proto::kJointsMax);
    EXPECT_TRUE(state->positions.empty() || state->positions.size() == state->names.size());
  }
  std::vector<std::uint8_t> other = whole;
  other[1] = 7;  // CDR of another version
  EXPECT_FALSE(proto::parse_joint_state(other).has_value());
  JointState fewer = kState;
  fewer.positions.pop_back();
  EXPECT_FALSE(proto::parse_joint_state(encode(fewer)).has_value());
}

class Bag : public ::testing::Test {
 protected:
  /// Swings at about 1 kHz with irregular time stamps.
  static std::vector<JointState> swing(const std::string& arm, const std::string& pendulum) {
    std::vector<JointState> states;
    for (int k = 0; k < 500; ++k) {
      states.push_back(
          {.stamp_ns = 1'700'000'000'000'000'000 + 1'000'000LL * k + (k * 7919) % 300'000,
           .names = {"other", pendulum, arm},
           .positions = {9.0, std::sin(0.01 * k), std::cos(0.01 * k)},
           .velocities = {},
           .efforts = {0.0, 0.0, 0.01 * (k % 10)}});
    }
    return states;
  }

  std::string write(const std::string& name, const std::vector<JointState>& states,
                    const std::vector<std::string>& topics = {"/joint_states"},
                    const std::string& schema = std::string(proto::kJointStateSchema)) {
    const std::string path = folder_.file(name);
    auto file = proto::create_output_file(path);
    EXPECT_TRUE(file.ok());
    proto::McapWriter writer(std::move(file.value()), {.profile = "ros2"});
    EXPECT_TRUE(writer.start().ok());
    std::vector<std::uint16_t> channels;
    for (const std::string& topic : topics) {
      channels.push_back(writer.add_channel(topic, "cdr", schema, "ros2msg", {}));
    }
    for (std::size_t k = 0; k < states.size(); ++k) {
      const std::vector<std::uint8_t> bytes = encode(states[k], k % 2 == 0);
      proto::McapMessage message;
      message.channel_id = channels[k % channels.size()];
      message.sequence = static_cast<std::uint32_t>(k);
      message.log_time_ns = 5'000'000 + 1'000'000 * k;
      message.publish_time_ns = message.log_time_ns;
      message.data = bytes;
      EXPECT_TRUE(writer.write_message(message).ok());
    }
    EXPECT_TRUE(writer.complete().ok());
    EXPECT_TRUE(writer.publish().ok());
    return path;
  }

  /// The Furuta pendulum with a motor commanded in N·m.
  static Rig rig(const std::string& unit = "N·m") {
    Rig made = load_rig(config("rig-furuta.textproto"));
    made.format.reset();
    for (JointProperties& facts : made.joint_facts) {
      if (!facts.control_unit.empty()) facts.control_unit = unit;
    }
    return made;
  }

  TemporaryFolder folder_;
};

// By joint names. Stamps are used unchanged, and an effort is a motor's torque.
TEST_F(Bag, ReadsJointsByName) {
  const ImportedRecording imported = import_recording(write("a.mcap", swing("1", "2")), rig());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments.front();
  ASSERT_EQ(segment.angles.rows(), 500);
  EXPECT_EQ(segment.angles(100, 0), std::cos(1.0));
  EXPECT_EQ(segment.angles(100, 1), std::sin(1.0));
  EXPECT_DOUBLE_EQ(segment.controls(103, 0), 0.03);
  EXPECT_FALSE(imported.summary.steady_clock);
  ASSERT_EQ(segment.times.size(), 500U);
  EXPECT_NEAR(segment.times[100], 0.1 + 1e-9 * ((100 * 7919) % 300'000), 1e-12);
}

// By the rig file's columns, with their signs and units.
TEST_F(Bag, ReadsJointsByColumns) {
  Rig made = load_rig(config("rig-furuta.textproto"));
  made.format->angles[0].column = "shoulder";
  made.format->angles[0].scale = -1.0;
  made.format->angles[0].offset = 0.5;
  made.format->angles[1].column = "elbow.position";
  made.format->angles[1].scale = 1.0;
  made.format->angles[1].offset = 0.0;
  made.format->controls[0].column = "shoulder.effort";
  made.format->controls[0].scale = 2.0;
  const ImportedRecording imported =
      import_recording(write("b.mcap", swing("shoulder", "elbow")), made);
  const estimator::Segment& segment = imported.recording.segments.front();
  EXPECT_EQ(segment.angles(100, 0), 0.5 - std::cos(1.0));
  EXPECT_EQ(segment.angles(100, 1), std::sin(1.0));
  EXPECT_DOUBLE_EQ(segment.controls(103, 0), 0.06);
}

// Joints in separate messages share a row if their stamps are equal; otherwise a joint without a
// message is not observed.
TEST_F(Bag, JoinsMessagesOfOneInstant) {
  std::vector<JointState> states;
  for (const JointState& state : swing("1", "2")) {
    states.push_back({state.stamp_ns, {"2"}, {state.positions[1]}, {}, {}});
    states.push_back({state.stamp_ns, {"1"}, {state.positions[2]}, {}, {state.efforts[2]}});
  }
  const ImportedRecording imported = import_recording(write("c.mcap", states), rig());
  EXPECT_EQ(imported.recording.segments.front().angles.rows(), 500);
  EXPECT_TRUE(imported.recording.segments.front().angles.allFinite());
}

// Messages that are delayed by less than a second are sorted, and repeated ones are merged.
TEST_F(Bag, SortsMessagesByTheirStamps) {
  const std::vector<JointState> states = swing("1", "2");
  const ImportedRecording expected = import_recording(write("a.mcap", states), rig());
  std::vector<JointState> swapped = states;
  for (std::size_t k = 10; k + 1 < swapped.size(); k += 20) std::swap(swapped[k], swapped[k + 1]);
  swapped.insert(swapped.begin() + 100, swapped[99]);
  const ImportedRecording imported = import_recording(write("b.mcap", swapped), rig());
  EXPECT_EQ(imported.recording.segments.front().angles, expected.recording.segments.front().angles);
  EXPECT_EQ(imported.recording.segments.front().times, expected.recording.segments.front().times);
  ASSERT_FALSE(imported.summary.notes.empty());
  expect_parts(imported.summary.notes.front(), {"25 messages were out of order"});
}

// A message without the effort does not change the command.
TEST_F(Bag, HoldsAnEffortUntilTheNext) {
  std::vector<JointState> states = swing("1", "2");
  states[250].efforts.clear();
  const ImportedRecording imported = import_recording(write("a.mcap", states), rig());
  const estimator::Segment& segment = imported.recording.segments.front();
  EXPECT_EQ(segment.controls(250, 0), segment.controls(249, 0));
  EXPECT_NE(segment.controls(251, 0), segment.controls(249, 0));
}

// Different joints on several topics are one recording. Of the same joint on several topics, one
// topic is chosen.
TEST_F(Bag, ReadsTopics) {
  std::vector<JointState> apart;
  for (const JointState& state : swing("1", "2")) {
    apart.push_back({state.stamp_ns, {"1"}, {state.positions[2]}, {}, {state.efforts[2]}});
    apart.push_back({state.stamp_ns + 100'000, {"2"}, {state.positions[1]}, {}, {}});
  }
  const ImportedRecording both = import_recording(write("a.mcap", apart, {"/a", "/b"}), rig());
  EXPECT_EQ(both.recording.segments.front().sample_count(), 1000);
  EXPECT_TRUE(both.summary.has_several_clocks);

  const std::string twice = write("b.mcap", swing("1", "2"), {"/a", "/b"});
  EXPECT_EQ(
      import_recording(twice, rig(), {.topic = "/b"}).recording.segments.front().sample_count(),
      250);
  Rig described = load_rig(config("rig-furuta.textproto"));
  described.format->angles[0].column = "1";
  described.format->angles[1].column = "2";
  described.format->controls[0].column = "1.effort";
  described.format->topic = "/a";
  EXPECT_EQ(import_recording(twice, described).recording.segments.front().sample_count(), 250);
}

TEST_F(Bag, ReadsCompressedChunks) {
  const std::string plain = write("plain.mcap", swing("1", "2"));
  const ImportedRecording expected = import_recording(plain, rig());
  for (const char* compression : {"zstd", "lz4"}) {
    const proto::Bytes file = compress_chunks(proto::as_bytes(contents_of(plain)), compression);
    folder_.write("packed.mcap", std::string(proto::as_text(file)));
    const ImportedRecording imported = import_recording(folder_.file("packed.mcap"), rig());
    EXPECT_EQ(imported.recording.segments.front().angles,
              expected.recording.segments.front().angles);
    EXPECT_EQ(imported.recording.segments.front().times, expected.recording.segments.front().times);
  }
}

// A rig file by `init` names the bag's joints, and an export with it is the same recording.
TEST_F(Bag, IsDescribedAndExported) {
  const std::string bag = write("free.mcap", swing("arm", "pendulum"));
  const std::string made = folder_.file("made.textproto");
  run_successfully(
      "init --kind double-pendulum --length 0.3,0.2 --angle "
      "pendulum,arm --angle-unit rad --from " +
      bag + " --out " + made);
  const Rig described = load_rig(made);
  const auto original = import_recording(bag, described).recording.segments;
  run_refused("export " + bag + " --out " + folder_.file("a.csv"), {"free.mcap", "--rig RIG"});
  run_successfully("export " + bag + " --rig " + made + " --out " + folder_.file("a.csv"),
                   {"a.csv: 500 samples"});
  const auto again = import_recording(folder_.file("a.csv"), described).recording.segments;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_LT((again[0].angles - original[0].angles).cwiseAbs().maxCoeff(), 1e-9);
}

TEST_F(Bag, WithoutStampsHasTheTimesOfTheLog) {
  std::vector<JointState> states = swing("1", "2");
  for (JointState& state : states) state.stamp_ns = 0;
  const ImportedRecording imported = import_recording(write("d.mcap", states), rig());
  EXPECT_TRUE(imported.summary.steady_clock);
  EXPECT_EQ(imported.summary.period, 1e-3);
  ASSERT_FALSE(imported.summary.notes.empty());
}

TEST_F(Bag, IsRefusedInOneSentence) {
  const auto refused = [&](const std::string& path, const Rig& with) {
    return refusal([&] { (void)import_recording(path, with); });
  };
  expect_parts(refused(write("names.mcap", swing("x", "2")), rig()),
               {"names.mcap: no joint is called \"1\"", "\"2\"", "\"x\"", "recording { time {",
                "angle { joint: \"1\""});
  Rig cart = load_rig(config("rig-cartpole.textproto"));
  expect_parts(refused(write("cart.mcap", swing("x", "2")), cart),
               {"cart.mcap: no joint is called \"" + cart.mechanism.joints[0].name + "\"",
                "recording { position {", "unit: METER"});
  expect_parts(refused(write("volt.mcap", swing("1", "2")), rig("V")),
               {"volt.mcap: ", "joint \"1\"", "in V", "JOINT.effort"});
  expect_parts(refused(write("two.mcap", swing("1", "2"), {"/a", "/b"}), rig()),
               {"two.mcap: ", "\"/a\", \"/b\"", "--topic"});
  const std::string one = write("one.mcap", swing("1", "2"));
  expect_parts(
      refusal([&] { (void)import_recording(one, rig(), {.topic = "/wrong"}); }),
      {"one.mcap: has no joint states on the topic \"/wrong\"", "\"/joint_states\"", "--topic"});
  std::vector<JointState> mute = swing("1", "2");
  for (JointState& state : mute) state.efforts.clear();
  expect_parts(refused(write("mute.mcap", mute), rig()), {"\"1.effort\" has no values"});
  std::vector<JointState> other = swing("1", "2");
  other[11].stamp_ns = other[10].stamp_ns;
  expect_parts(refused(write("equal.mcap", other), rig()),
               {"equal.mcap: \"header.stamp\", row 12: two messages", "different values"});
  std::vector<JointState> back = swing("1", "2");
  for (std::size_t k = 250; k < back.size(); ++k) back[k].stamp_ns -= 1'300'000'000;
  expect_parts(refused(write("back.mcap", back), rig()), {"jump back by 1.3 s", "two recordings"});
  expect_parts(
      refused(write("else.mcap", swing("1", "2"), {"/tf"}, "tf2_msgs/msg/TFMessage"), rig()),
      {"else.mcap: "});
}

}  // namespace
}  // namespace service
