#include "daq/commands/slow_notice.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace daq {
namespace {

using std::chrono::milliseconds;

// Waiting ends with the notice, so a notice that never comes shows as a test that never ends.
TEST(SlowNotice, SpeaksOnceWhileItsOwnerWaits) {
  std::atomic<int> count{0};
  {
    const SlowNotice notice(milliseconds(1), [&] {
      ++count;
      count.notify_all();
    });
    count.wait(0);
  }
  EXPECT_EQ(count.load(), 1);
}

TEST(SlowNotice, IsSilentWhereItsOwnerIsQuick) {
  bool spoken = false;
  {
    const SlowNotice notice(std::chrono::hours(1), [&] { spoken = true; });
  }
  EXPECT_FALSE(spoken);
}

}  // namespace
}  // namespace daq
