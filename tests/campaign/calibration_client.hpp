#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "proto/calibration.pb.h"
#include "tests/campaign/caller.hpp"
#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"

namespace campaign {

/// An operator who repeatedly calibrates with `rigcal --server`. The programs are killed at any
/// moment, and the operator retries under the same id. Each result must equal that of the same
/// calibration without a service, and all must be equal to the last digit. However many jobs others
/// have waiting, one of this operator's waits for one turn of each.
class CalibrationClient {
 public:
  CalibrationClient(std::string programs, std::string folder, ServiceUnderTest& service,
                    Ledger& ledger, std::uint64_t seed);

  void run(const std::atomic<bool>& stop);

 private:
  struct Outcome {
    int exit_code = -1;
    std::string output;
  };

  bool prepare();
  void calibrate();
  void expect_fair_wait(const std::string& job, const Caller::Calm& calm);
  Outcome rigcal(const std::vector<std::string>& words, double kill_after_s = -1.0);
  std::optional<rigcal::v1::CalibrationResult> read_result(const std::string& path) const;

  std::string programs_;
  std::string folder_;
  std::string rig_;  // file
  ServiceUnderTest& service_;
  Ledger& ledger_;
  Caller caller_;
  std::mt19937_64 random_;
  rigcal::v1::CalibrationResult expected_;              // without a service
  std::optional<rigcal::v1::CalibrationResult> first_;  // from the service
  int job_count_ = 0;
};

}  // namespace campaign
