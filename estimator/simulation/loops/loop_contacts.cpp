#include "estimator/simulation/loops/loop_contacts.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/lemke.hpp"
#include "estimator/math/subsets.hpp"

namespace estimator {
namespace {

constexpr double kAtBound = 1e-9;  // fraction of a bound within which friction counts as exhausted
constexpr double kContactRankTolerance = 1e-9;  // of the largest singular value

}  // namespace

/// Solves a complementarity problem for the friction torques. With λ = bound − u, its variables are
/// u ∈ [0, 2 bound] and the slack of the upper bound of u.
Contacts determine_contact_states(const RestingJoints& joints) {
  const Eigen::Index s = joints.bound.size();
  const SymmetricFactor mass(joints.mass);
  const Eigen::VectorXd unhindered = joints.drift - joints.coupling * mass.solve(joints.force);
  const Eigen::MatrixXd response =
      joints.coupling * mass.solve(Eigen::MatrixXd(joints.coupling.transpose()));
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(2 * s, 2 * s);
  H.topLeftCorner(s, s) = response;
  H.topRightCorner(s, s).setIdentity();
  H.bottomLeftCorner(s, s) = -Eigen::MatrixXd::Identity(s, s);
  Eigen::VectorXd q(2 * s);
  q << unhindered - response * joints.bound, 2.0 * joints.bound;
  const ComplementaritySolution solution = solve_linear_complementarity(H, q);
  const bool solved = solution.outcome == ComplementarityOutcome::kSolved;
  Contacts contacts;
  for (Eigen::Index j = 0; j < s; ++j) {
    if (!solved) {
      contacts.push_back(contact_for_slip_direction(unhindered[j]));
      continue;
    }
    // Friction acts forward with u − bound; if it is exhausted, the joint moves against it.
    const double spare = kAtBound * joints.bound[j], pushed = solution.z[j];
    const double acceleration = solution.w[j] - solution.z[s + j];
    if (acceleration > 0.0 && pushed <= spare) {
      contacts.push_back(Contact::kForward);
    } else if (acceleration < 0.0 && pushed >= 2.0 * joints.bound[j] - spare) {
      contacts.push_back(Contact::kBackward);
    } else {
      contacts.push_back(Contact::kStick);
    }
  }
  return contacts;
}

double holding_force_margin(const Eigen::MatrixXd& coupling, const Eigen::VectorXd& bound,
                            const Eigen::VectorXd& force) {
  if (!coupling.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(coupling, Eigen::ComputeThinV);
  svd.setThreshold(kContactRankTolerance);
  const Eigen::Index rank = svd.rank();
  if (rank == 0) return std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd basis = svd.matrixV().leftCols(rank);
  const Eigen::MatrixXd reduced = coupling * basis;
  const Eigen::VectorXd held = basis.transpose() * force;
  double margin = std::numeric_limits<double>::infinity();
  std::vector<int> face(static_cast<std::size_t>(rank) - 1);
  std::iota(face.begin(), face.end(), 0);
  do {
    Eigen::VectorXd normal = Eigen::VectorXd::Ones(rank);
    if (rank > 1) {
      Eigen::MatrixXd edges(face.size(), rank);
      for (std::size_t i = 0; i < face.size(); ++i) {
        edges.row(i) = reduced.row(face[i]);
      }
      Eigen::JacobiSVD<Eigen::MatrixXd> of_edges(edges, Eigen::ComputeFullV);
      of_edges.setThreshold(kContactRankTolerance);
      if (of_edges.rank() + 1 < rank) continue;  // no face: linearly dependent edges
      normal = of_edges.matrixV().col(rank - 1);
    }
    const Eigen::VectorXd along = (reduced * normal).cwiseAbs();
    const double scale = along.maxCoeff();
    if (!(scale > 0.0)) continue;
    margin = std::min(margin, (along.dot(bound) - std::abs(normal.dot(held))) / scale);
  } while (advance_to_next_subset(face, static_cast<int>(bound.size())));
  return margin;
}

}  // namespace estimator
