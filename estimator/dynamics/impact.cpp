#include "estimator/dynamics/impact.hpp"

#include <algorithm>

#include "estimator/math/lemke.hpp"

namespace estimator {

// Solves a complementarity problem in the impulses Λ, positive away from the stops.
std::vector<int> active_stops(const Eigen::MatrixXd& mass, const Eigen::VectorXd& rates,
                              std::span<const JointStop> stops) {
  const auto count = static_cast<Eigen::Index>(stops.size());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(count, mass.rows());
  Eigen::VectorXd wanted(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const JointStop& stop = stops[static_cast<std::size_t>(i)];
    J(i, stop.joint) = stop.side;
    wanted[i] = (1.0 + stop.restitution) * stop.side * rates[stop.joint];
  }
  const Eigen::MatrixXd across = solve_definite<double>(mass, J.transpose());
  const LcpSolution solution = solve_lcp(J * across, wanted);
  std::vector<int> pushing;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (solution.z[i] > 0.0) pushing.push_back(static_cast<int>(i));
  }
  return pushing;
}

}  // namespace estimator
