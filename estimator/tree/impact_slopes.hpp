#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "estimator/tree/interval_motion.hpp"
#include "estimator/tree/lane_rows.hpp"

namespace estimator {

/// Carries derivatives across impacts of a tree, along the state and the moving parameters, those
/// of stops among them. With s where the stop is, j its joint, and δ at the instant of the impact
/// as it is, which moves by δt,
///
///   δt = −(δq_j − δs)/v⁻_j,
///   δq⁺ = δq⁻ + (v⁻ − v⁺) δt,
///   δv⁺ = D(δq⁻ + v⁻ δt, δv⁻ + a⁻ δt, δχ) − a⁺ δt,
///
/// D being the derivative of the law v⁺(q, v⁻, χ) (strike): the saltation matrix of a state that
/// jumps [Mul95]. Derivatives of M(q, χ) (v⁺ − v⁻) at given rates are those of the inverse dynamics
/// with v⁺ − v⁻ in the accelerations' place, less the same at rest [MTM, eq. 15].
class ImpactSlopes {
 public:
  /// @param values  parameters of the mechanism that the program was made from
  ImpactSlopes(const TreeProgram& program, const Mechanism& values);

  /// @param event   with an impact
  /// @param slopes  2n × directions, coordinates over rates: before it, then after it
  void pass(const MotionEvent& event, Eigen::MatrixXd& slopes);

 private:
  static constexpr int kLanes = 4;
  /// Derivatives of a parameter along moving parameters, by their place among them.
  using Gradient = std::vector<std::pair<int, double>>;

  Gradient gradient_of(const Mechanism& values, int parameter) const;
  void evaluate(const MotionImpact& impact, const JointVector<double>& jump);
  double* row(int index) { return row_at<kLanes>(rows_, index); }

  const TreeProgram& program_;
  std::vector<JointStop> stops_;
  std::vector<Gradient> positions_, restitutions_;  // of each stop
  Rows rows_;                                       // of the program
  Eigen::MatrixXd mass_;
  Eigen::MatrixXd balance_;  // joints × (coordinates, moving parameters): of M (v⁺ − v⁻)
};

}  // namespace estimator
