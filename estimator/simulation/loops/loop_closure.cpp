#include "estimator/simulation/loops/loop_closure.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/math/subsets.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr int kClosureLanes = 4;
constexpr int kClosingRounds = 50;
constexpr double kClosureWeight = 1e3;   // of the closures relative to the wanted coordinates
constexpr double kInertness = 1e-3;      // weight of staying at the current coordinates
constexpr double kClosingStepMax = 0.5;  // of a joint in a round [rad]
constexpr double kClosingSettled = 1e-12;
constexpr double kClosingRankTolerance = 1e-7;  // of the largest singular value
constexpr int kChoicesMax = 20000;

/// Returns the smallest singular value of the dependent joints' Jacobian columns over all
/// configurations. The search stops once the value is at most `enough`. Returns zero if the columns
/// become linearly dependent during a motion. Their orientation then reverses, so this is detected
/// even between the given configurations.
double worst_condition(const std::vector<std::vector<Eigen::MatrixXd>>& motions,
                       const std::vector<int>& dependent, double enough) {
  double worst = std::numeric_limits<double>::infinity();
  for (const std::vector<Eigen::MatrixXd>& jacobians : motions) {
    Eigen::MatrixXd before;
    for (const Eigen::MatrixXd& G : jacobians) {
      Eigen::MatrixXd D(G.rows(), dependent.size());
      for (std::size_t i = 0; i < dependent.size(); ++i) {
        D.col(i) = G.col(dependent[i]);
      }
      const double smallest = Eigen::JacobiSVD<Eigen::MatrixXd>(D).singularValues()[D.cols() - 1];
      worst = std::min(worst, smallest);
      if (!(worst > enough)) return worst;
      if (before.size() > 0 && (before.transpose() * D).determinant() < 0.0) return 0.0;
      before = std::move(D);
    }
  }
  return worst;
}

/// Returns the motion and configuration with the smallest `rank`-th singular value of the Jacobian.
std::pair<std::size_t, Eigen::Index> least_determined(
    const std::vector<std::vector<Eigen::MatrixXd>>& jacobians, Eigen::Index rank) {
  std::pair<std::size_t, Eigen::Index> worst{0, 0};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < jacobians.size(); ++m) {
    for (std::size_t k = 0; k < jacobians[m].size(); ++k) {
      const double value =
          Eigen::JacobiSVD<Eigen::MatrixXd>(jacobians[m][k]).singularValues()[rank - 1];
      if (value >= least) continue;
      least = value;
      worst = {m, static_cast<Eigen::Index>(k)};
    }
  }
  return worst;
}

constexpr int kAssemblyStarts = 64;
constexpr double kSameAngle = 1e-3;    // [rad or m]
constexpr double kIndifferent = 0.02;  // misfits with a smaller difference count as equal

/// Returns whether full turns of a joint have an effect, since it mimics another joint or is
/// mimicked.
bool is_coupled(const Mechanism& mechanism, int joint) {
  return std::ranges::any_of(mechanism.mimic_joints, [&](const MimicJoint& each) {
    return each.joint == joint || each.follows == joint;
  });
}

bool is_same(const Mechanism& mechanism, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  for (Eigen::Index j = 0; j < a.size(); ++j) {
    const double difference = mechanism.joints[j].coordinate_difference(a[j] - b[j]);
    if (!(std::abs(difference) < kSameAngle)) return false;
  }
  return true;
}

}  // namespace

LoopClosure::LoopClosure(const Mechanism& mechanism)
    : mechanism_(mechanism), n_(mechanism.joint_count()) {
  std::vector<Expression> parameters;
  for (const Parameter& parameter : mechanism.parameters) parameters.emplace_back(parameter.value);
  ExpressionGraph graph;
  JointVector<Expression> angle(n_);
  std::vector<SimdProgram::ProgramInput> inputs;
  std::vector<Expression> angles;
  for (int j = 0; j < n_; ++j) {
    angle[j] = graph.input();
    inputs.push_back({angle[j], 1});
    angles.push_back(angle[j]);
  }
  std::vector<Expression> closures;
  TreeInverseDynamics<Expression>(mechanism, parameters).closure_violations(angle, closures);
  rows_ = static_cast<int>(closures.size());
  std::vector<Expression> outputs = closures;
  for (const std::vector<Expression>& row : differentiate(graph, closures, angles)) {
    outputs.insert(outputs.end(), row.begin(), row.end());
  }
  program_ = SimdProgram(graph, inputs, {{}, outputs});
  values_.assign(static_cast<std::size_t>(program_.row_count()) * kClosureLanes, 0.0);
  program_.fill_constants(values_.data(), kClosureLanes);
  program_.run<kClosureLanes>(0, values_.data());
}

void LoopClosure::run(const Eigen::VectorXd& angles) {
  for (int j = 0; j < n_; ++j) {
    std::fill_n(row_at<kClosureLanes>(values_, program_.input_row(j)), kClosureLanes, angles[j]);
  }
  program_.run<kClosureLanes>(1, values_.data());
}

Eigen::VectorXd LoopClosure::closure_violation(const Eigen::VectorXd& angles) {
  run(angles);
  Eigen::VectorXd c(rows_);
  for (int i = 0; i < rows_; ++i) c[i] = *row_at<kClosureLanes>(values_, program_.output_row(1, i));
  return c;
}

Eigen::MatrixXd LoopClosure::closure_jacobian(const Eigen::VectorXd& angles) {
  run(angles);
  Eigen::MatrixXd G(rows_, n_);
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < n_; ++j) {
      G(i, j) = *row_at<kClosureLanes>(values_, program_.output_row(1, rows_ + i * n_ + j));
    }
  }
  return G;
}

/// Sets mimic joints, or the joints that they mimic, so that the couplings hold.
void LoopClosure::apply_mimic_joints(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted) const {
  for (std::size_t round = 0; round < mechanism_.mimic_joints.size();
       ++round) {  // couplings may be chained
    for (const MimicJoint& each : mechanism_.mimic_joints) {
      if (std::isnan(wanted[each.joint])) {
        angles[each.joint] = each.ratio * angles[each.follows] + each.offset;
      } else if (std::isnan(wanted[each.follows])) {
        angles[each.follows] = (angles[each.joint] - each.offset) / each.ratio;
      }
    }
  }
}

bool LoopClosure::minimize_closure_violation(Eigen::VectorXd& angles,
                                             const Eigen::VectorXd& wanted) {
  apply_mimic_joints(angles, wanted);
  Eigen::MatrixXd A(rows_ + 2 * n_, n_);
  Eigen::VectorXd b(rows_ + 2 * n_);
  for (int round = 0; round < kClosingRounds; ++round) {
    const Eigen::VectorXd c = closure_violation(angles);
    A.setZero();
    b.setZero();
    A.topRows(rows_) = kClosureWeight * closure_jacobian(angles);
    b.head(rows_) = -kClosureWeight * c;
    for (int j = 0; j < n_; ++j) {
      A(rows_ + n_ + j, j) = kInertness;
      if (std::isnan(wanted[j])) continue;
      A(rows_ + j, j) = 1.0;
      b[rows_ + j] = wanted[j] - angles[j];
    }
    Eigen::VectorXd step = least_squares(A, b);
    if (!step.allFinite()) return false;
    // Mimic joints are excluded from the limit: they move in proportion.
    double largest = 0.0;
    for (int j = 0; j < n_; ++j) {
      if (find_mimic_joint(mechanism_, j) == nullptr)
        largest = std::max(largest, std::abs(step[j]));
    }
    if (largest > kClosingStepMax) step *= kClosingStepMax / largest;
    angles += step;
    if (largest < 1e-6) break;
  }
  return true;
}

double LoopClosure::closure_error(const Eigen::VectorXd& angles) {
  return closure_violation(angles).norm() +
         (are_loop_orientations_consistent(mechanism_, angles) ? 0.0 : M_PI);
}

bool LoopClosure::close(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted) {
  if (!minimize_closure_violation(angles, wanted)) return false;
  // Project onto the closures alone. The rank tolerance ignores directions that move the whole
  // loop, whose effect on the closures is only the remaining violation.
  for (int round = 0; round < 5; ++round) {
    const Eigen::VectorXd step =
        -least_squares(closure_jacobian(angles), closure_violation(angles), kClosingRankTolerance);
    angles += step;
    if (step.cwiseAbs().maxCoeff() < kClosingSettled) break;
  }
  return closure_violation(angles).cwiseAbs().maxCoeff() < kClosed &&
         are_loop_orientations_consistent(mechanism_, angles);
}

std::vector<std::string> LoopClosure::closing_joint_names() const {
  std::vector<std::string> names;
  for (const DirectedJoint& edge : loop_closing_joints(mechanism_)) {
    names.push_back(edge.weld ? mechanism_.fixed_joints[edge.joint].name
                              : mechanism_.joints[edge.joint].name);
  }
  return names;
}

LoopGap LoopClosure::widest_loop_gap(const Eigen::VectorXd& angles) {
  const std::vector<std::string> names = closing_joint_names();
  const Eigen::VectorXd c = closure_violation(angles);
  LoopGap widest;
  double most = -1.0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto own = c.segment<6>(6 * static_cast<Eigen::Index>(i));
    if (!(own.norm() > most)) continue;
    most = own.norm();
    widest = {names[i], own.head<3>().norm(), std::asin(std::min(1.0, own.tail<3>().norm()))};
  }
  return widest;
}

Eigen::VectorXd LoopClosure::rates(const Eigen::VectorXd& angles, const Eigen::VectorXd& wanted) {
  const Eigen::MatrixXd free = null_space(closure_jacobian(angles), kClosingRankTolerance);
  Eigen::MatrixXd A = free;
  Eigen::VectorXd b = wanted;
  for (int j = 0; j < n_; ++j) {
    if (!std::isnan(wanted[j])) continue;
    A.row(j).setZero();
    b[j] = 0.0;
  }
  return free * least_squares(A, b);
}

double LoopClosure::smallest_singular_value(const Eigen::VectorXd& angles,
                                            const std::vector<int>& dependent) {
  const Eigen::MatrixXd D = closure_jacobian(angles)(Eigen::all, dependent);
  return Eigen::JacobiSVD<Eigen::MatrixXd>(D).singularValues()[D.cols() - 1];
}

CoordinateChoice LoopClosure::choose_coordinates(const std::vector<Eigen::MatrixXd>& motions) {
  CoordinateChoice choice;
  if (!has_loops()) {
    for (int j = 0; j < n_; ++j) choice.independent.push_back(j);
    return choice;
  }
  std::vector<std::vector<Eigen::MatrixXd>> jacobians;
  Eigen::Index rank = 0, count = 0;
  for (const Eigen::MatrixXd& angles : motions) {
    std::vector<Eigen::MatrixXd>& along = jacobians.emplace_back();
    for (Eigen::Index k = 0; k < angles.cols(); ++k, ++count) {
      along.push_back(closure_jacobian(angles.col(k)));
      Eigen::JacobiSVD<Eigen::MatrixXd> svd(along.back());
      svd.setThreshold(kClosingRankTolerance);
      rank = std::max(rank, svd.rank());
    }
  }
  std::vector<int> following, others, best;
  for (int j = 0; j < n_; ++j) {
    (find_mimic_joint(mechanism_, j) != nullptr ? following : others).push_back(j);
  }
  std::vector<int> chosen(static_cast<std::size_t>(rank) - following.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  double best_worst = kClosingRankTolerance;
  int tried = 0;
  do {
    std::vector<int> dependent = following;
    for (const int each : chosen) dependent.push_back(others[each]);
    std::ranges::sort(dependent);
    const double worst = worst_condition(jacobians, dependent, best_worst);
    if (worst > best_worst) {
      best_worst = worst;
      best = dependent;
    }
  } while (++tried < kChoicesMax &&
           advance_to_next_subset(chosen, static_cast<int>(others.size())));
  if (best.empty()) {
    const auto [motion, configuration] = least_determined(jacobians, rank);
    throw ChangePointError(
        "a singular configuration (change point) of the mechanism. "
        "From there, its joints can continue along two branches. "
        "Use recordings, or parts of recordings, that avoid this configuration",
        motion, configuration);
  }
  choice.dependent = best;
  for (int j = 0; j < n_; ++j) {
    if (!std::ranges::binary_search(best, j)) choice.independent.push_back(j);
  }
  // Select rows that are linearly independent in all configurations.
  Eigen::MatrixXd D(rows_, rank * count);
  Eigen::Index column = 0;
  for (const std::vector<Eigen::MatrixXd>& along : jacobians) {
    for (const Eigen::MatrixXd& G : along) {
      for (const int joint : best) D.col(column++) = G.col(joint);
    }
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(D.transpose());
  for (Eigen::Index i = 0; i < rank; ++i) {
    choice.rows.push_back(static_cast<int>(qr.colsPermutation().indices()[i]));
  }
  std::ranges::sort(choice.rows);
  return choice;
}

std::vector<AssemblyMode> find_assembly_modes(const Mechanism& mechanism, LoopClosure& closure,
                                              const Eigen::VectorXd& wanted,
                                              Eigen::VectorXd& nearest) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<AssemblyMode> found;
  std::mt19937 random(1);
  for (int start = 0; start < kAssemblyStarts; ++start) {
    Eigen::VectorXd angles = wanted;
    for (double& angle : angles) {
      const double turn = 2.0 * M_PI * (static_cast<double>(random()) / std::mt19937::max() - 0.5);
      if (std::isnan(angle)) angle = start == 0 ? 0.0 : turn;
    }
    const Eigen::VectorXd began = angles;
    if (!closure.close(angles, wanted)) {
      Eigen::VectorXd near = began;
      const double open =
          closure.minimize_closure_violation(near, wanted) ? closure.closure_error(near) : least;
      if (open < least) nearest = near;
      least = std::min(least, open);
      continue;
    }
    const auto is_known = [&](const AssemblyMode& each) {
      return is_same(mechanism, each.angles, angles);
    };
    if (std::ranges::any_of(found, is_known)) continue;
    double squares = 0.0, count = 0.0;
    for (Eigen::Index j = 0; j < angles.size(); ++j) {
      if (std::isnan(wanted[j])) continue;
      squares += std::pow(angles[j] - wanted[j], 2);
      count += 1.0;
    }
    for (Eigen::Index j = 0; j < angles.size(); ++j) {
      if (!std::isnan(wanted[j]) || is_coupled(mechanism, static_cast<int>(j))) continue;
      angles[j] = mechanism.joints[j].coordinate_difference(angles[j]);
    }
    found.push_back({angles, std::sqrt(squares / std::max(count, 1.0))});
  }
  double best = std::numeric_limits<double>::infinity();
  for (const AssemblyMode& each : found) best = std::min(best, each.deviation);
  std::erase_if(found,
                [&](const AssemblyMode& each) { return each.deviation > best + kIndifferent; });
  return found;
}

}  // namespace estimator
