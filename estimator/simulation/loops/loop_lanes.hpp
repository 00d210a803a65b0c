#pragma once

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Computes the accelerations of a mechanism with loops in its independent coordinates y, for
/// kWidth states side by side. Newton's method solves the loop-closure equations c(q) = 0 for the
/// dependent coordinates q_d. G = ∂c/∂q, and G a + g is the second time derivative of c. With K =
/// (∂c/∂q_d)⁻¹ and
///
///   v = N ẏ,   a = N ÿ + γ,   N = [1; −K ∂c/∂y],   γ = [0; −K g],
///
/// the motion obeys Nᵀ r(q, v, N ÿ + γ) = 0, where r = 0 are the equations of motion without loops.
/// Loops neither drift nor need stabilization. A sticking joint constrains one combination of the
/// joint accelerations. A joint adds no constraint if other sticking joints already hold it.
///
/// Derivatives are computed from those of c, of its time derivatives, and of r + Gᵀ λ with the loop
/// reactions λ. Derivatives of N and K are not needed, since Nᵀ (r + Gᵀ λ) = Nᵀ r identically.
///
/// Rows belong to the program, except the results named below.
template <int kWidth>
class LoopLanes {
 public:
  LoopLanes(const TreeProgram& program, bool slopes);

  /// Solves the loop-closure equations for the dependent joints, starting from the angles in
  /// `rows`, and sets their rates. A lane whose loops cannot be closed becomes NaN.
  void close(double* rows);

  /// Computes the accelerations, and stores those of the joints in the program. Call it after
  /// `close`, with controls and slip directions set.
  ///
  /// @param free          one row per joint: 0 if it sticks, else 1
  /// @param acceleration  result: accelerations of the coordinates
  void accelerate(double* rows, const double* free, double* acceleration);

  /// Computes derivatives of the joints' angles and rates by the coordinates, their rates and the
  /// motion parameters. Call it after `accelerate`.
  void linearize_joints(double* rows);
  /// Computes derivatives of the coordinates' accelerations, coordinates × directions. Call it
  /// after `linearize_joints`.
  void linearize(double* rows, double* linear);

  /// Computes derivatives of a joint's angle, rate and acceleration in one direction. Call it after
  /// `linearize`.
  /// @param linear  result of `linearize`
  void motion_sensitivities(int joint, const double* linear, int direction, double* angle,
                            double* rate, double* acceleration) const;

  /// Returns an element of N, the derivative of a joint's rate by a coordinate's rate.
  const double* coupling(int joint, int coordinate) const {
    return row_at<kWidth>(coupling_, joint * c_ + coordinate);
  }
  /// Returns γ, a joint's acceleration at zero coordinate accelerations ÿ.
  const double* drift(int joint) const { return row_at<kWidth>(drift_, joint); }

  /// Computes derivatives of a joint's angle and rate in one direction of the state. Call it after
  /// `linearize_joints`.
  ///
  /// @param slopes  derivatives of the coordinates, then of their rates × directions
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
