#include <signal.h>

#include <filesystem>

#include "tests/integration/daq_process.hpp"
#include "tests/service/server/web_service.hpp"
#include "tests/support/refusal.hpp"

// A run while clients watch it: the stop button of the page, from the HTTP request to the unit's
// output, and a service that dies.

namespace {

using namespace test_support;

class DaqStop : public DaqProcess {
 protected:
  // Runs the long scenario with the service. @return id of its session
  std::string start_with(const Web& web) {
    start_long({"--service", "127.0.0.1:" + std::to_string(web.service.port())});
    const std::string list = web.call("GET /api/sessions").body;
    const std::string key = "\"sessionId\":\"";
    const std::size_t at = list.find(key);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + key.size();
    return list.substr(begin, list.find('"', begin) - begin);
  }
};

// A request by HTTP must switch the motor off and complete the recording, with the reason in it.
TEST_F(DaqStop, EndsTheRunByHttp) {
  const Web web;
  const std::string id = start_with(web);
  ASSERT_FALSE(HasFatalFailure());
  const HttpReply stopped = web.call("POST /api/sessions/" + id + "/stop");
  EXPECT_EQ(stopped.status, 200) << stopped.body;
  expect_parts(stopped.body, {"\"canStop\":true", "\"stopRequestedBy\":\"account:"});
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"stopped the run through the service", "streamed to "});
  const proto::Recording own = recording("run.mcap");
  const proto::Event* const event = find_event(own, "stop");
  ASSERT_NE(event, nullptr);
  EXPECT_TRUE(event->text.starts_with("account:")) << event->text;
  stop_sim_with_output_off();
}

// Pages of other sites must not stop a rig, and a rig that does not run cannot be stopped.
TEST_F(DaqStop, RefusesForeignPagesAndEndedRuns) {
  const Web web;
  const std::string id = start_with(web);
  ASSERT_FALSE(HasFatalFailure());
  const std::string line = "POST /api/sessions/" + id + "/stop";
  EXPECT_EQ(web.call(line, "", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(web.call(line, "", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(web.call("GET /api/sessions/" + id + "/stop").status, 405);
  EXPECT_FALSE(daq_->wait(0.0).has_value()) << "the rig goes on";
  EXPECT_EQ(web.call(line).status, 200);
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  EXPECT_EQ(web.call(line).status, 409);
}

// A killed service must not disturb the rig. Its samples arrive later, complete.
TEST_F(DaqStop, OutlivesAKilledService) {
  RunningService service;
  ASSERT_NO_FATAL_FAILURE(start_sim());
  const std::string address = "127.0.0.1:" + std::to_string(service.port());
  start_daq("long.textproto", pty_url(), {"--service", address});
  ASSERT_NO_FATAL_FAILURE(wait_until_recorded());
  service.kill();
  wait_until_said("are kept on the disk until it responds");
  daq_->send_signal(SIGINT);
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"every sample accounted for", "only a part of the run"});
  stop_sim_with_output_off();
  ASSERT_TRUE(service.start());
  const std::string again = "127.0.0.1:" + std::to_string(service.port());
  ChildProcess send({RIGCAL_DAQ, "send", "--spool", path("run.mcap.spool"), "--service", again},
                    path("send.txt"));
  EXPECT_EQ(send.wait(kPatience_s), 0) << send.output();
  const proto::Recording own = recording("run.mcap");
  const std::filesystem::path sessions = service.folder() + "/sessions";
  std::string stored;
  ASSERT_TRUE(eventually(
      [&] {
        for (const auto& entry : std::filesystem::directory_iterator(sessions)) {
          if (is_stored(service, entry.path().filename())) stored = entry.path();
        }
        return !stored.empty();
      },
      kPatience_s));
  const auto read = proto::read_recording(stored + "/recording.mcap");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().samples.size(), own.samples.size());
}

}  // namespace
