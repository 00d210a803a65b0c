#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/symbolic/lane_program.hpp"
#include "estimator/tree/coordinate_choice.hpp"
#include "estimator/tree/lane_rows.hpp"

namespace estimator {

/// Configurations pass a change point, at which joints can go on in two ways, whatever joints their
/// motion is described by.
class ChangePoint : public std::invalid_argument {
 public:
  /// @param passing  what passes it, and where: "the recordings pass"
  /// @param motion, configuration  the one nearest to it
  ChangePoint(const std::string& passing, std::size_t motion, Eigen::Index configuration);

  std::size_t motion;
  Eigen::Index configuration;
};

/// Where a loop is open: the joint that would close it, and how far its two sides are apart.
struct LoopGap {
  std::string joint;
  double distance = 0.0;  ///< [m]
  double turn = 0.0;      ///< [rad]
};

/// The equations c(q) = 0 that close the loops of a mechanism, six for every joint beyond a
/// spanning tree (a body that is reached twice must be at one place: point [m], orientation
/// [rad, small]), and behind them one for every joint that follows another, at the mechanism's
/// values. Pure kinematics.
class LoopClosure {
 public:
  explicit LoopClosure(const Mechanism& mechanism);

  int joint_count() const { return n_; }
  int row_count() const { return rows_; }
  bool has_loops() const { return rows_ > 0; }

  /// c at joint angles q, and ∂c/∂q.
  Eigen::VectorXd violation(const Eigen::VectorXd& angles);
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& angles);

  /// Brings the loops of an open or closed mechanism as near to closed as can be near `angles`.
  /// @param wanted  of every joint; NaN: nothing is wanted of it
  /// @return whether there are angles at all
  bool approach(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// How far the loops are from closed: the norm of c, and π for a body that is half a turn off.
  double openness(const Eigen::VectorXd& angles);

  /// Closes the loops near `angles` with joints as near as can be to `wanted`, by Gauss–Newton.
  ///
  /// @param wanted  of every joint; NaN: nothing is wanted of it
  /// @return whether they are closed to kClosed. The equations also hold for a body that is half a
  ///         turn off; that is not closed.
  bool close(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// Joints beyond the spanning tree, in the order of their equations.
  std::vector<std::string> closing_joints() const;

  /// The loop that is open widest; there must be one.
  LoopGap widest_gap(const Eigen::VectorXd& angles);

  /// Rates of all joints that keep the loops closed, as near as can be to those wanted.
  Eigen::VectorXd rates(const Eigen::VectorXd& angles, const Eigen::VectorXd& wanted);

  /// How well the other joints determine these: the smallest singular value of their columns of
  /// ∂c/∂q. Zero where they can go on in two ways.
  double condition(const Eigen::VectorXd& angles, const std::vector<int>& dependent);

  /// Joints that determine the others best in the worst of some closed configurations, and
  /// equations that do it. Joints that follow others are among these others.
  ///
  /// @param motions  joint angles, a column a configuration, one behind the other on its way
  /// @throws ChangePoint where all choices pass one: the configurations leave it open how the
  ///         mechanism goes on
  CoordinateChoice choose(const std::vector<Eigen::MatrixXd>& motions);

 private:
  void run(const Eigen::VectorXd& angles);
  void follow(Eigen::VectorXd& angles, const Eigen::VectorXd& wanted) const;

  Mechanism mechanism_;
  int n_, rows_ = 0;
  LaneProgram program_;
  Rows values_;
};

/// Loops are closed that are open by no more than this [m, rad].
inline constexpr double kClosed = 1e-9;

}  // namespace estimator
