#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "proto/stream/content_hash.hpp"
#include "proto/text/files.hpp"
#include "tests/service/server/web_service.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;

std::string json_text(const std::string& text) {
  std::string json;
  for (const char c : text) {
    json += c == '\n' ? "\\n" : c == '"' ? "\\\"" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  return '"' + json + '"';
}

std::string submission(const std::string& id, const std::string& session) {
  return R"({"jobId":")" + id + R"(","spec":{"rigName":"rig","rigText":)" +
         json_text(proto::read_file(source_folder() + "/configs/rig-pendulum.textproto")) +
         R"(,"recordings":[{"sessionId":")" + session + R"("}]}})";
}

TEST(HttpServer, ServesThePageUnderAStrictPolicy) {
  const Web web;
  const HttpReply page = web.call("GET /");
  EXPECT_EQ(page.status, 200);
  expect_parts(page.head, {"Content-Security-Policy: default-src 'none'; script-src 'self'",
                           "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                           "Cross-Origin-Resource-Policy: same-origin"});
  expect_parts(page.body, {"<title>rigcal live</title>"});
  EXPECT_EQ(page.head.find("Access-Control"), std::string::npos);
}

TEST(HttpServer, RefusesHostileRequests) {
  const Web web;
  const std::string end = "Connection: close\r\n\r\n";
  EXPECT_EQ(web.raw("\x16\x03\x01\x02garbage\r\n\r\n").status, 400);
  EXPECT_EQ(web.raw(web.head_of("GET /", "X: " + std::string(20'000, 'x') + "\r\n") + end).status,
            431);
  EXPECT_EQ(web.raw(web.head_of("POST /api/jobs", "Content-Length: 9000000\r\n") + end).status,
            413);
  EXPECT_EQ(web.raw("GET / HTTP/1.1\r\nHost: evil.example\r\n" + end).status, 403);
  EXPECT_EQ(web.raw("GET / HTTP/1.1\r\n" + end).status, 403);
  EXPECT_EQ(web.call("POST /api/jobs", "{}", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(web.call("GET /api/sessions/..%2f..%2fetc").status, 404);
  EXPECT_EQ(web.call("GET /../../etc/passwd").status, 404);
  EXPECT_EQ(web.call("POST /api/jobs", "{\"jobId\": 7").status, 400);
  EXPECT_EQ(web.call("POST /api/jobs", std::string(5000, '[')).status, 400);
  EXPECT_EQ(web.call("POST /api/mechanism", R"({"rigText":"body {"})").status, 400);
  EXPECT_EQ(web.call("GET /health").status, 200);
}

// Two requests in one packet get two responses in order.
TEST(HttpServer, AnswersSeveralRequestsOfAConnection) {
  const Web web;
  const HttpReply replies = web.raw(web.head_of("GET /api/jobs") + "\r\n" +
                                    web.head_of("GET /api/sessions", "Connection: close\r\n\r\n"));
  const std::string both = replies.head + replies.body;
  EXPECT_LT(both.find("\"jobs\""), both.find("\"sessions\""));
  EXPECT_NE(both.find("\"sessions\""), std::string::npos);
}

// A rig streams: a viewer gets its samples, and one that never reads does not delay the rig. Names
// with markup are text of JSON.
TEST(HttpServer, SendsSamplesOfARunningRig) {
  const Web web;
  SocketClient rig(web.service.port());
  auto open = open_request("run");
  (*open.mutable_open_session()->mutable_metadata())["rig"] = "<script>alert(1)</script>";
  ASSERT_TRUE(rig.call(open).has_session_opened());
  SocketClient viewer(web.port), stalled(web.port);
  const std::string subscribe = web.head_of("GET /api/sessions/run/live") + "\r\n";
  ASSERT_TRUE(viewer.send_bytes(subscribe));
  ASSERT_TRUE(stalled.send_bytes(subscribe));
  expect_parts(viewer.receive_until("\r\n\r\n"), {"200 OK", "text/event-stream"});
  expect_parts(viewer.receive_until("\n\n"), {"event: session\ndata: {\"sessionId\":\"run\""});
  for (std::uint64_t k = 1; k <= 300; ++k) {
    ASSERT_TRUE(rig.call(batch_request(k)).has_acknowledge());
  }
  const std::string events = viewer.receive_until("\"samples\":6000,");
  EXPECT_NE(events.find("\"samples\":6000,"), std::string::npos) << events.substr(0, 500);
  EXPECT_NE(events.find("\"dropped\":0}"), std::string::npos);
  const HttpReply list = web.call("GET /api/sessions");
  expect_parts(list.head, {"Content-Type: application/json"});
  EXPECT_EQ(list.body.find("<script>"), std::string::npos) << list.body;
  ASSERT_TRUE(rig.call(close_request(300)).has_session_closed());
  expect_parts(viewer.receive_until("event: end"), {"event: end"});
  const HttpReply file = [&] {
    EXPECT_TRUE(eventually([&] { return is_stored(web.service, "run"); }, 20.0));
    return web.call("GET /api/sessions/run/recording");
  }();
  EXPECT_EQ(file.body, proto::read_file(web.service.session_folder("run") + "/recording.mcap"));
  expect_parts(file.head, {"filename=\"run.mcap\""});
}

// A page and a later calibration need the rig file with which the rig was recorded, also after the
// end of the session and a restart of the service.
TEST(HttpServer, KeepsTheRigFileOfASession) {
  Web web("limits { live_fits: 0 }");
  const std::string text = "name: \"<b>rig</b>\"\n";
  SocketClient rig(web.service.port());
  auto open = open_request("run");
  open.mutable_open_session()->mutable_live()->set_rig_text(text);
  ASSERT_TRUE(rig.call(open).has_session_opened());
  const HttpReply file = web.call("GET /api/sessions/run/rig");
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, text);
  expect_parts(file.head, {"Content-Type: text/plain", "X-Content-Type-Options: nosniff",
                           "filename=\"run.textproto\""});
  ASSERT_TRUE(rig.call(close_request(0)).has_session_closed());
  EXPECT_EQ(web.service.stop(), 0);
  ASSERT_TRUE(web.service.start());
  web.port = static_cast<std::uint16_t>(web.service.logged_number("port"));
  EXPECT_EQ(web.call("GET /api/sessions/run/rig").body, text);
  EXPECT_EQ(web.call("GET /api/sessions/nobody/rig").status, 404);
  StreamingClient other(web.service.port(), "plain");
  EXPECT_EQ(web.call("GET /api/sessions/plain/rig").status, 404);
}

// Connections beyond the limit replace the oldest ones. Whoever opens them, the rig goes on, and
// the next viewer is served.
TEST(HttpServer, AThousandConnectionsDisturbNoRig) {
  constexpr std::size_t kCount = 1000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < kCount + 100) GTEST_SKIP() << "needs " << kCount << " open files";
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, kCount + 100);
  ::setrlimit(RLIMIT_NOFILE, &files);
  const Web web;
  StreamingClient rig(web.service.port(), "run");
  std::deque<SocketClient> clients;
  const std::string subscribe = web.head_of("GET /api/sessions/run/live") + "\r\n";
  for (std::size_t k = 0; k < kCount; ++k) {
    clients.emplace_back(web.port);
    ASSERT_TRUE(clients.back().connected()) << k;
    clients.back().send_bytes(k % 2 == 0 ? subscribe : "GET / HT");  // viewers, and idlers
    if (k % 10 == 0) ASSERT_TRUE(rig.call(batch_request(k / 10 + 1)).has_acknowledge()) << k;
  }
  EXPECT_TRUE(eventually([&] { return web.call("GET /health").status == 200; }, 60.0));
  EXPECT_EQ(web.call("GET /api/sessions").status, 200);
  ASSERT_TRUE(rig.call(close_request(kCount / 10)).has_session_closed());
}

// Strangers may watch a rig and must not stop it, whether they know its id or not.
TEST(HttpServer, OnlyOwnerAndOperatorsStopARig) {
  proto::ContentHash anna, bert;
  anna.add("anna's token");
  bert.add("bert's token");
  const Web web("operators { account: \"bert\" } http_access { token { sha256: \"" + anna.sha256() +
                "\" identity: \"account:anna\" } token { sha256: \"" + bert.sha256() +
                "\" identity: \"account:bert\" } }");
  SocketClient rig(web.service.port());
  auto open = open_request("run");
  open.mutable_open_session()->set_accepts_stop(true);
  ASSERT_TRUE(rig.call(open).has_session_opened());
  const auto stop = [&](const std::string& token) {
    return web.call("POST /api/sessions/run/stop", "",
                    token.empty() ? "" : "Authorization: Bearer " + token + "\r\n");
  };
  EXPECT_EQ(stop("").status, 401);
  EXPECT_EQ(stop("wrong").status, 401);
  EXPECT_EQ(stop("anna's token").status, 403);
  EXPECT_EQ(stop("bert's token").status, 200);
  const auto request = rig.receive();
  ASSERT_TRUE(request && request->has_stop_run());
  EXPECT_EQ(request->stop_run().requested_by(), "account:bert");
}

// A calibration is requested and followed over HTTP until it fails, and is deleted.
TEST(HttpServer, RunsJobs) {
  Web web("workers: 1");
  GreetedClient client(web.service.port());
  ASSERT_TRUE(client.call(upload_request("data", 1)).has_upload_state());
  ASSERT_TRUE(client.call(part_request("data", 0, "x")).upload_state().complete());
  const HttpReply submitted = web.call("POST /api/jobs", submission("job", "data"));
  EXPECT_EQ(submitted.status, 200) << submitted.body;
  const HttpReply events = web.call("GET /api/jobs/job/progress");
  expect_parts(events.body, {"event: job\n", "\"state\":\"JOB_FAILED\"", "event: end\n"});
  EXPECT_EQ(web.call("GET /api/jobs/job/result").status, 409);
  EXPECT_EQ(web.call("GET /api/jobs/job/report").status, 409);
  EXPECT_EQ(web.call("DELETE /api/jobs/job").status, 200);
  EXPECT_EQ(web.call("GET /api/jobs/job").status, 404);

  // A session that is still open cannot be calibrated.
  StreamingClient rig(web.service.port(), "open");
  const HttpReply early = web.call("POST /api/jobs", submission("early", "open"));
  EXPECT_EQ(early.status, 409) << early.body;
  EXPECT_EQ(web.call("POST /api/jobs/early/cancel").status, 404);
}

// A token gives the rights of its identity: to read everything, and to change its own items.
TEST(HttpServer, GivesTheRightsOfTheToken) {
  proto::ContentHash anna, bert;
  anna.add("anna's token");
  bert.add("bert's token");
  const Web web("operators { account: \"bert\" } http_access { token { sha256: \"" + anna.sha256() +
                "\" identity: \"account:anna\" } token { sha256: \"" + bert.sha256() +
                "\" identity: \"account:bert\" } }");
  { const StreamingClient rig(web.service.port(), "run"); }
  EXPECT_EQ(web.call("GET /api/sessions").status, 401);
  EXPECT_EQ(web.call("GET /api/sessions?token=anna's%20token").status, 401);
  EXPECT_EQ(web.call("GET /").status, 200) << "to log in";
  const std::string as_anna = "Authorization: Bearer anna's token\r\n";
  EXPECT_EQ(web.call("GET /api/sessions", "", as_anna).status, 200);
  EXPECT_EQ(web.call("POST /api/sessions/run/end", "", as_anna).status, 403);
  EXPECT_EQ(web.call("POST /api/login", R"({"token":"guess"})").status, 401);
  const HttpReply login = web.call("POST /api/login", R"({"token":"bert's token"})");
  const std::size_t at = login.head.find("rigcal-");
  ASSERT_NE(at, std::string::npos) << login.head;
  const std::string cookie = login.head.substr(at, login.head.find(';', at) - at);
  EXPECT_TRUE(eventually(
      [&] {
        return web.call("POST /api/sessions/run/end", "", "Cookie: " + cookie + "\r\n").status ==
               200;
      },
      10.0))
      << "an operator may, once the rig has disconnected";
}

// Without tokens the account of the client counts. An account that cannot reach the service's
// sockets gets nothing over HTTP either.
TEST(HttpServer, IdentifiesAccountsOfThisMachine) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another account";
  for (const bool is_private : {true, false}) {
    const TemporaryFolder files;
    ASSERT_EQ(::chmod(files.file("").c_str(), is_private ? 0700 : 0755), 0);
    ChildProcess service({RIGCALD_BINARY, "--data", files.file("data"), "--listen",
                          "unix:" + files.file("socket"), "--http", "127.0.0.1:0"},
                         files.file("output"));
    ASSERT_TRUE(eventually(
        [&] { return service.output().find("event=started") != std::string::npos; }, 20.0));
    const std::string log = service.output();
    const std::string port = std::to_string(std::atoi(log.c_str() + log.find("port=") + 5));
    const auto status_for = [&](const std::string& account) {
      const std::string command =
          "setpriv --reuid " + account + " --clear-groups bash -c 'exec 3<>/dev/tcp/127.0.0.1/" +
          port + " && printf \"GET /api/jobs HTTP/1.1\\r\\nHost: 127.0.0.1:" + port +
          "\\r\\nConnection: close\\r\\n\\r\\n\" >&3 && timeout 10 cat <&3' >" +
          files.file("reply");
      EXPECT_EQ(std::system(command.c_str()), 0);
      const std::string reply = proto::read_file(files.file("reply"));
      return reply.size() > 12 ? std::atoi(reply.c_str() + 9) : 0;
    };
    EXPECT_EQ(status_for("0"), 200);
    EXPECT_EQ(status_for("65534"), is_private ? 403 : 200);
  }
}

TEST(HttpServer, DescribesTheMechanismOfARigFile) {
  const Web web;
  for (const char* const name : {"rig-furuta", "rig-fivebar", "rig-cartpole"}) {
    const std::string text = proto::read_file(source_folder() + "/configs/" + name + ".textproto");
    const HttpReply reply =
        web.call("POST /api/mechanism", R"({"rigName":"rig","rigText":)" + json_text(text) + "}");
    EXPECT_EQ(reply.status, 200) << reply.body;
    expect_parts(reply.body, {"\"views\":[{", "\"bodies\":[{", "\"joints\":[{",
                              "\"start\":", "\"freeParameters\":[\"", "\"incompleteSafety\":\"\""});
    EXPECT_EQ(reply.body.find("\"hasUnit\":true") != std::string::npos,
              text.find("\nunit {") != std::string::npos);
    EXPECT_EQ(reply.body.find("\"loops\":[]") == std::string::npos,
              std::string(name) == "rig-fivebar");
  }
}

}  // namespace
}  // namespace service
