// The executor for Slurm with all short sequences of answers of a cluster, also if its process is
// killed between two answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "proto/text/input_error.hpp"
#include "service/work/slurm/slurm_executor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace service {
namespace {

/// What happens on the cluster before the answer of squeue.
enum class Event {
  kPending,
  kRuns,
  kSilent,     ///< the controller does not answer
  kDone,       ///< the task stores its result and ends
  kDoneFails,  ///< the task stores its result, and then its node is lost
  kNoResult,   ///< the task ends, but its result is not visible
  kNodeFail,
  kFailed,
  kTimeout,
  kMemory,
  kHeld,
  kForgotten,  ///< the controller has forgotten the job
  kCount
};

const WorkProgram kProgram{"1.0.0", std::string(64, 'b')};

struct Killed {};

/// A cluster that follows a script, and then completes the task.
class ScriptedCluster {
 public:
  ScriptedCluster(std::string folder, std::vector<Event> script)
      : folder_(std::move(folder)), script_(std::move(script)) {}

  /// The interface of one process; it throws Killed before the answer `killed_at`.
  class Client : public SlurmCluster {
   public:
    Client(ScriptedCluster& cluster, int killed_at) : cluster_(cluster), killed_at_(killed_at) {}

    std::optional<std::string> submit(const SlurmSettings&, const std::string&, const std::string&,
                                      std::size_t count) override {
      EXPECT_EQ(count, 1U);
      if (cluster_.silent_submissions > 0) {
        // The controller accepts the job, but its answer is lost.
        --cluster_.silent_submissions;
        cluster_.is_live = true;
        return std::nullopt;
      }
      EXPECT_FALSE(cluster_.is_live) << "a second task could compute the same item";
      EXPECT_FALSE(cluster_.has_result) << "the item has a result";
      cluster_.is_live = true;
      return std::to_string(++cluster_.submissions);
    }

    std::optional<std::vector<SlurmTask>> list(const std::string& job) override {
      if (calls_++ == killed_at_) {
        is_killed_ = true;
        throw Killed();
      }
      EXPECT_EQ(job, std::to_string(cluster_.submissions));
      return cluster_.answer();
    }

    // A killed process cancels nothing.
    void cancel() noexcept override {
      if (!is_killed_) cluster_.is_live = false;
    }

   private:
    ScriptedCluster& cluster_;
    int killed_at_;
    int calls_ = 0;
    bool is_killed_ = false;
  };

  int submissions = 0;
  int silent_submissions = 0;
  bool is_live = false;
  bool has_result = false;

 private:
  std::optional<std::vector<SlurmTask>> answer() {
    const Event event = next_ < script_.size() ? script_[next_] : Event::kDone;
    ++next_;
    EXPECT_LT(next_, 400U) << "the executor does not end";
    // A task that has ended keeps its state.
    if (!is_live) return {{{"0", has_result ? "COMPLETED" : "FAILED", "None"}}};
    const auto end = [this](const char* state) {
      is_live = false;
      return std::vector<SlurmTask>{{"0", state, "None"}};
    };
    switch (event) {
      case Event::kPending:
        return {{{"0", "PENDING", "Resources"}}};
      case Event::kRuns:
        return {{{"0", "RUNNING", "None"}}};
      case Event::kSilent:
        return std::nullopt;
      case Event::kDone:
        compute();
        return end("COMPLETED");
      case Event::kDoneFails:
        compute();
        return end("NODE_FAIL");
      case Event::kNoResult:
        return end("COMPLETED");
      case Event::kNodeFail:
        return end("NODE_FAIL");
      case Event::kFailed:
        return end("FAILED");
      case Event::kTimeout:
        return end("TIMEOUT");
      case Event::kMemory:
        return end("OUT_OF_MEMORY");
      case Event::kHeld:
        return {{{"0", "PENDING", "JobHeldAdmin"}}};
      case Event::kForgotten:
      case Event::kCount:
        break;
    }
    is_live = false;
    return std::vector<SlurmTask>();
  }

  /// Computes the task as a node does.
  void compute() {
    const WorkBatch task = read_task(folder_, 0, kProgram);
    WorkStore store(folder_, "task0");
    store.store(task.items.at(0).key, {.value = "value of " + task.items.at(0).request});
    has_result = true;
  }

  std::string folder_;
  std::vector<Event> script_;
  std::size_t next_ = 0;
};

/// Runs one item. Returns "done", "killed", or the reason for a failure.
std::string run_item(const std::string& folder, ScriptedCluster& cluster, int killed_at) {
  WorkStore store(folder);
  WorkBatch batch{.kind = "test"};
  batch.items.push_back({"key", "request"});
  const auto executor = make_slurm_executor(
      {.measures_items = false}, kProgram,
      [&](const std::string&) {
        return std::make_unique<ScriptedCluster::Client>(cluster, killed_at);
      },
      0.0);
  try {
    EXPECT_TRUE(executor->run(batch, store, nullptr, {}));
  } catch (const Killed&) {
    return "killed";
  } catch (const proto::InputError& error) {
    EXPECT_EQ(store.find_missing(batch.items).size(), 1U) << error.what();
    return error.what();
  }
  const auto result = store.find("key");
  EXPECT_TRUE(result && result->value == "value of request");
  return "done";
}

bool can_fail(Event event) {
  return event != Event::kPending && event != Event::kRuns && event != Event::kSilent &&
         event != Event::kDone && event != Event::kDoneFails;
}

/// Checks one sequence. The process is killed before the answer `killed_at`, and started again.
void check_sequence(const std::vector<Event>& script, int killed_at, int silent_submissions) {
  const test_support::TemporaryFolder files("/dev/shm");  // no time for synchronization to a disk
  ScriptedCluster cluster(files.file("f"), script);
  cluster.silent_submissions = silent_submissions;
  std::string end = run_item(files.file("f"), cluster, killed_at);
  const bool was_live = cluster.is_live;
  const int before = cluster.submissions;
  if (end == "killed") {
    end = run_item(files.file("f"), cluster, -1);
    if (was_live && std::ranges::none_of(script, can_fail)) {
      EXPECT_EQ(cluster.submissions, before) << "a live task was submitted again";
    }
  }
  EXPECT_FALSE(cluster.is_live) << "a task is left";
  EXPECT_LE(cluster.submissions, 6);
  if (cluster.has_result) EXPECT_EQ(end, "done");
  if (std::ranges::none_of(script, can_fail)) EXPECT_EQ(end, "done");
  // Every reason has a remedy.
  if (end != "done") EXPECT_NE(end.find("; "), std::string::npos) << end;
}

TEST(ScriptedCluster, NeitherLosesNorDoublesAnItem) {
  const auto count = static_cast<int>(Event::kCount);
  for (int code = 0; code < count * count * count; ++code) {
    const std::vector<Event> script = {static_cast<Event>(code % count),
                                       static_cast<Event>(code / count % count),
                                       static_cast<Event>(code / count / count)};
    // Without a kill, and for sequences of two events with one before the answer 0, 1 or 2.
    const int kills_max = code < count * count ? 3 : 0;
    for (int killed_at = -1; killed_at < kills_max; ++killed_at) {
      SCOPED_TRACE("events " + std::to_string(code) + ", killed at " + std::to_string(killed_at));
      check_sequence(script, killed_at, code % 2);
      if (HasFailure()) return;
    }
  }
}

// Tasks of another build are not followed: their results could differ in their last digits.
TEST(ScriptedCluster, DoesNotFollowTheTaskOfAnotherBuild) {
  const test_support::TemporaryFolder files;
  ScriptedCluster cluster(files.file("f"), {Event::kRuns});
  EXPECT_EQ(run_item(files.file("f"), cluster, 1), "killed");
  const std::string batch = files.file("f") + "/tasks/batch";
  ASSERT_TRUE(std::filesystem::remove(batch));
  EXPECT_EQ(run_item(files.file("f"), cluster, -1), "done");
  EXPECT_EQ(cluster.submissions, 2);
}

}  // namespace
}  // namespace service
