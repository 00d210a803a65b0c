#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <memory>
#include <thread>

#include "daq/realtime/rt_thread.hpp"
#include "daq/realtime/spsc_ring.hpp"
#include "daq/realtime/timing.hpp"
#include "tests/support/alloc_counter.hpp"

namespace daq {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// An off-by-one in the check for a full ring would lose an element or overwrite an unread one.
TEST(SpscRing, HoldsExactlyItsCapacityInOrder) {
  SpscRing<int, 4> ring;
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 4; ++k) EXPECT_TRUE(ring.try_push(10 * round + k));
    EXPECT_FALSE(ring.try_push(99));
    int value = -1;
    for (int k = 0; k < 4; ++k) {
      ASSERT_TRUE(ring.try_pop(value));
      EXPECT_EQ(value, 10 * round + k);
    }
    EXPECT_FALSE(ring.try_pop(value));
  }
}

// A missing release or acquire shows as a torn or repeated pair, above all under TSan.
TEST(SpscRing, CarriesEveryElementIntactBetweenTwoThreads) {
  struct Pair {
    std::int64_t number, square;
  };
  constexpr std::int64_t kCount = 200'000;
  auto ring = std::make_unique<SpscRing<Pair, 64>>();
  std::jthread producer([&] {
    for (std::int64_t k = 0; k < kCount;) {
      if (ring->try_push({k, k * k})) ++k;
    }
  });
  for (std::int64_t expected = 0; expected < kCount;) {
    Pair pair{};
    if (!ring->try_pop(pair)) continue;
    ASSERT_EQ(pair.number, expected);
    ASSERT_EQ(pair.square, expected * expected);
    ++expected;
  }
}

// Catching up missed periods in a burst would send commands closer together than the rig expects.
TEST(NextDeadline, SkipsMissedPeriodsAndStaysOnTheGrid) {
  const auto next = [](int now_us) {
    return compute_next_deadline(milliseconds(10), milliseconds(1), microseconds(now_us));
  };
  EXPECT_EQ(next(10'300).deadline, milliseconds(11));
  EXPECT_EQ(next(10'300).skipped, 0);
  EXPECT_EQ(next(11'000).deadline, milliseconds(12));  // exactly at the deadline: it has passed
  EXPECT_EQ(next(11'000).skipped, 1);
  EXPECT_EQ(next(14'700).deadline, milliseconds(15));
  EXPECT_EQ(next(14'700).skipped, 4);
}

// Returning before the deadline would sample too early. The lateness of the return is not checked.
TEST(PeriodicTimer, NeverReturnsBeforeItsDeadline) {
  PeriodicTimer timer(milliseconds(1));
  const Nanoseconds first = timer.deadline();
  std::int64_t periods = 0;
  for (int k = 0; k < 20; ++k) {
    periods += 1 + timer.wait();
    EXPECT_GE(monotonic_now(), timer.deadline());
  }
  EXPECT_EQ(timer.deadline(), first + periods * milliseconds(1));
}

TEST(TimingHistogram, ComputesPercentiles) {
  TimingHistogram histogram;
  EXPECT_EQ(histogram.percentile_us(0.5), 0.0);
  for (int us = 1; us <= 100; ++us) histogram.add(microseconds(us) - Nanoseconds(1));
  EXPECT_EQ(histogram.count(), 100);
  // 0.999 µs lies in bin [0, 1), 1.999 µs in [1, 2), …: the k-th duration's upper edge is k µs.
  EXPECT_EQ(histogram.percentile_us(0.5), 50.0);
  EXPECT_EQ(histogram.percentile_us(0.99), 99.0);
  EXPECT_EQ(histogram.percentile_us(1.0), 100.0);
  EXPECT_EQ(histogram.max(), Nanoseconds(99'999));
}

// The last bin must neither lose long durations nor report its lower edge for them.
TEST(TimingHistogram, KeepsDurationsBeyondItsRange) {
  TimingHistogram histogram;
  histogram.add(milliseconds(37));
  histogram.add(Nanoseconds(-5));
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.percentile_us(1.0), 37'000.0);
  EXPECT_EQ(histogram.percentile_us(0.5), 1.0);
}

// On every machine, each requested setting is either granted or explained.
TEST(EnterRealTime, GrantsOrExplainsEachRequest) {
  std::jthread([] {
    const RealTimeReport report = enter_real_time({.priority = 10, .lock_memory = false, .cpu = 0});
    EXPECT_EQ(report.refused.size(), (report.fifo ? 0U : 1U) + (report.pinned ? 0U : 1U));
    sched_param parameters{};
    int policy = SCHED_OTHER;
    pthread_getschedparam(pthread_self(), &policy, &parameters);
    EXPECT_EQ(policy == SCHED_FIFO, report.fifo);
    EXPECT_EQ(parameters.sched_priority, report.fifo ? 10 : 0);
  }).join();
}

TEST(EnterRealTime, ExplainsAProcessorThatDoesNotExist) {
  std::jthread([] {
    const RealTimeReport report =
        enter_real_time({.priority = 0, .lock_memory = false, .cpu = 1000});
    EXPECT_FALSE(report.pinned);
    ASSERT_EQ(report.refused.size(), 1U);
    EXPECT_NE(report.refused[0].find("1000"), std::string::npos);
  }).join();
}

TEST(EnterRealTime, RefusesAnImpossiblePriority) {
  EXPECT_THROW(enter_real_time({.priority = 100}), std::invalid_argument);
}

// An allocation counter that counts nothing would let every allocation test pass.
TEST(AllocCounter, CountsOperatorNew) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  const test_support::AllocCounter counter;
  const auto value = std::make_unique<volatile int>(1);
  EXPECT_EQ(counter.count(), 1);
}

}  // namespace
}  // namespace daq
