#include "estimator/fit/physical/shooting/contact_checks.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "estimator/fit/number_text.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/simulation/loops/ground_contact_points.hpp"

namespace estimator {
namespace {

constexpr double kContactRank = 1e-6;  // of the largest singular value
/// Distance by which the point of an active contact may move according to encoders, since lengths
/// of links may be wrong [m].
constexpr double kFootTravel = 0.05;

/// Returns the number of velocities that the joints leave free.
int count_degrees_of_freedom(const Mechanism& mechanism) {
  int count = mechanism.joint_count();
  for (const Joint& joint : mechanism.joints) {
    if (joint.is_compound() && joint.place == 0) --count;  // the norm of a quaternion
  }
  return count;
}

}  // namespace

void check_contacts(const Mechanism& mechanism, const Segment& segment,
                    const Eigen::MatrixXd& states, const std::string& recording) {
  if (segment.contacts.cols() == 0) return;
  const TreeProgram program(mechanism);
  GroundContactPoints ground(program, mechanism);
  const std::vector<int>& contact_of = program.contact_of_equation();
  const bool is_observed =
      EncoderToJointMap(mechanism).observed_joint_count() == mechanism.joint_count();
  Eigen::VectorXd start = Eigen::VectorXd::Zero(std::ssize(contact_of));
  for (Eigen::Index k = 0; k < segment.contacts.rows(); ++k) {
    const double time = segment.time(k);
    const auto column =
        std::clamp<Eigen::Index>(std::lround(time / segment.period), 0, states.cols() - 1);
    ground.evaluate(states.col(column).head(mechanism.joint_count()));
    const auto is_active = [&](Eigen::Index row, std::size_t equation) {
      return segment.contacts(row, contact_of[equation]) != 0.0;
    };
    if (k == 0 || segment.contacts.row(k) != segment.contacts.row(k - 1)) {
      Eigen::MatrixXd active = ground.jacobian();
      for (std::size_t i = 0; i < contact_of.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        if (!is_active(k, i)) active.row(row).setZero();
        if (k == 0 || !is_active(k - 1, i)) start[row] = ground.positions()[row];
      }
      Eigen::JacobiSVD<Eigen::MatrixXd> svd(active);
      svd.setThreshold(kContactRank);
      if (svd.rank() >= count_degrees_of_freedom(mechanism)) {
        throw std::invalid_argument(recording + ": from " + number_text(segment.start + time) +
                                    " s on, the active contacts leave the rig no motion. Remove a "
                                    "contact, or write kind: POINT instead of PLANE");
      }
    }
    for (std::size_t i = 0; is_observed && i < contact_of.size(); i += 3) {
      const auto row = static_cast<Eigen::Index>(i);
      if (!is_active(k, i)) continue;
      const double moved = (ground.positions() - start).segment<3>(row).norm();
      if (moved < kFootTravel) continue;
      throw std::invalid_argument(
          recording + ": contact " + quoted(mechanism.contacts[contact_of[i]].name) +
          " is active, but its point has moved by " + number_text(moved, 2) + " m at " +
          number_text(segment.start + time) +
          " s according to the encoders. Check the phases of the contact, the lengths of the "
          "links and the signs of the encoders");
    }
  }
}

}  // namespace estimator
