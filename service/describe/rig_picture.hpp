#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/scene_text.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Joint coordinate for a picture, other than at rest.
struct JointPosition {
  std::string name;
  double value = 0.0;    ///< [rad] or [m]
  bool degrees = false;  ///< given in degrees; rotary joints only
};

/// Parses "NAME=VALUE", in rad or m, or "NAME=VALUEdeg". @throws proto::InputError
JointPosition parse_joint_position(const std::string& text);

/// Picture of a rig at rest or with given joint coordinates, and its description in words.
class RigPicture {
 public:
  /// @throws proto::InputError for an unknown joint, one given twice, a prismatic joint in degrees,
  ///         and coordinates with which the loops cannot be closed
  RigPicture(const Rig& rig, const std::vector<JointPosition>& places);

  /// Returns rest position and oscillations (describe_rest).
  const std::vector<std::string>& rest() const { return rest_words_; }

  /// Returns a complete SVG document.
  std::string svg() const;

  /// Returns a picture for a terminal.
  std::string text(int columns, int rows, CharacterSet letters) const;

 private:
  const Rig& rig_;
  Eigen::VectorXd coordinates_;
  std::vector<std::string> rest_words_;
};

}  // namespace service
