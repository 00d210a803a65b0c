#include "daq/console/slow_notice.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace daq {
namespace {

using std::chrono::milliseconds;

// The owner waits until the notice appears, so a missing notice makes the test run forever.
TEST(DelayedNotice, SpeaksOnceWhileItsOwnerWaits) {
  std::atomic<int> count{0};
  {
    const DelayedNotice notice(milliseconds(1), [&] {
      ++count;
      count.notify_all();
    });
    count.wait(0);
  }
  EXPECT_EQ(count.load(), 1);
}

TEST(DelayedNotice, IsSilentWhereItsOwnerIsQuick) {
  bool spoken = false;
  {
    const DelayedNotice notice(std::chrono::hours(1), [&] { spoken = true; });
  }
  EXPECT_FALSE(spoken);
}

}  // namespace
}  // namespace daq
