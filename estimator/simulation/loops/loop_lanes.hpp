#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Computes the accelerations of a mechanism with loops in its independent coordinates y, for W
/// states in parallel SIMD lanes. Newton's method solves the loop-closure equations c(q) = 0 for
/// the dependent coordinates q_d. G = ∂c/∂q, and G a + g is the second time derivative of c. With K
/// = (∂c/∂q_d)⁻¹ and
///
///   v = N ẏ,   a = N ÿ + γ,   N = [1; −K ∂c/∂y],   γ = [0; −K g],
///
/// the motion obeys Nᵀ r(q, v, N ÿ + γ) = 0, where r = 0 are the equations of motion without loops.
/// The closure error of the loops does not grow with time and needs no stabilization. A sticking
/// joint constrains one combination of the joint accelerations. It adds no constraint if other
/// sticking joints already hold this joint.
///
/// Rows belong to the program, except the results documented below.
template <int W>
class SimdLoopAccelerations {
 public:
  explicit SimdLoopAccelerations(const TreeProgram& program)
      : program_(program),
        n_(program.joint_count()),
        c_(program.coordinate_count()),
        r_(n_ - c_),
        work_(make_zero_rows<W>(r_ * r_)),
        inverse_(work_),
        step_(make_zero_rows<W>(r_)),
        coupling_(make_zero_rows<W>(n_ * c_)),
        effective_(coupling_),
        hold_(coupling_),
        turn_(make_zero_rows<W>(c_ * c_)),
        removed_(make_zero_rows<W>(c_)),
        held_(removed_),
        drift_(make_zero_rows<W>(n_)),
        force_(drift_),
        moved_(drift_),
        lu_(turn_),
        inverse_pivot_(removed_),
        mass_(coupling_),
        right_(removed_) {
    for (int p = 0; p < c_; ++p) {
      std::fill_n(row_at<W>(coupling_, program.independent_joints(p) * c_ + p), W, 1.0);
    }
  }

  /// Solves the loop-closure equations for the dependent joints, starting from the angles in
  /// `rows`, and sets their rates. A lane whose loops cannot be closed becomes NaN. Newton's method
  /// keeps a converged lane unchanged while others iterate, so that its result does not depend on
  /// them.
  void close(double* rows) {
    std::array<bool, W> done{};
    for (int round = 0; round < kCloseRounds; ++round) {
      program_.program().template run<W>(TreeProgram::kClosure, rows);
      for (int i = 0; i < r_; ++i) {
        for (int k = 0; k < r_; ++k) {
          const int slope = program_.closure_jacobian_row(i, program_.dependent_joints(k));
          std::copy_n(row(rows, slope), W, row_at<W>(work_, i * r_ + k));
        }
      }
      invert_dependent_jacobian();
      for (int i = 0; i < r_; ++i) {
        double* step = cleared<W>(row_at<W>(step_, i));
        for (int k = 0; k < r_; ++k) {
          subtract_product<W>(step, inverse_jacobian(i, k),
                              row(rows, program_.closure_violation_row(k)));
        }
      }
      if (std::ranges::all_of(done, [](bool each) { return each; })) break;
      const bool is_last = round + 1 == kCloseRounds;
      for (int lane = 0; lane < W; ++lane) {
        if (done[lane]) continue;
        double largest = 0.0;
        for (int i = 0; i < r_; ++i) {
          const double step = row_at<W>(step_, i)[lane];
          largest = std::max(largest, std::abs(step));
          if (std::isnan(step)) largest = step;
          double& angle = rows[program_.angle_row(program_.dependent_joints(i)) * W + lane];
          angle = is_last && !(largest < kCloseTolerance) ? std::numeric_limits<double>::quiet_NaN()
                                                          : angle + step;
        }
        done[lane] = largest < kCloseTolerance;
      }
    }
    for (int i = 0; i < r_; ++i) {
      const int joint = program_.dependent_joints(i);
      double* const rate = cleared<W>(rows + program_.rate_row(joint) * W);
      for (int p = 0; p < c_; ++p) {
        const int free_joint = program_.independent_joints(p);
        double* N = cleared<W>(row_at<W>(coupling_, joint * c_ + p));
        for (int k = 0; k < r_; ++k) {
          subtract_product<W>(N, inverse_jacobian(i, k),
                              row(rows, program_.closure_jacobian_row(k, free_joint)));
        }
        add_product<W>(rate, N, row(rows, program_.rate_row(free_joint)));
      }
    }
  }

  /// Computes the accelerations, and stores those of the joints in the program. Call it after
  /// `close`, with controls and slip directions set.
  ///
  /// @param free          one row per joint: 0 if it sticks, else 1
  /// @param acceleration  result: accelerations of the coordinates
  void compute_accelerations(double* rows, const double* free, double* acceleration) {
    program_.program().template run<W>(TreeProgram::kBalance, rows);
    for (int i = 0; i < r_; ++i) {
      double* gamma = cleared<W>(row_at<W>(drift_, program_.dependent_joints(i)));
      for (int k = 0; k < r_; ++k) {
        subtract_product<W>(gamma, inverse_jacobian(i, k),
                            row(rows, program_.closure_drift_row(k)));
      }
    }
    constrain_sticking_joints(free);
    for (int j = 0; j < n_; ++j) {  // joint accelerations for zero free coordinates
      double* moved = row_at<W>(moved_, j);
      std::copy_n(bias_acceleration(j), W, moved);
      for (int p = 0; any_holds_ && p < c_; ++p) {
        add_product<W>(moved, rate_coupling(j, p), row_at<W>(held_, p));
      }
    }
    sum_joint_forces(rows, [&](int k) { return row_at<W>(moved_, k); });
    for (int j = 0; j < n_; ++j) {
      for (int q = 0; q < c_; ++q) {
        double* sum = cleared<W>(row_at<W>(mass_, j * c_ + q));
        for (int k = 0; k < n_; ++k) {
          add_product<W>(sum, row(rows, program_.mass_matrix_row(j, k)),
                         constrained_coupling(k, q));
        }
      }
    }
    for (int p = 0; p < c_; ++p) {
      double* right = cleared<W>(acceleration + p * W);
      for (int j = 0; j < n_; ++j) {
        subtract_product<W>(right, constrained_coupling(j, p), row_at<W>(force_, j));
      }
      for (int q = 0; q < c_; ++q) {
        double* sum = cleared<W>(row_at<W>(lu_, p * c_ + q));
        if (p == q && any_holds_) std::copy_n(row_at<W>(removed_, p), W, sum);
        for (int j = 0; j < n_; ++j) {
          add_product<W>(sum, constrained_coupling(j, p), row_at<W>(mass_, j * c_ + q));
        }
      }
    }
    factor_lu_in_lanes<W>(c_, lu_, inverse_pivot_);
    solve_lu_in_lanes<W>(c_, lu_, inverse_pivot_, acceleration);
    if (any_holds_) {
      std::copy_n(acceleration, c_ * W, right_.data());
      for (int p = 0; p < c_; ++p) add_held_motion(p, row_at<W>(held_, p), acceleration + p * W);
    }
    for (int j = 0; j < n_; ++j) {
      double* a = rows + program_.acceleration_row(j) * W;
      std::copy_n(bias_acceleration(j), W, a);
      for (int p = 0; p < c_; ++p) add_product<W>(a, rate_coupling(j, p), acceleration + p * W);
    }
  }

  /// Returns an element of N, the derivative of a joint's rate with respect to a coordinate's rate.
  const double* rate_coupling(int joint, int coordinate) const {
    return row_at<W>(coupling_, joint * c_ + coordinate);
  }
  /// Returns γ, a joint's acceleration at zero coordinate accelerations ÿ.
  const double* bias_acceleration(int joint) const { return row_at<W>(drift_, joint); }

 protected:
  static constexpr int kCloseRounds = 20;
  static constexpr double kCloseTolerance = 1e-9;  // after so small a step the next one is exact
  static constexpr double kRankTolerance = 1e-9;   // of the largest element

  static const double* row(const double* rows, int index) { return rows + index * W; }
  const double* inverse_jacobian(int i, int k) const { return row_at<W>(inverse_, i * r_ + k); }
  const double* constrained_coupling(int joint, int p) const {
    return row_at<W>(effective_, joint * c_ + p);
  }

  /// Computes `force_`, the terms h + σ B + M a of the equations of motion, without loop reactions.
  /// @param acceleration  returns the row of a joint's acceleration
  template <typename Acceleration>
  void sum_joint_forces(const double* rows, const Acceleration& acceleration) {
    for (int j = 0; j < n_; ++j) {
      double* force = row_at<W>(force_, j);
      std::copy_n(row(rows, program_.bias_torque_row(j)), W, force);
      add_product<W>(force, row(rows, program_.slip_direction_row(j)),
                     row(rows, program_.friction_bound_row(j)));
      for (int k = 0; k < n_; ++k) {
        add_product<W>(force, row(rows, program_.mass_matrix_row(j, k)), acceleration(k));
      }
    }
  }

  /// Computes an element of held + T z. The solution z is in `right_`, and T are the free
  /// directions of the coordinates.
  void add_held_motion(int p, const double* held, double* out) const {
    std::copy_n(held, W, out);
    for (int q = 0; q < c_; ++q) {
      add_product<W>(out, row_at<W>(turn_, p * c_ + q), row_at<W>(right_, q));
    }
  }

  const TreeProgram& program_;
  int n_, c_, r_;
  bool any_holds_ = false;
  Rows work_, inverse_;             // r × r
  Rows step_;                       // r
  Rows coupling_, effective_;       // n × c: N, and N T
  Rows hold_, turn_;                // C, c × n; T, c × c
  Rows removed_, held_;             // c: 1 if a sticking joint determines it; ÿ₀
  Rows drift_, force_, moved_;      // n
  Rows lu_, inverse_pivot_, mass_;  // c × c, c, n × c
  Rows right_;                      // c

 private:
  /// Inverts the dependent joints' Jacobian in every lane by Gauss–Jordan elimination with row
  /// pivoting.
  void invert_dependent_jacobian() {
    std::fill(inverse_.begin(), inverse_.end(), 0.0);
    for (int i = 0; i < r_; ++i) std::fill_n(row_at<W>(inverse_, i * r_ + i), W, 1.0);
    alignas(32) double larger[W], factor[W];
    const auto for_each_element = [&](int j, int p, const auto& use) {  // of rows p and j
      for (Rows* matrix : {&work_, &inverse_}) {
        for (int k = 0; k < r_; ++k) {
          use(row_at<W>(*matrix, p * r_ + k), row_at<W>(*matrix, j * r_ + k));
        }
      }
    };
    for (int p = 0; p < r_; ++p) {
      for (int j = p + 1; j < r_; ++j) {
        const double *own = row_at<W>(work_, p * r_ + p), *other = row_at<W>(work_, j * r_ + p);
        for_lanes<W>(larger, [=](int i) { return std::abs(other[i]) > std::abs(own[i]); });
        for_each_element(j, p, [&](double* x, double* y) {
          for (int i = 0; i < W; ++i) {
            const double keep = larger[i] > 0.0 ? y[i] : x[i];
            y[i] = larger[i] > 0.0 ? x[i] : y[i];
            x[i] = keep;
          }
        });
      }
      const double* pivot = row_at<W>(work_, p * r_ + p);
      for_lanes<W>(factor, [=](int i) { return 1.0 / pivot[i]; });
      for_each_element(p, p, [&](double* x, double*) {
        for_lanes<W>(x, [=, &factor](int i) { return x[i] * factor[i]; });
      });
      for (int j = 0; j < r_; ++j) {
        if (j == p) continue;
        std::copy_n(row_at<W>(work_, j * r_ + p), W, factor);
        for_each_element(j, p, [&](double* x, double* y) { subtract_product<W>(y, factor, x); });
      }
    }
  }

  /// Computes the constraints C of sticking joints, the free directions T, and N T in every lane.
  void constrain_sticking_joints(const double* free) {
    any_holds_ = std::any_of(free, free + n_ * W, [](double each) { return each == 0.0; });
    effective_ = coupling_;
    if (!any_holds_) return;
    for (Rows* rows : {&hold_, &turn_, &removed_, &held_}) {
      std::fill(rows->begin(), rows->end(), 0.0);
    }
    for (int p = 0; p < c_; ++p) std::fill_n(row_at<W>(turn_, p * c_ + p), W, 1.0);
    for (int lane = 0; lane < W; ++lane) {
      std::vector<int> held;
      for (int j = 0; j < n_; ++j) {
        if (free[j * W + lane] == 0.0) held.push_back(j);
      }
      if (!held.empty()) constrain_sticking_joints_of_lane(lane, held);
    }
  }

  /// Finds the coordinates that sticking joints determine, by Gauss–Jordan elimination with
  /// complete pivoting of their rows of N.
  void constrain_sticking_joints_of_lane(int lane, const std::vector<int>& held) {
    const auto s = static_cast<Eigen::Index>(held.size());
    Eigen::MatrixXd A(s, c_), B = Eigen::MatrixXd::Identity(s, s);
    for (Eigen::Index m = 0; m < s; ++m) {
      for (int p = 0; p < c_; ++p) {
        A(m, p) = rate_coupling(held[m], p)[lane];
      }
    }
    const double small = kRankTolerance * A.cwiseAbs().maxCoeff();
    const auto set = [lane](Rows& rows, int index, double value) {
      row_at<W>(rows, index)[lane] = value;
    };
    Eigen::MatrixXd rest = A;  // rows and columns already used are zero
    for (Eigen::Index k = 0; k < std::min<Eigen::Index>(s, c_); ++k) {
      Eigen::Index row = 0, column = 0;
      if (!(rest.cwiseAbs().maxCoeff(&row, &column) > small)) break;
      const double pivot = A(row, column);
      A.row(row) /= pivot;
      B.row(row) /= pivot;
      for (Eigen::Index m = 0; m < s; ++m) {
        if (m == row) continue;
        const double share = A(m, column);
        A.row(m) -= share * A.row(row);
        B.row(m) -= share * B.row(row);
      }
      for (Eigen::Index m = 0; m < s; ++m) {
        if (!rest.row(m).isZero(0.0)) rest.row(m) = A.row(m);
      }
      rest.row(row).setZero();
      rest.col(column).setZero();
      set(removed_, static_cast<int>(column), static_cast<double>(row) + 1.0);
    }
    for (int p = 0; p < c_; ++p) {
      const double mark = row_at<W>(removed_, p)[lane];
      if (mark == 0.0) continue;
      const auto row = static_cast<Eigen::Index>(mark) - 1;
      set(removed_, p, 1.0);
      double value = 0.0;  // ÿ₀ = −C γ
      for (Eigen::Index m = 0; m < s; ++m) {
        const int joint = held[m];
        set(hold_, p * n_ + joint, B(row, m));
        value -= B(row, m) * bias_acceleration(joint)[lane];
      }
      set(held_, p, value);
      for (int q = 0; q < c_; ++q) set(turn_, p * c_ + q, q == p ? 0.0 : -A(row, q));
    }
    for (int p = 0; p < c_; ++p) {  // columns of constrained coordinates vanish in T
      if (row_at<W>(removed_, p)[lane] == 0.0) continue;
      for (int q = 0; q < c_; ++q) set(turn_, q * c_ + p, 0.0);
    }
    for (int j = 0; j < n_; ++j) {
      for (int q = 0; q < c_; ++q) {
        double sum = 0.0;
        for (int p = 0; p < c_; ++p) {
          sum += rate_coupling(j, p)[lane] * row_at<W>(turn_, p * c_ + q)[lane];
        }
        set(effective_, j * c_ + q, sum);
      }
    }
  }
};

}  // namespace estimator
