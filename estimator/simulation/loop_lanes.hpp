#pragma once

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Equations of motion of a mechanism with loops in its independent coordinates y, for kWidth
/// states side by side. Newton's method solves the closures c(q) = 0 for the dependent coordinates
/// q_d. With K = (∂c/∂q_d)⁻¹ and
///
///   v = N ẏ,   a = N ÿ + γ,   N = [1; −K ∂c/∂y],   γ = [0; −K g],
///
/// the motion obeys Nᵀ r(q, v, N ÿ + γ) = 0, without drift or stabilization. A sticking joint
/// constrains one combination of the accelerations, C_S a_S = 0; joints that depend on other
/// sticking joints constrain nothing.
///
/// Derivatives follow from those of c, of its time derivatives, and of r + Gᵀ λ with the reactions
/// λ. Derivatives of N and K are not needed, since Nᵀ (r + Gᵀ λ) = Nᵀ r identically.
///
/// All rows belong to the program unless marked as results.
template <int kWidth>
class LoopLanes {
 public:
  LoopLanes(const TreeProgram& program, bool slopes);

  /// Solves the loop closures for the dependent joints, starting from `rows`, and sets their rates.
  /// Lanes whose loops cannot be closed become NaN.
  void close(double* rows);

  /// Call after `close`, with controls and slips set. Runs the balance and stores the joints'
  /// accelerations in the program.
  ///
  /// @param free          0 if a joint sticks, else 1; one row per joint
  /// @param acceleration  result: of the coordinates
  void accelerate(double* rows, const double* free, double* acceleration);

  /// Call after `accelerate`. Computes derivatives of the joints' motion by the coordinates, their
  /// rates and the moving parameters.
  void linearize_joints(double* rows);
  /// Call after it. Derivatives of the coordinates' accelerations, coordinates × directions.
  void linearize(double* rows, double* linear);

  /// Call after `linearize`. Derivatives of a joint's angle, rate and acceleration in a direction.
  /// @param linear  result of `linearize`
  void motion_sensitivities(int joint, const double* linear, int direction, double* angle,
                            double* rate, double* acceleration) const;

  /// N.
  const double* coupling(int joint, int coordinate) const {
    return row_at<kWidth>(coupling_, joint * c_ + coordinate);
  }
  /// γ.
  const double* drift(int joint) const { return row_at<kWidth>(drift_, joint); }

  /// Derivatives of a joint's angle and rate in one direction of the state; call after
  /// `linearize_joints`.
  ///
  /// @param slopes  of coordinates over their rates × directions
  void joint_sensitivity(int joint, const double* slopes, int direction, double* angle,
                         double* rate) const;

 private:
  void invert();
  void fix_sticking_joints(const double* free);
  void fix_sticking_joints_of_lane(int lane, const double* free);
  void add_kinematics(const std::vector<TreeProgram::Entry>& entries, const double* rows);
  void solve_dependent(Rows& slopes);
  const double* at_row(const double* rows, int index) const { return rows + index * kWidth; }

  const TreeProgram& program_;
  int n_, c_, r_, directions_;
  bool any_holds_ = false;
  std::vector<int> coordinate_of_, closure_of_;  // of each joint; −1: none
  Rows work_, inverse_;                          // r × r
  Rows step_;                                    // r
  Rows coupling_, effective_;                    // n × c: N, and N T
  Rows hold_, turn_;                             // C, c × n; T, c × c
  Rows removed_, held_;                          // c: 1 if a sticking joint determines it; ÿ₀
  Rows drift_, force_, moved_;                   // n
  Rows lu_, inverse_pivot_, mass_;               // c × c, c, n × c
  Rows right_;                                   // c
  Rows angle_slopes_, rate_slopes_, acceleration_slopes_;  // n × directions
  Rows closure_slopes_;                                    // r × directions
  Rows balance_slopes_;                                    // n × directions
  Rows held_slopes_;                                       // c × directions
};

extern template class LoopLanes<4>;
extern template class LoopLanes<8>;
extern template class LoopLanes<16>;

}  // namespace estimator
