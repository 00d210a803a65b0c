#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <regex>
#include <set>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "firmware_iface/wire/message_type.h"
#include "tests/firmware_iface/planted_faults.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/virtual_time.hpp"

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using conformance::CheckResult;
using conformance::CheckVerdict;
using conformance::ConformanceReport;

ConformanceReport test_of(Transport& transport, const conformance::TestSettings& settings = {},
                          const std::vector<std::string>& only = {}) {
  const std::atomic<bool> stop(false);
  return conformance::run_checks(
      transport, settings, only, stop,
      {[](const conformance::ConformanceCheck&) {}, [](const CheckResult&) {}});
}

std::vector<std::string> ids_of(const ConformanceReport& report, CheckVerdict verdict) {
  std::vector<std::string> ids;
  for (const CheckResult& row : report.rows) {
    if (row.verdict == verdict) ids.emplace_back(row.check.id);
  }
  return ids;
}

/// The checks that did not pass, with their reasons.
std::string not_passed(const ConformanceReport& report) {
  std::string text = report.trouble;
  for (const CheckResult& row : report.rows) {
    if (row.verdict == CheckVerdict::kPassed) continue;
    text += std::string(row.check.id) + ": " + row.detail + "\n";
  }
  return text;
}

double figure(const ConformanceReport& report, const std::string& id) {
  for (const CheckResult& row : report.rows) {
    if (row.check.id == id) return row.figure.value;
  }
  return NAN;
}

// --- Good units ---

struct GoodBoard {
  std::string name;
  std::function<void(unit_description&)> describe = {};
  std::vector<std::string> not_tested = {};  // checks that do not apply to this unit
};

void PrintTo(const GoodBoard& board, std::ostream* out) { *out << board.name; }

class GoodUnit : public ::testing::TestWithParam<GoodBoard> {};

// Fails if a check expects something of a unit that PROTOCOL.md does not require.
TEST_P(GoodUnit, PassesAllApplicableChecks) {
  unit_description description = usual_board();
  if (GetParam().describe) GetParam().describe(description);
  CoreBoard board(description);
  const ConformanceReport report = test_of(board);
  EXPECT_EQ(ids_of(report, CheckVerdict::kFailed), std::vector<std::string>{})
      << not_passed(report);
  EXPECT_EQ(ids_of(report, CheckVerdict::kNotTested), GetParam().not_tested) << not_passed(report);
  EXPECT_TRUE(report.has_passed());
  EXPECT_EQ(report.rows.size(), conformance::all_checks().size());
  EXPECT_EQ(board.output_q15_max(), 0) << "commands of 0 unless others are asked for";
  EXPECT_TRUE(unit_is_tripped(&board.core()));
  EXPECT_FALSE(board.core().output.is_enabled);
}

std::vector<GoodBoard> good_boards() {
  const std::vector<std::string> kNoCompact = {"K1", "K2", "K3", "K4"};
  const auto at = [](int tick_rate_Hz, int ttl_max_ms) {
    return [=](unit_description& board) {
      board.tick_rate_Hz = static_cast<std::uint16_t>(tick_rate_Hz);
      board.ttl_max_ms = static_cast<std::uint8_t>(ttl_max_ms);
    };
  };
  return {
      {"Usual"},
      {"EightMotorsSixteenEncoders",
       [](unit_description& board) {
         board.capabilities = UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS;
         board.motor_count = MOTORS_MAX;
         std::fill_n(board.motor, MOTORS_MAX, part_description{MOTOR_AMPERE, 0, 20'000, 0});
         board.encoder_count = ENCODERS_MAX;
         std::fill_n(board.encoder, ENCODERS_MAX, part_description{ENCODER_COUNTER, 0, 0, 65536});
       },
       kNoCompact},
      {"NoMotor",
       [](unit_description& board) {
         board.capabilities = 0;
         board.motor_count = 0;
       },
       {"T9a", "T9b", "E6", "K1", "K2", "K3", "K4"}},
      {"FourInertialSensorsAtEachTick",
       [](unit_description& board) {
         board.inertial_count = INERTIAL_SENSORS_MAX;
         std::fill_n(board.inertial_ticks, INERTIAL_SENSORS_MAX, std::uint8_t{1});
       },
       {"H8d"}},
      {"NoInertialSensor",
       [](unit_description& board) {
         board.inertial_count = 0;
         board.inertial_ticks[0] = 0;
       },
       {"I1"}},
      {"LongestTimeToLive", at(1000, 255), {"C3b"}},
      {"Slow", at(100, 200)},
      {"Fast", at(5000, 20)},
      {"PeriodOfNoWholeMicrosecond", at(1500, 100)},
      {"PeriodOfAThirdOfAMillisecond", at(3000, 50)},
  };
}

INSTANTIATE_TEST_SUITE_P(Conformance, GoodUnit, ::testing::ValuesIn(good_boards()),
                         [](const auto& entry) { return entry.param.name; });

struct GoodLine {
  int baud_rate;
  Nanoseconds latency;
  double clock_error_ppm;
};

class SimulatedLine : public ::testing::TestWithParam<GoodLine> {};

// Over slow lines with delays, and with another clock rate at the far end.
TEST_P(SimulatedLine, SimulatedUnitPasses) {
  sim::SimulationSettings settings;
  settings.unit.clock_error_ppm = GetParam().clock_error_ppm;
  settings.unit.inertial_count = 1;
  settings.unit.encoder[1].index = true;
  settings.unit.clock_start_us = 0xFFFFFFFF - 1'500'000;  // wraps during the test
  settings.to_host = {
      .baud_rate = GetParam().baud_rate, .latency = GetParam().latency, .faults = {}};
  settings.to_unit = settings.to_host;
  auto simulation = std::make_unique<sim::UnitSimulation>(
      settings,
      sim::Plant(std::make_unique<sim::FurutaModel>(sim::FurutaParameters{}), sim::JointState{}),
      Nanoseconds(0));
  sim::SimTransport transport(std::move(simulation), std::make_shared<VirtualTime>(), "simulation",
                              GetParam().baud_rate);
  const ConformanceReport report = test_of(transport, {.command = 0.05, .after_reset = true});
  EXPECT_EQ(ids_of(report, CheckVerdict::kPassed).size(), conformance::all_checks().size())
      << not_passed(report);
  EXPECT_TRUE(report.has_passed());
  EXPECT_NEAR(figure(report, "T1"), GetParam().clock_error_ppm, 50.0);
  EXPECT_NEAR(figure(report, "C8"), 60.0, 3.0);
  EXPECT_TRUE(transport.simulation().unit().is_tripped());
}

INSTANTIATE_TEST_SUITE_P(Conformance, SimulatedLine,
                         ::testing::Values(GoodLine{0, 0ms, 0.0}, GoodLine{921'600, 0ms, 35.0},
                                           GoodLine{460'800, 1ms, -9000.0},
                                           GoodLine{115'200, 2ms, 9000.0},
                                           GoodLine{0, 5ms, -100.0}),
                         [](const auto& entry) { return "Line" + std::to_string(entry.index); });

// The output never exceeds the requested command.
TEST(Conformance, DrivesWithTheRequestedCommand) {
  CoreBoard board(usual_board());
  EXPECT_TRUE(test_of(board, {.command = -0.1}).has_passed());
  EXPECT_GT(board.output_q15_max(), 3000);
  EXPECT_LE(board.output_q15_max(), 3277 + 8);  // 12 bits: half a step of 16
}

// A unit with an earlier session does not give the first answers after a reset.
TEST(Conformance, TestsAResetOnlyAfterOne) {
  CoreBoard board(usual_board());
  EXPECT_TRUE(test_of(board).has_passed());
  const ConformanceReport again = test_of(board);
  EXPECT_TRUE(again.has_passed()) << not_passed(again);
  EXPECT_EQ(ids_of(again, CheckVerdict::kNotTested), (std::vector<std::string>{"H1", "H7", "S2a"}));
  const ConformanceReport promised = test_of(board, {.after_reset = true});
  EXPECT_EQ(ids_of(promised, CheckVerdict::kFailed), (std::vector<std::string>{"H7", "S2a"}));
}

TEST(Conformance, RunsSelectedChecksAlone) {
  CoreBoard board(usual_board());
  const ConformanceReport report = test_of(board, {}, {"C8", "H1", "R4b", "F6"});
  EXPECT_EQ(ids_of(report, CheckVerdict::kPassed),
            (std::vector<std::string>{"F6a", "F6b", "F6c", "H1", "C8", "R4b"}));
}

// --- Faulty units ---

class Planted : public ::testing::TestWithParam<PlantedFault> {};

// Each fault must show at its own requirement. At another one it would mislead the author of the
// firmware.
TEST_P(Planted, FailsAtItsLineAlone) {
  const PlantedFault& planted = GetParam();
  unit_description description = usual_board();
  if (planted.describe) planted.describe(description);
  BoardFault fault;
  if (planted.plant) planted.plant(fault);
  CoreBoard board(description, fault);
  if (planted.start) planted.start(board.core());
  const ConformanceReport report = test_of(board, planted.settings);
  EXPECT_EQ(ids_of(report, CheckVerdict::kFailed), std::vector{planted.id})
      << "a unit that " << planted.name << "\n"
      << not_passed(report);
  EXPECT_FALSE(report.has_passed());
}

INSTANTIATE_TEST_SUITE_P(Conformance, Planted, ::testing::ValuesIn(planted_faults()),
                         [](const auto& entry) {
                           std::string name = entry.param.id + "_" + entry.param.name;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

// A check that passes whatever the unit does is useless.
TEST(Conformance, EveryCheckFailsForSomePlantedFault) {
  std::set<std::string> planted;
  for (const PlantedFault& fault : planted_faults()) planted.insert(fault.id);
  for (const conformance::ConformanceCheck& check : conformance::all_checks()) {
    EXPECT_TRUE(planted.contains(check.id)) << check.id;
  }
}

// A unit whose time to live never ends fails that check, and the test itself ends.
TEST(Conformance, FindsATimeToLiveThatNeverEnds) {
  BoardFault fault;
  fault.after_message = [](unit& core, const std::vector<std::uint8_t>&) {
    core.ttl_end_us = UINT64_MAX;
  };
  CoreBoard board(usual_board(), fault);
  EXPECT_EQ(ids_of(test_of(board), CheckVerdict::kFailed),
            (std::vector<std::string>{"T9b", "C5", "C8", "K3"}));
}

TEST(Conformance, ReportsAUnitThatIsNotTripped) {
  BoardFault fault;
  fault.before_frame = [](unit&, std::vector<std::uint8_t>& frame) {
    FrameDecoder decoder;
    frame.push_back(0);
    for (const std::uint8_t byte : frame) decoder.push(byte);
    frame.pop_back();
    return decoder.counters().good == 0 || decoder.message()[0] != MESSAGE_COMMAND;
  };
  CoreBoard board(usual_board(), fault);
  EXPECT_TRUE(test_of(board, {}, {"H3a"}).is_tripped) << "since its reset";
  const ConformanceReport cleared = test_of(board, {}, {"R2a"});
  EXPECT_EQ(cleared.count(CheckVerdict::kPassed), 1);
  EXPECT_FALSE(cleared.is_tripped);
  EXPECT_FALSE(cleared.has_passed());
}

// --- What ends a test early ---

TEST(Conformance, TripsTheUnitWhenItIsInterrupted) {
  for (const int reads : {50, 1000, 3000, 5000, 7000}) {
    SCOPED_TRACE(reads);
    std::atomic<bool> stop(false);
    CoreBoard board(usual_board(), {.on_read = [&](int count) { stop = stop || count == reads; }});
    const ConformanceReport report = conformance::run_checks(
        board, {}, {}, stop,
        {[](const conformance::ConformanceCheck&) {}, [](const CheckResult&) {}});
    EXPECT_TRUE(report.is_interrupted);
    EXPECT_FALSE(report.has_passed());
    EXPECT_LT(report.rows.size(), conformance::all_checks().size());
    EXPECT_TRUE(report.is_tripped);
    EXPECT_TRUE(unit_is_tripped(&board.core()));
    EXPECT_FALSE(board.core().is_streaming);
  }
}

TEST(Conformance, EndsWhenThePortCloses) {
  CoreBoard* port = nullptr;
  CoreBoard board(usual_board(), {.on_read = [&](int count) {
                    if (count == 2000) port->close();
                  }});
  port = &board;
  const ConformanceReport report = test_of(board);
  EXPECT_EQ(report.trouble, "the port is closed");
  EXPECT_FALSE(report.is_tripped) << "nobody knows";
  EXPECT_FALSE(report.has_passed());
}

// A computer that sleeps longer than the time to live would otherwise fail a good unit.
TEST(Conformance, RepeatsAFailedCheckWhenTheHostWasLate) {
  int stalls = 0, stalls_max = 1;
  CoreBoard* late = nullptr;  // keeps running while nobody reads, and its output waits
  CoreBoard board(usual_board(), {.on_read = [&](int) {
                    if (late->core().ttl_runs && stalls++ < stalls_max) late->let_pass(150ms);
                  }});
  late = &board;
  const ConformanceReport report = test_of(board, {}, {"C6"});
  EXPECT_TRUE(report.has_passed()) << not_passed(report);
  EXPECT_EQ(report.rows[0].repetitions, 1);
  stalls_max = std::numeric_limits<int>::max();
  const ConformanceReport hopeless = test_of(board, {}, {"C6"});
  EXPECT_FALSE(hopeless.has_passed());
  EXPECT_EQ(hopeless.rows[0].repetitions, 3);
}

TEST(Conformance, EndsAtAUnitThatDoesNotAnswer) {
  BoardFault fault;
  fault.before_frame = [](unit&, std::vector<std::uint8_t>&) { return false; };
  CoreBoard board(usual_board(), fault);
  const ConformanceReport report = test_of(board);
  EXPECT_NE(report.trouble.find("HELLO"), std::string::npos) << report.trouble;
  EXPECT_TRUE(report.rows.empty());
  EXPECT_FALSE(report.has_passed());
}

TEST(Conformance, EndsAtAUnitOfAnotherVersion) {
  BoardFault fault;
  fault.before_sending = [](unit&, std::vector<std::uint8_t>& message) {
    if (message[0] == MESSAGE_HELLO_REPLY) message[1] = 1;
    return true;
  };
  CoreBoard board(usual_board(), fault);
  const ConformanceReport report = test_of(board);
  EXPECT_NE(report.trouble.find("version 1"), std::string::npos) << report.trouble;
  EXPECT_FALSE(report.has_passed());
}

// --- The protocol page ---

// Every number in the test's table must be in PROTOCOL.md. Each requirement on a unit there is
// tested, implied by a test, or listed as one that only the board can show.
TEST(Conformance, CoversTheRequirementsOfTheProtocol) {
  std::ifstream in(test_support::source_folder() + "/firmware_iface/PROTOCOL.md");
  std::set<std::string> required;
  const std::regex kRequirement(R"(^- \[([A-OQ-Z][0-9]+)\].*)");  // [P]: on the host
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kRequirement)) required.insert(match[1]);
  }
  std::set<std::string> covered = {
      "F1", "F2", "F3",  "M1", "M3",  // every frame of every check
      "T2", "C7", "C10",              // T7; S2b and R5; C9 and F7b
      "S3", "S4",                     // C2b, C8; the checks that trip
      "I2", "I3",                     // I1
  };
  for (const conformance::ConformanceCheck& check : conformance::all_checks()) {
    const std::string id = check.id;
    const std::string number = id.substr(0, id.find_first_not_of("0123456789", 1));
    EXPECT_TRUE(required.contains(number)) << id << " is not in PROTOCOL.md";
    covered.insert(number);
  }
  for (const std::string& id : conformance::untestable_requirements()) {
    EXPECT_FALSE(covered.contains(id)) << id;
    covered.insert(id);
  }
  for (const std::string& id : required) EXPECT_TRUE(covered.contains(id)) << id;
}

}  // namespace
