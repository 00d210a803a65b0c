#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/service/run_rigcal.hpp"
#include "tests/support/source_folder.hpp"

namespace service::slurm_tests {

/// Test with the Slurm cluster that ctest has started in the folder SLURM_CLUSTER.
class SlurmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(conf_)) {
      GTEST_SKIP() << "no Slurm cluster in " SLURM_CLUSTER
                      "; install slurm-wlm and munge, and run: "
                   << command("start");
    }
    ::setenv("SLURM_CONF", conf_.c_str(), 1);
    ::setenv("RIGCAL_SLURM_POLL_S", "0.1", 1);
  }

  /// Runs tests/slurm/slurm_cluster.py.
  void cluster(const std::string& action, const std::string& name) const {
    EXPECT_EQ(std::system((command(action) + " " + name).c_str()), 0) << action << " " << name;
  }

  /// Returns the output of a shell command.
  std::string output_of(const std::string& text) const {
    EXPECT_EQ(std::system((text + " >" + folder_.file("answer") + " 2>&1").c_str()), 0) << text;
    return contents_of(folder_.file("answer"));
  }

  /// Starts the cluster afresh. After a crash, Slurm takes up to two minutes until it accepts the
  /// end of all earlier tasks.
  void renew_cluster() const { cluster("start", ""); }

  /// Waits until both nodes are idle.
  void wait_for_nodes() const {
    for (int tries = 0; tries < 600; ++tries) {
      if (output_of("sinfo --noheader --Node --format=%T") == "idle\nidle\n") return;
      ::usleep(100'000);
    }
    ADD_FAILURE() << output_of("sinfo --Node --long");
  }

  TemporaryFolder folder_;

 private:
  static std::string command(const std::string& action) {
    return "python3 -B " + test_support::source_folder() + "/tests/slurm/slurm_cluster.py " +
           action + " " SLURM_CLUSTER;
  }

  std::string conf_ = SLURM_CLUSTER "/slurm.conf";
};

}  // namespace service::slurm_tests
