#include "estimator/math/parallel_jobs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace estimator {
namespace {

// Each job once, none omitted, with more threads than jobs, one job, or none.
TEST(ParallelJobs, RunEachJobOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    for (const std::size_t count : {0U, 1U, 5U, 400U}) {
      std::vector<std::atomic<int>> runs(count);
      run_parallel_jobs(threads, count, [&](std::size_t i) { ++runs[i]; });
      for (const std::atomic<int>& each : runs) EXPECT_EQ(each, 1) << threads << " for " << count;
    }
  }
}

// A thread that requests a running job must find it done.
TEST(ParallelJobs, RunASharedJobOnce) {
  OnceJob once;
  std::atomic<int> runs = 0, early = 0;
  run_parallel_jobs(4, 100, [&](std::size_t) {
    once.run([&] {
      std::this_thread::yield();
      ++runs;
    });
    if (runs != 1) ++early;
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(early, 0);
}

TEST(ParallelJobs, UseTheGivenNumberOfThreads) {
  std::atomic<int> waiting = 0;
  run_parallel_jobs(3, 3, [&](std::size_t) {
    ++waiting;
    while (waiting < 3) std::this_thread::yield();  // each waits for the other two
  });
  EXPECT_EQ(waiting, 3);
}

// The estimator refuses by exceptions; one thrown in a helper thread must reach the caller.
TEST(ParallelJobs, RethrowAJobsException) {
  for (const int threads : {1, 3}) {
    std::atomic<int> runs = 0;
    const auto job = [&](std::size_t i) {
      ++runs;
      if (i == 5) throw std::invalid_argument("the sixth");
    };
    EXPECT_THROW(run_parallel_jobs(threads, 100000, job), std::invalid_argument);
    EXPECT_LT(runs, 100000);
  }
}

// Batches cover all items without overlap, in whole multiples except the last.
TEST(ParallelJobs, DivideItemsIntoBatches) {
  for (const int threads : {1, 2, 3}) {
    for (const std::size_t items : {0U, 1U, 16U, 17U, 100U, 293U}) {
      std::vector<std::atomic<int>> hits(items);
      std::atomic<int> batches = 0;
      run_parallel_batches(threads, items, 16, [&](std::size_t first, std::size_t count) {
        ++batches;
        EXPECT_EQ(first % 16, 0U);
        EXPECT_TRUE(count % 16 == 0 || first + count == items);
        for (std::size_t i = first; i < first + count; ++i) ++hits[i];
      });
      for (const std::atomic<int>& each : hits) EXPECT_EQ(each, 1) << threads << " for " << items;
      if (threads == 1) {
        EXPECT_EQ(batches, items > 0 ? 1 : 0);
      } else if (items > 200) {
        EXPECT_GE(batches, 2 * threads);
      }
    }
  }
}

}  // namespace
}  // namespace estimator
