#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <memory>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/segment_controls.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Positions of the points that touch the ground, and the impulse of touch-down, of a tree
/// mechanism at single instants.
///
/// An active contact keeps its points where they are, G v = 0. If it begins while they move, an
/// inelastic impulse Λ acts through the whole mechanism: with the mass matrix M,
///
///   M (v⁺ − v⁻) + Gᵀ Λ = 0,   G v⁺ = 0,
///
/// with the rows G of all active contacts. Contacts that are at rest thus take impulses too.
class GroundContactPoints {
 public:
  GroundContactPoints(const TreeProgram& program, const Mechanism& values);

  /// Computes the positions of the points of all contacts, and their derivatives.
  /// @param coordinates  one per joint
  void evaluate(const Eigen::VectorXd& coordinates);
  const Eigen::VectorXd& positions() const { return positions_; }
  const Eigen::MatrixXd& jacobian() const { return jacobian_; }  ///< equations × joints
  /// Returns the derivatives by the motion parameters, equations × parameters. Call it after
  /// `evaluate`.
  Eigen::MatrixXd parameter_jacobian();

  /// Changes the rates by the impulse of the contacts that are active in a substep.
  void apply_impulse(const SegmentControls& controls, int substep,
                     const Eigen::VectorXd& coordinates, Eigen::VectorXd& rates);
  /// Replaces the derivatives of a state before the last impulse by those after it.
  /// @param slopes  derivatives of coordinates, then rates by any directions, of which the last are
  ///                the motion parameters
  void differentiate_impulse(Eigen::MatrixXd& slopes);

 private:
  static constexpr int kLanes = 4;

  double* row(int index) { return row_at<kLanes>(rows_, index); }
  void run(TreeProgram::Section last);
  void set_coordinates(const Eigen::VectorXd& coordinates);

  const TreeProgram& program_;
  int n_, m_;
  Rows rows_;  // of the program
  Eigen::VectorXd positions_, impulse_, jump_, after_;
  Eigen::MatrixXd jacobian_;
  Eigen::MatrixXd active_;    // G without rows of inactive contacts
  Eigen::MatrixXd response_;  // M⁻¹ Gᵀ
  Eigen::MatrixXd mass_;
  Eigen::LDLT<Eigen::MatrixXd> mobility_;
};

/// Returns the points of a mechanism that touch the ground; null if it has no contacts.
std::unique_ptr<GroundContactPoints> make_ground_contact_points(const TreeProgram& program,
                                                                const Mechanism& values);

}  // namespace estimator
