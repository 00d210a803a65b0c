#include "estimator/simulation/interval/motion_lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace estimator {
namespace {

/// Limits of Newton's method for the accelerations, which load-dependent friction makes nonlinear.
/// Each round reduces the error by a factor of the friction coefficient squared.
constexpr int kLoadRounds = 20;
constexpr double kLoadTolerance = 1e-13;  // relative to the accelerations

}  // namespace

template <int W>
MotionLanes<W>::MotionLanes(const TreeProgram& program, const Mechanism& values, bool slopes)
    : program_(program),
      n_(program.joint_count()),
      c_(program.coordinate_count()),
      directions_(2 * c_ + static_cast<int>(program.motion_parameters().size())),
      motors_(static_cast<int>(program.motors().size())),
      has_slopes_(slopes) {
  const auto make = [](Rows& rows, int count, double value = 0.0) {
    rows.assign(static_cast<std::size_t>(count) * W, value);
  };
  make(rows_, program.program().row_count());
  program.program().fill_constants(rows_.data(), W);
  for (std::size_t i = 0; i < program.motion_parameters().size(); ++i) {
    const auto index = static_cast<std::size_t>(program.motion_parameters()[i]);
    std::fill_n(row(program.parameter_row(static_cast<int>(i))), W, values.parameters[index].value);
  }
  for (Rows* rows : {&state_, &end_, &stage_state_}) make(*rows, 2 * c_);
  for (Rows* rows : {&acceleration_, &stage_[0], &stage_[1], &stage_[2], &stage_[3]}) {
    make(*rows, c_);
  }
  for (Rows* rows : {&slip_, &inverse_pivot_, &scratch_}) make(*rows, n_);
  if (program.has_loops()) {
    loops_ = std::make_unique<LoopLanes<W>>(program, slopes);
    for (Rows* rows : {&begin_, &joint_end_}) make(*rows, 2 * n_);
  }
  make(free_, n_, 1.0);
  make(length_, 1);
  for (Rows* rows : {&control_, &rise_, &control_slope_, &rise_slope_}) make(*rows, motors_);
  make(lu_, n_ * n_);
  program.program().run<W>(TreeProgram::kParameters, rows_.data());
  if (!slopes) return;
  make(inverse_, n_ * n_);
  for (Rows* rows : {&slopes_, &end_slopes_}) make(*rows, 2 * c_ * directions_);
  for (Rows& rows : linear_) make(rows, c_ * directions_);
  if (!loops_) return;
  for (Rows* rows : {&begin_slopes_, &joint_end_slopes_}) make(*rows, 2 * n_ * directions_);
}

template <int W>
void MotionLanes<W>::set_controls(double share) {
  for (int m = 0; m < motors_; ++m) {
    const double *begin = at(control_, m), *rise = at(rise_, m);
    for_lanes<W>(row(program_.control_row(m)), [=](int i) { return begin[i] + share * rise[i]; });
    if (!has_slopes_) continue;
    const double *slope = at(control_slope_, m), *change = at(rise_slope_, m);
    for_lanes<W>(row(program_.control_slope_row(m)),
                 [=](int i) { return slope[i] + share * change[i]; });
  }
}

template <int W>
void MotionLanes<W>::set_slips() {
  std::copy_n(slip_.data(), n_ * W, row(program_.slip_row(0)));
}

/// Factors ∂r/∂a = L U without pivoting. Except for load-dependent friction it is the positive
/// definite mass matrix. Rows and columns of sticking joints are those of the identity.
template <int W>
void MotionLanes<W>::factor() {
  for (int j = 0; j < n_; ++j) {
    for (int k = 0; k < n_; ++k) {
      const double *mass = row(program_.mass_row(j, k)), *free_j = at(free_, j),
                   *free_k = at(free_, k);
      if (j == k) {
        for_lanes<W>(at(lu_, j * n_ + k),
                     [=](int i) { return free_j[i] * mass[i] + (1.0 - free_j[i]); });
      } else {
        for_lanes<W>(at(lu_, j * n_ + k), [=](int i) { return free_j[i] * free_k[i] * mass[i]; });
      }
    }
  }
  if (program_.is_load_dependent()) {
    for (const TreeProgram::Entry& entry : program_.bound_slopes()) {
      double* sum = at(lu_, entry.joint * n_ + entry.column);
      const double *slope = row(entry.row), *free = at(free_, entry.column),
                   *slip = row(program_.direction_row(entry.joint));
      for_lanes<W>(sum, [=](int i) { return sum[i] + slip[i] * free[i] * slope[i]; });
    }
  }
  factor_lanes<W>(n_, lu_, inverse_pivot_);
}

/// Zeroes the initial accelerations of Newton's method at the start of a segment, so the result
/// does not depend on earlier steps. Later stages start from the result of the previous stage.
template <int W>
void MotionLanes<W>::forget_accelerations() {
  std::fill_n(row(program_.acceleration_row(0)), n_ * W, 0.0);
}

/// Computes accelerations at a state and also stores them in the program.
template <int W>
void MotionLanes<W>::set_state(const Rows& state, double* acceleration, double share) {
  if (loops_) {
    for (int p = 0; p < c_; ++p) {
      const int joint = program_.independent()[static_cast<std::size_t>(p)];
      std::copy_n(at(state, p), W, row(program_.angle_row(joint)));
      std::copy_n(at(state, c_ + p), W, row(program_.rate_row(joint)));
    }
    loops_->close(rows_.data());
    set_controls(share);
    set_slips();
    loops_->accelerate(rows_.data(), free_.data(), acceleration_.data());
  } else {
    std::copy_n(state.data(), 2 * n_ * W, row(program_.angle_row(0)));
    set_controls(share);
    set_slips();
    program_.program().template run<W>(TreeProgram::kBalance, rows_.data());
    solve_tree();
    std::copy_n(acceleration_.data(), n_ * W, row(program_.acceleration_row(0)));
  }
  if (acceleration != acceleration_.data()) std::copy_n(acceleration_.data(), c_ * W, acceleration);
}

template <int W>
void MotionLanes<W>::solve_tree() {
  if (program_.is_load_dependent()) {
    solve_with_load();
    return;
  }
  factor();
  for (int j = 0; j < n_; ++j) {
    const double *h = row(program_.balance_row(j)), *bound = row(program_.bound_row(j)),
                 *slip = row(program_.direction_row(j)), *free = at(free_, j);
    for_lanes<W>(at(acceleration_, j),
                 [=](int i) { return -free[i] * (h[i] + slip[i] * bound[i]); });
  }
  solve(acceleration_.data());
}

/// Solves for the accelerations by Newton's method, starting from those in the program. A converged
/// lane is kept unchanged while others iterate, so that its result does not depend on them.
template <int W>
void MotionLanes<W>::solve_with_load() {
  double* const a = row(program_.acceleration_row(0));
  alignas(32) double going[W], change[W], size[W];
  for_lanes<W>(going, [](int) { return 1.0; });
  for (int round = 0; round < kLoadRounds; ++round) {
    program_.program().run<W>(TreeProgram::kLoad, rows_.data());
    factor();
    for (int j = 0; j < n_; ++j) {
      const double *h = row(program_.balance_row(j)), *bound = row(program_.bound_row(j)),
                   *slip = row(program_.direction_row(j)), *free = at(free_, j);
      double* rest = at(scratch_, j);
      for_lanes<W>(rest, [=](int i) { return h[i] + slip[i] * bound[i]; });
      for (int k = 0; k < n_; ++k) {
        const double *mass = row(program_.mass_row(j, k)), *x = a + k * W;
        for_lanes<W>(rest, [=](int i) { return rest[i] + mass[i] * x[i]; });
      }
      for_lanes<W>(rest, [=](int i) { return -free[i] * rest[i]; });
    }
    solve(scratch_.data());
    for_lanes<W>(change, [](int) { return 0.0; });
    for_lanes<W>(size, [](int) { return 1.0; });
    for (int j = 0; j < n_; ++j) {
      const double *step = at(scratch_, j), *x = a + j * W;
      for_lanes<W>(change, [&](int i) { return std::max(change[i], std::abs(step[i])); });
      for_lanes<W>(size, [&](int i) { return std::max(size[i], std::abs(x[i])); });
    }
    for_lanes<W>(going,
                 [&](int i) { return change[i] > kLoadTolerance * size[i] ? going[i] : 0.0; });
    if (std::ranges::all_of(going, [](double goes) { return goes == 0.0; })) break;
    for (int j = 0; j < n_; ++j) {
      const double* step = at(scratch_, j);
      double* x = a + j * W;
      for_lanes<W>(x, [&](int i) { return x[i] + going[i] * step[i]; });
    }
  }
  std::copy_n(a, n_ * W, acceleration_.data());
}

template <int W>
void MotionLanes<W>::accelerate_at_start() {
  if (loops_) guess_joints(begin_);
  forget_accelerations();
  set_state(state_, acceleration_.data(), 0.0);
}

template <int W>
void MotionLanes<W>::linearize_at_start() {
  accelerate_at_start();
  linearize(0);
}

template <int W>
void MotionLanes<W>::joint_sensitivities(int joint, int direction, double* angle, double* rate,
                                         double* acceleration) const {
  if (loops_) {
    loops_->motion_sensitivities(joint, linear_[0].data(), direction, angle, rate, acceleration);
    return;
  }
  std::fill_n(angle, W, direction == joint ? 1.0 : 0.0);
  std::fill_n(rate, W, direction == n_ + joint ? 1.0 : 0.0);
  std::copy_n(at(linear_[0], joint * directions_ + direction), W, acceleration);
}

template <int W>
void MotionLanes<W>::accelerate_at_end() {
  if (loops_) guess_joints(joint_end_);
  forget_accelerations();
  set_state(end_, acceleration_.data(), 1.0);
}

/// Sets the initial guess of joint angles for closing loops.
template <int W>
void MotionLanes<W>::guess_joints(const Rows& joints) {
  std::copy_n(joints.data(), n_ * W, row(program_.angle_row(0)));
}

template <int W>
void MotionLanes<W>::keep_joints(Rows& joints) const {
  std::copy_n(row(program_.angle_row(0)), 2 * n_ * W, joints.data());
}

template <int W>
void MotionLanes<W>::store_sensitivities(const Rows& slopes, Rows& joint_sensitivities) const {
  for (int j = 0; j < n_; ++j) {
    for (int d = 0; d < directions_; ++d) {
      loops_->joint_sensitivity(j, slopes.data(), d, at(joint_sensitivities, j * directions_ + d),
                                at(joint_sensitivities, (n_ + j) * directions_ + d));
    }
  }
}

/// Computes the joints' motion at the end of the step.
template <int W>
void MotionLanes<W>::finish_loops() {
  set_state(end_, acceleration_.data(), 1.0);
  keep_joints(joint_end_);
  if (!has_slopes_) return;
  loops_->linearize_joints(rows_.data());
  store_sensitivities(end_slopes_, joint_end_slopes_);
}

template <int W>
void MotionLanes<W>::holding_torque(int joint, double* torque) const {
  const double* h = row(program_.balance_row(joint));
  for_lanes<W>(torque, [=](int i) { return h[i]; });
  for (int k = 0; k < n_; ++k) {
    const double *mass = row(program_.mass_row(joint, k)), *a = joint_acceleration(k);
    for_lanes<W>(torque, [=](int i) { return torque[i] + mass[i] * a[i]; });
  }
}

/// Computes the derivatives of the last accelerations.
template <int W>
void MotionLanes<W>::linearize(int stage) {
  if (loops_) {
    loops_->linearize_joints(rows_.data());
    loops_->linearize(rows_.data(), linear_[stage].data());
    return;
  }
  program_.program().run<W>(TreeProgram::kSensitivities, rows_.data());
  for (int k = 0; k < n_; ++k) {  // columns of −(∂r/∂a)⁻¹
    double* column = scratch_.data();
    std::fill_n(column, n_ * W, 0.0);
    const double* free = at(free_, k);
    for_lanes<W>(column + k * W, [=](int i) { return -free[i]; });
    solve(column);
    for (int j = 0; j < n_; ++j) std::copy_n(column + j * W, W, at(inverse_, j * n_ + k));
  }
  Rows& linear = linear_[stage];
  std::fill(linear.begin(), linear.end(), 0.0);
  for (const TreeProgram::Entry& entry : program_.slopes()) {
    const double* slope = row(entry.row);
    for (int j = 0; j < n_; ++j) {
      double* sum = at(linear, j * directions_ + entry.column);
      const double* inverse = at(inverse_, j * n_ + entry.joint);
      for_lanes<W>(sum, [=](int i) { return sum[i] + inverse[i] * slope[i]; });
    }
  }
}

/// Takes one Runge–Kutta step h. The rates at its four stages, with the accelerations a₁ … a₃ of
/// the first three, are v, v + a₁ h/2, v + a₂ h/2, v + a₃ h.
template <int W>
void MotionLanes<W>::step() {
  const double* h = at(length_, 0);
  double *const q = at(stage_state_, 0), *const v = at(stage_state_, c_);
  if (loops_) guess_joints(begin_);
  forget_accelerations();
  set_state(state_, stage_[0].data(), 0.0);
  if (has_slopes_) linearize(0);
  if (loops_) {
    keep_joints(begin_);
    if (has_slopes_) store_sensitivities(slopes_, begin_slopes_);
  }
  for (int stage = 1; stage < 4; ++stage) {
    const double reach = stage == 3 ? 1.0 : 0.5;
    for (int j = 0; j < c_; ++j) {
      const double *q0 = at(state_, j), *v0 = at(state_, c_ + j), *a = at(stage_[stage - 1], j);
      const double* before = at(stage_[std::max(0, stage - 2)], j);
      // Speed of the previous stage: v₀ for the first, else updated by the one before it.
      const double early = stage == 1 ? 0.0 : 0.5;
      for_lanes<W>(q + j * W, [=](int i) {
        return q0[i] + reach * h[i] * (v0[i] + early * h[i] * before[i]);
      });
      for_lanes<W>(v + j * W, [=](int i) { return v0[i] + reach * h[i] * a[i]; });
    }
    set_state(stage_state_, stage_[stage].data(), reach);
    if (has_slopes_) linearize(stage);
  }
  for (int j = 0; j < c_; ++j) {
    const double *q0 = at(state_, j), *v0 = at(state_, c_ + j), *a1 = at(stage_[0], j),
                 *a2 = at(stage_[1], j), *a3 = at(stage_[2], j), *a4 = at(stage_[3], j);
    for_lanes<W>(at(end_, j), [=](int i) {
      return q0[i] + h[i] * (v0[i] + h[i] / 6.0 * (a1[i] + a2[i] + a3[i]));
    });
    for_lanes<W>(at(end_, c_ + j), [=](int i) {
      return v0[i] + h[i] / 6.0 * (a1[i] + 2.0 * (a2[i] + a3[i]) + a4[i]);
    });
  }
  if (has_slopes_) advance_sensitivities();
  if (loops_) finish_loops();
}

template <int W>
void MotionLanes<W>::commit() {
  std::swap(state_, end_);
  std::swap(slopes_, end_slopes_);
  std::swap(begin_, joint_end_);
  std::swap(begin_slopes_, joint_end_slopes_);
}

/// Propagates the derivatives through the four stages, direction by direction, so that everything
/// but the linearizations stays in the first-level cache.
template <int W>
void MotionLanes<W>::advance_sensitivities() {
  constexpr int kJointsMax = kTreeJointsMax;
  alignas(32) double angle[kJointsMax * W], rate[kJointsMax * W];
  alignas(32) double change[4][kJointsMax * W];
  const double* h = at(length_, 0);
  for (int d = 0; d < directions_; ++d) {
    for (int stage = 0; stage < 4; ++stage) {
      const double reach = stage == 3 ? 1.0 : 0.5;
      const double early = stage <= 1 ? 0.0 : 0.5;
      for (int j = 0; j < c_; ++j) {
        const double* q0 = slope(j, d);
        const double* v0 = slope(c_ + j, d);
        if (stage == 0) {
          for_lanes<W>(angle + j * W, [=](int i) { return q0[i]; });
          for_lanes<W>(rate + j * W, [=](int i) { return v0[i]; });
          continue;
        }
        const double* last = change[stage - 1] + j * W;
        const double* before = change[std::max(0, stage - 2)] + j * W;
        for_lanes<W>(angle + j * W, [=](int i) {
          return q0[i] + reach * h[i] * (v0[i] + early * h[i] * before[i]);
        });
        for_lanes<W>(rate + j * W, [=](int i) { return v0[i] + reach * h[i] * last[i]; });
      }
      const Rows& linear = linear_[stage];
      for (int j = 0; j < c_; ++j) {
        double* sum = change[stage] + j * W;
        const double* of_joint = at(linear, j * directions_);
        const double* own = of_joint + d * W;
        if (d >= 2 * c_) {
          for_lanes<W>(sum, [=](int i) { return own[i]; });
        } else {
          for_lanes<W>(sum, [](int) { return 0.0; });
        }
        for (int k = 0; k < c_; ++k) {
          const double *by_angle = of_joint + k * W, *by_rate = of_joint + (c_ + k) * W;
          const double *x = angle + k * W, *y = rate + k * W;
          for_lanes<W>(sum, [=](int i) { return sum[i] + by_angle[i] * x[i] + by_rate[i] * y[i]; });
        }
      }
    }
    for (int j = 0; j < c_; ++j) {
      const double *q0 = slope(j, d), *v0 = slope(c_ + j, d), *a1 = change[0] + j * W,
                   *a2 = change[1] + j * W, *a3 = change[2] + j * W, *a4 = change[3] + j * W;
      for_lanes<W>(at(end_slopes_, j * directions_ + d), [=](int i) {
        return q0[i] + h[i] * (v0[i] + h[i] / 6.0 * (a1[i] + a2[i] + a3[i]));
      });
      for_lanes<W>(at(end_slopes_, (c_ + j) * directions_ + d), [=](int i) {
        return v0[i] + h[i] / 6.0 * (a1[i] + 2.0 * (a2[i] + a3[i]) + a4[i]);
      });
    }
  }
}

template class MotionLanes<4>;
template class MotionLanes<8>;
template class MotionLanes<16>;

}  // namespace estimator
