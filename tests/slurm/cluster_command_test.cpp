// rigcal bootstrap on a real Slurm cluster, with rigcal itself on the nodes.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proto/validation.pb.h"
#include "tests/integration/child_process.hpp"
#include "tests/slurm/slurm_fixture.hpp"
#include "tests/support/json.hpp"

namespace service::slurm_tests {
namespace {

using test_support::ChildProcess;
using test_support::expect_parts;
using test_support::from_json;

class ClusterCommand : public SlurmTest {
 protected:
  void SetUp() override {
    SlurmTest::SetUp();
    if (IsSkipped()) return;
    run_successfully("simulate --rig " + rig_ + " --scenario " +
                     config("scenario-pendulum-release.textproto") +
                     " --start pendulum.J_zz=0.004 --step 1e-3 --out " + recording_);
  }

  std::string bootstrap(const std::string& options) const {
    return "bootstrap " + recording_ + " --rig " + rig_ +
           " --quiet --draws 6 --method noise --threads 1 " + options;
  }

  std::string on_cluster(const std::string& options = "") const {
    return bootstrap("--folder " + folder_.file("draws") +
                     " --executor slurm --task-memory 500 --task-time 5 " + options);
  }

  /// Returns the result of a command without its time.
  std::string result_of(const std::string& command) const {
    run_rigcal(command + " --json " + folder_.file("b.json"));
    auto result = from_json<rigcal::v1::BootstrapResult>(contents_of(folder_.file("b.json")));
    EXPECT_EQ(result.methods(0).draws(), 6);
    result.set_wall_time_s(0.0);
    result.clear_provenance();
    std::filesystem::remove(folder_.file("b.json"));
    return result.SerializeAsString();
  }

  std::string rig_ = config("rig-pendulum.textproto");
  std::string recording_ = folder_.file("run.csv");
};

TEST_F(ClusterCommand, GivesTheLocalResultToTheLastBit) {
  EXPECT_EQ(result_of(on_cluster("--task-cpus 1")), result_of(bootstrap("")));
}

// Another build could compute other last digits.
TEST_F(ClusterCommand, RefusesAnotherBuildOnTheNodes) {
  const std::string other = folder_.file("rigcal");
  std::filesystem::copy_file(RIGCAL_BINARY, other);
  std::ofstream(other, std::ios::app | std::ios::binary) << '\n';
  run_refused(on_cluster("--node-program " + other),
              {"a task on the cluster was refused: ", "was made for rigcal " RIGCAL_VERSION,
               "install the same build on all machines"});
}

// Nodes that have another, empty folder at the same path.
TEST_F(ClusterCommand, RefusesAFolderThatTheNodesDoNotShare) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a file system needs the rights of root";
  const std::string head = folder_.write("head",
                                         "#!/bin/sh\n"
                                         "[ -n \"$RIGCAL_APART\" ] || "
                                         "exec env RIGCAL_APART=1 unshare --mount sh \"$0\"\n"
                                         "mount -t tmpfs none " +
                                             folder_.file("draws") + "\n");
  run_refused(on_cluster("--batch-head " + head),
              {"a task on the cluster was refused: ", "contains no tasks",
               "give a folder that is shared with the machine on which the command runs"});
}

TEST_F(ClusterCommand, RefusesOptionsWithoutCluster) {
  expect_refused(bootstrap("--executor slurm"), {"--folder"});
  expect_refused(bootstrap("--partition tests"), {"--executor"});
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  expect_refused(on_cluster(), {"Slurm's command sbatch is not in PATH"});
  ::setenv("PATH", path.c_str(), 1);
}

// kill -9 of the command leaves a job, which the repeated command replaces.
TEST_F(ClusterCommand, ReplacesTheJobOfAKilledCommand) {
  const std::string head = folder_.write("head", "#!/bin/sh\nsleep 600\n");
  ChildProcess killed({RIGCAL_BINARY,
                       "bootstrap",
                       recording_,
                       "--rig",
                       rig_,
                       "--quiet",
                       "--draws",
                       "6",
                       "--method",
                       "noise",
                       "--threads",
                       "1",
                       "--folder",
                       folder_.file("draws"),
                       "--executor",
                       "slurm",
                       "--task-memory",
                       "500",
                       "--batch-head",
                       head},
                      folder_.file("killed"));
  const std::string count = "squeue --noheader --states=PENDING,CONFIGURING,RUNNING | wc -l";
  EXPECT_TRUE(test_support::eventually([&] { return output_of(count) == "1\n"; }, 240.0));
  killed.send_signal(SIGKILL);
  killed.wait(10.0);
  EXPECT_EQ(output_of(count), "1\n");
  EXPECT_EQ(result_of(on_cluster()), result_of(bootstrap("")));
  EXPECT_TRUE(test_support::eventually([&] { return output_of(count) == "0\n"; }, 240.0));
}

}  // namespace
}  // namespace service::slurm_tests
