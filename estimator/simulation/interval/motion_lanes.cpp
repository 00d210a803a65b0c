#include "estimator/simulation/interval/motion_lanes.hpp"

#include <cmath>
#include <cstddef>
#include <optional>

#include "estimator/simulation/loops/ground_contact_lanes.hpp"
#include "estimator/simulation/loops/loop_sensitivities.hpp"
#include "estimator/symbolic/lane_sine.hpp"

namespace estimator {
namespace {

/// Limits of Newton's method for the accelerations, which load-dependent friction makes nonlinear.
/// Each round reduces the error by a factor of the friction coefficient squared.
constexpr int kLoadRounds = 20;
constexpr double kLoadTolerance = 1e-13;  // relative to the accelerations

/// Number of directions in which derivatives are propagated together, and of accelerations whose
/// derivatives are summed together. The 12 sums leave registers for the factors.
constexpr int kDirections = 6;
constexpr int kAccelerations = 2;

/// SimdMotionIntegrator of W lanes.
template <int W>
class SimdMotionIntegratorOf final : public SimdMotionIntegrator {
 public:
  SimdMotionIntegratorOf(const TreeProgram& program, const Mechanism& values, bool slopes)
      : SimdMotionIntegrator(W, program, values, slopes) {
    if (has_loops_) loops_.emplace(program, slopes);
    if (contacts_ > 0) ground_.emplace(program);
    program.program().run<W>(TreeProgram::kParameters, rows_.data());
  }

  /// Takes one Runge–Kutta step h. The rates at its four stages, with the accelerations a₁ … a₃ of
  /// the first three, are v, v + a₁ h/2, v + a₂ h/2, v + a₃ h.
  void step() override {
    double *const h = at(length_, 0), *const q = at(stage_state_, 0),
                  *const v = at(stage_state_, c_);
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
        for (int i = 0; i < W; i += kVector) {
          const auto old = [&, i](Rows& rows, int index) { return vector(at(rows, index) + i); };
          advance_stage(stage, vector(h + i), old(state_, j), old(state_, c_ + j),
                        old(stage_[stage - 1], j), old(stage_[std::max(0, stage - 2)], j),
                        vector(q + j * W + i), vector(v + j * W + i));
        }
      }
      set_state(stage_state_, stage_[stage].data(), reach);
      if (has_slopes_) linearize(stage);
    }
    for (int j = 0; j < c_; ++j) {
      for (int i = 0; i < W; i += kVector) {
        const auto old = [&, i](Rows& rows, int index) { return vector(at(rows, index) + i); };
        finish_step(vector(h + i), old(state_, j), old(state_, c_ + j), old(stage_[0], j),
                    old(stage_[1], j), old(stage_[2], j), old(stage_[3], j),
                    vector(at(end_, j) + i), vector(at(end_, c_ + j) + i));
      }
    }
    if (has_slopes_) advance_sensitivities();
    if (!loops_) return;
    set_state(end_, acceleration_.data(), 1.0);  // the joints' motion at the end of the step
    keep_joints(joint_end_);
    if (!has_slopes_) return;
    loops_->differentiate_joint_motion(rows_.data());
    store_sensitivities(end_slopes_, joint_end_slopes_);
  }

  void compute_start_derivatives() override {
    compute_start_accelerations();
    linearize(0);
  }

  void joint_sensitivities(int joint, int direction, double* angle, double* rate,
                           double* acceleration) const override {
    if (loops_) {
      loops_->joint_motion_derivatives(joint, linear_[0].data(), direction, angle, rate,
                                       acceleration);
      return;
    }
    std::fill_n(angle, W, direction == joint ? 1.0 : 0.0);
    std::fill_n(rate, W, direction == n_ + joint ? 1.0 : 0.0);
    std::copy_n(at(linear_[0], joint * directions_ + direction), W, acceleration);
  }

  void compute_start_accelerations() override { accelerate_at(begin_, state_, 0.0); }
  void compute_end_accelerations() override { accelerate_at(joint_end_, end_, 1.0); }

  void holding_torque(int joint, double* torque) const override {
    std::copy_n(bias_torque(joint), W, torque);
    for (int k = 0; k < n_; ++k) add_product<W>(torque, mass(joint, k), joint_acceleration(k));
  }

  const double* rate_coupling(int joint, int coordinate) const override {
    return loops_->rate_coupling(joint, coordinate);
  }
  const double* bias_acceleration(int joint) const override {
    return loops_->bias_acceleration(joint);
  }

 private:
  static double* at(Rows& rows, int index) { return row_at<W>(rows, index); }
  static const double* at(const Rows& rows, int index) { return row_at<W>(rows, index); }
  double* row(int index) { return at(rows_, index); }

  void set_controls(double share) {
    const auto set = [&](const Rows& begin, const Rows& rise, int motor, int out) {
      const double *x = at(begin, motor), *dx = at(rise, motor);
      for_lanes<W>(row(out), [=](int i) { return x[i] + share * dx[i]; });
    };
    for (int m = 0; m < controls_; ++m) {
      set(control_, rise_, m, program_.control_row(m));
      if (has_slopes_) set(control_slope_, rise_slope_, m, program_.control_derivative_row(m));
    }
  }

  /// Factors ∂r/∂a = L U without pivoting. Except for load-dependent friction it is the positive
  /// definite mass matrix. Rows and columns of sticking joints are those of the identity.
  void factor() {
    for (int j = 0; j < n_; ++j) {
      for (int k = 0; k < n_; ++k) {
        const double *mass = row(program_.mass_matrix_row(j, k)), *free_j = at(free_, j),
                     *free_k = at(free_, k);
        if (j == k) {
          for_lanes<W>(at(lu_, j * n_ + k),
                       [=](int i) { return free_j[i] * mass[i] + (1.0 - free_j[i]); });
        } else {
          for_lanes<W>(at(lu_, j * n_ + k), [=](int i) { return free_j[i] * free_k[i] * mass[i]; });
        }
      }
    }
    if (program_.has_load_dependent_friction()) {
      for (const TreeProgram::SparseEntry& entry : program_.friction_bound_derivatives()) {
        double* sum = at(lu_, entry.joint * n_ + entry.column);
        const double *slope = row(entry.row), *free = at(free_, entry.column),
                     *slip = row(program_.slip_direction_row(entry.joint));
        for_lanes<W>(sum, [=](int i) { return sum[i] + slip[i] * free[i] * slope[i]; });
      }
    }
    factor_lu_in_lanes<W>(n_, lu_, inverse_pivot_);
  }
  void solve(double* right) const { solve_lu_in_lanes<W>(n_, lu_, inverse_pivot_, right); }

  /// Zeroes the initial accelerations of Newton's method at the start of a segment, so the result
  /// does not depend on earlier steps. Later stages start from the result of the previous stage.
  void forget_accelerations() { std::fill_n(row(program_.acceleration_row(0)), n_ * W, 0.0); }

  void accelerate_at(const Rows& joints, const Rows& state, double share) {
    if (loops_) guess_joints(joints);
    forget_accelerations();
    set_state(state, acceleration_.data(), share);
  }

  /// Computes accelerations at a state and also stores them in the program.
  void set_state(const Rows& state, double* acceleration, double share) {
    if (loops_) {
      for (int p = 0; p < c_; ++p) {
        const int joint = program_.independent_joints(p);
        std::copy_n(at(state, p), W, row(program_.angle_row(joint)));
        std::copy_n(at(state, c_ + p), W, row(program_.rate_row(joint)));
      }
      loops_->close(rows_.data());
    } else {
      std::copy_n(state.data(), 2 * n_ * W, row(program_.angle_row(0)));
    }
    set_controls(share);
    std::copy_n(slip_.data(), n_ * W, row(program_.slip_input_row(0)));
    if (loops_) {
      loops_->compute_accelerations(rows_.data(), free_.data(), acceleration_.data());
    } else {
      if (ground_) program_.program().template run<W>(TreeProgram::kClosure, rows_.data());
      program_.program().template run<W>(TreeProgram::kBalance, rows_.data());
      solve_tree();
      if (ground_) {
        ground_->constrain(lu_, inverse_pivot_, active_, rows_.data(), acceleration_.data());
      }
      std::copy_n(acceleration_.data(), n_ * W, row(program_.acceleration_row(0)));
    }
    if (acceleration != acceleration_.data()) {
      std::copy_n(acceleration_.data(), c_ * W, acceleration);
    }
  }

  void solve_tree() {
    if (program_.has_load_dependent_friction()) {
      solve_with_load();
      return;
    }
    factor();
    for (int j = 0; j < n_; ++j) {
      const double *h = row(program_.bias_torque_row(j)),
                   *bound = row(program_.friction_bound_row(j)),
                   *slip = row(program_.slip_direction_row(j)), *free = at(free_, j);
      for_lanes<W>(at(acceleration_, j),
                   [=](int i) { return -free[i] * (h[i] + slip[i] * bound[i]); });
    }
    solve(acceleration_.data());
  }

  /// Solves for the accelerations by Newton's method, starting from those in the program. A
  /// converged lane is kept unchanged while others iterate, so that its result does not depend on
  /// them.
  void solve_with_load() {
    double* const a = row(program_.acceleration_row(0));
    alignas(32) double going[W], change[W], size[W];
    for_lanes<W>(going, [](int) { return 1.0; });
    for (int round = 0; round < kLoadRounds; ++round) {
      program_.program().template run<W>(TreeProgram::kLoad, rows_.data());
      factor();
      for (int j = 0; j < n_; ++j) {
        const double* free = at(free_, j);
        double* rest = at(scratch_, j);
        std::copy_n(row(program_.bias_torque_row(j)), W, rest);
        add_product<W>(rest, row(program_.slip_direction_row(j)),
                       row(program_.friction_bound_row(j)));
        for (int k = 0; k < n_; ++k)
          add_product<W>(rest, row(program_.mass_matrix_row(j, k)), a + k * W);
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
      for (int j = 0; j < n_; ++j) add_product<W>(a + j * W, going, at(scratch_, j));
    }
    std::copy_n(a, n_ * W, acceleration_.data());
  }

  /// Sets the initial guess of joint angles for closing loops.
  void guess_joints(const Rows& joints) {
    std::copy_n(joints.data(), n_ * W, row(program_.angle_row(0)));
  }
  void keep_joints(Rows& joints) {
    std::copy_n(row(program_.angle_row(0)), 2 * n_ * W, joints.data());
  }

  void store_sensitivities(const Rows& slopes, Rows& joint_sensitivities) const {
    for (int j = 0; j < n_; ++j) {
      for (int d = 0; d < directions_; ++d) {
        loops_->joint_derivatives(j, slopes.data(), d, at(joint_sensitivities, j * directions_ + d),
                                  at(joint_sensitivities, (n_ + j) * directions_ + d));
      }
    }
  }

  /// Computes the derivatives of the last accelerations.
  void linearize(int stage) {
    if (loops_) {
      loops_->differentiate_joint_motion(rows_.data());
      loops_->differentiate_accelerations(rows_.data(), linear_[stage].data());
      return;
    }
    program_.program().template run<W>(TreeProgram::kSensitivities, rows_.data());
    for (int k = 0; k < n_; ++k) {  // columns of −(∂r/∂a)⁻¹
      double* column = scratch_.data();
      std::fill_n(column, n_ * W, 0.0);
      const double* free = at(free_, k);
      for_lanes<W>(column + k * W, [=](int i) { return -free[i]; });
      solve(column);
      for (int j = 0; j < n_; ++j) std::copy_n(column + j * W, W, at(inverse_, j * equations_ + k));
    }
    if (ground_) ground_->constrain_inverse(inverse_.data());
    for (int d = 0; d < directions_; ++d) {
      for (int j = 0; j < n_; ++j)
        multiply_by_inverse(j, d, at(linear_[stage], j * directions_ + d));
    }
  }

  /// Multiplies row j of −(∂r/∂a)⁻¹ by a column of the derivatives of r. Sums stay in registers.
  void multiply_by_inverse(int j, int column, double* product) const {
    constexpr int kVectors = W / kVector;
    Vector4 sums[kVectors] = {};
    for (const TreeProgram::SparseEntry& entry : derivative_columns_[column]) {
      const auto* inverse =
          reinterpret_cast<const Vector4*>(at(inverse_, j * equations_ + entry.joint));
      const auto* slope = reinterpret_cast<const Vector4*>(at(rows_, entry.row));
      for (int i = 0; i < kVectors; ++i) sums[i] += inverse[i] * slope[i];
    }
    std::copy_n(sums, kVectors, reinterpret_cast<Vector4*>(product));
  }

  static Vector4& vector(double* row) { return *reinterpret_cast<Vector4*>(row); }

  /// Computes coordinate and rate at a later stage of the step h, or their derivatives, from those
  /// at its start and from the accelerations `last` and `before` of the two previous stages.
  [[gnu::always_inline]] static void advance_stage(int stage, const Vector4& h, const Vector4& q0,
                                                   const Vector4& v0, const Vector4& last,
                                                   const Vector4& before, Vector4& q, Vector4& v) {
    const double reach = stage == 3 ? 1.0 : 0.5;
    // Speed of the previous stage: v₀ for the first, else updated by the one before it.
    const double early = stage == 1 ? 0.0 : 0.5;
    q = q0 + reach * h * (v0 + early * h * before);
    v = v0 + reach * h * last;
  }

  /// Computes coordinate and rate at the end of the step h, or their derivatives, from those at its
  /// start and from the accelerations of all stages.
  [[gnu::always_inline]] static void finish_step(const Vector4& h, const Vector4& q0,
                                                 const Vector4& v0, const Vector4& a1,
                                                 const Vector4& a2, const Vector4& a3,
                                                 const Vector4& a4, Vector4& q, Vector4& v) {
    q = q0 + h * (v0 + h / 6.0 * (a1 + a2 + a3));
    v = v0 + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4);
  }

  /// Propagates the derivatives through the four stages, some directions and lanes at a time, so
  /// that everything but the linearizations stays in the first-level cache.
  void advance_sensitivities() {
    for (int stage = 0; stage < 4; ++stage) {
      for (int j = 0; j < c_; ++j) {
        for (int k = 0; k < 2 * c_; ++k) {
          double* const from = at(linear_[stage], j * directions_ + k);
          for (int i = 0; i < W; i += kVector)
            by_state(stage, i)[j * 2 * c_ + k] = vector(from + i);
        }
      }
    }
    int first = 0;
    for (; first + kDirections <= directions_; first += kDirections) {
      for (int lane = 0; lane < W; lane += kVector) advance_directions<kDirections>(first, lane);
    }
    for (; first < directions_; ++first) {
      for (int lane = 0; lane < W; lane += kVector) advance_directions<1>(first, lane);
    }
  }

  /// Returns the derivatives of the accelerations by angles and rates, accelerations × states, of
  /// kVector lanes in a stage.
  Vector4* by_state(int stage, int lane) {
    return reinterpret_cast<Vector4*>(at(by_state_, 2 * c_ * c_ * stage) +
                                      static_cast<std::ptrdiff_t>(2 * c_ * c_) * lane);
  }

  /// Propagates the derivatives in D consecutive directions through the four stages, for kVector
  /// lanes.
  template <int D>
  void advance_directions(int first, int lane) {
    const int size = c_ * D;
    Vector4* const angle = &vector(at(direction_scratch_, 0));
    Vector4* const rate = angle + size;
    Vector4* const change[] = {rate + size, rate + 2 * size, rate + 3 * size, rate + 4 * size};
    const Vector4 h = vector(at(length_, 0) + lane);
    const auto slope = [&](Rows& rows, int row, int d) -> Vector4& {
      return vector(at(rows, row * directions_ + first + d) + lane);
    };
    for (int stage = 0; stage < 4; ++stage) {
      for (int j = 0; j < c_; ++j) {
        for (int d = 0; d < D; ++d) {
          const int at = j * D + d;
          const Vector4 q0 = slope(slopes_, j, d), v0 = slope(slopes_, c_ + j, d);
          if (stage == 0) {
            angle[at] = q0;
            rate[at] = v0;
          } else {
            advance_stage(stage, h, q0, v0, change[stage - 1][at],
                          change[std::max(0, stage - 2)][at], angle[at], rate[at]);
          }
          change[stage][at] = first + d < 2 * c_ ? Vector4{} : slope(linear_[stage], j, d);
        }
      }
      const Vector4* const by = by_state(stage, lane);
      int j = 0;
      for (; j + kAccelerations <= c_; j += kAccelerations) {
        add_state_products<D, kAccelerations>(by + j * 2 * c_, angle, rate, change[stage] + j * D);
      }
      for (; j < c_; ++j) {
        add_state_products<D, 1>(by + j * 2 * c_, angle, rate, change[stage] + j * D);
      }
    }
    for (int j = 0; j < c_; ++j) {
      for (int d = 0; d < D; ++d) {
        const int at = j * D + d;
        finish_step(h, slope(slopes_, j, d), slope(slopes_, c_ + j, d), change[0][at],
                    change[1][at], change[2][at], change[3][at], slope(end_slopes_, j, d),
                    slope(end_slopes_, c_ + j, d));
      }
    }
  }

  /// Adds the derivatives of J accelerations by all angles and rates, times the derivatives of
  /// these in D directions. Sums stay in registers.
  /// @param by           derivatives of the accelerations by angles, then by rates
  /// @param angle, rate  derivatives in D directions of each coordinate
  template <int D, int J>
  [[gnu::always_inline]] void add_state_products(const Vector4* by, const Vector4* angle,
                                                 const Vector4* rate, Vector4* sum) const {
    Vector4 sums[J * D];
    for (int i = 0; i < J * D; ++i) sums[i] = sum[i];
    const auto add = [&](const Vector4* of_state, const Vector4* state) {
      for (int j = 0; j < J; ++j) {
        for (int d = 0; d < D; ++d) sums[j * D + d] += of_state[j * 2 * c_] * state[d];
      }
    };
    for (int k = 0; k < c_; ++k) {
      add(by + k, angle + k * D);
      add(by + c_ + k, rate + k * D);
    }
    for (int i = 0; i < J * D; ++i) sum[i] = sums[i];
  }

  std::optional<LoopSensitivities<W>> loops_;
  std::optional<GroundContactLanes<W>> ground_;
};

}  // namespace

SimdMotionIntegrator::SimdMotionIntegrator(int width, const TreeProgram& program,
                                           const Mechanism& values, bool slopes)
    : program_(program),
      width_(width),
      n_(program.joint_count()),
      c_(program.coordinate_count()),
      directions_(2 * c_ + static_cast<int>(program.motion_parameters().size())),
      controls_(program.control_count()),
      has_slopes_(slopes),
      has_loops_(program.has_loops()),
      rows_(program.make_value_rows(values, width)) {
  const auto resize = [width](Rows& rows, int count, double value = 0.0) {
    rows.assign(static_cast<std::size_t>(count * width), value);
  };
  for (Rows* rows : {&state_, &end_, &stage_state_}) resize(*rows, 2 * c_);
  for (Rows* rows : {&acceleration_, &stage_[0], &stage_[1], &stage_[2], &stage_[3]}) {
    resize(*rows, c_);
  }
  for (Rows* rows : {&slip_, &inverse_pivot_, &scratch_}) resize(*rows, n_);
  for (Rows* rows : {&begin_, &joint_end_}) resize(*rows, has_loops_ ? 2 * n_ : 0);
  resize(free_, n_, 1.0);
  if (!program.contact_of_equation().empty()) contacts_ = program.contact_of_equation().back() + 1;
  resize(active_, contacts_);
  equations_ = n_ + program.contact_equation_count();
  resize(length_, 1);
  for (Rows* rows : {&control_, &rise_, &control_slope_, &rise_slope_}) resize(*rows, controls_);
  resize(lu_, n_ * n_);
  if (!slopes) return;
  resize(inverse_, n_ * equations_);
  for (Rows* rows : {&slopes_, &end_slopes_}) resize(*rows, 2 * c_ * directions_);
  for (Rows& rows : linear_) resize(rows, c_ * directions_);
  resize(by_state_, 8 * c_ * c_);
  direction_scratch_.assign(static_cast<std::size_t>(6 * c_ * kDirections * kVector), 0.0);
  if (!has_loops_) {
    derivative_columns_.resize(static_cast<std::size_t>(directions_));
    for (const TreeProgram::SparseEntry& entry : program.derivatives()) {
      derivative_columns_[entry.column].push_back(entry);
    }
    for (TreeProgram::SparseEntry entry : program.closure_acceleration_derivatives()) {
      entry.joint += n_;  // a contact equation, after the equations of motion
      derivative_columns_[entry.column].push_back(entry);
    }
    return;
  }
  for (Rows* rows : {&begin_slopes_, &joint_end_slopes_}) resize(*rows, 2 * n_ * directions_);
}

std::unique_ptr<SimdMotionIntegrator> SimdMotionIntegrator::make(int width,
                                                                 const TreeProgram& program,
                                                                 const Mechanism& values,
                                                                 bool slopes) {
  if (width == 4) return std::make_unique<SimdMotionIntegratorOf<4>>(program, values, slopes);
  if (width == 8) return std::make_unique<SimdMotionIntegratorOf<8>>(program, values, slopes);
  return std::make_unique<SimdMotionIntegratorOf<16>>(program, values, slopes);
}

void SimdMotionIntegrator::continue_from_end_state() {
  std::swap(state_, end_);
  std::swap(slopes_, end_slopes_);
  std::swap(begin_, joint_end_);
  std::swap(begin_slopes_, joint_end_slopes_);
}

}  // namespace estimator
