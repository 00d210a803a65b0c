#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/interval_motion.hpp"
#include "estimator/simulation/lane_rows.hpp"

namespace estimator {

/// Propagates sensitivities across impacts of a tree, with respect to the state and the moving
/// parameters, including those of the stops. With the stop position s, its joint j, and δ taken at
/// the actual instant of the impact, which changes by δt,
///
///   δt = −(δq_j − δs)/v⁻_j,
///   δq⁺ = δq⁻ + (v⁻ − v⁺) δt,
///   δv⁺ = D(δq⁻ + v⁻ δt, δv⁻ + a⁻ δt, δχ) − a⁺ δt.
///
/// D is the derivative of the impact law v⁺(q, v⁻, χ) (strike). This is the saltation matrix of a
/// state with jumps [Mul95]. Derivatives of M(q, χ) (v⁺ − v⁻) at fixed rates are those of the
/// inverse dynamics with v⁺ − v⁻ as accelerations, minus the same at rest [MTM, eq. 15].
class ImpactSensitivities {
 public:
  /// @param values  parameters of the mechanism of the program
  ImpactSensitivities(const TreeProgram& program, const Mechanism& values);

  /// @param event   with an impact
  /// @param slopes  2n × directions, coordinates over rates: before the impact, then after it
  void pass(const MotionEvent& event, Eigen::MatrixXd& slopes);

 private:
  static constexpr int kLanes = 4;
  /// Derivatives of a parameter with respect to moving parameters, by their index among these.
  using Gradient = std::vector<std::pair<int, double>>;

  Gradient gradient_of(const Mechanism& values, int parameter) const;
  void evaluate(const MotionImpact& impact, const JointVector<double>& jump);
  double* row(int index) { return row_at<kLanes>(rows_, index); }

  const TreeProgram& program_;
  std::vector<JointStop> stops_;
  std::vector<Gradient> positions_, restitutions_;  // of each stop
  Rows rows_;                                       // of the program
  Eigen::MatrixXd mass_;
  Eigen::MatrixXd balance_;  // joints × (coordinates, moving parameters): ∂(M (v⁺ − v⁻))
};

}  // namespace estimator
