#include "service/work/slurm/slurm_states.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "service/work/slurm/task_groups.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

TEST(SlurmStates, AreReadFromSqueue) {
  const auto tasks = parse_slurm_tasks(
      "17|3-5,9%2|PENDING|Resources\n17|2|RUNNING|None\n17|0|OUT_OF_MEMORY|OutOfMemory\n", "17");
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].index, "3-5,9%2");
  EXPECT_EQ(tasks[2].state, "OUT_OF_MEMORY");
  EXPECT_FALSE(has_ended(tasks[0]) || has_ended(tasks[1]));
  EXPECT_TRUE(has_ended(tasks[2]));
  EXPECT_TRUE(parse_slurm_tasks("", "17").empty());
  EXPECT_TRUE(has_ended(parse_slurm_tasks("17|N/A|CANCELLED|Resources\n", "17").at(0)));
}

// A line that is not understood must not count as "no task runs".
TEST(SlurmStates, RefusesOtherLines) {
  for (const char* line : {"17|2|RUNNING", "18|2|RUNNING|None", "17|x|RUNNING|None",
                           "17|2|RUNS|None", "17|2|RUNNING|None|", "JOBID", "|||"}) {
    expect_parts(refusal([&] { parse_slurm_tasks(line, "17"); }),
                 {"answer of squeue", line, "version of Slurm"});
  }
}

TEST(SlurmStates, ReadsTheNumberOfAJob) {
  EXPECT_EQ(parse_slurm_job("12\n"), "12");
  EXPECT_EQ(parse_slurm_job("12;cluster\n"), "12");
  EXPECT_EQ(parse_slurm_job("sbatch: lua: 1 core is charged\n12\n"), "12");
  for (const char* output : {"", "Submitted batch job 12\n", "12\n13\n", "-1\n", ";cluster\n"}) {
    expect_parts(refusal([&] { parse_slurm_job(output); }), {"answer of sbatch"});
  }
}

TEST(SlurmStates, FindsTasksThatCannotStart) {
  const auto obstacle = [](const std::string& state, const std::string& reason) {
    return find_blocking_reason({"0", state, reason}).value_or("none");
  };
  expect_parts(obstacle("PENDING", "PartitionTimeLimit"), {"time limit", "--task-time"});
  expect_parts(obstacle("PENDING", "InvalidAccount"), {"--account"});
  EXPECT_EQ(obstacle("PENDING", "Resources"), "none");
  EXPECT_EQ(obstacle("RUNNING", "PartitionTimeLimit"), "none");
}

TEST(SlurmStates, FindsHeldTasks) {
  EXPECT_TRUE(is_held({"2-7", "PENDING", "JobHeldUser"}));
  EXPECT_TRUE(is_held({"0", "PENDING", "launch failed requeued held"}));
  EXPECT_TRUE(is_held({"0", "REQUEUE_HOLD", "None"}));
  EXPECT_FALSE(is_held({"0", "PENDING", "Resources"}));
  EXPECT_FALSE(is_held({"0", "RUNNING", "None"}));
}

/// Returns the number of items of each task.
std::vector<std::size_t> sizes_of_tasks(std::size_t items, double work, double seconds_per_work) {
  const std::vector<WorkItem> all(items, WorkItem{"", "", work});
  std::vector<const WorkItem*> pointers;
  for (const WorkItem& item : all) pointers.push_back(&item);
  std::vector<std::size_t> sizes;
  std::vector<const WorkItem*> joined;
  for (const auto& task : group_items(pointers, seconds_per_work, 60.0)) {
    sizes.push_back(task.size());
    joined.insert(joined.end(), task.begin(), task.end());
  }
  EXPECT_EQ(joined, pointers);
  return sizes;
}

TEST(TaskGroups, HaveAMinuteOfWork) {
  EXPECT_EQ(sizes_of_tasks(120, 2.0, 0.5), (std::vector<std::size_t>{60, 60}));
  EXPECT_EQ(sizes_of_tasks(5, 1.0, 1.0), (std::vector<std::size_t>{5}));
  EXPECT_EQ(sizes_of_tasks(3, 1.0, 100.0), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(sizes_of_tasks(3, 1.0, 0.0), (std::vector<std::size_t>{1, 1, 1}));
}

// A job array has an upper limit, and the tasks have equal sizes.
TEST(TaskGroups, AreAtMostAThousand) {
  for (const double seconds : {0.0, 5.0}) {
    const auto sizes = sizes_of_tasks(100'000, 1.0, seconds);
    EXPECT_EQ(sizes.size(), kTasksMax);
    EXPECT_LE(*std::ranges::max_element(sizes), 101U);
    EXPECT_GE(*std::ranges::min_element(sizes), 99U);
  }
}

}  // namespace
}  // namespace service
