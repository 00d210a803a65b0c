// rigcald with its jobs on a real Slurm cluster.
#include <unistd.h>

#include "tests/slurm/cluster_jobs.hpp"
#include "tests/slurm/slurm_fixture.hpp"

namespace service::slurm_tests {
namespace {

using test_support::eventually;
using test_support::RunningService;

class ClusterService : public SlurmTest {
 protected:
  /// Returns a service with the session "run", a swing whose calibration takes some seconds.
  static std::unique_ptr<RunningService> start_service(const std::string& slurm,
                                                       double duration_s = 30.0) {
    auto service = std::make_unique<RunningService>(
        std::vector<std::string>(), "workers: 4 executor { slurm { " + slurm + " } }");
    const TemporaryFolder files;
    stream_swing(*service, "run", record_swing(files, "run.csv", duration_s, 2.5));
    return service;
  }

  /// Returns the numbers of the jobs that wait or run on the cluster.
  std::string live_jobs() const {
    return output_of("squeue --noheader --states=PENDING,RUNNING,COMPLETING --format=%A");
  }

  /// Returns the node that runs a task.
  std::string running_node() const {
    const std::string nodes = output_of("squeue --noheader --states=RUNNING --format=%N");
    return nodes.substr(0, nodes.find('\n'));
  }

  void expect_no_jobs() const {
    EXPECT_TRUE(eventually([&] { return live_jobs().empty(); }, 120.0)) << live_jobs();
  }
};

TEST_F(ClusterService, GivesTheLocalResultToTheLastBit) {
  RunningService local;
  RunningService remote({}, "executor { slurm { memory_MB: 500 } }");
  EXPECT_TRUE(calibrate_two(remote, folder_) == calibrate_two(local, folder_));
  EXPECT_GT(end_of_job(remote, "two").processor_s(), 0.0);
  EXPECT_FALSE(has_task_folder(remote, "two"));
}

// The service and the daemon of the node are killed while a task runs. The task continues, and the
// next service follows it. Then a node is lost with its task, which Slurm starts again.
TEST_F(ClusterService, KeepsJobsThroughCrashes) {
  const auto service = start_service("memory_MB: 500");
  submit_swing(*service, "kept");
  ASSERT_TRUE(wait_until_on_node(*service, "kept"));
  const std::string number = live_jobs();
  const std::string node = running_node();
  cluster("kill", node);
  service->kill();
  ASSERT_TRUE(service->start());
  EXPECT_EQ(live_jobs(), number) << "the job was submitted again";
  EXPECT_EQ(end_of_job(*service, "kept").state(), rigcal::v1::JOB_DONE);
  cluster("run", node);
  submit_swing(*service, "lost");
  ASSERT_TRUE(wait_until_on_node(*service, "lost"));
  cluster("lose", running_node());
  EXPECT_EQ(end_of_job(*service, "lost").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(service->stop(), 0);
  renew_cluster();
}

TEST_F(ClusterService, CancelsJobsAndExplainsFailures) {
  const auto service = start_service("memory_MB: 500");
  submit_swing(*service, "cancelled");
  ASSERT_TRUE(wait_until_on_node(*service, "cancelled"));
  run_successfully("cancel cancelled" + at(*service));
  EXPECT_EQ(end_of_job(*service, "cancelled").state(), rigcal::v1::JOB_CANCELLED);
  expect_no_jobs();
  const auto expect_reason = [&](const std::string& slurm, const std::vector<std::string>& parts) {
    const auto other = start_service(slurm);
    submit_swing(*other, "failed");
    expect_failure(*other, "failed", parts);
    expect_no_jobs();
  };
  expect_reason("memory_MB: 8", {"a task exceeded its memory", "memory_MB in executor"});
  expect_reason("memory_MB: 500 partition: \"nowhere\"",
                {"Invalid partition name", "executor { slurm }", "sinfo"});
  if (::geteuid() != 0) return;  // mounting a file system needs the rights of root
  const std::string head = folder_.write("head", R"(#!/bin/sh
[ -n "$RIGCAL_APART" ] || exec env RIGCAL_APART=1 unshare --mount sh "$0"
for data in /tmp/rigcal-*/data; do mount -t tmpfs none "$data"; done
)");
  expect_reason("memory_MB: 500 batch_head: \"" + head + "\"",
                {"a task on the cluster was refused: ", "contains no tasks", "shared"});
}

}  // namespace
}  // namespace service::slurm_tests
