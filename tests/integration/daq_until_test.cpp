#include <filesystem>

#include "proto/text/files.hpp"
#include "tests/integration/daq_process.hpp"
#include "tests/service/server/service_process.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

// rigcal-daq run --until, with the service's estimates of the shipped Furuta rig.

namespace {

using namespace test_support;

class DaqUntil : public DaqProcess {
 protected:
  DaqUntil() {
    const std::string configs = source_folder() + "/configs/";
    write("rig.textproto", proto::read_file(configs + "rig-furuta.textproto"));
    edit("rig.textproto", "staleness_ms_max: 250", "staleness_ms_max: 2000");  // a loaded machine
    write("sim.textproto", proto::read_file(configs + "sim-furuta-hanging.textproto"));
    const std::string excitation =
        " multisine { motor: \"1\" ramp_s: 0.5 sine { frequency_hz: 0.7 amplitude: 2 }"
        " sine { frequency_hz: 1.3 amplitude: 2 } sine { frequency_hz: 2.3 amplitude: 1 } }";
    write("long.textproto", "name: \"long\" duration_s: 90" + excitation);
    write("short.textproto", "name: \"short\" duration_s: 4" + excitation);
  }

  void start(const std::string& scenario, std::vector<std::string> more) {
    more.emplace_back("--not-commissioned");
    start_daq(scenario, pty_url(), more);
  }
  static std::vector<std::string> service_options(const ServiceProcess& service,
                                                  const std::string& until) {
    return {"--service", "127.0.0.1:" + std::to_string(service.port()), "--until", until};
  }

  void expect_refusal(const std::vector<std::string>& more, const std::string& text) {
    start("long.textproto", more);
    EXPECT_EQ(daq_exit_code(), 2);
    expect_parts(daq_->output(), {text});
    EXPECT_FALSE(std::filesystem::exists(path("run.mcap.part")));
    EXPECT_FALSE(std::filesystem::exists(path("run.mcap.spool")));
  }
};

// The recording must end long before its scenario, with the output off, complete, and with the
// reason in it.
TEST_F(DaqUntil, EndsTheRecordingWhenTheTargetsHold) {
  RunningService service;
  start_sim();
  auto options = service_options(service, "B.J_yy:30%");
  options.insert(options.end(), {"--until", "1.K:30%"});
  start("long.textproto", options);
  EXPECT_EQ(daq_->wait(4 * kPatience_s), 0) << daq_->output();
  expect_parts(daq_->output(), {"All targets hold and the model fits", "B.J_yy = ", "1.K = ",
                                "every sample accounted for", "recorded ", "streamed to "});
  const proto::Recording own = recording("run.mcap");
  const proto::Event* const event = find_event(own, "until");
  ASSERT_NE(event, nullptr);
  EXPECT_TRUE(event->text.starts_with("All targets hold and the model fits")) << event->text;
  EXPECT_LT(own.samples.size(), 85'000U);
  EXPECT_EQ(find_event(own, "stop"), nullptr) << "nobody stopped the run";
  stop_sim_with_output_off();
}

// Targets that never hold must not keep a recording beyond its scenario.
TEST_F(DaqUntil, EndsWithTheScenarioIfTheTargetsDoNotHold) {
  RunningService service;
  start_sim();
  start("short.textproto", service_options(service, "B.J_yy:0.0000001%"));
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"before all targets hold"});
  EXPECT_NE(find_event(recording("run.mcap"), "until"), nullptr);
}

// Every mistake in a target is found before anything is driven or written.
TEST_F(DaqUntil, RefusesTargetsThatCannotHold) {
  RunningService service;
  expect_refusal({"--until", "B.J_yy:0.1%"}, "give --service");
  expect_refusal(service_options(service, "B.J_y:0.1%"), "there is no parameter \"B.J_y\"");
  expect_refusal(service_options(service, "B.J_yy:0.1 kg"), "the unit of \"B.J_yy\" is kg·m²");
  expect_refusal(service_options(service, "A.m:0.1%"), "write free: true");
  expect_refusal(service_options(service, "B.J_yy"), "write NAME:PRECISION");
  const std::uint16_t nobody = service.port();
  EXPECT_EQ(service.stop(), 0);
  expect_refusal({"--service", "127.0.0.1:" + std::to_string(nobody), "--until", "B.J_yy:1%"},
                 "Start rigcald, or omit --until");
}

TEST_F(DaqUntil, RefusesAServiceWithoutEstimates) {
  RunningService service({}, "limits { live_fits: 0 }");
  expect_refusal(service_options(service, "B.J_yy:0.1%"), "live_fits is 0");
}

// A rig file that is too long for estimates must not prevent streaming.
TEST_F(DaqUntil, StreamsWithALongRigFile) {
  RunningService service;
  write("rig.textproto",
        proto::read_file(path("rig.textproto")) + "# " + std::string(300'000, 'x') + "\n");
  start_sim();
  start("short.textproto", {"--service", "127.0.0.1:" + std::to_string(service.port())});
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(
      daq_->output(),
      {"note: no estimates during this recording: the rig file is too long", "streamed to "});
}

}  // namespace
