#include <gtest/gtest.h>

#include <fstream>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/open/open_transport.hpp"
#include "tests/firmware_iface/transport_bench.hpp"

// A whole session over each kind of URL, with a simulated unit in real time behind it. Timing is
// not asserted: on a busy machine samples may be lost or late, but always accounted for.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using test_support::TemporaryFolder;
using transport_bench::ServedUnit;

/// A unit and the URL at which it answers.
struct Site {
  std::string url;
  std::unique_ptr<ServedUnit> unit;  // empty if the unit is inside the transport
  std::unique_ptr<TemporaryFolder> folder = std::make_unique<TemporaryFolder>();
};

sim::SimulationSettings settings() {
  sim::SimulationSettings settings;
  settings.to_host.baud_rate = settings.to_unit.baud_rate = 921'600;
  return settings;
}

Site make_site(const std::string& scheme) {
  Site site;
  if (scheme == "sim") {
    const std::string file = site.folder->file("sim.textproto");
    std::ofstream(file) << "pendulum { mass_kg: 0.4 center_distance_m: 0.1 inertia: 0.004 }\n";
    site.url = "sim:" + file;
    return site;
  }
  const std::string link = site.folder->file("port");
  auto port = scheme == "tcp" ? sim::make_tcp_port("0") : sim::make_pty_port(link);
  EXPECT_TRUE(port.ok());
  site.url = scheme == "serial" ? transport_bench::serial_url(link) : port.value()->url();
  site.unit = std::make_unique<ServedUnit>(settings(), std::move(port.value()));
  return site;
}

class UnitTransport : public ::testing::TestWithParam<std::string> {};

// Opens, connects, clears, drives for 300 samples, stops and balances the counts; then repeats all
// as the next program would.
TEST_P(UnitTransport, CarriesWholeSessionsWithoutLosingTrackOfASample) {
  Site site = make_site(GetParam());
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  for (int session = 0; session < 2; ++session) {
    auto opened = open_transport(site.url);
    ASSERT_TRUE(opened.ok()) << opened.error().detail;
    UnitLink link(*opened.value());
    const auto facts = link.connect({.reply_timeout = 200ms, .attempts_max = 25});
    ASSERT_TRUE(facts.ok()) << facts.error().detail;
    ASSERT_TRUE(link.start_stream({}).ok());
    link.request_trip_clear();
    UnitSample sample;
    std::uint64_t next_sequence = 0;
    bool drove = false;
    for (int k = 0; k < 300;) {
      const ReadStatus status = link.read_sample(opened.value()->now() + 2s, sample);
      ASSERT_EQ(status, ReadStatus::kSample);
      ASSERT_EQ(sample.sequence, next_sequence + sample.lost_before);
      next_sequence = sample.sequence + 1;
      drove = drove || sample.driving;
      if (link.trip_clear_state() == ClearTripState::kDone) {
        link.write_command(std::array{0.5}, 100);
        ++k;
      }
    }
    EXPECT_TRUE(drove);
    link.write_idle_command();
    const auto end = link.stop_stream();
    ASSERT_TRUE(end.ok()) << end.error().detail;
    EXPECT_EQ(link.counters().samples_received + link.counters().samples_lost,
              end.value().samples_sent);
    received += link.counters().samples_received;
    lost += link.counters().samples_lost;
  }
  if (site.unit) {
    site.unit->stop();
    EXPECT_EQ(site.unit->counters().samples_sent, received + lost);
  }
}

// The host is killed: the unit trips by itself, and the next session finds it tripped.
TEST_P(UnitTransport, UnitTripsWhenTheHostDies) {
  if (GetParam() == "sim") return;  // here the unit ends with its host
  Site site = make_site(GetParam());
  {
    auto opened = open_transport(site.url);
    ASSERT_TRUE(opened.ok()) << opened.error().detail;
    UnitLink link(*opened.value());
    ASSERT_TRUE(link.connect({.reply_timeout = 200ms, .attempts_max = 25}).ok());
    ASSERT_TRUE(link.start_stream({}).ok());
    link.request_trip_clear();
    UnitSample sample;
    while (link.trip_clear_state() == ClearTripState::kPending) {
      ASSERT_EQ(link.read_sample(opened.value()->now() + 2s, sample), ReadStatus::kSample);
    }
    while (!sample.driving) {
      if (sample.tripped && link.trip_clear_state() != ClearTripState::kPending)
        link.request_trip_clear();
      link.write_command(std::array{1.0}, 100);
      ASSERT_EQ(link.read_sample(opened.value()->now() + 2s, sample), ReadStatus::kSample);
    }
  }
  std::this_thread::sleep_for(150ms);  // longer than the ttl
  auto opened = open_transport(site.url);
  ASSERT_TRUE(opened.ok()) << opened.error().detail;
  UnitLink link(*opened.value());
  const auto facts = link.connect({.reply_timeout = 200ms, .attempts_max = 25});
  ASSERT_TRUE(facts.ok()) << facts.error().detail;
  EXPECT_NE(facts.value().fault_flags, 0);
  site.unit->stop();
  EXPECT_EQ(site.unit->output_V(), 0.0);
  EXPECT_GE(site.unit->counters().trips[1], 1U) << "by its own time-out,";
  EXPECT_EQ(site.unit->counters().trips[2], 0U) << "not by the new HELLO";
}

INSTANTIATE_TEST_SUITE_P(Schemes, UnitTransport, ::testing::Values("serial", "pty", "tcp", "sim"),
                         [](const auto& test) { return test.param; });

}  // namespace
