#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// The free parameters of a mechanism as the arrow of a least-squares problem.
class FreeParameters {
 public:
  /// @param angle_noise  standard deviation of an angle [rad]. Angle residuals enter the cost in
  ///                     radians, so this is the weight that a unit of prior residual has beside
  ///                     them
  explicit FreeParameters(const Mechanism& mechanism, double angle_noise = 1.0);

  int size() const { return static_cast<int>(indices_.size()); }
  /// Indices into mechanism.parameters, in arrow order.
  const std::vector<int>& indices() const { return indices_; }
  /// Arrow position of a parameter index, or −1.
  int position(int parameter_index) const;

  Eigen::VectorXd values(const Mechanism& mechanism) const;
  Eigen::VectorXd lower(const Mechanism& mechanism) const;
  Eigen::VectorXd upper(const Mechanism& mechanism) const;

  /// Sets the free values of `to` to those of `from` plus `step`, and what is tied to them.
  void move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const;

  /// Whether parameters that are tied lie within their bounds, as free ones always do.
  static bool is_possible(const Mechanism& mechanism);

  /// Number of Gaussian priors among the parameters that vary.
  int prior_count() const { return static_cast<int>(priors_.size()); }
  /// Σ (angle_noise (value − mean)/standard deviation)².
  double prior_cost(const Mechanism& mechanism) const;
  /// The priors as one block that touches parameters only. @param group its noise group
  void linearize_priors(const Mechanism& mechanism, int group, ResidualBlock& out) const;

 private:
  struct Prior {
    int parameter;
    std::vector<TieTerm> along;  ///< factors by arrow position
  };

  std::vector<int> indices_;
  std::vector<Prior> priors_;
  double angle_noise_;
};

}  // namespace estimator
