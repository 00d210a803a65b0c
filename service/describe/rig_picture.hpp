#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/scene_text.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// A joint that a picture shows elsewhere than at rest.
struct JointPlace {
  std::string name;
  double value = 0.0;    ///< [rad] or [m]
  bool degrees = false;  ///< given in degrees: of a joint that turns
};

/// Reads "NAME=VALUE", in rad or m, or "NAME=VALUEdeg". @throws proto::InputError
JointPlace parse_joint_place(const std::string& text);

/// A rig drawn where it rests, or with joints elsewhere, and described in words.
class RigPicture {
 public:
  /// @throws proto::InputError for a joint that the rig does not have, given twice, or in degrees
  ///         though it slides, and for places in which its loops cannot be closed
  RigPicture(const Rig& rig, const std::vector<JointPlace>& places);

  /// Where it rests and how it swings.
  const std::vector<std::string>& rest() const { return rest_words_; }

  /// A complete SVG document.
  std::string svg() const;

  /// For a terminal.
  std::string text(int columns, int rows, Letters letters) const;

 private:
  const Rig& rig_;
  Eigen::VectorXd coordinates_;
  std::vector<std::string> rest_words_;
};

}  // namespace service
