#include "estimator/fit/shadow/trajectory_data.hpp"

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/initial_states.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/signal/resample.hpp"

namespace estimator {

TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where) {
  TrajectoryData data;
  data.start = segment.start;
  data.period = segment.period;
  data.controls = segment.controls;
  data.angles = resample(without_shifts(mechanism, segment), step).angles;
  const Eigen::MatrixXd start =
      start_coordinates(mechanism, segment, step, data.angles.rows(), {cutoff});
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * start.cols(), start.rows());
  states.topRows(start.cols()) = start.transpose();
  if (mechanism.joint_count() <= kTreeJointsMax) close_loops(mechanism, step, where, states);
  const ModelValues values = unpack(mechanism);
  data.initial.reserve(static_cast<std::size_t>(start.rows()));
  for (const auto& state : states.colwise()) {
    data.initial.push_back(assemble(mechanism, values, state.head(start.cols())));
  }
  return data;
}

}  // namespace estimator
