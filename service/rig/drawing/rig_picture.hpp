#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/rig/drawing/scene_pictures.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Coordinate of a joint that differs from its rest position in a picture.
struct JointPosition {
  std::string name;
  double value = 0.0;    ///< coordinate [rad] or [m]
  bool degrees = false;  ///< true if the user gave degrees; rotary joints only
};

/// Parses a joint coordinate: "NAME=VALUE" in rad or m, or "NAME=VALUEdeg" in degrees.
/// @throws proto::InputError if the text has another form
JointPosition parse_joint_position(const std::string& text);

/// Picture and description in words of a rig at rest or with given joint coordinates.
class RigPicture {
 public:
  /// @param places  joint coordinates that differ from the rest position
  /// @throws proto::InputError for an unknown joint, a joint given twice, a prismatic joint in
  /// degrees, and coordinates with which the loops cannot be closed
  RigPicture(const Rig& rig, const std::vector<JointPosition>& places);

  /// Returns sentences that describe the rest position and oscillations of the rig (describe_rest).
  const std::vector<std::string>& rest() const { return rest_words_; }

  /// Returns the picture as a complete SVG document.
  std::string svg() const;

  /// Returns the picture as lines of text for a terminal of at most `columns` by `rows` characters.
  std::string text(int columns, int rows, CharacterSet letters) const;

 private:
  const Rig& rig_;
  Eigen::VectorXd coordinates_;
  std::vector<std::string> rest_words_;
};

}  // namespace service
