// rigcal-study on a real Slurm cluster.
#include "tests/slurm/slurm_fixture.hpp"

namespace service::slurm_tests {
namespace {

class ClusterStudy : public SlurmTest {
 protected:
  void SetUp() override {
    SlurmTest::SetUp();
    if (IsSkipped()) return;
    folder_.write("rig.textproto", contents_of(config("rig-pendulum.textproto")));
    for (const char* inertia : {"0.0040", "0.0045"}) {
      run_successfully("simulate --rig " + config("rig-pendulum.textproto") + " --scenario " +
                       config("scenario-pendulum-release.textproto") +
                       " --start pendulum.J_zz=" + inertia + " --step 1e-3 --out " +
                       folder_.file(std::string(inertia) + ".csv"));
    }
    folder_.write("study.textproto", R"(kind: PENDULUM
title: "Two pendulums"
settings { step_s: 0.01 state_error_weight: 100 compliance: 1e-4 damping_time_s: 0.02 }
method { name: "implicit" residual: IMPLICIT states: CONFIGURATIONS }
set {
  name: "releases"
  rig: "rig.textproto"
  truth: "pendulum.J_zz=0.004"
  recording { name: "a" file: "0.0040.csv" to_s: 3 }
  recording { name: "b" file: "0.0045.csv" to_s: 3 }
  model { name: "viscous" fix: "pivot.offset=0" fix: "pivot.tau_c=0" }
  model { name: "dry" fix: "pivot.offset=0" }
}
)");
  }

  std::string arguments(const std::string& out) const {
    return " " + folder_.file("study.textproto") + " --quiet --jobs 1 --out " + folder_.file(out);
  }

  std::string on_cluster(const std::string& options = "") const {
    return arguments("cluster") + " --executor slurm --task-memory 500 --task-time 5 " + options;
  }
};

// The cross-validation, the second part of the study, needs the results of the first part.
TEST_F(ClusterStudy, GivesTheLocalTables) {
  output_of(STUDY_BINARY + arguments("local") + " || true");
  const std::string answer = output_of(STUDY_BINARY + on_cluster() + " || true");
  const std::string tables = contents_of(folder_.file("local/tables.md"));
  EXPECT_GT(tables.size(), 100U) << answer;
  EXPECT_EQ(contents_of(folder_.file("cluster/tables.md")), tables) << answer;
  EXPECT_GT(contents_of(folder_.file("cluster/runs/tasks/0")).size(), 10U)
      << "the cluster has computed nothing: " << answer;
}

// A study file or a recording that differs on the nodes makes other runs.
TEST_F(ClusterStudy, RefusesAnotherStudyOnTheNodes) {
  const std::string head = folder_.write(
      "head", "#!/bin/sh\nsed -i s/0.02/0.03/ " + folder_.file("study.textproto") + "\n");
  test_support::expect_parts(
      output_of("! " STUDY_BINARY + on_cluster("--batch-head " + head)),
      {"a task on the cluster was refused: ", "are not in the study on this machine"});
}

}  // namespace
}  // namespace service::slurm_tests
