#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/lane_rows.hpp"

namespace estimator {

/// Propagates sensitivities across impacts of a mechanism without loops. They are derivatives by
/// the state and the motion parameters χ, including those of the stops. A joint j with coordinate
/// q_j hits its stop at position s. Let δt be the change of the impact time, and v⁻, a⁻, v⁺, a⁺ the
/// rates and accelerations before and after the impact. At a fixed time
///
///   δt = −(δq_j − δs)/v⁻_j,
///   δq⁺ = δq⁻ + (v⁻ − v⁺) δt,
///   δv⁺ = D(δq⁻ + v⁻ δt, δv⁻ + a⁻ δt, δχ) − a⁺ δt.
///
/// D is the derivative of the impact law v⁺(q, v⁻, χ) (resolve_impact). This is the saltation
/// matrix of a state with jumps [Mul95]. Derivatives of M(q, χ) (v⁺ − v⁻), with the mass matrix M,
/// are computed by inverse dynamics [MTM, eq. 15]. They are the derivatives for accelerations v⁺ −
/// v⁻, minus those for zero accelerations.
class ImpactSensitivities {
 public:
  /// @param values  mechanism whose parameter values are used
  ImpactSensitivities(const TreeProgram& program, const Mechanism& values);

  /// Replaces the derivatives of the state before an impact by those after it.
  /// @param event   an event that contains an impact
  /// @param slopes  derivatives of coordinates, then rates: 2n × directions
  void pass(const MotionEvent& event, Eigen::MatrixXd& slopes);

 private:
  static constexpr int kLanes = 4;
  /// Derivatives of one parameter by motion parameters, given by their index among these.
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
