#pragma once

#include <algorithm>
#include <utility>

#include "estimator/simulation/loops/loop_lanes.hpp"

// Members of LoopLanes, included by loop_lanes.cpp: sensitivities of motions with loops.

namespace estimator {

/// Computes the derivatives of the loop-closure equations, given those of the joint motion, and
/// stores them in `closure_slopes_`.
template <int W>
void LoopLanes<W>::add_kinematics(const std::vector<TreeProgram::Entry>& entries,
                                  const double* rows) {
  std::fill(closure_slopes_.begin(), closure_slopes_.end(), 0.0);
  for (const TreeProgram::Entry& entry : entries) {
    const double* slope = at_row(rows, entry.row);
    const auto add = [&](int direction, const double* factor) {
      double* sum = row_at<W>(closure_slopes_, entry.joint * directions_ + direction);
      for_lanes<W>(sum, [=](int lane) { return sum[lane] + slope[lane] * factor[lane]; });
    };
    if (entry.column >= 2 * n_) {
      double* sum =
          row_at<W>(closure_slopes_, entry.joint * directions_ + 2 * c_ + entry.column - 2 * n_);
      for_lanes<W>(sum, [=](int lane) { return sum[lane] + slope[lane]; });
      continue;
    }
    const bool is_rate = entry.column >= n_;
    const int joint = is_rate ? entry.column - n_ : entry.column;
    const Rows& moves = is_rate ? rate_slopes_ : angle_slopes_;
    for (int d = 0; d < directions_; ++d) add(d, row_at<W>(moves, joint * directions_ + d));
  }
}

/// Computes the derivatives of the dependent joints' motion so that all loops stay closed.
template <int W>
void LoopLanes<W>::solve_dependent(Rows& slopes) {
  for (int i = 0; i < r_; ++i) {
    const int joint = program_.dependent()[static_cast<std::size_t>(i)];
    for (int d = 0; d < directions_; ++d) {
      double* sum = row_at<W>(slopes, joint * directions_ + d);
      std::fill_n(sum, W, 0.0);
      for (int k = 0; k < r_; ++k) {
        const double *K = row_at<W>(inverse_, i * r_ + k),
                     *change = row_at<W>(closure_slopes_, k * directions_ + d);
        for_lanes<W>(sum, [=](int lane) { return sum[lane] - K[lane] * change[lane]; });
      }
    }
  }
}

template <int W>
void LoopLanes<W>::linearize_joints(double* rows) {
  for (int j = 0; j < n_; ++j) {  // residual of the equations without reactions
    double* force = row_at<W>(force_, j);
    const double *h = at_row(rows, program_.balance_row(j)),
                 *bound = at_row(rows, program_.bound_row(j)),
                 *slip = at_row(rows, program_.direction_row(j));
    for_lanes<W>(force, [=](int lane) { return h[lane] + slip[lane] * bound[lane]; });
    for (int k = 0; k < n_; ++k) {
      const double *M = at_row(rows, program_.mass_row(j, k)),
                   *a = at_row(rows, program_.acceleration_row(k));
      for_lanes<W>(force, [=](int lane) { return force[lane] + M[lane] * a[lane]; });
    }
  }
  if (any_holds_) {  // minus the forces that hold sticking joints: −Cᵀ Nᵀ r
    for (int p = 0; p < c_; ++p) {
      double* sum = row_at<W>(right_, p);
      std::fill_n(sum, W, 0.0);
      for (int j = 0; j < n_; ++j) {
        const double *N = coupling(j, p), *force = row_at<W>(force_, j);
        for_lanes<W>(sum, [=](int lane) { return sum[lane] + N[lane] * force[lane]; });
      }
    }
    for (int j = 0; j < n_; ++j) {
      double* force = row_at<W>(force_, j);
      for (int p = 0; p < c_; ++p) {
        const double *C = row_at<W>(hold_, p * n_ + j), *sum = row_at<W>(right_, p);
        for_lanes<W>(force, [=](int lane) { return force[lane] - C[lane] * sum[lane]; });
      }
    }
  }
  for (int k = 0; k < r_; ++k) {
    double* reaction = rows + program_.reaction_row(k) * W;
    std::fill_n(reaction, W, 0.0);
    for (int i = 0; i < r_; ++i) {
      const double *K = row_at<W>(inverse_, i * r_ + k),
                   *force = row_at<W>(force_, program_.dependent()[static_cast<std::size_t>(i)]);
      for_lanes<W>(reaction, [=](int lane) { return reaction[lane] - K[lane] * force[lane]; });
    }
  }
  program_.program().template run<W>(TreeProgram::kSensitivities, rows);

  add_kinematics(program_.closure_slopes(), rows);
  solve_dependent(angle_slopes_);
  for (const int joint : program_.dependent()) {
    for (int p = 0; p < c_; ++p) {
      std::copy_n(coupling(joint, p), W, row_at<W>(angle_slopes_, joint * directions_ + p));
    }
  }
  add_kinematics(program_.closure_rate_slopes(), rows);
  solve_dependent(rate_slopes_);
  for (const int joint : program_.dependent()) {
    for (int p = 0; p < c_; ++p) {
      std::copy_n(coupling(joint, p), W, row_at<W>(rate_slopes_, joint * directions_ + c_ + p));
    }
  }
}

template <int W>
void LoopLanes<W>::linearize(double* rows, double* linear) {
  add_kinematics(program_.closure_acceleration_slopes(), rows);
  solve_dependent(acceleration_slopes_);
  if (any_holds_) {  // coordinates that sticking joints determine
    for (int p = 0; p < c_; ++p) {
      for (int d = 0; d < directions_; ++d) {
        double* sum = row_at<W>(held_slopes_, p * directions_ + d);
        std::fill_n(sum, W, 0.0);
        for (int j = 0; j < n_; ++j) {
          if (closure_of_[static_cast<std::size_t>(j)] < 0) continue;
          const double *C = row_at<W>(hold_, p * n_ + j),
                       *a = row_at<W>(acceleration_slopes_, j * directions_ + d);
          for_lanes<W>(sum, [=](int lane) { return sum[lane] - C[lane] * a[lane]; });
        }
      }
    }
    for (int j = 0; j < n_; ++j) {
      for (int d = 0; d < directions_; ++d) {
        double* sum = row_at<W>(acceleration_slopes_, j * directions_ + d);
        if (closure_of_[static_cast<std::size_t>(j)] < 0) std::fill_n(sum, W, 0.0);
        for (int p = 0; p < c_; ++p) {
          const double *N = coupling(j, p), *held = row_at<W>(held_slopes_, p * directions_ + d);
          for_lanes<W>(sum, [=](int lane) { return sum[lane] + N[lane] * held[lane]; });
        }
      }
    }
  }
  std::fill(balance_slopes_.begin(), balance_slopes_.end(), 0.0);
  for (const TreeProgram::Entry& entry : program_.slopes()) {
    const double* slope = at_row(rows, entry.row);
    if (entry.column >= 2 * n_) {
      double* sum =
          row_at<W>(balance_slopes_, entry.joint * directions_ + 2 * c_ + entry.column - 2 * n_);
      for_lanes<W>(sum, [=](int lane) { return sum[lane] + slope[lane]; });
      continue;
    }
    const bool is_rate = entry.column >= n_;
    const int joint = is_rate ? entry.column - n_ : entry.column;
    const Rows& moves = is_rate ? rate_slopes_ : angle_slopes_;
    const int coordinate = coordinate_of_[static_cast<std::size_t>(joint)];
    const int only = coordinate < 0 ? -1 : coordinate + (is_rate ? c_ : 0);
    for (int d = std::max(only, 0); d < (only < 0 ? directions_ : only + 1); ++d) {
      double* sum = row_at<W>(balance_slopes_, entry.joint * directions_ + d);
      const double* move = row_at<W>(moves, joint * directions_ + d);
      for_lanes<W>(sum, [=](int lane) { return sum[lane] + slope[lane] * move[lane]; });
    }
  }
  for (int j = 0; j < n_; ++j) {
    for (int k = 0; k < n_; ++k) {
      if (!any_holds_ && closure_of_[static_cast<std::size_t>(k)] < 0) continue;
      const double* M = at_row(rows, program_.mass_row(j, k));
      for (int d = 0; d < directions_; ++d) {
        double* sum = row_at<W>(balance_slopes_, j * directions_ + d);
        const double* a = row_at<W>(acceleration_slopes_, k * directions_ + d);
        for_lanes<W>(sum, [=](int lane) { return sum[lane] + M[lane] * a[lane]; });
      }
    }
  }
  for (int d = 0; d < directions_; ++d) {
    for (int p = 0; p < c_; ++p) {
      double* right = row_at<W>(right_, p);
      std::fill_n(right, W, 0.0);
      for (int j = 0; j < n_; ++j) {
        const double *E = row_at<W>(effective_, j * c_ + p),
                     *sum = row_at<W>(balance_slopes_, j * directions_ + d);
        for_lanes<W>(right, [=](int lane) { return right[lane] - E[lane] * sum[lane]; });
      }
    }
    solve_lanes<W>(c_, lu_, inverse_pivot_, right_.data());
    for (int p = 0; p < c_; ++p) {
      double* out = linear + (p * directions_ + d) * W;
      if (!any_holds_) {
        std::copy_n(row_at<W>(right_, p), W, out);
        continue;
      }
      std::copy_n(row_at<W>(held_slopes_, p * directions_ + d), W, out);
      for (int q = 0; q < c_; ++q) {
        const double *T = row_at<W>(turn_, p * c_ + q), *z = row_at<W>(right_, q);
        for_lanes<W>(out, [=](int lane) { return out[lane] + T[lane] * z[lane]; });
      }
    }
  }
}

template <int W>
void LoopLanes<W>::joint_sensitivity(int joint, const double* slopes, int direction, double* angle,
                                     double* rate) const {
  const auto of_state = [&](int coordinate) {
    return slopes + (coordinate * directions_ + direction) * W;
  };
  for (const auto& [moves, out] :
       {std::pair{&angle_slopes_, angle}, std::pair{&rate_slopes_, rate}}) {
    const double* own = row_at<W>(*moves, joint * directions_);
    if (direction >= 2 * c_) {
      std::copy_n(own + direction * W, W, out);
    } else {
      std::fill_n(out, W, 0.0);
    }
    for (int p = 0; p < 2 * c_; ++p) {
      const double *factor = own + p * W, *slope = of_state(p);
      double* const sum = out;
      for_lanes<W>(sum, [=](int lane) { return sum[lane] + factor[lane] * slope[lane]; });
    }
  }
}

/// Computes the derivatives of one joint's angle, rate and acceleration a = N ÿ + γ. They add its
/// derivatives at fixed coordinate accelerations ÿ and N dÿ.
template <int W>
void LoopLanes<W>::motion_sensitivities(int joint, const double* linear, int direction,
                                        double* angle, double* rate, double* acceleration) const {
  std::copy_n(row_at<W>(angle_slopes_, joint * directions_ + direction), W, angle);
  std::copy_n(row_at<W>(rate_slopes_, joint * directions_ + direction), W, rate);
  const bool is_dependent = closure_of_[static_cast<std::size_t>(joint)] >= 0;
  if (is_dependent || any_holds_) {
    std::copy_n(row_at<W>(acceleration_slopes_, joint * directions_ + direction), W, acceleration);
  } else {
    std::fill_n(acceleration, W, 0.0);
  }
  for (int p = 0; p < c_; ++p) {
    const double *N = coupling(joint, p), *own = linear + (p * directions_ + direction) * W;
    for_lanes<W>(acceleration, [=](int lane) { return acceleration[lane] + N[lane] * own[lane]; });
    if (!any_holds_) continue;
    const double* held = row_at<W>(held_slopes_, p * directions_ + direction);
    for_lanes<W>(acceleration, [=](int lane) { return acceleration[lane] - N[lane] * held[lane]; });
  }
}

}  // namespace estimator
