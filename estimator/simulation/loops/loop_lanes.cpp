#include "estimator/simulation/loops/loop_lanes.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "estimator/simulation/loops/loop_sensitivities.hpp"

namespace estimator {
namespace {

constexpr int kCloseRounds = 20;
constexpr double kCloseTolerance = 1e-9;  // after so small a step the next one is exact
constexpr double kRankTolerance = 1e-9;   // of the largest element

}  // namespace

template <int W>
LoopLanes<W>::LoopLanes(const TreeProgram& program, bool slopes)
    : program_(program),
      n_(program.joint_count()),
      c_(program.coordinate_count()),
      r_(n_ - c_),
      directions_(2 * c_ + static_cast<int>(program.motion_parameters().size())),
      coordinate_of_(static_cast<std::size_t>(n_), -1),
      closure_of_(static_cast<std::size_t>(n_), -1) {
  const auto make = [](Rows& rows, int count) {
    rows.assign(static_cast<std::size_t>(count) * W, 0.0);
  };
  for (int p = 0; p < c_; ++p) {
    coordinate_of_[static_cast<std::size_t>(program.independent()[static_cast<std::size_t>(p)])] =
        p;
  }
  for (int d = 0; d < r_; ++d) {
    closure_of_[static_cast<std::size_t>(program.dependent()[static_cast<std::size_t>(d)])] = d;
  }
  for (Rows* rows : {&work_, &inverse_}) make(*rows, r_ * r_);
  make(step_, r_);
  for (Rows* rows : {&coupling_, &effective_, &mass_}) make(*rows, n_ * c_);
  make(hold_, c_ * n_);
  make(turn_, c_ * c_);
  for (Rows* rows : {&removed_, &held_, &inverse_pivot_, &right_}) make(*rows, c_);
  for (Rows* rows : {&drift_, &force_, &moved_}) make(*rows, n_);
  make(lu_, c_ * c_);
  for (int p = 0; p < c_; ++p) {
    const int j = program.independent()[static_cast<std::size_t>(p)];
    std::fill_n(row_at<W>(coupling_, j * c_ + p), W, 1.0);
  }
  if (!slopes) return;
  for (Rows* rows : {&angle_slopes_, &rate_slopes_, &acceleration_slopes_, &balance_slopes_}) {
    make(*rows, n_ * directions_);
  }
  make(closure_slopes_, r_ * directions_);
  make(held_slopes_, c_ * directions_);
  for (int p = 0; p < c_; ++p) {
    const int j = program.independent()[static_cast<std::size_t>(p)];
    std::fill_n(row_at<W>(angle_slopes_, j * directions_ + p), W, 1.0);
    std::fill_n(row_at<W>(rate_slopes_, j * directions_ + c_ + p), W, 1.0);
  }
}

/// Inverts the dependent joints' Jacobian in every lane by Gauss–Jordan elimination with row
/// pivoting.
template <int W>
void LoopLanes<W>::invert() {
  std::fill(inverse_.begin(), inverse_.end(), 0.0);
  for (int i = 0; i < r_; ++i) std::fill_n(row_at<W>(inverse_, i * r_ + i), W, 1.0);
  for (int p = 0; p < r_; ++p) {
    for (int j = p + 1; j < r_; ++j) {
      alignas(32) double larger[W];
      const double *own = row_at<W>(work_, p * r_ + p), *other = row_at<W>(work_, j * r_ + p);
      for_lanes<W>(larger, [=](int i) { return std::abs(other[i]) > std::abs(own[i]); });
      for (Rows* matrix : {&work_, &inverse_}) {
        for (int k = 0; k < r_; ++k) {
          double *x = row_at<W>(*matrix, p * r_ + k), *y = row_at<W>(*matrix, j * r_ + k);
          for (int i = 0; i < W; ++i) {
            const double keep = larger[i] > 0.0 ? y[i] : x[i];
            y[i] = larger[i] > 0.0 ? x[i] : y[i];
            x[i] = keep;
          }
        }
      }
    }
    alignas(32) double inverse[W];
    const double* pivot = row_at<W>(work_, p * r_ + p);
    for_lanes<W>(inverse, [=](int i) { return 1.0 / pivot[i]; });
    for (Rows* matrix : {&work_, &inverse_}) {
      for (int k = 0; k < r_; ++k) {
        double* x = row_at<W>(*matrix, p * r_ + k);
        for_lanes<W>(x, [=, &inverse](int i) { return x[i] * inverse[i]; });
      }
    }
    for (int j = 0; j < r_; ++j) {
      if (j == p) continue;
      alignas(32) double share[W];
      std::copy_n(row_at<W>(work_, j * r_ + p), W, share);
      for (Rows* matrix : {&work_, &inverse_}) {
        for (int k = 0; k < r_; ++k) {
          double* x = row_at<W>(*matrix, j * r_ + k);
          const double* y = row_at<W>(*matrix, p * r_ + k);
          for_lanes<W>(x, [=, &share](int i) { return x[i] - share[i] * y[i]; });
        }
      }
    }
  }
}

/// Iterates Newton's method. A converged lane is kept unchanged while others iterate, so that its
/// result does not depend on them.
template <int W>
void LoopLanes<W>::close(double* rows) {
  std::array<bool, W> done{};
  for (int round = 0; round < kCloseRounds; ++round) {
    program_.program().template run<W>(TreeProgram::kClosure, rows);
    for (int i = 0; i < r_; ++i) {
      for (int k = 0; k < r_; ++k) {
        const int joint = program_.dependent()[static_cast<std::size_t>(k)];
        std::copy_n(at_row(rows, program_.closure_slope_row(i, joint)), W,
                    row_at<W>(work_, i * r_ + k));
      }
    }
    invert();
    for (int i = 0; i < r_; ++i) {
      double* step = row_at<W>(step_, i);
      std::fill_n(step, W, 0.0);
      for (int k = 0; k < r_; ++k) {
        const double *K = row_at<W>(inverse_, i * r_ + k),
                     *c = at_row(rows, program_.closure_row(k));
        for_lanes<W>(step, [=](int lane) { return step[lane] - K[lane] * c[lane]; });
      }
    }
    if (std::ranges::all_of(done, [](bool each) { return each; })) break;
    const bool is_last = round + 1 == kCloseRounds;
    for (int lane = 0; lane < W; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      if (done[at]) continue;
      double largest = 0.0;
      for (int i = 0; i < r_; ++i) {
        const double step = row_at<W>(step_, i)[lane];
        largest = std::max(largest, std::abs(step));
        if (std::isnan(step)) largest = step;
        const int joint = program_.dependent()[static_cast<std::size_t>(i)];
        double& angle = rows[program_.angle_row(joint) * W + lane];
        angle = is_last && !(largest < kCloseTolerance) ? std::numeric_limits<double>::quiet_NaN()
                                                        : angle + step;
      }
      done[at] = largest < kCloseTolerance;
    }
  }
  for (int i = 0; i < r_; ++i) {
    const int joint = program_.dependent()[static_cast<std::size_t>(i)];
    double* const rate = rows + program_.rate_row(joint) * W;
    std::fill_n(rate, W, 0.0);
    for (int p = 0; p < c_; ++p) {
      const int free_joint = program_.independent()[static_cast<std::size_t>(p)];
      double* N = row_at<W>(coupling_, joint * c_ + p);
      std::fill_n(N, W, 0.0);
      for (int k = 0; k < r_; ++k) {
        const double *K = row_at<W>(inverse_, i * r_ + k),
                     *G = at_row(rows, program_.closure_slope_row(k, free_joint));
        for_lanes<W>(N, [=](int lane) { return N[lane] - K[lane] * G[lane]; });
      }
      const double* v = at_row(rows, program_.rate_row(free_joint));
      for_lanes<W>(rate, [=](int lane) { return rate[lane] + N[lane] * v[lane]; });
    }
  }
}

/// Computes the constraints C of sticking joints, the free directions T, and N T in every lane.
template <int W>
void LoopLanes<W>::fix_sticking_joints(const double* free) {
  any_holds_ = std::any_of(free, free + n_ * W, [](double each) { return each == 0.0; });
  effective_ = coupling_;
  if (!any_holds_) return;
  for (Rows* rows : {&hold_, &turn_, &removed_, &held_}) std::fill(rows->begin(), rows->end(), 0.0);
  for (int p = 0; p < c_; ++p) std::fill_n(row_at<W>(turn_, p * c_ + p), W, 1.0);
  for (int lane = 0; lane < W; ++lane) {
    bool holds = false;
    for (int j = 0; j < n_; ++j) holds = holds || free[j * W + lane] == 0.0;
    if (holds) fix_sticking_joints_of_lane(lane, free);
  }
}

/// Finds the coordinates that sticking joints determine, by Gauss–Jordan elimination with complete
/// pivoting of their rows of N.
template <int W>
void LoopLanes<W>::fix_sticking_joints_of_lane(int lane, const double* free) {
  std::vector<int> held;
  for (int j = 0; j < n_; ++j) {
    if (free[j * W + lane] == 0.0) held.push_back(j);
  }
  const auto s = static_cast<Eigen::Index>(held.size());
  Eigen::MatrixXd A(s, c_), B = Eigen::MatrixXd::Identity(s, s);
  for (Eigen::Index m = 0; m < s; ++m) {
    for (int p = 0; p < c_; ++p) {
      A(m, p) = coupling(held[static_cast<std::size_t>(m)], p)[lane];
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
    for (Eigen::Index m = 0; m < s; ++m) {
      set(hold_, p * n_ + held[static_cast<std::size_t>(m)], B(row, m));
    }
    for (int q = 0; q < c_; ++q) set(turn_, p * c_ + q, q == p ? 0.0 : -A(row, q));
    double value = 0.0;  // ÿ₀ = −C γ
    for (Eigen::Index m = 0; m < s; ++m) {
      value -= B(row, m) * drift(held[static_cast<std::size_t>(m)])[lane];
    }
    set(held_, p, value);
  }
  for (int p = 0; p < c_; ++p) {  // columns of constrained coordinates vanish in T
    if (row_at<W>(removed_, p)[lane] == 0.0) continue;
    for (int q = 0; q < c_; ++q) set(turn_, q * c_ + p, 0.0);
  }
  for (int j = 0; j < n_; ++j) {
    for (int q = 0; q < c_; ++q) {
      double sum = 0.0;
      for (int p = 0; p < c_; ++p) {
        sum += coupling(j, p)[lane] * row_at<W>(turn_, p * c_ + q)[lane];
      }
      set(effective_, j * c_ + q, sum);
    }
  }
}

template <int W>
void LoopLanes<W>::accelerate(double* rows, const double* free, double* acceleration) {
  program_.program().template run<W>(TreeProgram::kBalance, rows);
  for (int i = 0; i < r_; ++i) {
    double* gamma = row_at<W>(drift_, program_.dependent()[static_cast<std::size_t>(i)]);
    std::fill_n(gamma, W, 0.0);
    for (int k = 0; k < r_; ++k) {
      const double *K = row_at<W>(inverse_, i * r_ + k),
                   *g = at_row(rows, program_.closure_drift_row(k));
      for_lanes<W>(gamma, [=](int lane) { return gamma[lane] - K[lane] * g[lane]; });
    }
  }
  fix_sticking_joints(free);
  for (int j = 0; j < n_; ++j) {  // joint accelerations for zero free coordinates
    double* moved = row_at<W>(moved_, j);
    std::copy_n(drift(j), W, moved);
    if (!any_holds_) continue;
    for (int p = 0; p < c_; ++p) {
      const double *N = coupling(j, p), *held = row_at<W>(held_, p);
      for_lanes<W>(moved, [=](int lane) { return moved[lane] + N[lane] * held[lane]; });
    }
  }
  for (int j = 0; j < n_; ++j) {
    double* force = row_at<W>(force_, j);
    const double *h = at_row(rows, program_.balance_row(j)),
                 *bound = at_row(rows, program_.bound_row(j)),
                 *slip = at_row(rows, program_.direction_row(j));
    for_lanes<W>(force, [=](int lane) { return h[lane] + slip[lane] * bound[lane]; });
    for (int k = 0; k < n_; ++k) {
      const double *M = at_row(rows, program_.mass_row(j, k)), *moved = row_at<W>(moved_, k);
      for_lanes<W>(force, [=](int lane) { return force[lane] + M[lane] * moved[lane]; });
    }
    for (int q = 0; q < c_; ++q) {
      double* sum = row_at<W>(mass_, j * c_ + q);
      std::fill_n(sum, W, 0.0);
      for (int k = 0; k < n_; ++k) {
        const double *M = at_row(rows, program_.mass_row(j, k)),
                     *E = row_at<W>(effective_, k * c_ + q);
        for_lanes<W>(sum, [=](int lane) { return sum[lane] + M[lane] * E[lane]; });
      }
    }
  }
  for (int p = 0; p < c_; ++p) {
    double* right = acceleration + p * W;
    std::fill_n(right, W, 0.0);
    for (int j = 0; j < n_; ++j) {
      const double *E = row_at<W>(effective_, j * c_ + p), *force = row_at<W>(force_, j);
      for_lanes<W>(right, [=](int lane) { return right[lane] - E[lane] * force[lane]; });
    }
    for (int q = 0; q < c_; ++q) {
      double* sum = row_at<W>(lu_, p * c_ + q);
      if (p == q && any_holds_) {
        std::copy_n(row_at<W>(removed_, p), W, sum);
      } else {
        std::fill_n(sum, W, 0.0);
      }
      for (int j = 0; j < n_; ++j) {
        const double *E = row_at<W>(effective_, j * c_ + p), *M = row_at<W>(mass_, j * c_ + q);
        for_lanes<W>(sum, [=](int lane) { return sum[lane] + E[lane] * M[lane]; });
      }
    }
  }
  factor_lanes<W>(c_, lu_, inverse_pivot_);
  solve_lanes<W>(c_, lu_, inverse_pivot_, acceleration);
  if (any_holds_) {
    std::copy_n(acceleration, c_ * W, right_.data());
    for (int p = 0; p < c_; ++p) {
      double* sum = acceleration + p * W;
      std::copy_n(row_at<W>(held_, p), W, sum);
      for (int q = 0; q < c_; ++q) {
        const double *T = row_at<W>(turn_, p * c_ + q), *z = row_at<W>(right_, q);
        for_lanes<W>(sum, [=](int lane) { return sum[lane] + T[lane] * z[lane]; });
      }
    }
  }
  for (int j = 0; j < n_; ++j) {
    double* a = rows + program_.acceleration_row(j) * W;
    std::copy_n(drift(j), W, a);
    for (int p = 0; p < c_; ++p) {
      const double *N = coupling(j, p), *y = acceleration + p * W;
      for_lanes<W>(a, [=](int lane) { return a[lane] + N[lane] * y[lane]; });
    }
  }
}

template class LoopLanes<4>;
template class LoopLanes<8>;
template class LoopLanes<16>;

}  // namespace estimator
