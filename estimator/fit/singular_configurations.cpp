#include "estimator/fit/singular_configurations.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

constexpr double kInLine = 0.02;    // ratio of the smallest to the largest singular value
constexpr double kOtherWay = 0.05;  // difference of two branches [rad or m]
constexpr int kDegrees[] = {5, 8, 11, 14};
constexpr int kInstantsMax = 200;        // number of instants compared with readings
constexpr int kCurveRounds = 8;          // largest number of Gauss–Newton iterations
constexpr double kCurveSettled = 1e-4;   // change of a joint at convergence [rad or m]
constexpr double kWellDrawn = 1.3;       // residual over noise variance of a good fit
constexpr double kDrawn = 4.0;           // the same, largest for a decision
constexpr double kReadNoiseMin = 1e-5;   // [rad or m]
constexpr double kUndetermined = 1e-10;  // rank tolerance of the fits

std::vector<int> joints_told(const Mechanism& mechanism, bool measured) {
  const EncoderToJointMap readings(mechanism);
  std::vector<int> joints;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (readings.is_observed(j) == measured) joints.push_back(j);
  }
  return joints;
}

/// Returns the motion of the unobserved joints that the readings determine least, as a vector over
/// all joints.
Eigen::VectorXd weakest_motion(const std::vector<int>& unread, const Eigen::MatrixXd& jacobian) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(jacobian(Eigen::all, unread), Eigen::ComputeFullV);
  Eigen::VectorXd motion = Eigen::VectorXd::Zero(jacobian.cols());
  motion(unread) = svd.matrixV().rightCols(1);
  return motion;
}

double told_ratio(const std::vector<int>& unread, const Eigen::MatrixXd& jacobian) {
  const Eigen::VectorXd values =
      Eigen::JacobiSVD<Eigen::MatrixXd>(jacobian(Eigen::all, unread)).singularValues();
  return values[values.size() - 1] / values[0];
}

/// Returns the motion on the other branch after a singular configuration, closest to the readings.
std::optional<Eigen::MatrixXd> other_way(LoopClosure& closure, const std::vector<int>& measured,
                                         const Eigen::VectorXd& weakest, Eigen::Index pose,
                                         const Eigen::MatrixXd& motion) {
  const auto wanted_at = [&](Eigen::Index k) {
    Eigen::VectorXd wanted =
        Eigen::VectorXd::Constant(motion.rows(), std::numeric_limits<double>::quiet_NaN());
    wanted(measured) = motion.col(k)(measured);
    return wanted;
  };
  Eigen::MatrixXd other = motion;
  const Eigen::Index last = motion.cols() - 1;
  Eigen::VectorXd angles = motion.col(last);
  angles -= 2.0 * weakest * weakest.dot(angles - motion.col(pose));
  for (Eigen::Index k = last; k > pose; --k) {
    if (!closure.close(angles, wanted_at(k))) return std::nullopt;
    if (k == last && !((angles - motion.col(k)).cwiseAbs().maxCoeff() > kOtherWay)) {
      return std::nullopt;
    }
    other.col(k) = angles;
  }
  return other;
}

/// Returns the Chebyshev polynomials up to a degree, at x in [−1, 1].
Eigen::VectorXd chebyshev(int degree, double x) {
  Eigen::VectorXd values = Eigen::VectorXd::Ones(degree + 1);
  values[1] = x;
  for (int i = 2; i <= degree; ++i) values[i] = 2.0 * x * values[i - 1] - values[i - 2];
  return values;
}

/// Motion that is fitted to the readings: independent joints as polynomials of time.
class Curve {
 public:
  Curve(LoopClosure& closure, const Eigen::MatrixXd& read, const std::vector<int>& measured,
        const Eigen::VectorXd& noise, const Eigen::MatrixXd& motion)
      : closure_(closure),
        read_(read),
        observed_(measured),
        noise_(noise),
        motion_(motion),
        choice_(closure.choose_coordinates({motion})),
        stride_((motion.cols() - 1) / kInstantsMax + 1) {}

  /// Fits the polynomials to the readings.
  /// @return mean square residual relative to the noise; infinite if loops do not close
  double fit(int degree) {
    degree_ = degree;
    project();
    double change = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kCurveRounds && change > kCurveSettled; ++round) {
      if (!improve(change)) return std::numeric_limits<double>::infinity();
    }
    return mean_square();
  }

  /// Evaluates the motion at every sample.
  bool draw(Eigen::MatrixXd& motion) {
    for (Eigen::Index k = 0; k < motion.cols(); ++k) {
      if (!close_at(k)) return false;
    }
    motion = motion_;
    return true;
  }

 private:
  Eigen::VectorXd shape_at(Eigen::Index k) const {
    const double half = 0.5 * static_cast<double>(motion_.cols() - 1);
    return chebyshev(degree_, (static_cast<double>(k) - half) / half);
  }

  /// Fits the polynomials to the present motion.
  void project() {
    const auto count = (motion_.cols() - 1) / stride_ + 1;
    Eigen::MatrixXd A(count, degree_ + 1);
    for (Eigen::Index i = 0; i < count; ++i) A.row(i) = shape_at(i * stride_).transpose();
    coefficients_.resize(degree_ + 1, std::ssize(choice_.independent));
    for (Eigen::Index p = 0; p < coefficients_.cols(); ++p) {
      const auto joint = motion_.row(choice_.independent[p]);
      coefficients_.col(p) =
          least_squares(A, joint(Eigen::seqN(0, count, stride_)).transpose(), kUndetermined);
    }
  }

  bool close_at(Eigen::Index k) {
    Eigen::VectorXd wanted =
        Eigen::VectorXd::Constant(motion_.rows(), std::numeric_limits<double>::quiet_NaN());
    wanted(choice_.independent) = coefficients_.transpose() * shape_at(k);
    Eigen::VectorXd angles = motion_.col(k);
    angles(choice_.independent) = wanted(choice_.independent);
    if (!closure_.close(angles, wanted)) return false;
    motion_.col(k) = angles;
    return true;
  }

  /// Returns the derivatives of all joint coordinates by the independent joints.
  Eigen::MatrixXd coupling_at(Eigen::Index k) {
    const Eigen::MatrixXd motions = null_space(closure_.closure_jacobian(motion_.col(k)), 1e-7);
    return motions * pseudo_inverse(motions(choice_.independent, Eigen::all));
  }

  bool improve(double& change) {
    const Eigen::Index terms = degree_ + 1, size = coefficients_.size();
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(size), row(size);
    for (Eigen::Index k = 0; k < motion_.cols(); k += stride_) {
      if (!close_at(k)) return false;
      const Eigen::MatrixXd coupling = coupling_at(k);
      const Eigen::VectorXd shape = shape_at(k);
      for (const int joint : observed_) {
        if (std::isnan(read_(joint, k))) continue;
        for (Eigen::Index p = 0; p < coefficients_.cols(); ++p) {
          row.segment(p * terms, terms) = coupling(joint, p) / noise_[joint] * shape;
        }
        normal += row * row.transpose();
        right += row * ((read_(joint, k) - motion_(joint, k)) / noise_[joint]);
      }
    }
    const Eigen::VectorXd step = least_squares(normal, right, kUndetermined);
    coefficients_ += step.reshaped(terms, coefficients_.cols());
    change = step.cwiseAbs().maxCoeff();
    return std::isfinite(change);
  }

  double mean_square() {
    double sum = 0.0, count = 0.0;
    for (Eigen::Index k = 0; k < motion_.cols(); k += stride_) {
      if (!close_at(k)) return std::numeric_limits<double>::infinity();
      for (const int joint : observed_) {
        if (std::isnan(read_(joint, k))) continue;
        sum += std::pow((read_(joint, k) - motion_(joint, k)) / noise_[joint], 2);
        count += 1.0;
      }
    }
    return sum / std::max(count - static_cast<double>(coefficients_.size()), 1.0);
  }

  LoopClosure& closure_;
  const Eigen::MatrixXd& read_;
  const std::vector<int>& observed_;
  const Eigen::VectorXd& noise_;
  Eigen::MatrixXd motion_;
  CoordinateChoice choice_;
  Eigen::Index stride_;
  int degree_ = 0;
  Eigen::MatrixXd coefficients_;  // terms × independent joints
};

/// Returns the better of two curves, for the lowest degree with which one fits well; null if
/// neither fits.
Curve* better_of(Curve& own, Curve& other) {
  double mine = 0.0, others = 0.0;
  for (const int degree : kDegrees) {
    mine = own.fit(degree);
    others = other.fit(degree);
    if (std::min(mine, others) < kWellDrawn) break;
  }
  if (!(std::min(mine, others) < kDrawn)) return nullptr;
  return others < mine ? &other : &own;
}

}  // namespace

bool is_nearly_singular(const Mechanism& mechanism, const Eigen::MatrixXd& jacobian) {
  std::vector<int> unread = joints_told(mechanism, false);
  for (std::size_t round = 0; round < mechanism.mimic_joints.size();
       ++round) {  // mimic joints may be chained
    for (const MimicJoint& each : mechanism.mimic_joints) {
      // A reading of either joint determines both.
      const auto count =
          std::ranges::count(unread, each.joint) + std::ranges::count(unread, each.follows);
      if (count == 1)
        std::erase_if(unread, [&](int j) { return j == each.joint || j == each.follows; });
    }
  }
  return !unread.empty() && !(told_ratio(unread, jacobian) > kInLine);
}

SingularConfiguration select_branch(const Mechanism& mechanism, LoopClosure& closure,
                                    const Eigen::MatrixXd& read, Eigen::MatrixXd& motion) {
  const std::vector<int> measured = joints_told(mechanism, true),
                         unread = joints_told(mechanism, false);
  SingularConfiguration pose;
  double least = std::numeric_limits<double>::infinity();
  for (Eigen::Index k = 0; k < motion.cols(); ++k) {
    const double ratio = told_ratio(unread, closure.closure_jacobian(motion.col(k)));
    if (!(ratio < least)) continue;
    least = ratio;
    pose.sample = k;
  }
  const Eigen::VectorXd weakest =
      weakest_motion(unread, closure.closure_jacobian(motion.col(pose.sample)));
  weakest.cwiseAbs().maxCoeff(&pose.joint);
  const std::optional<Eigen::MatrixXd> other =
      other_way(closure, measured, weakest, pose.sample, motion);
  if (!other) return pose;
  Eigen::VectorXd noise(motion.rows());
  for (Eigen::Index j = 0; j < noise.size(); ++j) {
    noise[j] = std::max(estimate_noise_level(read.row(j).transpose()), kReadNoiseMin);
  }
  try {
    Curve own_curve(closure, read, measured, noise, motion);
    Curve other_curve(closure, read, measured, noise, *other);
    Curve* const best = better_of(own_curve, other_curve);
    pose.decided = best != nullptr;
    Eigen::MatrixXd drawn = motion;
    pose.changed = best == &other_curve && best->draw(drawn);
    if (pose.changed) motion = drawn;
  } catch (const ChangePointError&) {
    return pose;  // no joints are independent on both branches: no decision
  }
  return pose;
}

}  // namespace estimator
