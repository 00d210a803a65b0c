// rigcald with its jobs on a scripted cluster, tests/slurm/fake_slurm.py.
#include <cstdlib>
#include <fstream>

#include "tests/slurm/cluster_jobs.hpp"

namespace service {
namespace {

using test_support::eventually;
using test_support::RunningService;

/// Duration of a recording whose calibration takes longer than several polls [s].
constexpr double kLong_s = 150.0;

class FakeCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(cluster_.file("bin"));
    for (const char* name : {"sbatch", "squeue", "scancel"}) {
      std::filesystem::create_symlink(test_support::source_folder() + "/tests/slurm/fake_slurm.py",
                                      cluster_.file(std::string("bin/") + name));
    }
    ::setenv("PATH", (cluster_.file("bin") + ":" + path_).c_str(), 1);
    ::setenv("FAKE_SLURM", cluster_.file("").c_str(), 1);
    ::setenv("RIGCAL_SLURM_POLL_S", "0.5", 1);
  }

  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  /// Returns a service with the session "run".
  std::unique_ptr<RunningService> start_service(const std::string& slurm = "",
                                                double duration_s = kLong_s,
                                                const std::string& more = "") const {
    auto service = std::make_unique<RunningService>(
        std::vector<std::string>(), "workers: 4 executor { slurm { " + slurm + " } } " + more);
    const TemporaryFolder files;
    stream_swing(*service, "run", record_swing(files, "run.csv", duration_s, 2.5));
    return service;
  }

  std::size_t count_jobs() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cluster_.file(""))) {
      count += entry.path().extension() == ".job" ? 1 : 0;
    }
    return count;
  }

  /// Returns whether squeue lists a job that has not ended.
  bool has_running_jobs() const {
    const std::string file = cluster_.file("list");
    EXPECT_EQ(std::system(("squeue >" + file).c_str()), 0);
    return contents_of(file).find("RUNNING") != std::string::npos;
  }

  std::string path_ = std::getenv("PATH");
  TemporaryFolder cluster_;
};

TEST_F(FakeCluster, GivesTheLocalResultToTheLastBit) {
  const TemporaryFolder files;
  RunningService local;
  RunningService remote({}, "executor { slurm { } }");
  EXPECT_TRUE(calibrate_two(remote, files) == calibrate_two(local, files));
  EXPECT_EQ(count_jobs(), 1U);
  EXPECT_FALSE(has_task_folder(remote, "two"));
  const rigcal::v1::JobInfo info = end_of_job(remote, "two");
  EXPECT_GT(info.processor_s(), 0.0);
}

// The task of a job continues while the service is down. The next service follows it.
TEST_F(FakeCluster, FollowsTasksAfterARestart) {
  const auto service = start_service();
  submit_swing(*service, "killed");
  submit_swing(*service, "stopped");
  ASSERT_TRUE(wait_until_on_node(*service, "killed"));
  service->kill();
  EXPECT_TRUE(has_running_jobs());
  ASSERT_TRUE(service->start());
  ASSERT_TRUE(wait_until_on_node(*service, "stopped"));
  EXPECT_EQ(service->stop(), 0);
  ASSERT_TRUE(service->start());
  EXPECT_EQ(end_of_job(*service, "killed").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(end_of_job(*service, "stopped").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(count_jobs(), 2U) << "a job was submitted twice";
  EXPECT_FALSE(has_running_jobs());
}

// Also if the service is killed before it has cancelled the task.
TEST_F(FakeCluster, CancelsTasks) {
  const auto service = start_service();
  submit_swing(*service, "one");
  submit_swing(*service, "two");
  ASSERT_TRUE(wait_until_on_node(*service, "one"));
  run_successfully("cancel one" + at(*service));
  EXPECT_EQ(end_of_job(*service, "one").state(), rigcal::v1::JOB_CANCELLED);
  ASSERT_TRUE(wait_until_on_node(*service, "two"));
  std::ofstream(cluster_.file("silent")) << "1";
  run_successfully("cancel two" + at(*service));
  service->kill();
  std::filesystem::remove(cluster_.file("silent"));
  ASSERT_TRUE(service->start());
  EXPECT_EQ(end_of_job(*service, "two").state(), rigcal::v1::JOB_CANCELLED);
  EXPECT_TRUE(eventually([&] { return !has_running_jobs(); }, 60.0));
  EXPECT_EQ(count_jobs(), 2U);
}

// However many jobs run, squeue is called at most once per interval.
TEST_F(FakeCluster, PollsOnceForAllJobs) {
  const auto service = start_service("", 40.0);
  for (const char* id : {"a", "b", "c", "d"}) submit_swing(*service, id);
  for (const char* id : {"a", "b", "c", "d"}) {
    const rigcal::v1::JobInfo info = end_of_job(*service, id);
    EXPECT_EQ(info.state(), rigcal::v1::JOB_DONE) << info.error();
  }
  std::ifstream polls(cluster_.file("polls"));
  double last = 0.0;
  for (double time = 0.0; polls >> time; last = time) EXPECT_GT(time - last, 0.25);
  EXPECT_GT(last, 0.0);
}

TEST_F(FakeCluster, WaitsForASilentController) {
  const auto service = start_service("", 5.0);
  std::ofstream(cluster_.file("silent")) << "1";
  submit_swing(*service, "one");
  ::usleep(1'500'000);
  EXPECT_EQ(count_jobs(), 0U);
  std::filesystem::remove(cluster_.file("silent"));
  EXPECT_EQ(end_of_job(*service, "one").state(), rigcal::v1::JOB_DONE);
}

// Reasons name the settings of the service, not the options of rigcal.
TEST_F(FakeCluster, ExplainsFailures) {
  const auto service = start_service();
  std::ofstream(cluster_.file("state")) << "OUT_OF_MEMORY";
  submit_swing(*service, "memory");
  expect_failure(*service, "memory", {"a task exceeded its memory", "memory_MB in executor"});
  std::ofstream(cluster_.file("state")) << "TIMEOUT";
  submit_swing(*service, "time");
  expect_failure(*service, "time", {"a task exceeded its time limit", "--time-limit"});
  std::filesystem::remove(cluster_.file("state"));
  std::ofstream(cluster_.file("refusal")) << "Invalid partition name specified";
  submit_swing(*service, "partition");
  expect_failure(*service, "partition",
                 {"Slurm refuses the tasks: Invalid partition", "executor { slurm }", "sinfo"});
  EXPECT_FALSE(has_task_folder(*service, "partition"));
  EXPECT_TRUE(eventually([&] { return !has_running_jobs(); }, 60.0));
}

// The time limit begins at the start of the task.
TEST_F(FakeCluster, EndsTasksAtTheTimeLimit) {
  const auto service = start_service("", 20.0, "limits { job_duration_s: 0.1 }");
  submit_swing(*service, "one");
  const rigcal::v1::JobInfo info = end_of_job(*service, "one");
  EXPECT_EQ(info.state(), rigcal::v1::JOB_FAILED);
  EXPECT_TRUE(info.is_time_over()) << info.error();
  test_support::expect_parts(info.error(), {"time limit", "job_duration_s"});
}

// Another build could compute other last digits.
TEST_F(FakeCluster, RefusesAnotherBuildOnTheNodes) {
  const std::string other = cluster_.file("rigcald");
  std::filesystem::copy_file(RIGCALD_BINARY, other);
  std::ofstream(other, std::ios::app | std::ios::binary) << '\n';
  const auto service = start_service("node_program: \"" + other + "\"");
  submit_swing(*service, "one");
  expect_failure(*service, "one",
                 {"a task on the cluster was refused: ", "install the same build"});
}

TEST_F(FakeCluster, RefusesToStartWithoutSlurm) {
  ::setenv("PATH", "/nowhere", 1);
  test_support::ServiceProcess service;
  service.configure("executor { slurm { } }");
  EXPECT_FALSE(service.start());
  test_support::expect_parts(service.output(), {"sbatch is not in PATH", "executor { slurm }"});
}

}  // namespace
}  // namespace service
