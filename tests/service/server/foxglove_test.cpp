#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "proto/text/files.hpp"
#include "tests/service/server/web_service.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

// Live data by the Foxglove WebSocket protocol, for clients that are not ours.

namespace service {
namespace {

using namespace test_support;

/// A rig that streams until it is destroyed, with its rig file.
class StreamingRig {
 public:
  explicit StreamingRig(const RunningService& service) : client_(service.port()) {
    auto open = open_request("run", "1,2", 1'700'000'000'000'000'000);
    open.mutable_open_session()->mutable_live()->set_rig_text(
        proto::read_file(source_folder() + "/configs/rig-furuta.textproto"));
    EXPECT_TRUE(client_.call(open).has_session_opened());
    thread_ = std::thread([this] {
      for (std::uint64_t k = 1; !stop_; ++k) {
        auto batch = batch_request(k);
        auto& event = *batch.mutable_sample_batch()->add_events();
        event.set_timestamp(batch.sample_batch().samples(0).timestamp());
        event.set_kind(rigcal::v1::Event::KIND_SCENARIO);
        event.set_name("running");
        EXPECT_TRUE(client_.call(batch).has_acknowledge());
      }
    });
  }
  ~StreamingRig() {
    stop_ = true;
    thread_.join();
  }

 private:
  SocketClient client_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::string upgrade(const Web& web, const std::string& headers) {
  return web.head_of("GET /foxglove",
                     "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                         headers + "\r\n");
}

// The environment variable RIGCAL_FOXGLOVE_PYTHON names a Python with the libraries.
TEST(Foxglove, ForeignClientFollowsARunningRig) {
  const char* const named = std::getenv("RIGCAL_FOXGLOVE_PYTHON");
  const std::string python = named == nullptr ? "python3" : named;
  const Web web("limits { live_fits: 0 }");
  const StreamingRig rig(web.service);
  for (const std::string protocol : {"foxglove.sdk.v1", "foxglove.websocket.v1"}) {
    SCOPED_TRACE(protocol);
    ChildProcess client(
        {"/usr/bin/env", python, source_folder() + "/tests/service/server/foxglove_client.py",
         "ws://127.0.0.1:" + std::to_string(web.port) + "/foxglove", protocol},
        web.service.files().file(protocol + ".txt"));
    const auto status = client.wait(60.0);
    if (status == 77) {
      GTEST_SKIP() << python << " lacks libraries: " << client.output()
                   << "set RIGCAL_FOXGLOVE_PYTHON to a Python with websockets and foxglove-sdk";
    }
    EXPECT_EQ(status, 0) << client.output();
    expect_parts(client.output(),
                 {"/joint_states received", "/log received", "/samples received", "/scene received",
                  "/tf received", "joints 1,2\n", "frames rig,rig/A,rig/B"});
  }
}

TEST(Foxglove, AcceptsOnlyKnownOriginsAndProtocols) {
  const Web web("http_access { origin: \"https://viewer.example\" }");
  const std::string protocol = "Sec-WebSocket-Protocol: x, foxglove.sdk.v1\r\n";
  const auto ask = [&](const std::string& headers) {
    SocketClient client(web.port);
    EXPECT_TRUE(client.send_bytes(upgrade(web, headers)));
    return client.receive_until("\r\n\r\n");
  };
  expect_parts(ask(protocol), {"101 Switching", "Sec-WebSocket-Protocol: foxglove.sdk.v1",
                               "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="});
  expect_parts(ask(protocol + "Origin: https://viewer.example\r\n"), {"101 Switching"});
  expect_parts(ask(protocol + "Origin: https://evil.example\r\n"), {" 403 "});
  expect_parts(ask(protocol + "Sec-Fetch-Site: cross-site\r\n"), {" 403 "});
  expect_parts(ask("Sec-WebSocket-Protocol: chat\r\n"), {" 426 "});
  EXPECT_EQ(web.call("GET /foxglove").status, 426);
  EXPECT_EQ(web.call("GET /api/jobs", "", "Origin: https://viewer.example\r\n").status, 403);
}

TEST(Foxglove, NeedsATokenIfTheServiceDoes) {
  const Web web("http_access { token { sha256: \"" + std::string(64, '0') +
                "\" identity: \"account:anna\" } }");
  SocketClient client(web.port);
  ASSERT_TRUE(client.send_bytes(upgrade(web, "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n")));
  expect_parts(client.receive_until("\r\n\r\n"), {" 401 "});
}

// Garbage and viewers that read nothing end or wait; the rig and other viewers go on.
TEST(Foxglove, SurvivesHostileClients) {
  const Web web("limits { live_fits: 0 }");
  const StreamingRig rig(web.service);
  const std::string request = upgrade(web, "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n");
  SocketClient stalled(web.port), garbage(web.port), huge(web.port), good(web.port);
  for (SocketClient* each : {&stalled, &garbage, &huge, &good}) {
    ASSERT_TRUE(each->send_bytes(request));
  }
  expect_parts(garbage.receive_until("serverInfo"), {"101"});
  ASSERT_TRUE(garbage.send_bytes("\xff\xff no frame"));
  expect_parts(huge.receive_until("serverInfo"), {"101"});
  ASSERT_TRUE(huge.send_bytes(std::string("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10)));
  garbage.receive_until("the end of the connection");
  huge.receive_until("the end of the connection");
  expect_parts(good.receive_until("/joint_states"), {"serverInfo", "advertise"});
  EXPECT_EQ(web.call("GET /health").status, 200);
}

}  // namespace
}  // namespace service
