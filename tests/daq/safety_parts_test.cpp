#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

#include "daq/safety/black_box.hpp"
#include "daq/scenario/joint_tracker.hpp"

namespace daq {
namespace {

constexpr double kSamplePeriod_s = 1e-3;

// Constant speed on an encoder of 4096 counts: the speed error is at most one count over the
// window, 2π/4096 / (15 ms).
TEST(JointTracker, ErrsByAtMostOneCountOverItsWindow) {
  JointTracker tracker;
  const double count_rad = 2 * 3.14159265358979 / 4096;
  for (int k = 0; k < 200; ++k) {
    const double angle_rad = std::floor(7.3 * kSamplePeriod_s * k / count_rad) * count_rad;
    tracker.add(kSamplePeriod_s * k, angle_rad);
    if (k < 15) continue;
    EXPECT_NEAR(tracker.speed_rad_per_s(), 7.3, count_rad / 0.015 * (1 + 1e-9));
  }
}

// The window spans kWindow periods, or all there are at first. With angles k² at times k its speed
// is exact: (k² − (k − n)²)/n = 2k − n.
TEST(JointTracker, SpansItsWindowToTheSample) {
  constexpr int kWindow = static_cast<int>(JointTracker::kWindow);
  for (const double side : {1.0, -1.0}) {
    JointTracker tracker;
    EXPECT_EQ(tracker.add(0.0, 0.0), 0.0);
    for (int k = 1; k <= 5 * kWindow; ++k) {
      const double expected = k < kWindow ? k : 2 * k - kWindow;
      EXPECT_DOUBLE_EQ(tracker.add(k, side * k * k), side * expected) << k;
      EXPECT_DOUBLE_EQ(tracker.speed_rad_per_s(), side * expected);
    }
  }
}

// A run does not start at time zero and angle zero, so unwritten entries must not be used as the
// oldest.
TEST(JointTracker, CountsFromItsFirstAngle) {
  JointTracker tracker;
  EXPECT_EQ(tracker.add(5.0, 3.0), 0.0);
  for (int k = 1; k < 40; ++k) EXPECT_DOUBLE_EQ(tracker.add(5.0 + k, 3.0 + 2.0 * k), 2.0) << k;
}

// The ring must keep the newest messages, oldest first, and stop kAfterTrip messages after the
// trip. Without the stop it would overwrite the cause.
TEST(BlackBox, KeepsMessagesBeforeAndJustAfterATrip) {
  auto box = std::make_unique<BlackBox>();
  constexpr int kTripAt = 5000;
  for (int k = 0; k < 10'000; ++k) {
    if (k == kTripAt) box->freeze_after_trip();
    const std::array<std::uint8_t, 2> message = {static_cast<std::uint8_t>(k),
                                                 static_cast<std::uint8_t>(k >> 8)};
    box->on_message(firmware_iface::Direction::kToUnit, message, firmware_iface::Nanoseconds(k));
  }
  ASSERT_TRUE(box->is_frozen());
  ASSERT_EQ(box->count(), BlackBox::kCapacity);
  const auto oldest =
      kTripAt + static_cast<int>(BlackBox::kAfterTrip) - static_cast<int>(BlackBox::kCapacity);
  for (std::size_t i = 0; i < box->count(); ++i) {
    const int k = oldest + static_cast<int>(i);
    EXPECT_EQ(box->message(i).at.count(), k);
    ASSERT_EQ(box->message(i).message().size(), 2U);
    EXPECT_EQ(box->message(i).message()[1], static_cast<std::uint8_t>(k >> 8));
  }
}

}  // namespace
}  // namespace daq
