#include "estimator/fit/physical/equation_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

constexpr int kInstantLanes = 8;
constexpr int kBlockRows = 64;
constexpr int kBand = 4;               // overlapping test functions
constexpr double kCauchy = 2.385;      // imbalance with half the weight, in standard deviations
constexpr double kNormalMad = 1.4826;  // standard deviation over median, for normal errors
constexpr double kUndirectedMost = 0.5;  // share of ∫φ dt, of an integral in the cost
constexpr double kUndirectedNegligible = 0.02;  // such a share, for a comparison of torques
/// Error of torques that results from filtering motion and controls, relative to the torque: 0.15
/// to 0.2 % in simulated arms.
constexpr double kFilterShare = 2e-3;
/// Smallest share of white torque noise in the variance of an integral.
constexpr double kTorqueShare = 1e-3;
constexpr int kMassMatrixPoses = 20;  // at which the mass matrix is computed
/// Change of the parameters in the test of whether the problem is affine, and the relative
/// deviation from an affine function above which it is not.
constexpr double kAffineStep = 0.1, kAffineTolerance = 1e-6;

/// Returns the mechanism without dependencies, in which the parameters of the coordinates are free.
Mechanism lift(const Mechanism& mechanism, const StandardCoordinates& coordinates) {
  Mechanism lifted = fix_parameters(mechanism);
  lifted.dependencies.clear();
  for (const int index : coordinates.parameters()) lifted.at(index).free = true;
  return lifted;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

EquationErrorProblem::EquationErrorProblem(const Mechanism& mechanism,
                                           const ModulatedMotion& motion)
    : free_(mechanism),
      coordinates_(mechanism),
      lifted_(lift(mechanism, coordinates_)),
      programs_(lifted_, choose_all_coordinates(mechanism), motion.absent),
      motion_(motion),
      dry_bound_(Eigen::VectorXd::Zero(mechanism.joint_count())),
      joints_(static_cast<std::size_t>(mechanism.joint_count())) {
  const EncoderToJointMap map(mechanism);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (Eigen::Index i = 0; i < std::ssize(sensors); ++i) {
    const int offset = sensors[static_cast<std::size_t>(i)].offset;
    const auto found = std::ranges::find(coordinates_.parameters(), offset);
    if (found == coordinates_.parameters().end()) continue;
    offsets_.push_back({static_cast<int>(found - coordinates_.parameters().begin()),
                        motion.offsets[i],
                        map.joint_coordinates(Eigen::VectorXd::Unit(std::ssize(sensors), i))});
  }
  for (int j = 0; j < joint_count(); ++j) {
    for (int f = 0; f < motion_.function_count(); ++f) {
      if (motion_.undirected(j, f) <= kUndirectedMost) {
        joints_[static_cast<std::size_t>(j)].functions.push_back(f);
      }
    }
  }
  point_.mechanism = mechanism;
  start_ = linearize_at(mechanism);
  is_affine_ = find_affine();
  candidate_ = point_;
  update_weights();
}

int EquationErrorProblem::integral_count() const {
  std::size_t count = 0;
  for (const JointIntegrals& joint : joints_) count += joint.functions.size();
  return static_cast<int>(count);
}

/// Returns the change of the joint coordinates by changed encoder offsets.
Eigen::VectorXd EquationErrorProblem::angle_shift(const Mechanism& mechanism) const {
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(joint_count());
  for (const FreeOffset& offset : offsets_) {
    const int index = coordinates_.parameters()[static_cast<std::size_t>(offset.coordinate)];
    shift += (mechanism.at(index).value - offset.in_use) * offset.joints;
  }
  return shift;
}

/// Computes the integrals of r = M ω̇ + h + σ B and, if requested, their derivatives by the
/// parameters of the coordinates.
Eigen::VectorXd EquationErrorProblem::compute_integrals(const Mechanism& values,
                                                        Eigen::MatrixXd* slopes) const {
  const int n = joint_count(), functions = motion_.function_count();
  const Eigen::VectorXd shift = angle_shift(values);
  Eigen::VectorXd integrals = Eigen::VectorXd::Zero(Eigen::Index{n} * functions);
  // Sums of one integral are contiguous.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> sums;
  if (slopes != nullptr) sums.setZero(integrals.size(), coordinates_.size());
  int first_function = 0;
  for (const ProgramVariants::IntervalRun& run : programs_.runs(values, motion_.segment)) {
    const TreeProgram& program = run.program;
    std::vector<int> positions;  // of the motion parameters; −1 without effect
    for (const int index : program.motion_parameters()) {
      const auto found = std::ranges::find(coordinates_.parameters(), index);
      positions.push_back(static_cast<int>(found - coordinates_.parameters().begin()));
    }
    for (const int place : run.without_effect) positions[static_cast<std::size_t>(place)] = -1;
    Rows rows = program.make_value_rows(run.values, kInstantLanes);
    const auto row = [&](int index) { return row_at<kInstantLanes>(rows, index); };
    program.program().run<kInstantLanes>(TreeProgram::kParameters, rows.data());
    for (std::size_t first = 0; first < run.count; first += kInstantLanes) {
      for (std::size_t lane = 0; lane < kInstantLanes; ++lane) {
        const auto i = static_cast<Eigen::Index>(run.first + std::min(first + lane, run.count - 1));
        for (int j = 0; j < n; ++j) {
          row(program.angle_row(j))[lane] = motion_.angle(j, i) + shift[j];
          row(program.rate_row(j))[lane] = motion_.rate(j, i);
          row(program.acceleration_row(j))[lane] = motion_.acceleration(j, i);
          row(program.slip_input_row(j))[lane] = motion_.direction(j, i);
        }
        for (int m = 0; m < std::ssize(program.motor_joints()); ++m) {
          row(program.control_row(m))[lane] = motion_.control(m, i);
        }
        if (program.depends_on_time()) {
          row(program.control_row(program.control_count() - 1))[lane] = motion_.time[i];
        }
      }
      const int last = slopes != nullptr ? TreeProgram::kSensitivities : TreeProgram::kLoad;
      for (int section = TreeProgram::kClosure; section <= last; ++section) {
        program.program().run<kInstantLanes>(section, rows.data());
      }
      const std::size_t lanes = std::min<std::size_t>(kInstantLanes, run.count - first);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto i = static_cast<Eigen::Index>(run.first + first + lane);
        const auto end_of = [&](int f) {
          const auto& function = motion_.functions[static_cast<std::size_t>(f)];
          const auto& shape = motion_.shapes[static_cast<std::size_t>(function.segment)];
          return function.first_instant + shape.values.size();
        };
        while (first_function < functions && end_of(first_function) <= i) ++first_function;
        Eigen::VectorXd imbalance(n);
        for (int j = 0; j < n; ++j) {
          imbalance[j] = row(program.bias_torque_row(j))[lane] +
                         row(program.slip_direction_row(j))[lane] *
                             row(program.friction_bound_row(j))[lane];
          for (int k = 0; k < n; ++k) {
            imbalance[j] += row(program.mass_matrix_row(j, k))[lane] * motion_.acceleration(k, i);
          }
        }
        for (int f = first_function; f < functions; ++f) {
          const auto& function = motion_.functions[static_cast<std::size_t>(f)];
          if (function.first_instant > i) break;
          const auto& shape = motion_.shapes[static_cast<std::size_t>(function.segment)];
          const double share = shape.spacing * shape.values[i - function.first_instant];
          integrals.segment(Eigen::Index{f} * n, n) += share * imbalance;
          if (slopes == nullptr) continue;
          for (const TreeProgram::SparseEntry& entry : program.derivatives()) {
            const double slope = share * row(entry.row)[lane];
            auto along = sums.row(Eigen::Index{f} * n + entry.joint);
            if (entry.column < n) {
              for (const FreeOffset& offset : offsets_) {
                along[offset.coordinate] += slope * offset.joints[entry.column];
              }
            }
            if (entry.column < 2 * n) continue;
            const int position = positions[static_cast<std::size_t>(entry.column - 2 * n)];
            if (position >= 0) along[position] += slope;
          }
        }
      }
    }
  }
  if (slopes != nullptr) *slopes = sums;
  return integrals;
}

EquationErrorProblem::Linearization EquationErrorProblem::linearize_at(
    const Mechanism& values) const {
  const Mechanism at = coordinates_.with_positive_masses(values);
  Linearization result;
  result.coordinates = coordinates_.values(at);
  result.integrals = compute_integrals(at, &result.slopes);
  coordinates_.convert_derivatives(at, result.slopes);
  return result;
}

Eigen::VectorXd EquationErrorProblem::integrals_at(const Mechanism& values) const {
  if (!is_affine_) return compute_integrals(values, nullptr);
  return start_.integrals + start_.slopes * (coordinates_.values(values) - start_.coordinates);
}

/// Returns whether the integrals at other parameter values agree with the linearization.
bool EquationErrorProblem::find_affine() const {
  if (!offsets_.empty()) return false;
  Mechanism other = point_.mechanism;
  Eigen::VectorXd step = kAffineStep * free_.parameter_values(other);
  const Eigen::VectorXd lower = free_.lower(other), upper = free_.upper(other);
  for (Eigen::Index i = 0; i < step.size(); ++i) {
    if (step[i] == 0.0) step[i] = kAffineStep;
    const double value = free_.parameter_values(other)[i];
    if (value + step[i] > upper[i] || value + step[i] < lower[i]) step[i] = -step[i];
  }
  free_.move(point_.mechanism, step, other);
  const Eigen::VectorXd change = compute_integrals(other, nullptr) - start_.integrals;
  const Eigen::VectorXd affine =
      start_.slopes * (coordinates_.values(other) - start_.coordinates);
  return (change - affine).norm() <= kAffineTolerance * change.norm();
}

/// Returns the standard deviation of ∫ φ M q̈ dt of each joint due to the readings' noise, relative
/// to that of a joint with M = 1 and readings with the variance 1.
Eigen::VectorXd EquationErrorProblem::inertia_noise() const {
  TreeInverseDynamics<double> dynamics(point_.mechanism,
                                       estimator::parameter_values(point_.mechanism));
  Eigen::VectorXd variances = Eigen::VectorXd::Zero(joint_count());
  const Eigen::Index stride = std::max<Eigen::Index>(1, motion_.angle.cols() / kMassMatrixPoses);
  double poses = 0.0;
  for (Eigen::Index i = 0; i < motion_.angle.cols(); i += stride) {
    variances += mass_matrix(dynamics, motion_.angle.col(i)).cwiseAbs2() * motion_.angle_variance;
    poses += 1.0;
  }
  return variances / std::max(poses, 1.0);
}

void EquationErrorProblem::weight_joint(int joint, const Eigen::VectorXd& integrals,
                                        double inertia_noise) {
  JointIntegrals& own = joints_[static_cast<std::size_t>(joint)];
  const auto count = std::ssize(own.functions);
  own.factor.setZero(count, kBand);
  if (count == 0) return;
  const auto function_at = [&](Eigen::Index i) -> const ModulatedMotion::TestFunction& {
    return motion_.functions[static_cast<std::size_t>(own.functions[static_cast<std::size_t>(i)])];
  };
  const auto shape_at = [&](Eigen::Index i) -> const ModulatedMotion::FunctionShape& {
    return motion_.shapes[static_cast<std::size_t>(function_at(i).segment)];
  };
  const auto integral_at = [&](Eigen::Index i) {
    return integrals[Eigen::Index{own.functions[static_cast<std::size_t>(i)]} * joint_count() +
                     joint];
  };
  std::vector<double> sizes;
  for (Eigen::Index i = 0; i < count; ++i) sizes.push_back(std::abs(integral_at(i)));
  const double scatter =
      std::max(kNormalMad * median(sizes), std::sqrt(std::numeric_limits<double>::min()));
  const double variance = scatter * scatter;
  inertia_noise = std::min(inertia_noise, variance / shape_at(0).inertia[0]);
  const double torque_density =
      std::max(variance - inertia_noise * shape_at(0).inertia[0], kTorqueShare * variance) /
      shape_at(0).torque[0];
  const double friction = std::max(dry_bound_[joint], scatter);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& shape = shape_at(i);
    const int function = own.functions[static_cast<std::size_t>(i)];
    for (Eigen::Index k = std::min<Eigen::Index>(i, kBand - 1); k >= 0; --k) {
      double element = 0.0;
      const int lag = function_at(i).position - function_at(i - k).position;
      if (function_at(i).segment == function_at(i - k).segment && lag < kBand) {
        element = torque_density * shape.torque[lag] + inertia_noise * shape.inertia[lag];
      }
      if (k == 0) {
        element += std::pow(friction * motion_.undirected(joint, function), 2) +
                   std::pow(integral_at(i) / kCauchy, 2);
      }
      for (Eigen::Index m = k + 1; m < kBand && m <= i; ++m) {
        element -= own.factor(i, m) * own.factor(i - k, m - k);
      }
      own.factor(i, k) = k > 0 ? element / own.factor(i - k, 0) : std::sqrt(element);
    }
  }
}

Eigen::VectorXd EquationErrorProblem::imbalance_integrals(int joint) const {
  const Eigen::VectorXd integrals = integrals_at(point_.mechanism);
  return integrals(Eigen::seqN(joint, motion_.function_count(), joint_count()));
}

TorqueComparison EquationErrorProblem::compare_torques(int joint, const Eigen::VectorXd& torque,
                                                       double density) const {
  const Eigen::VectorXd imbalance = imbalance_integrals(joint);
  const double inertia = inertia_noise()[joint];
  TorqueComparison sums;
  for (int f = 0; f < motion_.function_count(); ++f) {
    if (motion_.undirected(joint, f) > kUndirectedNegligible) continue;
    const auto& shape = motion_.shapes[static_cast<std::size_t>(
        motion_.functions[static_cast<std::size_t>(f)].segment)];
    sums.error += std::pow(imbalance[f], 2);
    sums.expected += density * shape.filtered_torque[joint] +
                     inertia * shape.filtered_inertia[joint] +
                     std::pow(kFilterShare * torque[f], 2);
    sums.torque += std::pow(torque[f], 2);
    ++sums.count;
  }
  const auto root_mean = [&](double sum) { return std::sqrt(sum / std::max(sums.count, 1)); };
  return {sums.count, root_mean(sums.error), root_mean(sums.expected), root_mean(sums.torque)};
}

void EquationErrorProblem::update_weights() {
  const Eigen::VectorXd integrals = integrals_at(point_.mechanism);
  const Eigen::VectorXd noise = inertia_noise();
  TreeInverseDynamics<double> dynamics(point_.mechanism,
                                       estimator::parameter_values(point_.mechanism));
  for (int j = 0; j < joint_count(); ++j) {
    dry_bound_[j] = dynamics.dry_friction_bound(j, 0.0);
    weight_joint(j, integrals, noise[j]);
  }
  whiten_point(point_);
}

/// Returns the linearization with rows multiplied by L⁻¹, the integrals of each joint in turn.
EquationErrorProblem::Linearization EquationErrorProblem::whiten(const Linearization& at) const {
  Linearization result{at.coordinates, Eigen::VectorXd(integral_count()),
                       Eigen::MatrixXd(integral_count(), at.slopes.cols())};
  Eigen::Index row = 0;
  for (int j = 0; j < joint_count(); ++j) {
    const JointIntegrals& own = joints_[static_cast<std::size_t>(j)];
    for (Eigen::Index i = 0; i < std::ssize(own.functions); ++i, ++row) {
      const Eigen::Index from =
          Eigen::Index{own.functions[static_cast<std::size_t>(i)]} * joint_count() + j;
      result.integrals[row] = at.integrals[from];
      result.slopes.row(row) = at.slopes.row(from);
      for (Eigen::Index k = 1; k < kBand && k <= i; ++k) {
        const double factor = own.factor(i, k);
        if (factor == 0.0) continue;
        result.integrals[row] -= factor * result.integrals[row - k];
        result.slopes.row(row) -= factor * result.slopes.row(row - k);
      }
      result.integrals[row] /= own.factor(i, 0);
      result.slopes.row(row) /= own.factor(i, 0);
    }
  }
  return result;
}

/// Linearizes and whitens the integrals at a point, and computes its cost.
void EquationErrorProblem::whiten_point(Iterate& point) const {
  point.whitened = whiten(is_affine_ ? start_ : linearize_at(point.mechanism));
  const Eigen::Index size = coordinates_.size();
  if (is_affine_ && point.whitened.slopes.rows() > size + 1) {
    Eigen::MatrixXd all(point.whitened.slopes.rows(), size + 1);
    all << point.whitened.slopes, point.whitened.integrals;
    const Eigen::MatrixXd compressed = triangular_factor(all);
    point.whitened.slopes = compressed.leftCols(size);
    point.whitened.integrals = compressed.col(size);
  }
  point.cost = total_cost(point.mechanism, whitened_residual(point).squaredNorm());
}

Eigen::VectorXd EquationErrorProblem::whitened_residual(const Iterate& point) const {
  const Eigen::VectorXd change = coordinates_.values(point.mechanism) - point.whitened.coordinates;
  return point.whitened.integrals + point.whitened.slopes * change;
}

double EquationErrorProblem::total_cost(const Mechanism& mechanism, double squares) const {
  if (!FreeParameters::has_valid_dependent_parameters(mechanism)) {
    return std::numeric_limits<double>::infinity();
  }
  return squares + free_.prior_cost(mechanism);
}

int EquationErrorProblem::block_count() const {
  const auto rows = static_cast<int>(point_.whitened.integrals.size());
  return (rows + kBlockRows - 1) / kBlockRows + (free_.prior_residual_count() > 0 ? 1 : 0);
}

int EquationErrorProblem::max_block_rows() const {
  return std::max(kBlockRows, free_.prior_residual_count());
}

void EquationErrorProblem::linearize(int index, ResidualBlock& out) const {
  const auto rows = static_cast<int>(point_.whitened.integrals.size());
  const int first = index * kBlockRows;
  if (first >= rows) return free_.linearize_priors(point_.mechanism, 1, out);
  const int count = std::min(kBlockRows, rows - first);
  resize_block(out, 0, 0, 1, free_.size(), count, 0);
  out.residual.head(count) = whitened_residual(point_).segment(first, count);
  out.parameter_jacobian.topRows(count) = point_.whitened.slopes.middleRows(first, count) *
                                          coordinates_.derivatives(point_.mechanism, free_);
}

double EquationErrorProblem::evaluate_trial_step(const Eigen::VectorXd&,
                                                 const Eigen::VectorXd& parameter_step) {
  free_.move(point_.mechanism, parameter_step, candidate_.mechanism);
  if (is_affine_) {
    candidate_.whitened = point_.whitened;
    candidate_.cost =
        total_cost(candidate_.mechanism, whitened_residual(candidate_).squaredNorm());
  } else {
    Linearization values{{}, integrals_at(candidate_.mechanism), {}};
    values.slopes.resize(values.integrals.size(), 0);
    candidate_.cost = total_cost(candidate_.mechanism, whiten(values).integrals.squaredNorm());
  }
  return candidate_.cost;
}

void EquationErrorProblem::accept_trial_step() {
  std::swap(point_, candidate_);
  if (!is_affine_) whiten_point(point_);
}

}  // namespace estimator
