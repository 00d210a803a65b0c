#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {

/// Whether joints that nothing reads hardly follow from those that something does: links lie about
/// in one line, and what is read does not tell to which side they turn.
/// @param jacobian  of the loop closures
bool is_hardly_told(const Mechanism& mechanism, const Eigen::MatrixXd& jacobian);

/// A stretch of a motion in which it was hardly told where joints are, and how they went on.
struct StretchedPose {
  Eigen::Index sample = 0;  ///< nearest to the pose
  int joint = 0;            ///< that turns most there, of those that nothing reads
  bool decided = false;     ///< whether there was another way to go on
  bool changed = false;     ///< whether it was taken, and not the one that `motion` had
};

/// Decides how joints go on behind a stretched pose: as in `motion`, or the other way that closes
/// the loops. Both are drawn as smooth curves of joints that determine the others all along, and
/// the one that comes nearer to what is read is taken. A low-pass filter, which `motion` may have
/// gone through, rounds the readings off just where links reach full length, so that it would turn
/// them back.
///
/// @param motion  joints × samples, loops closed, with some samples before and behind the pose that
///                tell where joints are; what is found is put in its place
/// @param read    joints × samples, as they were read, not filtered; those of joints not told are
///                ignored
StretchedPose go_through(const Mechanism& mechanism, LoopClosure& closure,
                         const Eigen::MatrixXd& read, Eigen::MatrixXd& motion);

}  // namespace estimator
