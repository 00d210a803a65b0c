#include "tests/studies/motion_observer/instant_estimator.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <utility>

#include "estimator/model/spanning_tree.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {
namespace {

/// A step is negligible if its predicted decrease of the cost is below this value, in squared
/// standard deviations. The step is then below a thousandth of a standard deviation.
constexpr double kNegligible = 1e-6;

}  // namespace

MotionPrior independent_prior(const Eigen::VectorXd& mean, const Eigen::VectorXd& deviation) {
  return {mean, deviation.cwiseInverse().cwiseAbs2().asDiagonal()};
}

MotionObserver::MotionObserver(const Mechanism& mechanism, std::vector<InstantAxis> axes,
                               InstantNoise noise)
    : program_(mechanism, std::move(axes), noise.has_external_wrench()), noise_(std::move(noise)) {
  assert(is_tree_mechanism(mechanism) && noise_.axes.size() == program_.axis_count());
  for (const DirectedJoint& edge : spanning_tree(mechanism)) {
    if (!edge.weld) order_.push_back(edge.joint);
  }
  for (int joints = 0; joints <= program_.joint_count(); ++joints) {
    parts_.push_back(first(joints));
  }
  outside_deviation_.resize(program_.outside_count());
  for (Eigen::Index i = 0; i < outside_deviation_.size(); ++i) {
    outside_deviation_[i] =
        i % 6 < 3 ? noise_.external_moment_deviation : noise_.external_force_deviation;
  }
}

/// Returns the unknowns of the first joints from the ground, and the axes that depend on no other
/// unknowns.
MotionObserver::Part MotionObserver::first(int joints) const {
  const int n = program_.joint_count();
  Part part;
  const auto end = order_.begin() + joints;
  const auto is_in = [&](int unknown) {
    return std::find(order_.begin(), end, unknown % n) != end;
  };
  for (int i = 0; i < program_.motion_count(); ++i) {
    if (is_in(i)) part.unknowns.push_back(i);
  }
  for (int axis = 0; axis < program_.axis_count(); ++axis) {
    bool all = true;
    for (int i = 0; i < program_.motion_count(); ++i) all &= is_in(i) || !program_.depends(axis, i);
    if (!all) continue;
    bool feels = false;
    for (int i = program_.motion_count(); i < program_.unknown_count(); ++i) {
      feels |= program_.depends(axis, i);
    }
    if (feels) {
      part.coupled.push_back(static_cast<int>(part.axes.size()));
      part.coupled_axes.push_back(axis);
    }
    part.axes.push_back(axis);
  }
  part.weights = noise_.axes(part.axes).cwiseInverse();
  return part;
}

/// Computes the residuals of the sensor axes in standard deviations, whitened with the last
/// linearisation if there is one.
/// @return the cost
double MotionObserver::look(const Part& part, const Eigen::VectorXd& readings,
                            const MotionPrior& prior, const Eigen::VectorXd& motion) {
  program_.read(motion, values_);
  plain_ = (readings - values_)(part.axes).cwiseProduct(part.weights);
  residual_ = plain_;
  if (factor_.size() > 0) whiten_residual(part);
  const Eigen::VectorXd apart = motion - prior.mean;
  return residual_.squaredNorm() + apart.dot(prior.information * apart);
}

/// Computes the derivatives of the last readings in standard deviations of their axes.
void MotionObserver::linearize(const Part& part) {
  program_.linearize(slopes_);
  jacobian_ = slopes_(part.axes, part.unknowns);
  jacobian_.array().colwise() *= part.weights.array();
  if (!part.coupled.empty()) whiten(part);
}

/// Whitens the errors of readings that random external wrenches correlate. The covariance is L Lᵀ =
/// 1 + B Bᵀ, where B has the derivatives by the wrenches times the wrenches' standard deviations.
/// Multiplication by L⁻¹ whitens the errors.
void MotionObserver::whiten(const Part& part) {
  pushes_ = slopes_.rightCols(program_.outside_count())(part.coupled_axes, Eigen::all);
  pushes_.array().colwise() *= part.weights(part.coupled).array();
  pushes_.array().rowwise() *= outside_deviation_.transpose().array();
  factor_.setIdentity(pushes_.rows(), pushes_.rows());
  factor_.selfadjointView<Eigen::Lower>().rankUpdate(pushes_);
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> in_place(factor_);  // its lower triangle becomes L
  Eigen::MatrixXd rows = jacobian_(part.coupled, Eigen::all);
  factor_.triangularView<Eigen::Lower>().solveInPlace(rows);
  jacobian_(part.coupled, Eigen::all) = rows;
  whiten_residual(part);
}

void MotionObserver::whiten_residual(const Part& part) {
  Eigen::VectorXd felt = plain_(part.coupled);
  factor_.triangularView<Eigen::Lower>().solveInPlace(felt);
  residual_(part.coupled) = felt;
}

InstantEstimate MotionObserver::solve(const Part& part, const Eigen::VectorXd& readings,
                                      const MotionPrior& prior, const Eigen::VectorXd& start,
                                      int max_iterations) {
  InstantEstimate result;
  result.motion = start;
  factor_.resize(0, 0);
  Damping damping{LmOptions{}};
  look(part, readings, prior, start);
  Eigen::MatrixXd H, damped;
  Eigen::LLT<Eigen::MatrixXd> factor;
  while (result.iterations < max_iterations && !result.converged) {
    ++result.iterations;
    linearize(part);
    const Eigen::VectorXd apart = result.motion - prior.mean;
    const Eigen::VectorXd pull = prior.information * apart;
    result.cost = residual_.squaredNorm() + apart.dot(pull);
    H = prior.information(part.unknowns, part.unknowns);
    H.selfadjointView<Eigen::Lower>().rankUpdate(jacobian_.transpose());
    const Eigen::VectorXd g = jacobian_.transpose() * residual_ - pull(part.unknowns);
    for (bool taken = false; !taken && !result.converged;) {
      damped = H;
      damped.diagonal() *= 1.0 + damping.value();
      factor.compute(damped);
      if (factor.info() != Eigen::Success) {
        if (!damping.raise_after_failed_factorization()) return result;
        continue;
      }
      const Eigen::VectorXd step = factor.solve(g);
      const double promised =
          2.0 * g.dot(step) - step.dot(H.selfadjointView<Eigen::Lower>() * step);
      Eigen::VectorXd motion = result.motion;
      motion(part.unknowns) += step;
      result.converged = promised < kNegligible;
      const double cost = result.converged ? result.cost : look(part, readings, prior, motion);
      taken = cost < result.cost;
      if (taken || result.converged) result.motion = motion;
      if (taken) {
        damping.lower((result.cost - cost) / promised);
        result.cost = cost;
      } else if (!result.converged && !damping.raise()) {
        return result;
      }
    }
  }
  if (static_cast<int>(part.unknowns.size()) == program_.motion_count()) {
    factor.compute(H);
    result.covariance = factor.solve(Eigen::MatrixXd::Identity(H.rows(), H.cols()));
    if (noise_.has_external_wrench()) {
      Eigen::VectorXd felt = residual_(part.coupled);
      factor_.triangularView<Eigen::Lower>().transpose().solveInPlace(felt);
      result.external_wrenches = outside_deviation_.cwiseProduct(pushes_.transpose() * felt);
    }
  }
  return result;
}

InstantEstimate MotionObserver::estimate(const Eigen::VectorXd& readings, const MotionPrior& prior,
                                         const Eigen::VectorXd& start, int max_iterations) {
  return solve(all(), readings, prior, start, max_iterations);
}

InstantEstimate MotionObserver::estimate_first_joints(int joints, const Eigen::VectorXd& readings,
                                                      const MotionPrior& prior,
                                                      const Eigen::VectorXd& start,
                                                      int max_iterations) {
  return solve(parts_[static_cast<std::size_t>(joints)], readings, prior, start, max_iterations);
}

Eigen::MatrixXd MotionObserver::bound(const Eigen::VectorXd& motion) {
  factor_.resize(0, 0);
  program_.read(motion, values_);
  plain_ = residual_ = Eigen::VectorXd::Zero(values_.size());
  linearize(all());
  Eigen::MatrixXd H = jacobian_.transpose() * jacobian_;
  const Eigen::LLT<Eigen::MatrixXd> factor(H);
  if (factor.info() != Eigen::Success) {
    return H.setConstant(std::numeric_limits<double>::infinity());
  }
  return factor.solve(Eigen::MatrixXd::Identity(H.rows(), H.cols()));
}

}  // namespace estimator
