#pragma once

#include <ceres/jet.h>

#include <Eigen/Geometry>
#include <random>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace test_support {

/// A nonlinear chain on SO(3) x R³ with shared parameters and box bounds: a vehicle whose turn
/// rates are measured with unknown scale and bias and whose speed has an unknown gain, located by
/// landmarks through a camera with an unknown offset. Its residuals are templates: the same code is
/// evaluated with Jets here and differentiated automatically by Ceres.
struct RotationChain {
  static constexpr int kParameters = 8;  ///< scale (3), bias (3), speed gain, camera offset
  static constexpr int kNodeSize = 6;    ///< tangent: rotation (body frame), translation
  static constexpr double kStep = 0.1;   ///< [s]

  /// Computes the residuals of one step: rotation (3), translation (3).
  template <typename T>
  static void transition(const Eigen::Quaternion<T>& q0, const Eigen::Matrix<T, 3, 1>& p0,
                         const Eigen::Quaternion<T>& q1, const Eigen::Matrix<T, 3, 1>& p1,
                         const T* chi, const Eigen::Vector3d& rate, double speed, T* residual) {
    Eigen::Matrix<T, 3, 1> turn;
    for (int i = 0; i < 3; ++i) turn[i] = kStep * (chi[i] * rate[i] + chi[3 + i]);
    const Eigen::Quaternion<T> error = (q0 * exp_quaternion<T>(turn)).conjugate() * q1;
    const Eigen::Matrix<T, 3, 1> rotation = log_quaternion<T>(error);
    const Eigen::Matrix<T, 3, 1> travel =
        q0 * Eigen::Matrix<T, 3, 1>(chi[6] * T(kStep * speed), T(0.0), T(0.0));
    for (int i = 0; i < 3; ++i) {
      residual[i] = 30.0 * rotation[i];
      residual[3 + i] = 20.0 * (p1[i] - p0[i] - travel[i]);
    }
  }

  /// Computes the residuals of one landmark in the image (2).
  template <typename T>
  static void observation(const Eigen::Quaternion<T>& q, const Eigen::Matrix<T, 3, 1>& p,
                          const T* chi, const Eigen::Vector3d& landmark,
                          const Eigen::Vector2d& seen, T* residual) {
    using std::sqrt;
    const Eigen::Matrix<T, 3, 1> ray = q.conjugate() * (landmark.cast<T>() - p);
    const T length = sqrt(T(1.0) + ray.squaredNorm());
    residual[0] = 50.0 * (ray[0] / length + chi[7] - seen[0]);
    residual[1] = 50.0 * (ray[1] / length - chi[7] * ray[0] / length - seen[1]);
  }

  template <typename T>
  static Eigen::Quaternion<T> exp_quaternion(const Eigen::Matrix<T, 3, 1>& v) {
    using std::cos;
    using std::sin;
    using std::sqrt;
    const T angle2 = v.squaredNorm();
    if (angle2 < T(1e-24)) {
      return Eigen::Quaternion<T>(T(1.0), 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]);
    }
    const T angle = sqrt(angle2);
    const T k = sin(0.5 * angle) / angle;
    return Eigen::Quaternion<T>(cos(0.5 * angle), k * v[0], k * v[1], k * v[2]);
  }

  template <typename T>
  static Eigen::Matrix<T, 3, 1> log_quaternion(const Eigen::Quaternion<T>& q) {
    using std::atan2;
    using std::sqrt;
    const T sine2 = q.vec().squaredNorm();
    if (sine2 < T(1e-24)) return T(2.0) * q.vec() / q.w();
    const T sine = sqrt(sine2);
    const T sign = q.w() < T(0.0) ? T(-1.0) : T(1.0);
    return T(2.0) * atan2(sign * sine, sign * q.w()) / sine * q.vec();
  }

  struct Pose {
    Eigen::Quaterniond q;
    Eigen::Vector3d p;
  };
  struct Sighting {
    int node;
    Eigen::Vector3d landmark;
    Eigen::Vector2d seen;
  };

  std::vector<Pose> poses;  ///< starting point
  Eigen::VectorXd chi;      ///< starting point
  Eigen::VectorXd lower, upper;
  std::vector<Eigen::Vector3d> rates;
  std::vector<double> speeds;
  std::vector<Sighting> sightings;  ///< ordered by node
};

/// Returns the drive of a vehicle over `node_count` poses with noise, and an initial guess far from
/// the true values.
RotationChain make_rotation_chain(int node_count, std::mt19937& random);

/// A RotationChain as a problem for the solver under test.
class RotationChainProblem : public estimator::LeastSquaresProblem {
 public:
  explicit RotationChainProblem(RotationChain chain);

  estimator::ArrowLayout layout() const override;
  int block_count() const override { return static_cast<int>(blocks_.size()); }
  int max_block_rows() const override { return 6; }
  int group_count() const override { return 2; }
  int threads() const override { return 1; }
  void linearize(int index, estimator::ResidualBlock& out) const override;
  double cost() const override { return cost_at(chain_.poses, chain_.chi); }
  double evaluate_candidate(const Eigen::VectorXd& node_step,
                            const Eigen::VectorXd& arrow_step) override;
  void accept_candidate() override;
  void mark() override { marked_ = chain_; }
  void restore() override { chain_ = marked_; }
  Eigen::VectorXd arrow() const override { return chain_.chi; }
  Eigen::VectorXd arrow_lower() const override { return chain_.lower; }
  Eigen::VectorXd arrow_upper() const override { return chain_.upper; }

 private:
  struct Block {
    bool is_transition;
    int index;  // of the transition or of the sighting
  };
  double cost_at(const std::vector<RotationChain::Pose>& poses, const Eigen::VectorXd& chi) const;

  RotationChain chain_, marked_;
  std::vector<Block> blocks_;
  std::vector<RotationChain::Pose> candidate_poses_;
  Eigen::VectorXd candidate_chi_;
};

/// Minimizes the same residuals with Ceres, without bounds but with some parameters fixed (its own
/// treatment of bounds stops far from the optimum here). Returns Σ‖r‖² and moves `chain` to the
/// optimum.
double solve_with_ceres(RotationChain& chain, const std::vector<int>& held = {});

}  // namespace test_support
