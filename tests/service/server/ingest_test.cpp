#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <random>

#include "tests/service/server/service_process.hpp"
#include "tests/service/server/stored_session.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using rigcal::v1::SessionRefused;

// Last batch that the service reports after opening the session.
std::optional<std::uint64_t> open_session(SocketClient& client, const std::string& id) {
  const ServiceReply reply = client.call(open_request(id));
  if (!reply.has_session_opened()) return std::nullopt;
  return reply.session_opened().acknowledged_through();
}

// Waits for the acknowledgement of a batch. @return the last acknowledged batch
std::uint64_t wait_for(SocketClient& client, std::uint64_t batch) {
  std::uint64_t through = 0;
  while (through < batch) {
    const auto reply = client.receive();
    if (!reply || !reply->has_acknowledge()) break;
    through = reply->acknowledge().through();
  }
  return through;
}

// The whole path of a sample: from the socket to the disk and into a recording, unaltered.
TEST(Ingest, StoresASessionAsARecording) {
  RunningService service;
  complete_session(service, "run-1", 25);
  expect_recording_of(service.session_folder("run-1") + "/recording.mcap", 25);
  const auto recording = proto::read_recording(service.session_folder("run-1") + "/recording.mcap");
  EXPECT_EQ(recording.value().header.joints, (std::vector<std::string>{"arm", "pendulum"}));
  EXPECT_TRUE(recording.value().header.slides.empty());
  EXPECT_EQ(recording.value().header.facts.at("rig"), "furuta");
  EXPECT_EQ(recording.value().header.facts.at("session"), "run-1");
  EXPECT_EQ(recording.value().header.epoch_unix_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(service.stop(), 0);
}

// The list of prismatic channels is stored too; a recording without any has none.
TEST(Ingest, StoresPrismaticChannels) {
  RunningService service;
  ServiceRequest open = open_request("cart");
  (*open.mutable_open_session()->mutable_metadata())["slides"] = "pendulum";
  {
    SocketClient client(service.port());
    ASSERT_TRUE(client.call(open).has_session_opened());
    client.send(batch_request(1, 20));
    ASSERT_EQ(wait_for(client, 1), 1u);
    ASSERT_TRUE(client.call(close_request(1)).has_session_closed());
  }
  ASSERT_TRUE(eventually([&] { return is_stored(service, "cart"); }, 60.0));
  const auto stored = proto::read_recording(service.session_folder("cart") + "/recording.mcap");
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored.value().header.slides, std::vector<std::string>{"pendulum"});
  EXPECT_FALSE(stored.value().header.facts.contains("slides"));
}

// An acknowledged batch must survive the death of the process, and no batch is stored twice. The
// service is killed again and again at random moments, and gets all unacknowledged batches again,
// with some acknowledged ones repeated.
TEST(Ingest, LosesNothingAcknowledgedWhenKilledAtAnyMoment) {
  constexpr std::uint64_t kBatches = 400;
  constexpr int kKills = 30;  // a slow machine may store nothing between two kills
  ServiceProcess service;
  std::mt19937 random(20260101);
  std::uint64_t acknowledged = 0;
  int kills = 0;
  while (acknowledged < kBatches) {
    ASSERT_TRUE(service.start()) << service.output();
    SocketClient client(service.port());
    const auto through = open_session(client, "run");
    ASSERT_TRUE(through.has_value()) << service.output();
    ASSERT_GE(*through, acknowledged);  // otherwise acknowledged data are lost
    acknowledged = *through;
    // Some acknowledged batches once more, as after a lost acknowledgement.
    std::uint64_t next = acknowledged - std::min<std::uint64_t>(acknowledged, random() % 4) + 1;
    const std::uint64_t deadly = next + random() % 60;
    bool alive = true;
    while (alive && next <= kBatches) {
      alive = client.send(batch_request(next++));
      while (const auto reply = client.receive(0.0)) {
        if (reply->has_acknowledge()) {
          acknowledged = std::max(acknowledged, reply->acknowledge().through());
        }
      }
      if (next > deadly && kills < kKills) {
        service.kill();
        ++kills;
        alive = false;
      }
    }
    if (alive) acknowledged = std::max(acknowledged, wait_for(client, kBatches));
    if (alive) service.kill();
  }
  EXPECT_GE(kills, 5);
  ASSERT_TRUE(service.start());
  complete_session(service, "run", kBatches);
  expect_recording_of(service.session_folder("run") + "/recording.mcap", kBatches);
}

// Closing is a sequence of steps on disk: record, recording, name, deletion of the log. Killed in
// any of them, the service finishes at its next start.
TEST(Ingest, FinishesAnInterruptedClosing) {
  constexpr std::uint64_t kBatches = 300;
  std::mt19937 random(7);
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    RunningService service;
    {
      SocketClient client(service.port());
      ASSERT_EQ(open_session(client, "run"), 0u);
      for (std::uint64_t k = 1; k <= kBatches; ++k) ASSERT_TRUE(client.send(batch_request(k)));
      ASSERT_EQ(wait_for(client, kBatches), kBatches);
      ASSERT_TRUE(client.send(close_request(kBatches)));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
      service.kill();
    }
    ASSERT_TRUE(service.start()) << service.output();
    complete_session(service, "run", kBatches);
    expect_recording_of(service.session_folder("run") + "/recording.mcap", kBatches);
  }
}

// A rig that reconnects while its old connection hangs half-open continues; the old connection is
// closed and cannot add anything.
TEST(Ingest, LetsTheNewestConnectionOfARigContinue) {
  RunningService service;
  SocketClient old_line(service.port());
  ASSERT_EQ(open_session(old_line, "run"), 0u);
  ASSERT_TRUE(old_line.send(batch_request(1)));
  ASSERT_EQ(wait_for(old_line, 1), 1u);
  SocketClient new_line(service.port());
  ASSERT_EQ(open_session(new_line, "run"), 1u);
  EXPECT_TRUE(old_line.closed_by_service(10.0));
  ASSERT_TRUE(new_line.send(batch_request(2)));
  EXPECT_EQ(wait_for(new_line, 2), 2u);
}

// A batch that cannot be stored is refused with the reason, without effect on other sessions: the
// batch before it is stored, and the session can continue.
TEST(Ingest, RefusesBatchesThatCannotBeStored) {
  struct Case {
    const char* name;
    std::function<void(ServiceRequest&)> spoil;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"hole", [](auto& r) { r = batch_request(4); }, "must be consecutive"},
      {"nan",
       [](auto& r) { r.mutable_sample_batch()->mutable_samples(3)->set_timestamp(std::nan("")); },
       "sample_batch.samples[3].timestamp is nan"},
      {"backwards", [](auto& r) { r.mutable_sample_batch()->mutable_samples(3)->set_sequence(2); },
       "sequences must increase"},
      {"close", [](auto& r) { r = close_request(7); }, "1 arrived"},
      {"hello", [](auto& r) { r.mutable_hello()->set_protocol_version(1); }, "SampleBatch"},
  };
  RunningService service;
  for (const Case& wrong : cases) {
    SCOPED_TRACE(wrong.name);
    SocketClient client(service.port());
    ASSERT_EQ(open_session(client, wrong.name), 0u);
    ASSERT_TRUE(client.send(batch_request(1)));
    ASSERT_EQ(wait_for(client, 1), 1u);
    ServiceRequest request = batch_request(2);
    wrong.spoil(request);
    ASSERT_TRUE(client.send(request));
    const auto reply = client.receive();
    ASSERT_TRUE(reply && reply->has_session_refused());
    EXPECT_EQ(reply->session_refused().reason(), SessionRefused::REASON_BAD_REQUEST);
    expect_parts(reply->session_refused().text(), {wrong.reason});
    EXPECT_TRUE(client.closed_by_service(10.0));
    complete_session(service, wrong.name, 3);
    expect_recording_of(service.session_folder(wrong.name) + "/recording.mcap", 3);
  }
}

TEST(Ingest, RefusesSessionsThatDoNotFit) {
  RunningService service;
  {
    SocketClient client(service.port());
    ASSERT_EQ(open_session(client, "run"), 0u);
  }
  ServiceRequest other_version = open_request("a");
  other_version.mutable_open_session()->set_protocol_version(99);
  ServiceRequest other_slide = open_request("e");
  (*other_slide.mutable_open_session()->mutable_metadata())["slides"] = "cart";
  const std::vector<std::pair<ServiceRequest, const char*>> cases = {
      {other_version, "version 99"},
      {other_slide, "slides"},
      {open_request("../../etc/passwd"), "session id"},
      {open_request(".hidden"), "session id"},
      {open_request("b", ""), "hinges"},
      {open_request("c", "arm,arm"), "hinges"},
      {open_request("d", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"), "hinges"},
      {open_request("run", "other,joints"), "another recording"},
      {open_request("run", "arm,pendulum", 42), "another recording"},
  };
  for (const auto& [request, reason] : cases) {
    SocketClient client(service.port());
    const ServiceReply reply = client.call(request);
    ASSERT_TRUE(reply.has_session_refused()) << reply.DebugString();
    expect_parts(reply.session_refused().text(), {reason});
  }
}

// A sender that was stopped between the closing and its confirmation asks again, also after a
// restart of the service. A closed session accepts nothing more.
TEST(Ingest, ConfirmsAClosingAgainAndAcceptsNothingAfterIt) {
  RunningService service;
  complete_session(service, "run", 3);
  for (int round = 0; round < 2; ++round) {
    complete_session(service, "run", 3);
    SocketClient client(service.port());
    ASSERT_EQ(open_session(client, "run"), 3u);
    const ServiceReply reply = client.call(batch_request(4));
    ASSERT_TRUE(reply.has_session_refused());
    EXPECT_NE(reply.session_refused().text().find("was closed"), std::string::npos);
    service.kill();
    ASSERT_TRUE(service.start());
  }
  expect_recording_of(service.session_folder("run") + "/recording.mcap", 3);
}

// A full disk stops the session that needs space, with a reason. Acknowledged data stay, and the
// session continues once there is room. A limit on file sizes simulates the full disk.
TEST(Ingest, SurvivesADiskWithoutRoom) {
  constexpr std::uint64_t kBatches = 400;
  ServiceProcess service;
  const auto limit_files = [] {
    const rlimit limit{300'000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  ASSERT_TRUE(service.start(limit_files));
  std::uint64_t acknowledged = 0;
  {
    SocketClient client(service.port());
    ASSERT_EQ(open_session(client, "big"), 0u);
    bool refused = false;
    for (std::uint64_t k = 1; k <= kBatches && !refused; ++k) {
      client.send(batch_request(k));
      while (const auto reply = client.receive(k == kBatches ? 5.0 : 0.0)) {
        if (reply->has_acknowledge()) acknowledged = reply->acknowledge().through();
        if (reply->has_session_refused()) {
          EXPECT_EQ(reply->session_refused().reason(), SessionRefused::REASON_STORAGE);
          refused = true;
          break;
        }
      }
    }
    ASSERT_TRUE(refused);
  }
  EXPECT_GT(acknowledged, 0u);
  EXPECT_LT(acknowledged, kBatches);
  // Meanwhile others are served.
  complete_session(service, "small", 5);
  expect_recording_of(service.session_folder("small") + "/recording.mcap", 5);
  EXPECT_EQ(service.stop(), 0);
  ASSERT_TRUE(service.start());
  {
    SocketClient client(service.port());
    const auto through = open_session(client, "big");
    ASSERT_TRUE(through.has_value());
    EXPECT_GE(*through, acknowledged);
  }
  complete_session(service, "big", kBatches);
  expect_recording_of(service.session_folder("big") + "/recording.mcap", kBatches);
}

// The configured free space is left, and the refusal says so.
TEST(Ingest, LeavesTheConfiguredFreeSpace) {
  RunningService service({}, "limits { free_space_bytes: 1000000000000000 }\n");
  SocketClient client(service.port());
  const ServiceReply reply = client.call(open_request("run"));
  ASSERT_TRUE(reply.has_session_refused()) << reply.DebugString();
  EXPECT_EQ(reply.session_refused().reason(), SessionRefused::REASON_STORAGE);
  EXPECT_FALSE(std::filesystem::exists(service.session_folder("run")));
}

// Two services on one folder would overwrite each other's numbers and names.
TEST(Ingest, RefusesAFolderThatAnotherServiceHolds) {
  RunningService service;
  test_support::TemporaryFolder files;
  ChildProcess second({RIGCALD_BINARY, "--data", service.folder(), "--listen", "127.0.0.1:0"},
                      files.file("output"));
  EXPECT_EQ(second.wait(10.0), 1);
  EXPECT_NE(second.output().find("another rigcald"), std::string::npos) << second.output();
}

}  // namespace
}  // namespace service
