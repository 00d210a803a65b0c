#include "estimator/diagnostics/jumps/jump_cause.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr int kDegree = 7;      // of one motion over the window
constexpr int kHalfDegree = 3;  // of the motion on one side of the jump
/// Numbers of readings on each side of a jump to try; the largest that one polynomial fits is used.
constexpr std::array<std::size_t, 5> kSides = {192, 96, 48, 24, 12};
constexpr double kFollowed = 3.0;  // standard deviations of the sum of squares due to noise alone
constexpr double kConfident = 0.99;
/// Penalty on the hypothesis that a second encoder slips at the same one of ten thousand readings.
constexpr double kCoincidence = 18.0;
/// Residual above which a slip or lost time is excluded and a break is diagnosed [variances per
/// reading]. Smaller residuals may be due to the polynomial.
constexpr double kBroken = 9.0;
constexpr double kLongestShift = 3.0;  // longest shift, in window half-lengths
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The readings y of one sensor around a jump. Time x is measured from the jump, in half-lengths of
/// the window.
struct JumpWindow {
  Eigen::VectorXd x, y, rates;  ///< rates are modelled [per unit of x], or empty
  Eigen::Index before = 0;      ///< number of readings before the jump
  double unit = 1.0;            ///< unit of x [s]
  double variance = 1.0;        ///< variance of a reading
  bool jumps = false;
};

Eigen::MatrixXd powers(const Eigen::VectorXd& x, Eigen::Index columns) {
  Eigen::MatrixXd result(x.size(), columns);
  result.col(0).setOnes();
  for (Eigen::Index i = 1; i < columns; ++i) result.col(i) = result.col(i - 1).cwiseProduct(x);
  return result;
}

Eigen::VectorXd after_jump(const JumpWindow& window) {
  Eigen::VectorXd indicator = Eigen::VectorXd::Zero(window.x.size());
  indicator.tail(window.x.size() - window.before).setOnes();
  return indicator;
}

double squares(const Eigen::MatrixXd& basis, const Eigen::VectorXd& y) {
  return (y - basis * least_squares(basis, y)).squaredNorm();
}

double smooth_squares(const JumpWindow& window) {
  return squares(powers(window.x, kDegree + 1), window.y);
}

Eigen::MatrixXd stepped_basis(const JumpWindow& window) {
  Eigen::MatrixXd basis(window.x.size(), kDegree + 2);
  basis << powers(window.x, kDegree + 1), after_jump(window);
  return basis;
}

/// Returns the residual sum of squares of a smooth motion whose clock jumps by `lost`, in units of
/// x.
double shifted_squares(const JumpWindow& window, double lost) {
  const Eigen::VectorXd indicator = after_jump(window);
  if (window.rates.size() > 0) {
    return squares(powers(window.x, kDegree + 1),
                   window.y - lost * window.rates.cwiseProduct(indicator));
  }
  return squares(powers(window.x + lost * indicator, kDegree + 1), window.y);
}

double broken_squares(const JumpWindow& window) {
  const Eigen::Index n = window.before, m = window.x.size() - n;
  return squares(powers(window.x.head(n), kHalfDegree + 1), window.y.head(n)) +
         squares(powers(window.x.tail(m), kHalfDegree + 1), window.y.tail(m));
}

double stepped_squares(const JumpWindow& window) {
  return window.jumps ? squares(stepped_basis(window), window.y) : smooth_squares(window);
}

JumpWindow cut_window(const ReadingsAroundJump& view, std::size_t side) {
  const ReadingSeries& series = *view.series;
  const std::size_t first = view.position > side ? view.position - side : 0;
  const std::size_t last = std::min(view.position + side, series.size());
  const auto n = static_cast<Eigen::Index>(last - first);
  JumpWindow window;
  const double jump = 0.5 * (series.times[view.position - 1] + series.times[view.position]);
  window.unit = static_cast<double>(side) * series.period;
  window.before = static_cast<Eigen::Index>(view.position - first);
  window.x.resize(n);
  window.y.resize(n);
  if (view.rates != nullptr) window.rates.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::size_t k = first + static_cast<std::size_t>(i);
    window.x[i] = (series.times[k] - jump) / window.unit;
    window.y[i] = series.values[k] - series.values[view.position];
    if (view.rates != nullptr) window.rates[i] = (*view.rates)[k] * window.unit;
  }
  window.variance = view.noise * view.noise;
  window.jumps = view.jumps;
  return window;
}

/// Returns the sum of squared residuals of a hypothesis over all sensors, in variances of readings.
template <typename Squares>
double misfit(const std::vector<JumpWindow>& windows, const Squares& squares_of) {
  double sum = 0.0;
  for (const JumpWindow& window : windows) sum += squares_of(window) / window.variance;
  return sum;
}

struct TimeShift {
  double lost = 0.0;  ///< [s]
  double deviation = 0.0;
  double misfit = kInfinity;
};

/// Returns the lost time that fits the readings of all sensors best.
TimeShift best_shift(const std::vector<JumpWindow>& windows) {
  constexpr int kCoarse = 64;
  double longest = kInfinity;
  for (const JumpWindow& window : windows) {
    longest = std::min(longest, kLongestShift * window.unit);
  }
  const auto misfit_at = [&](double lost) {
    return misfit(windows, [&](const JumpWindow& window) {
      return shifted_squares(window, lost / window.unit);
    });
  };
  // A geometric grid resolves short times finely.
  const double shortest = 1e-3 * longest;
  const double factor = std::pow(longest / shortest, 1.0 / kCoarse);
  TimeShift best;
  for (double lost = shortest; lost <= longest * 1.0001; lost *= factor) {
    const double here = misfit_at(lost);
    if (here < best.misfit) best = {lost, 0.0, here};
  }
  double low = best.lost / factor, high = best.lost * factor;
  constexpr double kGoldenCut = 0.6180339887498949;
  for (int i = 0; i < 40; ++i) {
    const double a = high - kGoldenCut * (high - low), b = low + kGoldenCut * (high - low);
    (misfit_at(a) < misfit_at(b) ? high : low) = misfit_at(a) < misfit_at(b) ? b : a;
  }
  best.lost = 0.5 * (low + high);
  best.misfit = misfit_at(best.lost);
  const double probe = 0.05 * best.lost;
  const double curvature =
      misfit_at(best.lost + probe) + misfit_at(best.lost - probe) - 2.0 * best.misfit;
  best.deviation = curvature > 0.0 ? probe * std::sqrt(2.0 / curvature) : kInfinity;
  return best;
}

bool is_wide_enough(const JumpWindow& window) {
  const Eigen::Index after = window.x.size() - window.before;
  return window.before > kDegree + 1 && after > kDegree + 1;
}

/// Returns the longest window in which a polynomial fits the readings on each side of the jump. A
/// polynomial of higher degree then fits both sides together. If none fits, returns the shortest
/// window, with the residual variance.
JumpWindow choose_window(const ReadingsAroundJump& view) {
  JumpWindow window;
  for (const std::size_t side : kSides) {
    JumpWindow shorter = cut_window(view, side);
    if (!is_wide_enough(shorter)) continue;
    window = std::move(shorter);
    const double left_over = static_cast<double>(window.x.size() - 2 * (kHalfDegree + 1));
    const double left = broken_squares(window);
    if (left <= window.variance * (left_over + kFollowed * std::sqrt(2.0 * left_over))) break;
    if (side == kSides.back()) window.variance = std::max(window.variance, left / left_over);
  }
  return window;
}

void store_sizes(const std::vector<JumpWindow>& windows, JumpExplanation& out) {
  for (const JumpWindow& window : windows) {
    if (!window.jumps) {
      out.sizes.push_back(0.0);
      out.deviations.push_back(0.0);
      continue;
    }
    const Eigen::MatrixXd basis = stepped_basis(window);
    const Eigen::MatrixXd inverse = SymmetricFactor(basis.transpose() * basis).inverse();
    const Eigen::VectorXd solved = least_squares(basis, window.y);
    out.sizes.push_back(solved[kDegree + 1]);
    out.deviations.push_back(
        std::sqrt(std::max(0.0, window.variance * inverse(kDegree + 1, kDegree + 1))));
  }
}

/// Stores the speeds of the motion before and after the jump.
void store_rates(const std::vector<ReadingsAroundJump>& views, JumpExplanation& out) {
  constexpr std::size_t kSide = 12;
  for (const ReadingsAroundJump& view : views) {
    const ReadingSeries& series = *view.series;
    const std::size_t k = view.position;
    if (view.rates != nullptr) {
      out.rates_before.push_back((*view.rates)[k - 1]);
      out.rates_after.push_back((*view.rates)[k]);
      continue;
    }
    const std::size_t before = std::min(kSide, k), after = std::min(kSide, series.size() - k);
    const auto slope = [&](std::size_t first, std::size_t count, double at) {
      if (count < 4) return std::numeric_limits<double>::quiet_NaN();
      return PolynomialFit(series, first, count, 2).slope(at);
    };
    out.rates_before.push_back(slope(k - before, before, series.times[k - 1]));
    out.rates_after.push_back(slope(k, after, series.times[k]));
  }
}

}  // namespace

JumpExplanation classify_jump(const std::vector<ReadingsAroundJump>& views) {
  JumpExplanation out;
  std::vector<JumpWindow> windows;
  double readings = 0.0;
  for (const ReadingsAroundJump& view : views) {
    windows.push_back(choose_window(view));
    if (!is_wide_enough(windows.back())) {
      windows.back().jumps = false;
      windows.back().x.resize(0);
    }
  }
  std::vector<JumpWindow> usable;
  for (const JumpWindow& window : windows) {
    if (window.x.size() > 0) usable.push_back(window);
    readings += static_cast<double>(window.x.size());
  }
  store_rates(views, out);
  if (usable.empty()) {
    out.sizes.assign(views.size(), 0.0);
    out.deviations = out.sizes;
    return out;
  }
  const double price = std::log(readings);
  double jumps = 0.0;
  for (const JumpWindow& window : usable) jumps += window.jumps ? 1.0 : 0.0;
  const double slip =
      misfit(usable, stepped_squares) + price * jumps + kCoincidence * std::max(0.0, jumps - 1.0);
  const TimeShift shift = best_shift(usable);
  const double lost = shift.misfit + price;
  const double best = std::min(slip, lost);
  const double broken = misfit(usable, broken_squares);
  const double total = std::exp(-0.5 * (slip - best)) + std::exp(-0.5 * (lost - best));
  out.lost_time = shift.lost;
  out.time_deviation = shift.deviation;
  out.confidence = 1.0 / total;
  out.cause = out.confidence < kConfident ? JumpCause::kAmbiguous
              : slip < lost               ? JumpCause::kSlip
                                          : JumpCause::kLostTime;
  if (best > kBroken * std::max(broken, readings)) out.cause = JumpCause::kBreak;
  for (JumpWindow& window : windows) {
    if (window.x.size() == 0) window = usable.front(), window.jumps = false;
  }
  store_sizes(windows, out);
  return out;
}

}  // namespace estimator
