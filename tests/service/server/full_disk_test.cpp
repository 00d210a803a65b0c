#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/service/server/service_process.hpp"
#include "tests/service/server/stored_session.hpp"
#include "tests/support/refusal.hpp"

// Full and failing disks under a running service.

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceReply;
using rigcal::v1::SessionRefused;
using test_support::TemporaryFolder;

// Sends repeatedly, as a rig does, until all is acknowledged; closes; waits for the recording.
void complete(ServiceProcess& service, const std::string& id, std::uint64_t batch_count,
              std::uint64_t sample_count = 20) {
  ASSERT_TRUE(eventually(
      [&] {
        return send_through(service, id, batch_count, sample_count).acknowledged == batch_count;
      },
      20.0))
      << service.output();
  complete_session(service, id, batch_count, sample_count);
}

// A small file system of its own. Mounting it needs root.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    std::filesystem::create_directories(folder);
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

  /// Leaves no free byte.
  void fill() const {
    std::ofstream file(folder_ + "/ballast", std::ios::app);
    const std::string block(4096, 'x');
    while (file.write(block.data(), 4096).flush()) {
    }
  }
  void empty() const { std::filesystem::remove(folder_ + "/ballast"); }

 private:
  std::string folder_;
  bool mounted_ = false;
};

// A full disk refuses the running session, a new one, an upload and a job, with name and reason.
// Queries are still answered. With free space everything continues in the same process, and no
// acknowledged data are lost.
TEST(FullDisk, RefusesAndContinuesWhenThereIsRoom) {
  constexpr std::uint64_t kBatches = 60;
  ServiceProcess service;
  service.configure("limits { free_space_bytes: 0 }\n");
  const SmallDisk disk(service.folder());
  if (!disk.mounted()) GTEST_SKIP() << "a file system can be mounted by root only";
  ASSERT_TRUE(service.start()) << service.output();
  ASSERT_EQ(send_through(service, "run", 10).acknowledged, 10u);
  disk.fill();

  const Sent stuck = send_through(service, "run", kBatches);
  EXPECT_GE(stuck.acknowledged, 10u);
  ASSERT_TRUE(stuck.refused.has_value());
  EXPECT_EQ(stuck.refused->reason(), SessionRefused::REASON_STORAGE);
  expect_parts(stuck.refused->text(), {"No space left"});
  const Sent new_one = send_through(service, "new", 1);
  ASSERT_TRUE(new_one.refused.has_value());
  EXPECT_EQ(new_one.refused->reason(), SessionRefused::REASON_STORAGE);
  GreetedClient client(service.port());
  const ServiceReply upload = client.call(upload_request("file", 1000));
  EXPECT_EQ(upload.error().code(), rigcal::v1::ServiceError::STORAGE) << upload.DebugString();
  const ServiceReply list = client.call(list_request());
  ASSERT_EQ(list.session_list().sessions_size(), 2) << list.DebugString();
  EXPECT_NE(list.DebugString().find("No space left"), std::string::npos) << list.DebugString();

  disk.empty();
  for (const char* id : {"run", "new"}) {
    SCOPED_TRACE(id);
    complete(service, id, kBatches);
    expect_recording_of(service.session_folder(id) + "/recording.mcap", kBatches);
  }
  EXPECT_EQ(service.stop(), 0);
}

// A recording that does not fit is written automatically once it does. Until then the session keeps
// its log and reports why.
TEST(FullDisk, WritesTheRecordingOnceItFits) {
  constexpr std::uint64_t kBatches = 60;
  ServiceProcess service;
  service.configure("limits { free_space_bytes: 0 }\n");
  const SmallDisk disk(service.folder());
  if (!disk.mounted()) GTEST_SKIP() << "a file system can be mounted by root only";
  ASSERT_TRUE(service.start()) << service.output();
  ASSERT_EQ(send_through(service, "run", kBatches).acknowledged, kBatches);
  disk.fill();
  // Room for the record of the closing, but not for the recording.
  std::filesystem::resize_file(service.folder() + "/ballast",
                               std::filesystem::file_size(service.folder() + "/ballast") - 16'384);
  StreamingClient rig(service.port(), "run");
  ASSERT_TRUE(rig.call(close_request(kBatches)).has_session_closed()) << service.output();
  ASSERT_TRUE(eventually(
      [&] { return service.output().find("recording_store_failed") != std::string::npos; }, 20.0))
      << service.output();
  const std::string folder = service.session_folder("run");
  EXPECT_FALSE(std::filesystem::exists(folder + "/recording.mcap"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/recording.mcap.part"));
  disk.empty();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder + "/recording.mcap"); }, 60.0))
      << service.output();
  expect_recording_of(folder + "/recording.mcap", kBatches);
}

bool start_on_failing_disk(ServiceProcess& service, const std::string& switch_path) {
  return service.start([&] {
    ::setenv("RIGCAL_FAILING_DISK", switch_path.c_str(), 1);
    ::setenv("LD_PRELOAD", FAILING_DISK, 1);
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  });
}

// A write fails once, at any moment: data are lost and the next fsync succeeds. The session is
// refused, read again from the disk, and continues after its real end, in the same process.
// Acknowledged data are not lost, and other sessions are not affected.
TEST(FailingDisk, LosesNoAcknowledgedData) {
  constexpr std::uint64_t kBatches = 800;
  constexpr std::uint64_t kSamples = 250;  // about 20 MB: beyond the end of a file, too
  const TemporaryFolder files;
  const std::string switch_path = files.file("fail");
  ServiceProcess service;
  ASSERT_TRUE(start_on_failing_disk(service, switch_path)) << service.output();
  std::uint64_t acknowledged = 0;
  int refusals = 0;
  for (std::uint64_t target = 25; target <= kBatches; target += 25) {
    std::ofstream{switch_path};
    for (int tries = 0; acknowledged < target; ++tries) {
      ASSERT_LT(tries, 10) << service.output();
      const Sent sent = send_through(service, "run", target, kSamples);
      ASSERT_GE(sent.acknowledged, acknowledged);  // otherwise acknowledged data are lost
      acknowledged = sent.acknowledged;
      if (!sent.refused) continue;
      ++refusals;
      EXPECT_EQ(sent.refused->reason(), SessionRefused::REASON_STORAGE);
      expect_parts(sent.refused->text(), {"cannot sync to disk"});
    }
  }
  EXPECT_EQ(refusals, kBatches / 25);
  std::filesystem::remove(switch_path);
  complete(service, "run", kBatches, kSamples);
  expect_recording_of(service.session_folder("run") + "/recording.mcap", kBatches, kSamples);
}

// The same for an upload: a client that reopens it and continues at the reported position has sent
// every byte of the file, whichever part the disk failed to write.
TEST(FailingDisk, DamagesNoUpload) {
  constexpr std::size_t kPartSize = 100'000;
  std::string content(5 * kPartSize, '\0');
  std::mt19937 random(5);
  for (char& byte : content) byte = static_cast<char>(1 + random() % 255);  // lost bytes read as 0
  const TemporaryFolder files;
  const std::string switch_path = files.file("fail");
  ServiceProcess service;
  ASSERT_TRUE(start_on_failing_disk(service, switch_path)) << service.output();
  for (int failing_part = 1; failing_part <= 5; ++failing_part) {
    SCOPED_TRACE(failing_part);
    const std::string id = "file-" + std::to_string(failing_part);
    GreetedClient client(service.port());
    const auto open = upload_request(id, content.size(), "run.csv");
    ServiceReply reply = client.call(open);
    int part_count = 0;
    int failures = 0;
    while (!reply.upload_state().complete()) {
      ASSERT_LT(++part_count, 20);
      if (part_count == failing_part) std::ofstream{switch_path};
      const std::uint64_t at = reply.upload_state().durable_bytes();
      reply = client.call(part_request(id, at, content.substr(at, kPartSize)));
      if (!reply.has_error()) continue;
      ++failures;
      EXPECT_EQ(reply.error().code(), rigcal::v1::ServiceError::STORAGE) << reply.DebugString();
      reply = client.call(open);
      ASSERT_TRUE(reply.has_upload_state()) << reply.DebugString();
    }
    EXPECT_EQ(failures, 1);
    const auto stored = read_bytes(service.session_folder(id) + "/recording.csv");
    EXPECT_TRUE(content == std::string(stored.begin(), stored.end()));
  }
}

}  // namespace
}  // namespace service
