// ROS 2 bags in SQLite files (.db3), the default of ROS 2 before Iron.

#include <gtest/gtest.h>

#include <cmath>

#include "service/recordings/formats/recording_file.hpp"
#include "tests/proto/bag_sample.hpp"
#include "tests/service/run_rigcal.hpp"

namespace service {
namespace {

using namespace test_support;

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
    bag.add_message(time_ns + 100, make_joint_state(time_ns, bag_angle(k), 0.0));
  }
  bag.run("COMMIT");
  EXPECT_TRUE(bag.is_fine());
  return path;
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
