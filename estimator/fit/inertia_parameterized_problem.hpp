#pragma once

#include <Eigen/Core>
#include <atomic>
#include <vector>

#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Wraps a least-squares problem so that every step of the solver gives physically consistent
/// inertias. Unconstrained coordinates replace the moments of bodies that are estimated as a whole
/// (`has_inertia_parameterization`); the logarithm replaces a free mass. All other parameters, and
/// the public interface, use SI values.
class InertiaParameterizedProblem final : public LeastSquaresProblem {
 public:
  /// @param problem    problem whose arrow holds the free parameters of the mechanism, in order. It
  /// must outlive this object and be at the same point after each accepted step
  /// @param mechanism  mechanism of the problem, with its current values
  InertiaParameterizedProblem(LeastSquaresProblem& problem, const Mechanism& mechanism,
                              InertiaParameterization chart);

  // LeastSquaresProblem.
  ArrowLayout layout() const override { return problem_.layout(); }
  int block_count() const override { return problem_.block_count(); }
  int max_block_rows() const override { return problem_.max_block_rows(); }
  int group_count() const override { return problem_.group_count(); }
  int threads() const override { return problem_.threads(); }
  void linearize(int index, ResidualBlock& out) const override;
  double cost() const override { return problem_.cost(); }
  double evaluate_candidate(const Eigen::VectorXd& node_step,
                            const Eigen::VectorXd& arrow_step) override;
  void accept_candidate() override;
  void mark() override;
  void restore() override;
  Eigen::VectorXd arrow() const override;
  Eigen::VectorXd arrow_lower() const override;
  Eigen::VectorXd arrow_upper() const override;
  Eigen::VectorXd arrow_growth() const override { return problem_.arrow_growth(); }

 private:
  struct ChartedBody {
    SecondMomentParameterization chart;
    std::vector<Eigen::Index> columns;  ///< arrow positions, in the order of the coordinates
    std::vector<int> moments;           ///< index of each column among the moments
    Eigen::MatrixXd slopes;             ///< derivatives of the moments by the coordinates
  };
  struct Mass {
    Eigen::Index column;
    double start;
  };
  struct Point {
    std::vector<Eigen::VectorXd> coordinates;  ///< coordinates of each body in bodies_
    std::vector<double> masses;                ///< values in masses_ [kg]
  };

  void enter(Eigen::VectorXd& arrow) const;
  void update_slopes();

  LeastSquaresProblem& problem_;
  std::vector<ChartedBody> bodies_;
  std::vector<Mass> masses_;
  Point point_, candidate_, marked_;
};

/// Solves a problem in unconstrained inertia coordinates, or directly if `chart` is kEntries.
/// Iteration records always have SI units.
///
/// @param mechanism  mechanism of the problem, whose free parameters are the arrow
LmSummary solve_parameterized(LeastSquaresProblem& problem, const Mechanism& mechanism,
                              InertiaParameterization chart, const LmOptions& options,
                              const LmMonitor& monitor, const std::atomic<bool>* stop);

}  // namespace estimator
