#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "tests/service/server/service_process.hpp"
#include "tests/service/server/stored_session.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

// A client of another version gets a message, not silence or garbage.
TEST(Protocol, AnswersAHelloOfAnotherVersionWithAReason) {
  RunningService service;
  SocketClient client(service.port());
  ServiceRequest hello;
  hello.mutable_hello()->set_protocol_version(1);
  const ServiceReply reply = client.call(hello);
  ASSERT_TRUE(reply.has_error());
  EXPECT_EQ(reply.error().code(), ServiceError::PROTOCOL_VERSION);
  EXPECT_NE(reply.error().text().find("version 2"), std::string::npos);
  EXPECT_TRUE(client.closed_by_service(10.0));
}

// Each protocol violation ends with an error and closes the connection, and the next client is
// served as usual.
TEST(Protocol, EndsConnectionsThatDoNotSpeakIt) {
  RunningService service;
  std::mt19937 random(11);
  std::string noise(100'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  const std::string giant = std::string("\xff\xff\xff\x7f", 4) + std::string("\x12\x00", 2);
  const std::string wrong_type = std::string("\x02\x00\x00\x00", 4) + std::string("\x7a\x00", 2);
  // 300 000 empty samples in 600 kB would take a hundred megabytes in memory.
  std::string bomb;
  for (int k = 0; k < 120'000; ++k) bomb += std::string("\x12\x00", 2);
  std::string bomb_frame = std::string("\x12", 1);
  for (std::size_t size = bomb.size(); size > 0; size >>= 7) {
    bomb_frame += static_cast<char>((size & 0x7f) | (size >= 128 ? 0x80 : 0));
  }
  bomb_frame += bomb;
  std::string bomb_length(4, '\0');
  for (unsigned k = 0; k < 4; ++k) bomb_length[k] = static_cast<char>(bomb_frame.size() >> (8 * k));
  for (const std::string& bytes :
       {noise, giant, wrong_type, std::string(64, '\0'), std::string("GET / HTTP/1.1\r\n\r\n"),
        bomb_length + bomb_frame, request_frame(list_request())}) {
    SocketClient client(service.port());
    client.send_bytes(bytes);
    const auto reply = client.receive();
    ASSERT_TRUE(reply && reply->has_error());
    EXPECT_FALSE(reply->error().text().empty());
    EXPECT_TRUE(client.closed_by_service(10.0));
  }
  SocketClient client(service.port());
  EXPECT_TRUE(client.greet());
  EXPECT_TRUE(client.call(list_request()).has_session_list());
}

// Frames may be split anywhere and arrive byte by byte.
TEST(Protocol, AcceptsFramesByteByByte) {
  RunningService service;
  SocketClient client(service.port());
  for (const char byte : request_frame(open_request("run"))) {
    ASSERT_TRUE(client.send_bytes({&byte, 1}));
  }
  const auto reply = client.receive();
  ASSERT_TRUE(reply && reply->has_session_opened());
}

// Clients that connect silently, or never finish a message, are disconnected after a time.
TEST(Protocol, DisconnectsSilentAndSlowClients) {
  RunningService service({},
                         "limits { handshake_timeout_s: 1\n"
                         "frame_timeout_s: 1.5 }\n");
  SocketClient silent(service.port());
  SocketClient half(service.port());
  ASSERT_TRUE(half.send_bytes(request_frame(open_request("x")).substr(0, 9)));
  GreetedClient slow(service.port());
  const std::string frame = request_frame(list_request());
  ASSERT_TRUE(slow.send_bytes(frame.substr(0, 3)));
  SocketClient idle(service.port());  // waiting between requests is allowed
  ASSERT_TRUE(idle.greet());
  EXPECT_TRUE(silent.closed_by_service(10.0));
  EXPECT_TRUE(half.closed_by_service(10.0));
  EXPECT_TRUE(slow.closed_by_service(10.0));
  EXPECT_TRUE(idle.call(list_request()).has_session_list());
}

// A thousand silent connections block nobody: the oldest of them makes room.
TEST(Protocol, ServesOthersWhileAThousandConnectionsHang) {
  RunningService service({}, "limits { connections: 100 }\n");
  StreamingClient rig(service.port(), "run");
  std::vector<SocketClient> crowd;
  std::uint64_t batch = 0;
  for (int k = 0; k < 1000; ++k) {
    crowd.emplace_back(service.port());
    if (k % 50 != 0) continue;
    const ServiceReply reply = rig.call(batch_request(++batch));
    ASSERT_TRUE(reply.has_acknowledge());
    GreetedClient client(service.port());
  }
  EXPECT_TRUE(rig.call(close_request(batch)).has_session_closed());
}

// A thousand clients of one address greet, or open a session, and then idle. They cost the share of
// their address, and newer connections of the address replace them: a client and a rig are
// acknowledged within a second.
TEST(Protocol, AcknowledgesOthersBesideAThousandIdleClients) {
  RunningService service;
  for (const bool streams : {false, true}) {
    SCOPED_TRACE(streams ? "idle rigs" : "idle clients");
    std::vector<SocketClient> crowd;
    for (int k = 0; k < (streams ? 100 : 1000); ++k) {
      crowd.emplace_back(service.port());
      const ServiceReply reply =
          crowd.back().call(streams ? open_request("idle-" + std::to_string(k)) : hello_request());
      ASSERT_TRUE(reply.has_welcome() || reply.has_session_opened()) << reply.DebugString();
    }
    const auto began = std::chrono::steady_clock::now();
    StreamingClient rig(service.port(), streams ? "second" : "first");
    ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
    GreetedClient client(service.port());
    ASSERT_TRUE(client.call(list_request()).has_session_list());
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
    EXPECT_TRUE(rig.call(batch_request(2)).has_acknowledge());
    EXPECT_TRUE(crowd.front().closed_by_service(5.0)) << "the oldest made room";
  }
}

// A rig that opens session after session must leave room for the others. Abandoned sessions cost
// nothing: they are unloaded, and are there when the rig, or an operator, comes back.
TEST(Protocol, LeavesRoomBesideARigThatOpensSessionAfterSession) {
  RunningService service({},
                         "limits { streaming_sessions: 4 "
                         "unload_after_s: 0.01 }\n");
  const auto open = [&](SocketClient& rig, int number) {
    return rig.call(open_request("run-" + std::to_string(number)));
  };
  {
    std::vector<SocketClient> rigs;
    for (int k = 0; k < 3; ++k) {
      rigs.emplace_back(service.port(), "127.0.0.1");
      const ServiceReply reply = open(rigs.back(), k);
      ASSERT_EQ(reply.has_session_opened(), k < 2) << reply.DebugString();
      if (k < 2) {
        ASSERT_TRUE(rigs.back().call(batch_request(1)).has_acknowledge());
        continue;
      }
      expect_parts(reply.session_refused().text(),
                   {"2 sessions are streaming from address:127.0.0.1"});
    }
    SocketClient again(service.port());
    EXPECT_TRUE(open(again, 0).has_session_opened()) << "its own session";
    SocketClient other(service.port(), "127.0.0.2");
    EXPECT_TRUE(open(other, 10).has_session_opened());
  }
  for (int k = 20; k < 30; ++k) {
    SocketClient rig(service.port());
    ASSERT_TRUE(eventually([&] { return open(rig, k).has_session_opened(); }, 1.0)) << k;
    ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  }
  const auto spool_files = [&] {
    int count = 0;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(
             "/proc/" + std::to_string(service.pid()) + "/fd", gone)) {
      count += std::filesystem::read_symlink(entry, gone).extension() == ".spool";
    }
    return count;
  };
  EXPECT_TRUE(eventually([&] { return spool_files() == 0; }, 20.0)) << spool_files();
  {
    SocketClient rig(service.port());
    EXPECT_EQ(open(rig, 20).session_opened().acknowledged_through(), 1u);
    ASSERT_TRUE(rig.call(batch_request(2)).has_acknowledge());
    ASSERT_TRUE(rig.call(close_request(2)).has_session_closed());
  }
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(end_request("run-21")).has_session_info());
  for (const int k : {20, 21}) {
    const std::string path = service.session_folder("run-" + std::to_string(k)) + "/recording.mcap";
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(path); }, 20.0)) << k;
    expect_recording_of(path, k == 20 ? 2 : 1);
  }
}

// Thousands of requests without reading a reply: the service reads only as fast as the client does,
// limits its memory, and serves others. Read at last, every reply is there, in order.
TEST(Protocol, ThrottlesAClientThatDoesNotRead) {
  RunningService service;
  GreetedClient greedy(service.port());
  constexpr int kRequests = 3000;
  std::string requests;
  for (int k = 0; k < kRequests; ++k) {
    requests += request_frame(inspect_request("none-" + std::to_string(k)));
  }
  ASSERT_TRUE(greedy.send_bytes(requests));
  GreetedClient other(service.port());
  for (int k = 0; k < kRequests; ++k) {
    const auto reply = greedy.receive();
    ASSERT_TRUE(reply && reply->has_error());
    ASSERT_NE(reply->error().text().find("\"none-" + std::to_string(k) + "\""), std::string::npos);
  }
}

// Sessions are listed, inspected, read byte for byte, and deleted for good.
TEST(Protocol, ListsReadsAndDeletesSessions) {
  RunningService service;
  complete_session(service, "a", 5);
  complete_session(service, "b", 10);
  GreetedClient client(service.port());
  ServiceReply list;
  ASSERT_TRUE(eventually(
      [&] {
        list = client.call(list_request());
        return list.session_list().sessions(0).state() == rigcal::v1::SESSION_STORED &&
               list.session_list().sessions(1).state() == rigcal::v1::SESSION_STORED;
      },
      20.0));
  ASSERT_EQ(list.session_list().sessions_size(), 2) << list.DebugString();
  EXPECT_EQ(list.session_list().sessions(0).session_id(), "b");  // newest first
  EXPECT_EQ(list.session_list().sessions(0).sample_count(), 200u);

  std::string content;
  while (true) {
    const ServiceReply part = client.call(test_support::read_request("a", content.size()));
    ASSERT_TRUE(part.has_file_part()) << part.DebugString();
    if (part.file_part().data().empty()) break;
    content += part.file_part().data();
  }
  const auto stored = read_bytes(service.session_folder("a") + "/recording.mcap");
  EXPECT_EQ(content, std::string(stored.begin(), stored.end()));

  const auto remove = delete_request("a");
  EXPECT_TRUE(client.call(remove).has_deleted());
  EXPECT_FALSE(std::filesystem::exists(service.session_folder("a")));
  EXPECT_EQ(client.call(remove).error().code(), ServiceError::NOT_FOUND);
  EXPECT_EQ(client.call(list_request()).session_list().total_count(), 1u);
}

// Live subscribers get the durable data, in order, and the end.
TEST(Protocol, ShowsARunningSessionLive) {
  RunningService service;
  StreamingClient rig(service.port(), "run");
  GreetedClient watcher(service.port());
  ASSERT_TRUE(watcher.call(subscribe_request("run")).has_session_info());
  for (std::uint64_t k = 1; k <= 10; ++k) ASSERT_TRUE(rig.call(batch_request(k)).has_acknowledge());
  ASSERT_TRUE(rig.call(close_request(10)).has_session_closed());
  std::uint64_t sequence = 0;
  while (true) {
    const auto reply = watcher.receive();
    ASSERT_TRUE(reply.has_value());
    if (reply->has_live_ended()) break;
    ASSERT_TRUE(reply->has_live_batch()) << reply->DebugString();
    for (const auto& sample : reply->live_batch().batch().samples()) {
      ASSERT_EQ(sample.sequence(), sequence++);
    }
  }
  EXPECT_EQ(sequence, 200u);
}

// A slow subscriber loses live data and gets their amount; the rig never waits for it. Lost and
// received data together are complete.
TEST(Protocol, DropsLiveDataOfASlowSubscriberOnly) {
  constexpr std::uint64_t kBatches = 1500;
  constexpr std::uint64_t kSamples = 60;
  RunningService service;
  StreamingClient rig(service.port(), "run");
  GreetedClient slow(service.port());
  ASSERT_TRUE(slow.call(subscribe_request("run")).has_session_info());
  std::uint64_t acknowledged = 0;
  for (std::uint64_t k = 1; k <= kBatches; ++k) {
    ASSERT_TRUE(rig.send(batch_request(k, kSamples)));
    while (acknowledged + 32 < k) {
      const auto reply = rig.receive();
      ASSERT_TRUE(reply && reply->has_acknowledge());
      acknowledged = reply->acknowledge().through();
    }
  }
  while (acknowledged < kBatches) acknowledged = rig.receive()->acknowledge().through();
  ASSERT_TRUE(rig.call(close_request(kBatches)).has_session_closed());
  std::uint64_t seen = 0, dropped = 0;
  while (true) {
    const auto reply = slow.receive();
    ASSERT_TRUE(reply.has_value());
    if (reply->has_live_ended()) break;
    if (reply->has_live_dropped()) dropped += reply->live_dropped().sample_count();
    if (reply->has_live_batch()) {
      seen += static_cast<std::uint64_t>(reply->live_batch().batch().samples_size());
    }
  }
  EXPECT_EQ(seen + dropped, kBatches * kSamples);
  EXPECT_GT(dropped, 0u);
}

// An interrupted upload is resumed, and gives the same file, byte for byte.
TEST(Protocol, ResumesAnUploadAfterItsDeath) {
  RunningService service;
  std::string content(2'500'000, '\0');
  std::mt19937 random(5);
  for (char& byte : content) byte = static_cast<char>(random());
  bool complete = false;
  int connections = 0;
  while (!complete) {
    ASSERT_LT(++connections, 10);
    GreetedClient client(service.port());
    ServiceReply reply = client.call(upload_request("file-1", content.size(), "run.csv"));
    ASSERT_TRUE(reply.has_upload_state()) << reply.DebugString();
    for (int parts = 0; !reply.upload_state().complete() && parts < 1; ++parts) {
      reply =
          client.call(part_request("file-1", reply.upload_state().durable_bytes(),
                                   content.substr(reply.upload_state().durable_bytes(), 1 << 20)));
      ASSERT_TRUE(reply.has_upload_state()) << reply.DebugString();
    }
    complete = reply.upload_state().complete();
    if (!complete) {
      service.kill();
      ASSERT_TRUE(service.start());
    }
  }
  EXPECT_EQ(connections, 3);
  const auto stored = read_bytes(service.session_folder("file-1") + "/recording.csv");
  EXPECT_EQ(content, std::string(stored.begin(), stored.end()));
}

// Clients' texts are cut to length in lists and errors, never within a character: half of one would
// make the whole reply unreadable.
TEST(Protocol, CutsLongTextsBetweenCharacters) {
  RunningService service;
  std::string greek;
  for (int k = 0; k < 100; ++k) greek += "\xcf\x89";
  for (const std::string& text : {greek, "x" + greek}) {
    SocketClient rig(service.port());
    ServiceRequest open = open_request("run-" + std::to_string(text.size()));
    (*open.mutable_open_session()->mutable_metadata())["scenario"] = text;
    ASSERT_TRUE(rig.call(open).has_session_opened());
    GreetedClient client(service.port());
    EXPECT_TRUE(client.call(list_request()).has_session_list());
    EXPECT_EQ(client.call(inspect_request(text.substr(0, text.size() % 2 + 100))).error().code(),
              ServiceError::NOT_FOUND);
  }
}

// SIGTERM ends the service in order, with exit code 0, with or without connections.
TEST(Protocol, EndsInOrder) {
  RunningService service;
  SocketClient rig(service.port()), client(service.port()), silent(service.port());
  ASSERT_TRUE(rig.call(open_request("run")).has_session_opened());
  ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  ASSERT_TRUE(client.greet());
  EXPECT_EQ(service.stop(), 0) << service.output();
  EXPECT_TRUE(client.closed_by_service(5.0));
  EXPECT_NE(service.output().find("event=stopped"), std::string::npos);
}

}  // namespace
}  // namespace service
