#include <gtest/gtest.h>

#include <array>

#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/sample.h"
#include "tests/daq/simulated_rig.hpp"

// Why a run ends: a unit that does not answer, and one that is another than before.

namespace daq {
namespace {

Scenario steady_drive() { return {"step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0}; }

// A unit that leaves the CLEAR unanswered has been asked often enough after a second; that is told
// then, not when the time for arming is over.
TEST(LoopEnds, WhenTheClearIsNotAnswered) {
  LoopSettings settings = furuta_settings();
  settings.arm_s_max = 60.0;
  SimulatedRig rig(steady_drive(), settings);
  double tripped_at_s = 0.0;
  rig.run(
      [&](SimulatedRig& r, int tick) {
        if (tick == 20) r.simulation().to_unit().set_faults({.seed = 1, .frame_lost = 1.0});
        if (tripped_at_s == 0.0 && r.loop().trip() != nullptr) tripped_at_s = r.time_s();
      },
      5000);
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(rig.loop().trip()->cause, TripCause::kClearRefused);
  EXPECT_GT(tripped_at_s, 1.0);
  EXPECT_LT(tripped_at_s, 1.5);
}

// Samples that contradict the stream are another stream's: the unit restarted, and the run ends
// with that word and not with silence.
TEST(LoopEnds, WhenTheUnitIsInAnotherStream) {
  SimulatedRig rig(steady_drive());
  rig.run(
      [&](SimulatedRig& r, int tick) {
        if (tick != 400) return;
        sample_report report{};
        report.sequence = 40'000;
        report.channel_count = 2;
        std::array<std::uint8_t, SAMPLE_SIZE_BYTES_MAX> message{};
        const std::size_t size = sample_report_encode(&report, message.data());
        std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> frame{};
        const std::size_t frame_size =
            frame_encode(message.data(), size, frame.data(), frame.size());
        for (int k = 0; k < 8; ++k) {
          r.simulation().to_host().push(std::span(frame).first(frame_size), r.transport().now());
        }
      },
      1000);
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(rig.loop().trip()->cause, TripCause::kUnitRestarted);
}

}  // namespace
}  // namespace daq
