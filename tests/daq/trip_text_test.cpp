#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daq/safety/safety_limits.hpp"
#include "tests/support/refusal.hpp"

namespace daq {
namespace {

using test_support::expect_parts;

SafetyLimits described_limits() {
  return {.motor = {{"arm", 5.0, 1000.0}},
          .staleness_s_max = 0.005,
          .joint = {{"arm", -2.0, 2.0, 20.0, 0.1, 0.0105},
                    {"pendulum", -50.0, 50.0, 40.0, 0.1, 0.0105}}};
}

TEST(TripText, StatesJointValuesAndTime) {
  const Trip trip{TripCause::kSpeed, 1, 3.25, 41.5, 40.0};
  EXPECT_EQ(describe_trip(trip, described_limits()),
            "pendulum: speed 41.5 rad/s, allowed 40 rad/s, at t = 3.250 s");
}

TEST(TripText, DistinguishesAClosedPortFromSilence) {
  EXPECT_EQ(describe_trip({TripCause::kPortClosed, 0, 2.5, 0.00036, 0.0}, described_limits()),
            "the port closed (cable pulled, adapter or unit switched off?) 360e-6 s after the last "
            "sample, at t = 2.500 s");
}

// A table row in the wrong place would report one cause as another.
TEST(TripText, HasItsOwnWordsForEveryCause) {
  std::set<std::string_view> names;
  for (int cause = 0; cause <= static_cast<int>(TripCause::kUnitClock); ++cause) {
    names.insert(to_string(static_cast<TripCause>(cause)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(TripCause::kUnitClock) + 1);
  EXPECT_EQ(to_string(TripCause::kPortClosed), "port closed");
  EXPECT_EQ(to_string(TripCause::kHostPaused), "host paused");
  EXPECT_EQ(to_string(TripCause::kRingFull), "ring full");
  EXPECT_EQ(to_string(TripCause::kStall), "stall");
  EXPECT_EQ(to_string(TripCause::kUnitClock), "unit clock");
  EXPECT_TRUE(concerns_joint(TripCause::kStall) && concerns_joint(TripCause::kGrowingSwings));
  EXPECT_FALSE(concerns_joint(TripCause::kCommandMismatch));
  EXPECT_EQ(trip_unit(TripCause::kSpeed), "rad/s");
  EXPECT_TRUE(concerns_joint(TripCause::kMissingChannel));
  EXPECT_FALSE(concerns_joint(TripCause::kStaleSample));
}

// The message names the joint, the value, the limit, the time and the remedy.
TEST(TripText, AdvisesAboutImplausibleReports) {
  struct Sentence {
    Trip trip;
    std::vector<const char*> parts;
  };
  const Sentence sentences[] = {
      {{TripCause::kStall, 0, 2.0, 0.66, 0.65}, {"arm: ", "0.66 s", "0.65 s", "raise safety"}},
      {{TripCause::kFrozenEncoder, 1, 2.0, 0.38, 0.36}, {"pendulum: ", "0.38 s", "cable"}},
      {{TripCause::kNoResponse, 1, 2.0, 0.101, 0.1},
       {"pendulum: ", "0.101 rad", "may_stand_still"}},
      {{TripCause::kWrongDirection, 0, 2.0, 0.006, 0.005}, {"arm: ", "0.006 rad", "inverted"}},
      {{TripCause::kCountStep, 0, 2.0, 0.31, 0.025}, {"arm: ", "jumped by 0.31 rad", "cable"}},
      {{TripCause::kReversal, 0, 2.0, 4.5, 2.35}, {"arm: ", "4.5 rad/s at once", "stops { }"}},
      {{TripCause::kRepeatedCounts, 0, 2.0, 33.0, 32.0},
       {"arm: ", "repeated", "33 counts", "firmware"}},
      {{TripCause::kCreep, 0, 2.0, 0.02, 0.0}, {"arm: ", "0.02 rad/s", "Bring it to rest"}},
      {{TripCause::kGrowingSwings, 1, 2.0, 1.2, 1.1}, {"pendulum: ", "1.2 times", "supply"}},
      {{TripCause::kCommandMismatch, 0, 2.0, 10.0, 1.0},
       {"arm: ", "10 where 1 was", "conformance"}},
      {{TripCause::kCommandMismatch, 0, 2.0, 1.0, 1.0}, {"arm: ", "contradicts", "conformance"}},
      {{TripCause::kStaleCommand, 0, 2.0, 0.12, 0.1}, {"0.12 s", "0.1 s", "line"}},
      {{TripCause::kFaultMismatch, 0, 2.0, 16.0, 0.0}, {"0x10", "conformance"}},
      {{TripCause::kSampleAge, 0, 2.0, 0.06, 0.05}, {"arrived 0.06 s after", "staleness_ms_max"}},
      {{TripCause::kSampleAge, 0, 2.0, -0.06, 0.05}, {"arrived 0.06 s before", "check the unit"}},
      {{TripCause::kUnitClock, 0, 2.0, -1.5, 1.0}, {"slow by 1.5 %", "allowed 1 %", "tick rate"}},
      {{TripCause::kUnitClock, 0, 2.0, std::nan(""), 1.0},
       {"cannot be determined to 1 %", "irregularly"}}};
  for (const Sentence& sentence : sentences) {
    const std::string text = describe_trip(sentence.trip, described_limits());
    for (const char* part : sentence.parts) {
      expect_parts(text, {part});
    }
    expect_parts(text, {"at t = 2.000 s. "});
  }
}

TEST(TripText, PutsTheUnitsFaultsIntoWords) {
  const Trip trip{TripCause::kUnitTripped, 0, 2.5, 0x22, 0.0};
  EXPECT_TRUE(describe_trip(trip, described_limits())
                  .starts_with("the unit switched off: no new command before the last one expired, "
                               "fault of the power stage "
                               "(fault flags 0x22), at t = 2.500 s. "));
  EXPECT_EQ(describe_trip({TripCause::kUnitTripped, 0, 2.5, 0x20, 0.0}, described_limits()),
            "the unit switched off: fault of the power stage (fault flags 0x20), at t = 2.500 s");
  // The pauses of this computer do not explain flags that remain after a CLEAR.
  EXPECT_EQ(describe_trip({TripCause::kClearRefused, 0, 2.5, 0x22, 0.0}, described_limits()),
            "the unit cannot be unlocked: no new command before the last one expired, "
            "fault of the power stage (fault flags 0x22), at t = 2.500 s");
}

// A pause of this computer that the loop allows can exceed the unit's ttl. The message must then
// name the pause and the settings, but not a pause of long ago.
TEST(TripText, NamesThePauseBehindTheUnitsTtl) {
  for (const bool long_ago : {false, true}) {
    SafetyLimits limits = described_limits();
    limits.staleness_s_max = 0.5;
    SafetyMonitor monitor(limits);
    monitor.trip_on_host_pause(2.0, 0.1204, 0.0);
    monitor.trip_on_host_pause(2.9, 0.001, 0.0);
    if (long_ago) monitor.trip_on_host_pause(3.1, 0.002, 0.0);
    monitor.trip(TripCause::kUnitTripped, 3.1, 0x02, 0.0);
    const std::string text = describe_trip(monitor.current_trip(), limits);
    expect_parts(text, {long_ago ? "this computer paused for up to 2 ms"
                                 : "this computer paused for up to 120.4 ms",
                        "before the last one expired", "rigcal-daq latency", "unit { ttl_ms }",
                        "safety { staleness_ms_max }"});
  }
}

TEST(TripText, NamesTheStalledPartOfThisComputer) {
  EXPECT_EQ(describe_trip({TripCause::kHostPaused, 0, 2.5, 0.902, 0.25}, described_limits()),
            "this computer paused for 902 ms, 250 ms allowed, at t = 2.500 s; motor off. Close "
            "other programs and run rigcal-daq latency, or raise unit { ttl_ms } and safety { "
            "staleness_ms_max }");
  EXPECT_EQ(describe_trip({TripCause::kRecordingStalled, 0, 2.5, 1.0004, 1.0}, described_limits()),
            "no data were stored for 1000.4 ms, 1000 ms allowed, at t = 2.500 s; motor off. The "
            "disk hangs or is too slow; record to another disk");
  EXPECT_EQ(describe_trip({TripCause::kRingFull, 0, 2.5, 8193, 8192}, described_limits()),
            "8192 samples are waiting to be recorded, and the buffer is full, at t = 2.500 s; "
            "motor off. The "
            "disk is too slow, or something keeps this program from writing");
}

}  // namespace
}  // namespace daq
