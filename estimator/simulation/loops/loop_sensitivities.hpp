#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "estimator/simulation/loops/loop_lanes.hpp"

namespace estimator {

/// Accelerations of a mechanism with loops (SimdLoopAccelerations) and their derivatives. These
/// follow from the derivatives of the closure equations c, of the time derivatives of c, and of r +
/// Gᵀ λ with the loop reactions λ. Derivatives of N and K are not needed, since Nᵀ (r + Gᵀ λ) = Nᵀ
/// r identically.
template <int W>
class LoopSensitivities : public SimdLoopAccelerations<W> {
  using Base = SimdLoopAccelerations<W>;

 public:
  /// @param slopes  whether derivatives will be computed
  LoopSensitivities(const TreeProgram& program, bool slopes)
      : Base(program),
        directions_(2 * c_ + static_cast<int>(program.motion_parameters().size())),
        coordinate_of_(static_cast<std::size_t>(n_), -1) {
    for (int p = 0; p < c_; ++p) {
      coordinate_of_[program.independent_joints(p)] = p;
    }
    if (!slopes) return;
    for (Rows* rows : {&angle_slopes_, &rate_slopes_, &acceleration_slopes_, &balance_slopes_}) {
      *rows = make_zero_rows<W>(n_ * directions_);
    }
    closure_slopes_ = make_zero_rows<W>(r_ * directions_);
    held_slopes_ = make_zero_rows<W>(c_ * directions_);
    for (int p = 0; p < c_; ++p) {
      const int j = program.independent_joints(p);
      std::fill_n(of(angle_slopes_, j, p), W, 1.0);
      std::fill_n(of(rate_slopes_, j, c_ + p), W, 1.0);
    }
  }

  /// Computes derivatives of the joints' angles and rates with respect to the coordinates, their
  /// rates and the motion parameters. Call it after `compute_accelerations`.
  void differentiate_joint_motion(double* rows) {
    this->sum_joint_forces(rows, [&](int k) { return row(rows, program_.acceleration_row(k)); });
    if (any_holds_) {  // minus the forces that hold sticking joints: −Cᵀ Nᵀ r
      for (int p = 0; p < c_; ++p) {
        double* sum = cleared<W>(row_at<W>(right_, p));
        for (int j = 0; j < n_; ++j) add_product<W>(sum, rate_coupling(j, p), row_at<W>(force_, j));
      }
      for (int j = 0; j < n_; ++j) {
        for (int p = 0; p < c_; ++p) {
          subtract_product<W>(row_at<W>(force_, j), row_at<W>(hold_, p * n_ + j),
                              row_at<W>(right_, p));
        }
      }
    }
    for (int k = 0; k < r_; ++k) {
      double* reaction = cleared<W>(rows + program_.loop_reaction_row(k) * W);
      for (int i = 0; i < r_; ++i) {
        subtract_product<W>(reaction, inverse_jacobian(i, k),
                            row_at<W>(force_, program_.dependent_joints(i)));
      }
    }
    program_.program().template run<W>(TreeProgram::kSensitivities, rows);
    const auto solve = [&](const std::vector<TreeProgram::SparseEntry>& entries, Rows& slopes,
                           int first_column) {
      differentiate_dependent_joints(entries, rows, slopes);
      for (const int joint : program_.dependent_joints()) {
        for (int p = 0; p < c_; ++p) {
          std::copy_n(rate_coupling(joint, p), W, of(slopes, joint, first_column + p));
        }
      }
    };
    solve(program_.closure_derivatives(), angle_slopes_, 0);
    solve(program_.closure_rate_derivatives(), rate_slopes_, c_);
  }

  /// Computes derivatives of the coordinates' accelerations, coordinates × directions. Call it
  /// after `differentiate_joint_motion`.
  void differentiate_accelerations(double* rows, double* linear) {
    differentiate_dependent_joints(program_.closure_acceleration_derivatives(), rows,
                                   acceleration_slopes_);
    if (any_holds_) {  // coordinates that sticking joints determine
      for (int p = 0; p < c_; ++p) {
        for (int d = 0; d < directions_; ++d) {
          double* sum = cleared<W>(of(held_slopes_, p, d));
          for (const int j : program_.dependent_joints()) {
            subtract_product<W>(sum, row_at<W>(hold_, p * n_ + j), of(acceleration_slopes_, j, d));
          }
        }
      }
      for (int j = 0; j < n_; ++j) {
        for (int d = 0; d < directions_; ++d) {
          double* sum = of(acceleration_slopes_, j, d);
          if (!is_dependent_joint(j)) cleared<W>(sum);
          for (int p = 0; p < c_; ++p)
            add_product<W>(sum, rate_coupling(j, p), of(held_slopes_, p, d));
        }
      }
    }
    std::fill(balance_slopes_.begin(), balance_slopes_.end(), 0.0);
    for (const TreeProgram::SparseEntry& entry : program_.derivatives()) {
      const bool is_rate = entry.column >= n_;
      const int joint = is_rate ? entry.column - n_ : entry.column;
      const int coordinate = entry.column >= 2 * n_ ? -1 : coordinate_of_[joint];
      if (coordinate < 0) {
        add_sparse_derivative(entry, rows, balance_slopes_);
      } else {  // the joint moves in one direction only
        const int d = coordinate + (is_rate ? c_ : 0);
        add_product<W>(of(balance_slopes_, entry.joint, d), row(rows, entry.row),
                       of(is_rate ? rate_slopes_ : angle_slopes_, joint, d));
      }
    }
    for (int j = 0; j < n_; ++j) {
      for (int k = 0; k < n_; ++k) {
        if (!any_holds_ && !is_dependent_joint(k)) continue;
        for (int d = 0; d < directions_; ++d) {
          add_product<W>(of(balance_slopes_, j, d), row(rows, program_.mass_matrix_row(j, k)),
                         of(acceleration_slopes_, k, d));
        }
      }
    }
    for (int d = 0; d < directions_; ++d) {
      for (int p = 0; p < c_; ++p) {
        double* right = cleared<W>(row_at<W>(right_, p));
        for (int j = 0; j < n_; ++j) {
          subtract_product<W>(right, this->constrained_coupling(j, p), of(balance_slopes_, j, d));
        }
      }
      solve_lu_in_lanes<W>(c_, lu_, inverse_pivot_, right_.data());
      for (int p = 0; p < c_; ++p) {
        double* out = linear + (p * directions_ + d) * W;
        if (any_holds_) {
          this->add_held_motion(p, of(held_slopes_, p, d), out);
        } else {
          std::copy_n(row_at<W>(right_, p), W, out);
        }
      }
    }
  }

  /// Computes derivatives of a joint's angle and rate in one direction of the state. Call it after
  /// `differentiate_joint_motion`.
  ///
  /// @param slopes  derivatives of the coordinates, then of their rates × directions
  void joint_derivatives(int joint, const double* slopes, int direction, double* angle,
                         double* rate) const {
    for (const auto& [moves, out] :
         {std::pair{&angle_slopes_, angle}, std::pair{&rate_slopes_, rate}}) {
      cleared<W>(out);
      if (direction >= 2 * c_) std::copy_n(of(*moves, joint, direction), W, out);
      for (int p = 0; p < 2 * c_; ++p) {
        add_product<W>(out, of(*moves, joint, p), slopes + (p * directions_ + direction) * W);
      }
    }
  }

  /// Computes derivatives of a joint's angle, rate and acceleration a = N ÿ + γ in one direction.
  /// The derivative of the acceleration is N dÿ plus the derivative at fixed coordinate
  /// accelerations ÿ. Call it after `differentiate_accelerations`.
  /// @param linear  result of `differentiate_accelerations`
  void joint_motion_derivatives(int joint, const double* linear, int direction, double* angle,
                                double* rate, double* acceleration) const {
    std::copy_n(of(angle_slopes_, joint, direction), W, angle);
    std::copy_n(of(rate_slopes_, joint, direction), W, rate);
    cleared<W>(acceleration);
    if (is_dependent_joint(joint) || any_holds_) {
      std::copy_n(of(acceleration_slopes_, joint, direction), W, acceleration);
    }
    for (int p = 0; p < c_; ++p) {
      add_product<W>(acceleration, rate_coupling(joint, p),
                     linear + (p * directions_ + direction) * W);
      if (!any_holds_) continue;
      subtract_product<W>(acceleration, rate_coupling(joint, p), of(held_slopes_, p, direction));
    }
  }

  using Base::rate_coupling;

 private:
  using Base::any_holds_, Base::c_, Base::n_, Base::r_, Base::program_;
  using Base::force_, Base::hold_, Base::inverse_pivot_, Base::lu_, Base::right_;
  using Base::inverse_jacobian, Base::row;

  /// Returns a row of a table that has one row for each pair of a joint (or equation) and a
  /// direction.
  double* of(Rows& table, int index, int direction) const {
    return row_at<W>(table, index * directions_ + direction);
  }
  const double* of(const Rows& table, int index, int direction) const {
    return row_at<W>(table, index * directions_ + direction);
  }
  bool is_dependent_joint(int joint) const { return coordinate_of_[joint] < 0; }

  /// Adds a derivative with respect to an angle, a rate or a parameter to the derivatives in all
  /// directions.
  void add_sparse_derivative(const TreeProgram::SparseEntry& entry, const double* rows,
                             Rows& sums) {
    const double* slope = row(rows, entry.row);
    if (entry.column >= 2 * n_) {
      double* sum = of(sums, entry.joint, 2 * c_ + entry.column - 2 * n_);
      for_lanes<W>(sum, [=](int lane) { return sum[lane] + slope[lane]; });
      return;
    }
    const bool is_rate = entry.column >= n_;
    const int joint = is_rate ? entry.column - n_ : entry.column;
    const Rows& moves = is_rate ? rate_slopes_ : angle_slopes_;
    for (int d = 0; d < directions_; ++d) {
      add_product<W>(of(sums, entry.joint, d), slope, of(moves, joint, d));
    }
  }

  /// Computes the derivatives of the dependent joints' motion so that all loops stay closed.
  void differentiate_dependent_joints(const std::vector<TreeProgram::SparseEntry>& entries,
                                      const double* rows, Rows& slopes) {
    std::fill(closure_slopes_.begin(), closure_slopes_.end(), 0.0);
    for (const TreeProgram::SparseEntry& entry : entries)
      add_sparse_derivative(entry, rows, closure_slopes_);
    for (int i = 0; i < r_; ++i) {
      for (int d = 0; d < directions_; ++d) {
        double* sum = cleared<W>(of(slopes, program_.dependent_joints(i), d));
        for (int k = 0; k < r_; ++k) {
          subtract_product<W>(sum, inverse_jacobian(i, k), of(closure_slopes_, k, d));
        }
      }
    }
  }

  int directions_;
  std::vector<int> coordinate_of_;                         // of each joint; −1: none
  Rows angle_slopes_, rate_slopes_, acceleration_slopes_;  // n × directions
  Rows closure_slopes_;                                    // r × directions
  Rows balance_slopes_;                                    // n × directions
  Rows held_slopes_;                                       // c × directions
};

}  // namespace estimator
