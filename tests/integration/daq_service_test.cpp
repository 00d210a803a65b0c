#include <signal.h>

#include <filesystem>

#include "tests/integration/daq_process.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/service/server/certificates.hpp"
#include "tests/service/server/service_process.hpp"
#include "tests/support/refusal.hpp"

// rigcal-sim, rigcal-daq and rigcald, as used with a rig.

namespace {

using namespace test_support;

class DaqWithTls : public DaqProcess {
 protected:
  void SetUp() override {
    ASSERT_EQ(make_certificates(keys_), "");
    service_.emplace(tls_options(keys_, "service", "ours"));
    ASSERT_TRUE(service_->start()) << service_->output();
  }

  std::string host_port(const std::string& host = "127.0.0.1") const {
    return host + ":" + std::to_string(service_->port());
  }

  std::vector<std::string> stream_as(const std::string& name, const std::string& authority) const {
    return with(tls_options(keys_, name, authority), {"--service", host_port()});
  }

  // The only recording that the service has stored.
  std::string stored_recording() const {
    const std::filesystem::path sessions = service_->folder() + "/sessions";
    for (const auto& entry : std::filesystem::directory_iterator(sessions)) {
      const auto file = entry.path() / "recording.mcap";
      if (std::filesystem::exists(file) && !std::filesystem::exists(entry.path() / "spool")) {
        return file.string();
      }
    }
    return {};
  }

  std::vector<std::string> send_command() const {
    return {RIGCAL_DAQ, "send", "--spool", path("run.mcap.spool")};
  }

  // Sends the rest of the run. @return exit code
  std::optional<int> send_as(const std::string& name, const std::string& authority,
                             const std::string& host) {
    const auto options = with({"--service", host_port(host)}, tls_options(keys_, name, authority));
    return ChildProcess(with(send_command(), options), path("send.txt")).wait(kPatience_s);
  }

  void expect_stored_as_recorded() {
    ASSERT_TRUE(eventually([&] { return !stored_recording().empty(); }, kPatience_s))
        << service_->output();
    const auto stored = proto::read_recording(stored_recording());
    ASSERT_TRUE(ok(stored));
    const proto::Recording own = recording("run.mcap");
    ASSERT_EQ(stored.value().samples.size(), own.samples.size());
    ASSERT_GT(own.samples.size(), 100U);
    for (std::size_t k = 0; k < own.samples.size(); ++k) {
      ASSERT_TRUE(same(stored.value().samples[k], own.samples[k])) << k;
    }
  }

  TemporaryFolder keys_;
  std::optional<ServiceProcess> service_;
};

// Through TLS the service must store exactly what was recorded.
TEST_F(DaqWithTls, StreamsToAServiceThatAsksForCertificates) {
  start_sim();
  start_daq("short.textproto", pty_url(), stream_as("client", "ours"));
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"streamed to " + host_port()});
  expect_stored_as_recorded();
}

// A killed recorder leaves a recording and a spool, each cut off at some point. Sending later
// delivers the union of both, with an undeclared end.
TEST_F(DaqWithTls, DeliversAllOfAKilledRun) {
  start_long(stream_as("client", "ours"));
  daq_->send_signal(SIGKILL);
  daq_->wait(kPatience_s);
  const proto::Recording own = recording("run.mcap.part");
  ASSERT_EQ(send_as("client", "ours", "127.0.0.1"), 0);
  ASSERT_TRUE(eventually([&] { return !stored_recording().empty(); }, kPatience_s))
      << service_->output();
  const auto stored = proto::read_recording(stored_recording());
  ASSERT_TRUE(ok(stored));
  ASSERT_GT(own.samples.size(), 100U);
  ASSERT_GE(stored.value().samples.size(), own.samples.size());
  for (std::size_t k = 0; k < own.samples.size(); ++k) {
    ASSERT_TRUE(same(stored.value().samples[k], own.samples[k])) << k;
  }
  EXPECT_NE(find_event(stored.value(), "interrupted"), nullptr);
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.spool")));
}

// An unknown client or service is refused with a reason, in either direction and also without any
// certificate, and streams nothing. The run continues, and a known client can send its data later,
// to the service's name or its address.
TEST_F(DaqWithTls, StreamsNothingUnlessBothSidesAreKnown) {
  start_sim();
  start_daq("short.textproto", pty_url(), {"--service", host_port()});
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"give --tls-cert"});
  struct Stranger {
    const char* name;
    const char* authority;
  };
  for (const Stranger& stranger : {Stranger{"stranger", "ours"}, Stranger{"client", "others"}}) {
    SCOPED_TRACE(stranger.name);
    // One output file for each: the child truncates it only after the first check.
    ChildProcess send(with(send_command(), stream_as(stranger.name, stranger.authority)),
                      path(std::string("as-") + stranger.name + ".txt"));
    EXPECT_TRUE(
        eventually([&] { return send.says("note: " + host_port() + ": TLS: "); }, kPatience_s))
        << send.output();
    send.send_signal(SIGTERM);
    EXPECT_EQ(send.wait(kPatience_s), 1);
    expect_absent(service_->output(), {"session"});
  }
  EXPECT_EQ(send_as("client", "ours", "localhost"), 0);
  expect_stored_as_recorded();
}

// The right authority certifies one machine, not any that answers.
TEST_F(DaqWithTls, RejectsAServiceOfAnotherName) {
  start_sim();
  start_daq("short.textproto", pty_url(), {"--service", host_port()});
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  ServiceProcess elsewhere(tls_options(keys_, "service", "ours"), "127.0.0.2");
  ASSERT_TRUE(elsewhere.start()) << elsewhere.output();
  const auto options = with(tls_options(keys_, "client", "ours"),
                            {"--service", "127.0.0.2:" + std::to_string(elsewhere.port())});
  const ChildProcess send(with(send_command(), options), path("send.txt"));
  EXPECT_TRUE(eventually([&] { return send.says("certificate is rejected: IP address mismatch"); },
                         kPatience_s))
      << send.output();
}

// An unusable file is reported before anything is driven or written.
TEST_F(DaqWithTls, ReportsWhichFileCannotBeUsed) {
  start_sim();
  std::vector<std::string> options = stream_as("client", "ours");
  options[3] = keys_.file("stranger.key");
  start_daq("short.textproto", pty_url(), options);
  EXPECT_EQ(daq_exit_code(), 2);
  expect_parts(daq_->output(), {"stranger.key: cannot be used for TLS"});
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.part")));
}

}  // namespace
