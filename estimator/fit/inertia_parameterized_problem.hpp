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

/// Returns whether a body's inertia is estimated as a whole, in an InertiaParameterization. This
/// requires three free moments of inertia. The products of inertia must be all free, or zero with
/// at most one free. Moments and products must be independent parameters, without bounds other than
/// physical consistency.
bool has_inertia_parameterization(const Mechanism& mechanism, int body);

/// Returns a note with the reason for each body whose free moments of inertia are estimated
/// individually.
std::vector<Message> describe_unparameterized_inertias(const Mechanism& mechanism);

/// Returns whether a body with `has_inertia_parameterization` is practically flat, and thus at the
/// boundary of physically consistent inertias.
bool is_at_feasibility_boundary(const Mechanism& mechanism, int body);
/// Returns whether a body with these smallest and largest principal second moments is practically
/// flat.
bool is_at_feasibility_boundary(double least, double largest);

/// Makes practically flat bodies slightly thicker, by changing their initial inertias. Such bodies
/// are at the boundary of physically consistent inertias, where products of inertia have hardly any
/// effect.
void move_off_feasibility_boundary(Mechanism& mechanism);

/// Wraps a least-squares problem so that every step of the solver gives physically consistent
/// inertias. Unconstrained coordinates replace the inertias that are estimated as a whole
/// (`has_inertia_parameterization`). Logarithms replace free masses. All other parameters keep SI
/// units.
class InertiaParameterizedProblem final : public LeastSquaresProblem {
 public:
  /// @param problem    its parameters are the free parameters of the mechanism. It must outlive
  /// this object, and only this object may change its point
  /// @param mechanism  mechanism of the problem, with its current values
  InertiaParameterizedProblem(LeastSquaresProblem& problem, const Mechanism& mechanism,
                              InertiaParameterization chart);

  // LeastSquaresProblem.
  ProblemShape shape() const override { return problem_.shape(); }
  int block_count() const override { return problem_.block_count(); }
  int max_block_rows() const override { return problem_.max_block_rows(); }
  int noise_group_count() const override { return problem_.noise_group_count(); }
  int thread_count() const override { return problem_.thread_count(); }
  void linearize(int index, ResidualBlock& out) const override;
  double cost() const override { return problem_.cost(); }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override;
  void restore_point() override;
  Eigen::VectorXd parameter_values() const override;
  Eigen::VectorXd lower_bounds() const override;
  Eigen::VectorXd upper_bounds() const override;
  Eigen::VectorXd step_factor_limits() const override { return problem_.step_factor_limits(); }

 private:
  struct ParameterizedBody {
    SecondMomentParameterization chart;
    std::vector<Eigen::Index> columns;  ///< parameter positions, in the order of the coordinates
    std::vector<int> moments;           ///< index of each column among the moments
    Eigen::MatrixXd slopes;             ///< derivatives of the moments by the coordinates
  };
  struct FreeMass {
    Eigen::Index column;
    double start;
  };
  struct Iterate {
    std::vector<Eigen::VectorXd> coordinates;  ///< coordinates of each body in bodies_
    std::vector<double> masses;                ///< values in masses_ [kg]
  };

  void set_parameter_values(Eigen::VectorXd& values) const;
  void update_sensitivities();

  LeastSquaresProblem& problem_;
  std::vector<ParameterizedBody> bodies_;
  std::vector<FreeMass> masses_;
  Iterate point_, candidate_, saved_;
};

/// Solves a problem in unconstrained inertia coordinates, or directly if `chart` is kEntries.
/// Iteration records always have SI units.
///
/// @param mechanism  its free parameters are the parameters of the problem
LmSummary solve_in_inertia_coordinates(LeastSquaresProblem& problem, const Mechanism& mechanism,
                                       InertiaParameterization chart, const LmOptions& options,
                                       const LmMonitor& monitor, const std::atomic<bool>* stop);

}  // namespace estimator
