#pragma once

#include <Eigen/Core>
#include <atomic>
#include <vector>

#include "estimator/model/inertia_chart.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// A problem in its parameters, moved in charts of inertias: whatever step the solver takes leads
/// to bodies that can exist. Of a charted body (`is_charted`) the moments stand for the coordinates
/// of their chart, and a free mass for its logarithm. All others, and all that asks the problem
/// itself, keep SI values.
class ChartedProblem final : public LeastSquaresProblem {
 public:
  /// @param problem    whose arrow holds the free parameters of the mechanism, in order. It must
  ///                   outlive this one, and stand where it does after each accepted step
  /// @param mechanism  of it, as it stands
  ChartedProblem(LeastSquaresProblem& problem, const Mechanism& mechanism, InertiaChart chart);

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
    SecondMomentChart chart;
    std::vector<Eigen::Index> columns;  ///< of the arrow, in the order of the coordinates
    std::vector<int> moments;           ///< these columns' places among the moments
    Eigen::MatrixXd slopes;             ///< of the moments in these columns
  };
  struct Mass {
    Eigen::Index column;
    double start;
  };
  struct Point {
    std::vector<Eigen::VectorXd> coordinates;  ///< of each body
    std::vector<double> masses;                ///< of each mass [kg]
  };

  void enter(Eigen::VectorXd& arrow) const;
  void update_slopes();

  LeastSquaresProblem& problem_;
  std::vector<ChartedBody> bodies_;
  std::vector<Mass> masses_;
  Point point_, candidate_, marked_;
};

/// Solves a problem in the charts of its inertias, or as it is where they are asked for as entries.
/// Iterations tell parameters in SI units in any case.
///
/// @param mechanism  as the problem has it; what is free in it is the arrow
LmSummary solve_in_charts(LeastSquaresProblem& problem, const Mechanism& mechanism,
                          InertiaChart chart, const LmOptions& options, const LmMonitor& monitor,
                          const std::atomic<bool>* stop);

}  // namespace estimator
