#pragma once

#include <cmath>
#include <limits>

#include "estimator/assessment/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns an artificial calibration result: two parameters, one of them at its bound and
/// unidentifiable, one joint, two trajectories of 1 Hz with 3 mrad of difference and a missing
/// sample.
inline estimator::Calibration prepared_calibration() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  estimator::Calibration c;
  c.parameters = {{"B.J_zz", "kg·m²", 0.0039601, 2.34e-6, 0.01, 1e-9, kInfinity, false},
                  {"1.<b>", "N·m·s/rad", 0.0, kInfinity, 1e-4, 0.0, 1.0, true}};
  c.covariance = Eigen::MatrixXd::Identity(2, 2);
  c.correlation = (Eigen::MatrixXd(2, 2) << 1.0, -0.75, -0.75, 1.0).finished();
  c.null_directions = {
      {estimator::Message(std::string("1.b is not seen")), Eigen::Vector2d(0.0, 1.0)}};
  c.simulation = {{"pivot", 0.003}};
  for (int s = 0; s < 2; ++s) {
    estimator::SegmentTrajectory t;
    t.recording = "run & more.csv";
    t.start = 20.0 * s;
    t.step = 0.001;
    const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(10001, 0.0, 10.0);
    t.measured = (2.0 * M_PI * time.array()).sin().matrix();
    t.simulated = t.measured.array() + 0.003;
    t.estimated = t.measured;
    t.control = time;
    t.measured(500, 0) = std::numeric_limits<double>::quiet_NaN();
    c.trajectories.push_back(t);
  }
  c.cost = 12.5;
  c.observation_rmse = 1e-3;
  c.step = 0.001;
  c.state_error_weight = 1e4;
  c.termination = estimator::Termination::kCostTolerance;
  c.iterations = 2;
  for (int k = 0; k <= 2; ++k) {
    estimator::IterationRecord record;
    record.iteration = k;
    record.cost = 12.5 * std::pow(10.0, 2 - k);
    record.parameters = Eigen::Vector2d(0.01, 1e-4);
    c.history.push_back(record);
  }
  c.notes = {estimator::Message(std::string("chosen for a test"))};
  return c;
}

inline CalibrationMetadata prepared_context() {
  CalibrationMetadata context;
  context.rig = "test rig";
  context.version = "1.2.3";
  context.wall_time = 0.25;
  ImportSummary summary;
  summary.file = "run & more.csv";
  summary.period = 0.001;
  summary.gaps.resize(1);
  summary.dropped_rows = 4;
  context.recordings = {{summary, {{0, 0.0, 10.0, 10001}, {1, 20.0, 30.0, 10001}, {2, 40, 41, 0}}}};
  return context;
}

}  // namespace service
