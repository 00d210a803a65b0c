#pragma once

#include <Eigen/Core>
#include <atomic>
#include <vector>

#include "estimator/messages/message.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Returns whether a body's inertia is estimated as a whole, in an InertiaParameterization. Its
/// three moments of inertia must be free. Its products must be all free, or zero with at most one
/// free. They must have only physical bounds and dependencies. Otherwise moments are estimated
/// individually.
bool has_inertia_parameterization(const Mechanism& mechanism, int body);

/// Returns a note for each body whose free moments are estimated individually, with the reason.
std::vector<Message> describe_unparameterized_inertias(const Mechanism& mechanism);

/// Returns whether a body with `has_inertia_parameterization` is practically flat, and thus at the
/// boundary of physically consistent inertias.
bool is_at_feasibility_boundary(const Mechanism& mechanism, int body);
/// Checks the smallest and largest principal second moments of a body for that boundary.
bool is_at_feasibility_boundary(double least, double largest);

/// Makes practically flat bodies slightly thicker in their initial inertias. At the boundary of
/// physically consistent inertias, products of inertia have hardly any effect.
void move_off_feasibility_boundary(Mechanism& mechanism);

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
