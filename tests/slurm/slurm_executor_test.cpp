// The executor for Slurm with a real cluster of two nodes, and with items whose time and memory the
// tests choose.
#include "service/work/slurm/slurm_executor.hpp"

#include <sys/mount.h>

#include <chrono>
#include <future>
#include <optional>

#include "tests/slurm/node_program.hpp"
#include "tests/slurm/slurm_fixture.hpp"

namespace service::slurm_tests {
namespace {

using test_support::expect_parts;
using test_support::refusal;

class SlurmExecutorTest : public SlurmTest {
 protected:
  /// Returns a batch of items with these requests. The first item has little work.
  static WorkBatch batch_of(const std::vector<std::string>& requests, double work = 1000.0) {
    WorkBatch batch{.kind = "test", .common = "", .items = {}, .compute = {}};
    batch.items.push_back({"first", "sleep 0.06", 1.0});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      batch.items.push_back({"item" + std::to_string(i), requests[i], work});
    }
    batch.compute = [](const WorkItem& item, const std::atomic<bool>* stop) {
      return compute_test_item(item, stop, false);
    };
    return batch;
  }

  bool run(const WorkBatch& batch) {
    WorkStore store(shared());
    const auto executor = make_slurm_executor(settings_, kNodeProgram);
    const bool complete = executor->run(batch, store, &stop_, [this](const WorkProgress& now) {
      progress_ = now;
      if (on_progress_) on_progress_(now);
    });
    if (complete) expect_results(batch, store);
    return complete;
  }

  static void expect_results(const WorkBatch& batch, const WorkStore& store) {
    for (const WorkItem& item : batch.items) {
      const auto result = store.find(item.key);
      ASSERT_TRUE(result) << item.key;
      EXPECT_EQ(result->failure, "");
      EXPECT_TRUE(result->value.starts_with("value of " + item.key)) << result->value;
    }
  }

  std::string shared() const { return folder_.file("shared 100% 'quoted'"); }

  void expect_no_jobs() const {
    EXPECT_EQ(output_of("squeue --noheader --states=PENDING,RUNNING"), "");
  }

  SlurmSettings settings_{.memory_MB = 200, .node_program = SLURM_NODE_PROGRAM};
  std::atomic<bool> stop_{false};
  WorkProgress progress_;
  std::function<void(const WorkProgress&)> on_progress_;
};

TEST_F(SlurmExecutorTest, ComputesAllItems) {
  ASSERT_TRUE(run(batch_of(std::vector<std::string>(7, "sleep 0.2"))));
  EXPECT_EQ(progress_.done, 8U);
  EXPECT_EQ(progress_.total, 8U);
  EXPECT_TRUE(run(batch_of(std::vector<std::string>(7, "sleep 0.2"))));
  EXPECT_EQ(progress_.kept, 8U);
  expect_no_jobs();
}

TEST_F(SlurmExecutorTest, CancelsTasksWhenStopped) {
  on_progress_ = [this](const WorkProgress& now) { stop_ = now.done >= 3; };
  EXPECT_FALSE(run(batch_of(std::vector<std::string>(40, "sleep 0.5"))));
  EXPECT_GE(progress_.done, 3U);
  EXPECT_LT(progress_.done, 41U);
  wait_for_nodes();
  expect_no_jobs();
  const std::size_t kept = progress_.done;
  stop_ = false;
  on_progress_ = {};
  EXPECT_TRUE(run(batch_of(std::vector<std::string>(40, "sleep 0"))));
  EXPECT_GE(progress_.kept, kept);
}

// The controller is killed while two tasks run, after it has saved this state: it saves its state
// every 5 s, and forgets later changes.
TEST_F(SlurmExecutorTest, WaitsForARestartedController) {
  const std::filesystem::path state = SLURM_CLUSTER "/state/job_state";
  std::optional<std::filesystem::file_time_type> both_run;
  std::future<void> restart;
  on_progress_ = [&](const WorkProgress&) {
    if (restart.valid()) return;
    if (!both_run && output_of("squeue --noheader --states=RUNNING | wc -l") == "2\n") {
      both_run = std::filesystem::file_time_type::clock::now();
    }
    std::error_code error;
    if (!both_run || std::filesystem::last_write_time(state, error) < *both_run) return;
    cluster("kill", "slurmctld");
    restart = std::async(std::launch::async, [this] {
      ::usleep(1'500'000);
      cluster("run", "slurmctld");
    });
  };
  EXPECT_TRUE(run(batch_of(std::vector<std::string>(3, "sleep 9"))));
  ASSERT_TRUE(restart.valid());
  restart.get();
  renew_cluster();
}

// Slurm holds a task whose start has failed. It would wait for ever.
TEST_F(SlurmExecutorTest, SubmitsHeldTasksAgain) {
  bool held = false;
  on_progress_ = [&](const WorkProgress& now) {
    if (now.done >= 3 && !std::exchange(held, true)) {
      output_of("scontrol hold $(squeue --noheader --array --states=PENDING --format=%i)");
    }
  };
  EXPECT_TRUE(run(batch_of(std::vector<std::string>(7, "sleep 0.5"))));
  EXPECT_TRUE(held);
  expect_no_jobs();
}

// The other items of the same tasks get their results at a second try, with one item per task.
TEST_F(SlurmExecutorTest, ReportsATaskBeyondItsMemory) {
  expect_parts(refusal([&] {
                 run(batch_of({"sleep 0", "memory 600", "sleep 0", "sleep 0"}, 10.0));
               }),
               {"1 of 5 results are missing", "a task exceeded its memory", "--task-memory",
                "the others are kept in"});
  EXPECT_EQ(progress_.done, 4U);
  expect_no_jobs();
}

TEST_F(SlurmExecutorTest, ReportsAFullFolder) {
  std::filesystem::create_directory(shared());
  if (::mount("none", shared().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "mounting a small file system needs the rights of root";
  }
  EXPECT_NE(refusal([&] {
              run(batch_of({"size 100000", "size 300000"}));
            }).find("No space left on device"),
            std::string::npos);
  EXPECT_EQ(::umount(shared().c_str()), 0);
}

// A network file system may show results some time after the end of the task.
TEST_F(SlurmExecutorTest, WaitsForLateResults) {
  ::setenv("RIGCAL_LATE_S", "0.4", 1);
  EXPECT_TRUE(run(batch_of({"sleep 0", "sleep 0"})));
  ::unsetenv("RIGCAL_LATE_S");
}

TEST_F(SlurmExecutorTest, ReportsResultsThatNeverAppear) {
  ::setenv("RIGCAL_LATE_S", "1000", 1);
  expect_parts(refusal([&] { run(batch_of({"sleep 0"})); }),
               {"1 of 2 results are missing after 3 tries", "the tasks have ended",
                "--folder that all nodes share"});
  ::unsetenv("RIGCAL_LATE_S");
}

TEST_F(SlurmExecutorTest, RefusesBadSettingsWithARemedy) {
  const WorkBatch batch = batch_of(std::vector<std::string>(9, "sleep 0"));
  const auto refused = [&](const std::vector<std::string>& parts) {
    expect_parts(refusal([&] { run(batch); }), parts);
    expect_no_jobs();
  };
  settings_.partition = "nowhere";
  refused({"Slurm refuses the tasks: ", "Invalid partition name", "sinfo"});
  settings_ = {.time_min = 1000, .node_program = SLURM_NODE_PROGRAM};
  refused({"exceeds that of the partition", "--task-time"});
  settings_ = {.memory_MB = 1'000'000, .node_program = SLURM_NODE_PROGRAM};
  refused({"Slurm refuses the tasks: ", "not available"});
  settings_ = {.memory_MB = 200, .node_program = "/no/such/rigcal"};
  refused({"a task failed: ", "/no/such/rigcal"});
}

// The time of an item is known from the first one.
TEST_F(SlurmExecutorTest, RefusesATimeLimitThatIsTooShortForOneItem) {
  settings_.time_min = 1;
  expect_parts(refusal([&] { run(batch_of({"sleep 0"}, 5000.0)); }),
               {"1 min, is too short for one item", "--task-time"});
}

// The first lines of the script come from a file of the user.
TEST_F(SlurmExecutorTest, PutsTheHeadFirst) {
  settings_.head = folder_.write(
      "head", "#!/bin/bash\n#SBATCH --comment=planted\ntouch " + folder_.file("touched") + "\n");
  EXPECT_TRUE(run(batch_of({"sleep 0"})));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("touched")));
  EXPECT_NE(output_of("squeue --states=all --noheader --format=%k").find("planted"),
            std::string::npos);
}

}  // namespace
}  // namespace service::slurm_tests
