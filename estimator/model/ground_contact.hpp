#pragma once

#include <string>

namespace estimator {

/// Parameters of a contact with the ground: a point in the body frame from the centre of mass [m].
enum class ContactParameter : int { kPointX, kPointY, kPointZ, kCount };

/// A contact of a body with the ground, such as the foot of a walking robot. While it is active
/// (Segment::contacts), its points stay at the positions that they had when it became active.
struct GroundContact {
  enum class Kind {
    kPoint,  ///< a point, about which the body can turn
    kPlane,  ///< a sole, which keeps its orientation
  };

  std::string name;
  int body = 0;  ///< index into bodies
  Kind kind = Kind::kPoint;

  /// Returns the number of points that stay where they are. Three points hold a sole: the given
  /// one and two at the distance kSoleArm along the x and y axes of the body.
  int point_count() const { return kind == Kind::kPoint ? 1 : 3; }
  /// Returns the number of degrees of freedom that the contact removes.
  int constraint_count() const { return kind == Kind::kPoint ? 3 : 6; }

  static constexpr double kSoleArm = 0.1;  ///< [m]
};

}  // namespace estimator
