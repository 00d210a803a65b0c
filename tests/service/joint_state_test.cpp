// Joint states in ROS 2 bags: MCAP files, and SQLite files (.db3), the default before Iron.
#include "proto/recording/joint_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "proto/recording/mcap/mcap_writer.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "tests/proto/bag_sample.hpp"
#include "tests/proto/mcap_compress.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using proto::JointState;

const JointState kState = {.stamp_ns = 1'700'000'000'123'456'789,
                           .names = {"arm", "pendulum"},
                           .positions = {0.25, -1.0 / 3.0},
                           .velocities = {},
                           .efforts = {0.5, 0.0}};

TEST(JointStateCdr, ReadsBothByteOrders) {
  for (const bool little : {true, false}) {
    const auto state = proto::parse_joint_state(encode_joint_state(kState, little));
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
  const std::vector<std::uint8_t> whole = encode_joint_state(kState);
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
  EXPECT_FALSE(proto::parse_joint_state(encode_joint_state(fewer)).has_value());
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
      const std::vector<std::uint8_t> bytes = encode_joint_state(states[k], k % 2 == 0);
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
    for (JointProperties& facts : made.joint_properties) {
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
      {"else.mcap: has no topic of the type sensor_msgs/msg/JointState",
       "/tf (tf2_msgs/msg/TFMessage)"});
  std::vector<JointState> still = swing("1", "2");
  for (JointState& state : still) state.positions.clear();
  for (JointState& state : still) state.efforts.clear();
  run_refused("info " + write("still.mcap", still), {"still.mcap: no message has positions"});
}

constexpr int kMessages = 400;

double bag_angle(int k) { return 0.4 * std::sin(0.03 * k); }

Rig bag_rig() {
  return parse_rig("rig.textproto", R"(
    body { name: "rod" mass { value: 0.5 }
      inertia { xx { value: 0.02 } yy { value: 0.02 } zz { value: 0.02 } } }
    joint { name: "arm"
      parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
      child { body: "rod" point { y { value: 0.2 } } axis { z: 1 } zero_direction { y: -1 } }
      friction { viscous { value: 1e-4 free: true } } encoder {} }
    gravity { magnitude { value: 9.81 } })");
}

std::string write_bag(const TemporaryFolder& folder, const std::string& name) {
  const std::string path = folder.file(name);
  SqliteBagWriter bag(path);
  bag.run("BEGIN");
  for (int k = 0; k < kMessages; ++k) {
    const std::int64_t time_ns = 1'700'000'000'000'000'000 + 5'000'000 * std::int64_t{k};
    bag.add_message(time_ns + 100, encode_joint_state(arm_state(time_ns, bag_angle(k))));
  }
  bag.run("COMMIT");
  EXPECT_TRUE(bag.is_fine());
  return path;
}

// A bag with measured and desired states of one joint gave a mixture of both.
TEST(SqliteBag, WithAJointOnTwoTopicsNeedsTheTopic) {
  const TemporaryFolder folder;
  const std::string path = write_bag(folder, "run.db3");
  {
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    EXPECT_EQ(
        sqlite3_exec(database,
                     "INSERT INTO topics SELECT 3, '/desired', type, 'cdr', '' FROM topics "
                     "WHERE id = 2; INSERT INTO messages SELECT NULL, 3, timestamp, data FROM "
                     "messages WHERE topic_id = 2",
                     nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(database);
  }
  expect_parts(refusal([&] { (void)import_recording(path, bag_rig()); }),
               {"run.db3: ", "\"/desired\", \"/joint_states\"", "--topic"});
  EXPECT_EQ(import_recording(path, bag_rig(), {.topic = "/desired"}).summary.rows, kMessages);
}

TEST(SqliteBag, WithCompressedMessagesIsRefused) {
  const TemporaryFolder folder;
  SqliteBagWriter bag(folder.file("run.db3"));
  for (int k = 0; k < 20; ++k) bag.add_message(k, {0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0, 0});
  EXPECT_TRUE(bag.is_fine());
  expect_parts(refusal([&] { (void)read_recording_columns(folder.file("run.db3")); }),
               {"run.db3: the 20 messages of joint states are compressed", "ros2 bag convert"});
}

// The content decides, whatever the name, also with characters that SQLite reads in addresses.
TEST(SqliteBag, IsReadLikeMcap) {
  const TemporaryFolder folder;
  for (const char* name : {"run.db3", "100% #1?.bag"}) {
    const std::string path = write_bag(folder, name);
    EXPECT_EQ(detect_file_format(path), RecordingFileFormat::kJointState);
    const ImportedRecording imported = import_recording(path, bag_rig());
    ASSERT_EQ(imported.recording.segments.size(), 1U);
    const estimator::Segment& segment = imported.recording.segments.front();
    ASSERT_EQ(segment.angles.rows(), kMessages);
    EXPECT_NEAR(segment.period, 0.005, 1e-9);
    EXPECT_NEAR(segment.angles(50, 0), bag_angle(50), 1e-12);
  }
}

TEST(SqliteBag, OfOtherTopicsIsRefusedWithTheirNames) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.db3");
  { const SqliteBagWriter bag(path, "std_msgs/msg/Float64"); }
  expect_parts(refusal([&] { (void)import_recording(path, bag_rig()); }),
               {"run.db3", "no topic of the type sensor_msgs/msg/JointState",
                "/joint_states (std_msgs/msg/Float64)", "/rosout"});
}

TEST(SqliteBag, OfAnotherProgramIsRefused) {
  const TemporaryFolder folder;
  sqlite3* database = nullptr;
  sqlite3_open(folder.file("other.db3").c_str(), &database);
  sqlite3_exec(database, "CREATE TABLE rows(x)", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  expect_parts(refusal([&] { (void)import_recording(folder.file("other.db3"), bag_rig()); }),
               {"other.db3: is not a ROS 2 bag", "\"topics\"", "ros2 bag convert"});
}

// A view may compute for ever.
TEST(SqliteBag, EndsWithinItsBudget) {
  const TemporaryFolder folder;
  const std::string path = folder.file("endless.db3");
  {
    SqliteBagWriter bag(path);
    bag.run("DROP TABLE messages");
    bag.run(
        "CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT 2 AS topic_id, i AS timestamp, x'00' AS data FROM n WHERE i < 0");
    EXPECT_TRUE(bag.is_fine());
  }
  expect_parts(refusal([&] { (void)import_recording(path, bag_rig()); }),
               {"endless.db3: is not a ROS 2 bag"});
}

TEST(SqliteBag, ThatTheRecorderDidNotCloseIsRefused) {
  const TemporaryFolder folder;
  const std::string path = write_bag(folder, "run.db3");
  folder.write("run.db3-wal", "");
  EXPECT_NO_THROW((void)import_recording(path, bag_rig())) << "an empty file holds nothing";
  folder.write("run.db3-wal", "pages");
  expect_parts(refusal([&] { (void)import_recording(path, bag_rig()); }),
               {"run.db3: the recorder did not close the bag", "wal_checkpoint"});
}

}  // namespace
}  // namespace service
