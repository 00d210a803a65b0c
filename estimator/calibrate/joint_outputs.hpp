#pragma once

#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "estimator/calibrate/state_filter.hpp"

namespace estimator {

/// Computes motion and loads of all joints from the estimated states of a segment.
class JointOutputs {
 public:
  /// @param out  receives the result; allocated by the constructor
  JointOutputs(const SegmentSteps& steps, const StateOptions& options, StateEstimate& out);

  /// Adds the estimate of one sample to the result.
  /// @param step      linearised about the state to which the mean of `estimate` is relative
  void add(int sample, const SampleStep& step, const StateFilter::Estimate& estimate);
  /// Writes all pending samples to the result. Call this after adding the last sample.
  void flush();

 private:
  /// The estimated motion at one sample, and its errors.
  struct Motion {
    int sample;
    Eigen::VectorXd value;       // joint angles, rates, accelerations, and controls
    Eigen::MatrixXd covariance;  // for exact parameters
    Eigen::MatrixXd along;       // derivatives with respect to the parameters
  };
  void write(const Motion& motion, const Eigen::VectorXd& loads, const Eigen::MatrixXd& slopes);

  const SegmentSteps& steps_;
  StateEstimate& out_;
  Eigen::MatrixXd root_;                         // of the parameter covariance C = root rootᵀ
  std::vector<int> quantities_, joints_;         // of each load computed
  std::unique_ptr<const SensingProgram> loads_;  // null: no loads
  std::vector<int> columns_;  // index of each parameter among those of the loads; −1: none
  std::vector<Motion> waiting_;
};

}  // namespace estimator
