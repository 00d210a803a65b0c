#include "tests/studies/arm/arm_regressors.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/math/decompositions.hpp"

namespace service {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kOrder = 3;                // of the polynomials
constexpr double kIntervalLength = 0.1;  // length of an energy equation's interval [s]
constexpr double kRank = 1e-9;           // relative to the largest pivot
constexpr double kZeroRate = 1e-12;      // [rad/s]

double sign_of(double rate) { return rate > kZeroRate ? 1.0 : rate < -kZeroRate ? -1.0 : 0.0; }

/// Solves a least-squares problem with normalized columns, only in the identifiable directions.
VectorXd solve_identifiable(const MatrixXd& rows, const VectorXd& right) {
  VectorXd scale = rows.colwise().norm();
  for (double& each : scale) each = each > 0.0 ? each : 1.0;
  // A QR factor keeps the digits that normal equations, with squared condition number, lose.
  const Eigen::Index n = rows.cols();
  MatrixXd all(rows.rows(), n + 1);
  all << rows * scale.cwiseInverse().asDiagonal(), right;
  const MatrixXd R = estimator::triangular_factor(all);
  return estimator::least_squares(R.topLeftCorner(n, n), R.col(n).head(n), kRank)
      .cwiseQuotient(scale);
}

/// Filter coefficients that give the value, first and second derivative at the centre sample.
struct Filter {
  VectorXd value, first, second;
};

Filter make_filter(int window, double period) {
  const int half = window / 2;
  MatrixXd powers(window, kOrder + 1);
  for (int i = 0; i < window; ++i) {
    for (int p = 0; p <= kOrder; ++p) powers(i, p) = std::pow((i - half) * period, p);
  }
  const MatrixXd fit =
      estimator::SymmetricFactor(powers.transpose() * powers).solve(powers.transpose());
  return {fit.row(0), fit.row(1), 2.0 * fit.row(2)};
}

/// Fills the regression rows of the joint torques at a sample: links, rotors, friction and gains.
void fill_torque_rows(const Arm& arm, const SmoothedRun& at, Eigen::Index k,
                      Eigen::Ref<MatrixXd> rows) {
  const int n = arm.size();
  rows.setZero();
  rows.leftCols(10 * n) =
      torque_regressor(arm, at.angles.row(k).transpose(), at.rates.row(k).transpose(),
                       at.accelerations.row(k).transpose());
  for (int j = 0; j < n; ++j) {
    rows(j, 10 * n + j) = at.accelerations(k, j);
    rows(j, 11 * n + j) = at.rates(k, j);
    rows(j, 12 * n + j) = sign_of(at.rates(k, j));
    if (j > 0) rows(j, 13 * n + j - 1) = -at.controls(k, j);
  }
}

}  // namespace

int regression_size(int joints) { return 14 * joints - 1; }

VectorXd regression_values(const Arm& arm) {
  const int n = arm.size();
  VectorXd values(regression_size(n));
  values.head(10 * n) = standard_parameters(arm);
  for (int j = 0; j < n; ++j) {
    const ArmLink& link = arm.links[static_cast<std::size_t>(j)];
    values[10 * n + j] = link.shaft;
    values[11 * n + j] = link.viscous;
    values[12 * n + j] = link.coulomb;
    if (j > 0) values[13 * n + j - 1] = link.gain;
  }
  return values;
}

SmoothedRun smooth_run(const ArmRun& run, int window) {
  const Filter filter = make_filter(window, run.period);
  const Eigen::Index count = run.angles.rows() - window, n = run.angles.cols();
  SmoothedRun smoothed{MatrixXd(count, n), MatrixXd(count, n), MatrixXd(count, n),
                       MatrixXd(count, n)};
  // A control acts until the next sample; at a sample it is the mean of the two.
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto angles = run.angles.middleRows(k + 1, window);
    smoothed.angles.row(k) = filter.value.transpose() * angles;
    smoothed.rates.row(k) = filter.first.transpose() * angles;
    smoothed.accelerations.row(k) = filter.second.transpose() * angles;
    smoothed.controls.row(k) =
        0.5 * filter.value.transpose() *
        (run.controls.middleRows(k, window) + run.controls.middleRows(k + 1, window));
  }
  return smoothed;
}

Regression regress_torques(const Arm& geometry, const ArmRun& run, int window) {
  const SmoothedRun smoothed = smooth_run(run, window);
  const int n = geometry.size();
  const Eigen::Index count = smoothed.angles.rows(), columns = regression_size(n);
  MatrixXd rows(count * n, columns);
  VectorXd right = VectorXd::Zero(count * n);
  MatrixXd own(n, columns);
  // Groups rows by joint, so that each joint can be weighted by its residuals.
  for (Eigen::Index k = 0; k < count; ++k) {
    fill_torque_rows(geometry, smoothed, k, own);
    for (int j = 0; j < n; ++j) rows.row(j * count + k) = own.row(j);
    right[k] = geometry.links.front().gain * smoothed.controls(k, 0);
  }
  VectorXd values = solve_identifiable(rows, right);
  for (int j = 0; j < n; ++j) {
    auto part = rows.middleRows(j * count, count);
    auto value = right.segment(j * count, count);
    const double size =
        std::sqrt((part * values - value).squaredNorm() / static_cast<double>(count));
    part /= std::max(size, 1e-9);
    value /= std::max(size, 1e-9);
  }
  values = solve_identifiable(rows, right);
  return {values, window};
}

Regression regress_energy(const Arm& geometry, const ArmRun& run, int window) {
  const SmoothedRun smoothed = smooth_run(run, window);
  const int n = geometry.size();
  const Eigen::Index columns = regression_size(n);
  const auto length = static_cast<Eigen::Index>(std::lround(kIntervalLength / run.period));
  const Eigen::Index count = (smoothed.angles.rows() - 1) / length;
  MatrixXd rows = MatrixXd::Zero(count, columns);
  VectorXd right(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index begin = i * length, end = begin + length;
    const auto energy = [&](Eigen::Index k) {
      return energy_regressor(geometry, smoothed.angles.row(k).transpose(),
                              smoothed.rates.row(k).transpose());
    };
    rows.row(i).head(10 * n) = (energy(end) - energy(begin)).transpose();
    right[i] = 0.0;
    for (int j = 0; j < n; ++j) {
      rows(i, 10 * n + j) =
          0.5 * (std::pow(smoothed.rates(end, j), 2) - std::pow(smoothed.rates(begin, j), 2));
      for (Eigen::Index k = begin; k <= end; ++k) {
        // Trapezoidal rule over the interval.
        const double weight = (k == begin || k == end ? 0.5 : 1.0) * run.period;
        const double rate = smoothed.rates(k, j), work = weight * rate * smoothed.controls(k, j);
        rows(i, 11 * n + j) += weight * rate * rate;
        rows(i, 12 * n + j) += weight * std::abs(rate);
        if (j > 0) {
          rows(i, 13 * n + j - 1) -= work;
        } else {
          right[i] += geometry.links.front().gain * work;
        }
      }
    }
  }
  return {solve_identifiable(rows, right), window};
}

}  // namespace service
