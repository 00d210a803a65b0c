#include "service/work/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/service/run_rigcal.hpp"

namespace service {
namespace {

constexpr int kItems = 40;

/// Returns a batch whose values are the squares of the requests. It counts its calls.
WorkBatch squares(std::atomic<int>& calls) {
  WorkBatch batch{.kind = "square"};
  for (int i = 0; i < kItems; ++i) {
    batch.items.push_back({.key = "k" + std::to_string(i), .request = std::to_string(i)});
  }
  batch.compute = [&calls](const WorkItem& item, const std::atomic<bool>*) {
    ++calls;
    const int number = std::stoi(item.request);
    if (number == 3) throw std::invalid_argument("three is refused");
    return std::to_string(number * number);
  };
  return batch;
}

// Results must not depend on the number of threads, and a second call repeats nothing, not even
// items without a value.
TEST(LocalExecutor, ComputesEachItemOnceOnAnyNumberOfThreads) {
  for (const int threads : {1, 4}) {
    const TemporaryFolder folder;
    WorkStore store(folder.file("s"));
    std::atomic<int> calls = 0;
    const WorkBatch batch = squares(calls);
    const auto executor = make_local_executor(threads);
    std::vector<std::size_t> done;
    EXPECT_TRUE(executor->run(batch, store, nullptr,
                              [&](const WorkProgress& p) { done.push_back(p.done); }));
    ASSERT_EQ(done.size(), kItems + 1U);
    for (std::size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], i);
    for (int i = 0; i < kItems; ++i) {
      const WorkResult result = store.find(batch.items[static_cast<std::size_t>(i)].key).value();
      EXPECT_EQ(result.value, i == 3 ? "" : std::to_string(i * i));
      EXPECT_EQ(result.failure, i == 3 ? "three is refused" : "");
    }
    WorkProgress last;
    EXPECT_TRUE(executor->run(batch, store, nullptr, [&](const WorkProgress& p) { last = p; }));
    EXPECT_EQ(calls, kItems);
    EXPECT_EQ(last.kept, static_cast<std::size_t>(kItems));
  }
}

// A stopped executor keeps finished items only: the one during which it was stopped is not one. It
// continues with the others.
TEST(LocalExecutor, ContinuesAfterAStop) {
  const TemporaryFolder folder;
  WorkStore store(folder.file("s"));
  std::atomic<int> calls = 0;
  std::atomic<bool> stop = false;
  WorkBatch batch = squares(calls);
  const WorkFunction square = batch.compute;
  batch.compute = [&](const WorkItem& item, const std::atomic<bool>* flag) {
    if (item.request == "10") stop = true;
    return square(item, flag);
  };
  EXPECT_FALSE(make_local_executor(1)->run(batch, store, &stop, {}));
  EXPECT_EQ(store.find_missing(batch.items).size(), kItems - 10U);
  stop = false;
  batch.compute = square;
  EXPECT_TRUE(make_local_executor(2)->run(batch, store, &stop, {}));
  EXPECT_EQ(store.find(batch.items[10].key)->value, "100");
  EXPECT_EQ(calls, kItems + 1);
}

// A program error is no result of an item: it ends the command.
TEST(LocalExecutor, PassesOnOtherExceptions) {
  const TemporaryFolder folder;
  WorkStore store(folder.file("s"));
  std::atomic<int> calls = 0;
  WorkBatch batch = squares(calls);
  batch.compute = [](const WorkItem&, const std::atomic<bool>*) -> std::string {
    throw std::logic_error("bug");
  };
  EXPECT_THROW(make_local_executor(2)->run(batch, store, nullptr, {}), std::logic_error);
  EXPECT_EQ(store.find_missing(batch.items).size(), static_cast<std::size_t>(kItems));
}

}  // namespace
}  // namespace service
