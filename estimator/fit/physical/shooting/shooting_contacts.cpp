// Members of ShootingProblem on contacts with the ground that last across shooting nodes.
#include <memory>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/simulation/loops/ground_contact_points.hpp"

namespace estimator {

/// Returns the equations of the contacts that are active before and after the node at the end of an
/// interval.
std::vector<int> ShootingProblem::lasting_contact_equations(const Iterate& point, int segment,
                                                            int interval) const {
  const SegmentControls& controls = (*point.controls)[segment];
  const int next = controls.first(segments_[segment].spans[interval].end);
  const std::vector<int>& contacts = programs_.common_program().contact_of_equation();
  std::vector<int> equations;
  for (int i = 0; i < std::ssize(contacts); ++i) {
    if (controls.is_active(next - 1, contacts[i]) && controls.is_active(next, contacts[i]))
      equations.push_back(i);
  }
  return equations;
}

/// Computes by how much the points of lasting contacts move at the nodes.
void ShootingProblem::compute_contact_jumps(Iterate& point) const {
  const std::unique_ptr<GroundContactPoints> ground =
      make_ground_contact_points(programs_.common_program(), point.mechanism);
  point.contact_jumps.clear();
  if (!ground) return;
  point.contact_jumps.resize(static_cast<std::size_t>(node_count_));
  for (int s = 0; s < segment_count(); ++s) {
    for (int k = 0; k + 1 < segments_[s].node_count; ++k) {
      const std::vector<int> equations = lasting_contact_equations(point, s, k);
      if (equations.empty()) continue;
      const int node = segments_[s].first_node + k;
      ground->evaluate(point.states.col(node + 1).head(coordinate_count()));
      Eigen::VectorXd& jump = point.contact_jumps[node] = ground->positions()(equations);
      ground->evaluate(point.intervals[node].end.head(coordinate_count()));
      jump = (jump - ground->positions()(equations)) / kContactTolerance;
    }
  }
}

void ShootingProblem::linearize_contacts(const ResidualBlockId& block, ResidualBlock& out) const {
  const int node = first_node_of_block(block), n = coordinate_count();
  const std::vector<int> equations =
      lasting_contact_equations(point_, block.segment, block.interval);
  const auto rows = static_cast<int>(equations.size());
  resize_block(out, node, 2, 2 * n, free_.size(), rows, prior_noise_group());
  const IntervalSensitivities::RowMajor& end = node_sensitivities(node).end;
  const std::unique_ptr<GroundContactPoints> ground =
      make_ground_contact_points(programs_.common_program(), point_.mechanism);
  ground->evaluate(point_.states.col(node + 1).head(n));
  const Eigen::MatrixXd by_node = ground->jacobian()(equations, Eigen::all);
  Eigen::MatrixXd by_parameter = ground->parameter_jacobian()(equations, Eigen::all);
  ground->evaluate(point_.intervals[node].end.head(n));
  const Eigen::MatrixXd by_end =
      Eigen::MatrixXd(ground->jacobian()(equations, Eigen::all)) * end.topRows(n);
  by_parameter -= ground->parameter_jacobian()(equations, Eigen::all);
  by_parameter -= by_end.rightCols(by_parameter.cols());
  out.node_jacobian.setZero();
  out.node_jacobian.leftCols(2 * n) = -by_end.leftCols(2 * n) / kContactTolerance;
  out.node_jacobian.middleCols(2 * n, n) = by_node / kContactTolerance;
  out.parameter_jacobian.setZero();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    out.parameter_jacobian.col(moving_[i]) =
        by_parameter.col(static_cast<Eigen::Index>(i)) / kContactTolerance;
  }
  out.residual = point_.contact_jumps[node];
}

}  // namespace estimator
