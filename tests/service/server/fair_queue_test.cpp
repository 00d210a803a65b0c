#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "service/server/jobs/fair_queue.hpp"
#include "service/server/sessions/service_context.hpp"
#include "service/server/sessions/task_thread.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

using Ids = std::vector<std::string>;

// Order if all have used equally much.
Ids order(const FairQueue& queue) {
  return queue.order([](const std::string&) { return 0.0; });
}

// However many jobs of one identity wait, another's comes second; in a queue by time it comes last.
TEST(FairQueue, LetsIdentitiesTakeTurns) {
  FairQueue queue;
  for (const char* id : {"a1", "a2", "a3"}) queue.add("a", id);
  queue.add("b", "b1");
  queue.add("c", "c1");
  queue.add("b", "b2");
  EXPECT_EQ(order(queue), (Ids{"a1", "b1", "c1", "a2", "b2", "a3"}));
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_EQ(queue.size("b"), 2u);
  EXPECT_EQ(queue.size("nobody"), 0u);
}

// A served identity goes to the end, and a new one joins behind all who wait. So resubmitting one
// job at a time overtakes nobody.
TEST(FairQueue, SendsTheServedAndTheNewToTheEnd) {
  FairQueue queue;
  queue.add("a", "a1");
  queue.add("a", "a2");
  queue.add("b", "b1");
  queue.serve("a1");
  EXPECT_EQ(order(queue), (Ids{"b1", "a2"}));
  queue.serve("b1");
  queue.add("b", "b2");
  EXPECT_EQ(order(queue), (Ids{"a2", "b2"}));
}

// An identity without waiting jobs loses its place and joins at the end again.
TEST(FairQueue, ForgetsIdentitiesWithoutJobs) {
  for (const bool served : {true, false}) {
    FairQueue queue;
    queue.add("a", "a1");
    served ? queue.serve("a1") : queue.remove("a1");
    EXPECT_EQ(queue.size("a"), 0u);
    queue.add("b", "b1");
    queue.add("a", "a2");
    EXPECT_EQ(order(queue), (std::vector<std::string>{"b1", "a2"})) << served;
  }
}

// Cancelling a job does not cost its owner a turn; cancelling an unknown one has no effect.
TEST(FairQueue, KeepsThePlaceAfterACancellation) {
  FairQueue queue;
  for (const char* id : {"a1", "a2"}) queue.add("a", id);
  queue.add("b", "b1");
  queue.remove("a1");
  queue.remove("none");
  queue.serve("none");
  EXPECT_EQ(order(queue), (Ids{"a2", "b1"}));
  queue.remove("a2");
  queue.remove("b1");
  EXPECT_TRUE(order(queue).empty());
}

// The least usage comes first, independent of arrival and number of requests; equals take turns.
TEST(FairQueue, PrefersTheLeastUsage) {
  FairQueue queue;
  for (const char* id : {"a1", "a2"}) queue.add("a", id);
  for (const char* id : {"b1", "b2"}) queue.add("b", id);
  queue.add("c", "c1");
  const std::map<std::string, double> used = {{"a", 5.0}, {"b", 1.0}, {"c", 1.0}};
  EXPECT_EQ(queue.order([&](const std::string& who) { return used.at(who); }),
            (Ids{"b1", "c1", "a1", "b2", "a2"}));
}

// Usage of the last hour, to the minute: even usage expires evenly, and another's does not count.
TEST(ProcessorUsage, CountsTheLastHour) {
  ProcessorUsage use;
  use.add("a", 1200.0, 1800.0, 300.0);  // half a processor for ten minutes
  use.add("b", 0.0, 60.0, 60.0);
  EXPECT_NEAR(use.of("a", 1800.0), 300.0, 1e-9);
  EXPECT_NEAR(use.of("a", 1200.0 + 3599.0), 300.0, 1e-9) << "the first minute has not left";
  EXPECT_NEAR(use.of("a", 1200.0 + 3600.0), 270.0, 1e-9);
  EXPECT_NEAR(use.of("a", 1500.0 + 3600.0), 120.0, 1e-9);
  EXPECT_EQ(use.of("a", 1800.0 + 3600.0), 0.0);
  EXPECT_EQ(use.of("nobody", 0.0), 0.0);
  EXPECT_NEAR(use.of("b", 59.0), 60.0, 1e-9);
  use.discard_entries_before(1500.0 + 3600.0);
  EXPECT_NEAR(use.of("a", 1500.0 + 3600.0), 120.0, 1e-9) << "what counts is kept";
  EXPECT_EQ(use.of("b", 59.0), 0.0) << "what does not is gone";
}

// Of a job longer than an hour the last hour counts; of one with zero duration, everything; of an
// invalid time, nothing.
TEST(ProcessorUsage, AcceptsJobsOfAnyLength) {
  ProcessorUsage use;
  use.add("long", 0.0, 36'000.0, 36'000.0);
  EXPECT_NEAR(use.of("long", 36'000.0), 3540.0, 1e-9) << "59 whole minutes and the one that begins";
  use.add("short", 100.0, 100.0, 2.0);
  use.add("back", 100.0, 90.0, 2.0);  // after a clock change
  EXPECT_EQ(use.of("short", 100.0), 2.0);
  EXPECT_EQ(use.of("back", 100.0), 2.0);
  use.add("none", 0.0, 10.0, -1.0);
  use.add("none", 0.0, 10.0, std::nan(""));
  EXPECT_EQ(use.of("none", 10.0), 0.0);
}

// The last byte of a share and of the total fits, one more does not, however large the claim.
TEST(IdentityByteUsage, HasRoomUpToTheShareAndUpToTheLimit) {
  IdentityByteUsage use;
  use.add("a", 6);
  EXPECT_TRUE(use.is_within_limits("a", 2, 10, 8));
  EXPECT_FALSE(use.is_within_limits("a", 3, 10, 8));
  EXPECT_TRUE(use.is_within_limits("b", 4, 10, 8));
  EXPECT_FALSE(use.is_within_limits("b", 5, 10, 8));
  EXPECT_FALSE(use.is_within_limits("b", ~std::uint64_t{0}, 10, ~std::uint64_t{0}));
  EXPECT_FALSE(use.is_within_limits("b", ~std::uint64_t{0}, ~std::uint64_t{0}, 8));
  use.remove("a", 4);
  EXPECT_EQ(use.of("a"), 2u);
  EXPECT_EQ(use.total(), 2u);
  use.remove("a", 5);  // usage that was counted again meanwhile
  use.remove("nobody", 5);
  EXPECT_EQ(use.total(), 0u);
}

// Half of each limit, at least one, unless configured; never more than the limit.
TEST(ServiceLimits, GivesOneIdentityHalfByDefault) {
  ServiceLimits limits;
  limits.connections = 5;
  limits.workers = 1;
  limits.queued_jobs = 7;
  limits.share.queued_jobs = 2;
  limits.jobs = 3;
  limits.share.jobs = 9;
  EXPECT_EQ(limits.limits_per_identity().connections, 3u);
  EXPECT_EQ(limits.limits_per_identity().running_jobs, 1u);
  EXPECT_EQ(limits.limits_per_identity().queued_jobs, 2u);
  EXPECT_EQ(limits.limits_per_identity().jobs, 3u);
  EXPECT_EQ(limits.limits_per_identity().processor_s, 3600.0)
      << "all that its one running job could have";
  limits.workers = 3;
  EXPECT_EQ(limits.limits_per_identity().processor_s, 7200.0);
  limits.share.processor_s = 60.0;
  EXPECT_EQ(limits.limits_per_identity().processor_s, 60.0);
}

// Data of releases without owners belong to nobody, an empty name owns nothing, operators may do
// all.
TEST(Identity, MayChangeItsOwnAndAsOperatorEverything) {
  const Identity anna{"account:anna", false};
  EXPECT_TRUE(anna.may_change_items_of("account:anna"));
  EXPECT_FALSE(anna.may_change_items_of("certificate:anna"));
  EXPECT_FALSE(anna.may_change_items_of(""));
  EXPECT_FALSE((Identity{"", false}).may_change_items_of(""));
  EXPECT_TRUE((Identity{"account:root", true}).may_change_items_of("account:anna"));
  EXPECT_TRUE((Identity{"account:root", true}).may_change_items_of(""));
}

TEST(Identity, IdentifiesOperatorsByCertificateName) {
  const OperatorNames operators{{"operator"}, {"anna"}};
  EXPECT_TRUE(identify_certificate("operator", operators).is_operator);
  EXPECT_FALSE(identify_certificate("anna", operators).is_operator) << "that is an account";
  EXPECT_EQ(identify_certificate("rig", operators).name, "certificate:rig");
}

// A thread that is kept busy while the test posts tasks.
class BusyThreads {
 public:
  explicit BusyThreads(int count) : threads_(count, 0) {}

  // Posts a task that waits until release(), with its own owner.
  void occupy(const std::string& owner) {
    threads_.post(owner, [this, released = released_.get_future().share()] {
      ++occupied_;
      released.wait();
    });
  }
  void post(const std::string& owner, const std::string& what) {
    threads_.post(owner, [this, what] {
      const std::lock_guard lock(mutex_);
      done_.push_back(what);
    });
  }
  void release() { released_.set_value(); }
  Ids done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  int occupied() const { return occupied_.load(); }

 private:
  std::promise<void> released_;
  std::atomic<int> occupied_{0};
  std::mutex mutex_;
  Ids done_;
  TaskThreads threads_;  // first to go
};

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

// If one owner ends a thousand sessions at once, they are stored in turns with all others', and its
// own stay in order.
TEST(TaskThreads, LetOwnersTakeTurns) {
  BusyThreads threads(1);
  threads.occupy("z");
  wait_until([&] { return threads.occupied() == 1; });
  for (const char* task : {"a1", "a2", "a3"}) threads.post("a", task);
  threads.post("b", "b1");
  threads.post("c", "c1");
  threads.post("b", "b2");
  threads.release();
  wait_until([&] { return threads.done().size() == 6; });
  EXPECT_EQ(threads.done(), (Ids{"a1", "b1", "c1", "a2", "b2", "a3"}));
}

// One owner's long task leaves the second thread to others, and no task of its own overtakes it.
TEST(TaskThreads, DoOneTaskOfAnOwnerAtATime) {
  BusyThreads threads(2);
  threads.occupy("a");
  wait_until([&] { return threads.occupied() == 1; });
  threads.post("a", "a2");
  threads.post("b", "b1");
  threads.post("b", "b2");
  wait_until([&] { return threads.done().size() == 2; });
  EXPECT_EQ(threads.done(), (Ids{"b1", "b2"}));
  threads.release();
  wait_until([&] { return threads.done().size() == 3; });
  EXPECT_EQ(threads.done().back(), "a2");
}

// All posted tasks are done before the threads end, also tasks posted by tasks.
TEST(TaskThreads, DoEverythingBeforeTheyEnd) {
  std::atomic<int> done{0};
  {
    TaskThreads threads(2, 0);
    for (int k = 0; k < 100; ++k) {
      threads.post(std::to_string(k % 3), [&] {
        threads.post("d", [&] { ++done; });
        ++done;
      });
    }
  }
  EXPECT_EQ(done.load(), 200);
}

// The log text of one event, at this level.
std::string written(LogLevel level, std::initializer_list<LogField> fields) {
  set_log_level(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  log_event(level, "tested", fields);
  std::string line = testing::internal::GetCapturedStderr();
  set_log_level(LogLevel::kOff);
  return line;
}

// The value of "name=..." in a line with that one field.
std::string value_of(std::string_view text) {
  const std::string line = written(LogLevel::kInfo, {{"name", text}});
  const std::size_t at = line.find(" name=");
  EXPECT_NE(at, std::string::npos) << line;
  EXPECT_EQ(line.back(), '\n');
  return line.substr(at + 6, line.size() - at - 7);
}

// A name that a client chose must not end its line or its quotes, nor control a terminal. For any
// bytes there is one line of printable characters, with escaped quotes.
TEST(Log, EscapesForeignText) {
  for (const std::string& text :
       {std::string("a\nlevel=error event=forged"), std::string("a\r\tb"),
        std::string("\x1b]0;title\a\x1b[2J"), std::string("\x7f"),
        std::string("\xC2\x9B"
                    "31m"),
        std::string("\xE2\x80\xAE"
                    "abc"),
        std::string("\xE2\x80\xA8"), std::string("\xFF\xFE\x80"), std::string("nul\0nul", 7),
        std::string("\" event=forged \""), std::string("\\\" x=\\")}) {
    const std::string value = value_of(text);
    SCOPED_TRACE(value);
    ASSERT_GE(value.size(), 2u);
    EXPECT_EQ(value.front(), '"');
    EXPECT_EQ(value.back(), '"');
    EXPECT_TRUE(
        std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    for (std::size_t k = 1; k + 1 < value.size(); ++k) {
      if (value[k] == '\\') {
        ++k;  // the escaped character
        ASSERT_LT(k + 1, value.size()) << "the closing quote is marked as part of the text";
      } else {
        EXPECT_NE(value[k], '"') << k;
      }
    }
  }
}

// Plain words are unchanged, everything else is quoted. Long texts are cut and marked.
TEST(Log, WritesPlainTextPlainly) {
  EXPECT_EQ(value_of("run-1.b_2:/x+Z"), "run-1.b_2:/x+Z");
  EXPECT_EQ(value_of(""), "\"\"");
  EXPECT_EQ(value_of("two words"), "\"two words\"");
  EXPECT_EQ(value_of("a=b"), "\"a=b\"");
  EXPECT_EQ(value_of("K\xC3\xB6nig"), "\"K\xC3\xB6nig\"");
  EXPECT_EQ(value_of(std::string(1024, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(value_of(std::string(1025, 'x')), '"' + std::string(1024, 'x') + "...\"");
}

// Numbers of every type, in the given order, after time, level and event; nothing below the lowest
// level.
TEST(Log, IsOneLineOfFacts) {
  const std::string line = written(
      LogLevel::kWarning, {{"count", std::uint64_t{18446744073709551615U}}, {"share", 0.25}});
  EXPECT_EQ(line.rfind("time=", 0), 0u) << line;
  EXPECT_NE(line.find(" level=warning event=tested count=18446744073709551615 share=0.25\n"),
            std::string::npos)
      << line;
  EXPECT_NE(written(LogLevel::kError, {}).find(" level=error event=tested\n"), std::string::npos);
  EXPECT_EQ(written(LogLevel::kDebug, {}), "");
  set_log_level(LogLevel::kDebug);
  EXPECT_TRUE(logs(LogLevel::kDebug));
  set_log_level(LogLevel::kInfo);
  EXPECT_FALSE(logs(LogLevel::kDebug));
  EXPECT_TRUE(logs(LogLevel::kInfo));
  set_log_level(LogLevel::kOff);
  EXPECT_FALSE(logs(LogLevel::kError));
}

}  // namespace
}  // namespace service
