#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/simulation/statics/equilibrium.hpp"
#include "service/rig/drawing/scene.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Character set for pictures on a terminal.
enum class CharacterSet {
  kBraille,  ///< Unicode Braille patterns, two by four dots per character
  kAscii     ///< ASCII characters, for terminals without Unicode
};

/// Size of an SVG picture of a rig.
enum class PictureSize {
  kFile,    ///< a page of its own, with the name of the rig and a description in words
  kReport,  ///< two thirds of that width, without texts around it
};

/// Joint coordinate that a user requests for a picture, instead of the rest position.
struct RequestedCoordinate {
  std::string name;
  double value = 0.0;    ///< coordinate [rad] or [m]
  bool degrees = false;  ///< true if the user gave degrees; rotary joints only
};

/// Parses a joint coordinate: "NAME=VALUE" in rad or m, or "NAME=VALUEdeg" in degrees.
/// @throws proto::InputError if the text has another form
RequestedCoordinate parse_joint_coordinate(const std::string& text);

/// Picture of a rig, with a description in words. The rig is at rest or at requested joint
/// coordinates.
class RigPicture {
 public:
  /// @param places  requested joint coordinates; other joints are at rest
  /// @throws proto::InputError for an unknown joint, a joint given twice, a prismatic joint in
  /// degrees, or coordinates at which the loops cannot be closed
  RigPicture(const Rig& rig, const std::vector<RequestedCoordinate>& places);

  /// Returns sentences on the rest position and small oscillations of the rig.
  const std::vector<std::string>& rest() const { return rest_words_; }

  /// Returns the picture as a complete SVG document.
  std::string svg(PictureSize size = PictureSize::kFile) const;

  /// Returns the picture as lines of text for a terminal of at most `columns` by `rows` characters.
  std::string text(int columns, int rows, CharacterSet letters) const;

 private:
  const Rig& rig_;
  Eigen::VectorXd coordinates_;
  std::vector<std::string> rest_words_;
};

/// Returns the character set for the locale of this process (LC_ALL, LC_CTYPE, LANG).
CharacterSet detect_terminal_character_set();

/// Returns the first view of a scene as a picture made of text characters.
/// @param columns, rows  largest size of the text
std::string render_scene_text(const Scene& scene, int columns, int rows, CharacterSet letters);

/// Returns an SVG picture of a scene: one panel per view, a legend, and lines of text below. The
/// first panel is the largest.
/// @param title  name above the panels of a file; may be empty
/// @param words  the lines of text
std::string render_scene_svg(const Scene& scene, PictureSize size, const std::string& title,
                             const std::vector<std::string>& words);

/// Returns sentences on the rest position and small oscillations of a rig, e.g. "hangs at pivot =
/// 0°; swings at 0.93 Hz" or "upright (pivot = 180°) is unstable: …".
/// @param rest  result of find_stable_equilibrium
std::vector<std::string> describe_rest_position(const Rig& rig,
                                                const std::optional<estimator::Equilibrium>& rest);

/// Returns sentences on the joints and sensors of a rig: position, positive direction, encoder and
/// motor of each joint, then encoders between bodies, then other sensors.
std::vector<std::string> describe_joints(const Rig& rig, const Eigen::VectorXd& coordinates);

/// Returns a joint coordinate as text with its unit, e.g. "12.5°" or "0.013 m".
std::string format_joint_coordinate(estimator::JointKind kind, double value);

}  // namespace service
