#pragma once

#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "estimator/calibrate/state_filter.hpp"

namespace estimator {

/// Makes of the states of a segment what its joints do and carry.
class JointOutputs {
 public:
  /// @param out  result, with all its rows
  JointOutputs(const SegmentSteps& steps, const StateOptions& options, StateEstimate& out);

  /// @param step      linearised about the state that the estimate's mean is the distance from
  void add(int sample, const SampleStep& step, const StateFilter::Estimate& estimate);
  /// Writes what waits for company; call it after the last sample.
  void flush();

 private:
  /// Motion of a sample as it is estimated, and its errors.
  struct Motion {
    int sample;
    Eigen::VectorXd value;       // joint angles, rates, accelerations, and controls
    Eigen::MatrixXd covariance;  // parameters being right
    Eigen::MatrixXd along;       // derivatives along parameters
  };
  void write(const Motion& motion, const Eigen::VectorXd& loads, const Eigen::MatrixXd& slopes);

  const SegmentSteps& steps_;
  StateEstimate& out_;
  Eigen::MatrixXd root_;                  // of the covariance of the parameters: C = root rootᵀ
  std::vector<int> quantities_, joints_;  // of each load that is told
  std::unique_ptr<const SensingProgram> loads_;  // null: none is
  std::vector<int> columns_;  // of each parameter of the spread among those of the loads; −1: none
  std::vector<Motion> waiting_;
};

}  // namespace estimator
