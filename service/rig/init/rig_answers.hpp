#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/rig/init/column_units.hpp"

namespace service {

/// Kind of mechanism for which `rigcal init` can write a rig file.
enum class RigKind { kPendulum, kDoublePendulum, kChain, kFuruta, kCartPole, kCart, kFourbar };

/// Name and description of a kind of rig for the command line of `rigcal init`.
struct RigKindDescription {
  RigKind kind;
  const char* name;  ///< name, e.g. "double-pendulum"
  const char* what;  ///< description, e.g. "two links in series, in a vertical plane"
  /// Names of links and measured joints. For a double pendulum or chain, names get a number.
  std::vector<std::string> links, joints;
};

/// Returns names and descriptions of all kinds of rig, in the order of RigKind.
const std::vector<RigKindDescription>& supported_rig_kinds();

/// Returns the kind of rig with this name.
/// @throws proto::InputError, listing the kinds, for an unknown name
RigKind parse_rig_kind(const std::string& text);
const char* rig_kind_name(RigKind kind);

/// Properties of a link that the user knows. The rig file gets assumed values, marked by comments,
/// for unknown properties.
struct LinkAnswer {
  std::optional<double> length;  ///< distance from its joint to the next joint, or to its tip [m]
  std::optional<double> center;  ///< distance from its joint to its centre of mass [m]
  std::optional<double> mass;    ///< [kg]
};

/// Properties of an encoder and of its column in a recording.
struct EncoderAnswer {
  std::string column;
  ReadingUnit unit = ReadingUnit::kRadian;
  bool inverted = false;
  double rest = 0.0;  ///< reading at which the angle shall be zero, before inversion [rad]
  std::optional<double> counts = {};  ///< counts per turn or metre
  double counts_modulo = 0.0;         ///< counts after which the counter restarts at 0; 0: never
  bool allow_missing = false;         ///< the recording has rows without a reading
};

struct MotorAnswer {
  std::string column;      ///< name of the command's column; empty: unknown
  std::string unit = "V";  ///< unit of the command
  double scale = 1.0;      ///< size of the column's unit [unit]
  bool has_scale = false;  ///< the rig file states the scale although it is 1
};

/// Safety limits of one measured joint.
struct LimitAnswer {
  double low = 0.0, high = 0.0;  ///< [rad or m]
  double speed = 0.0;            ///< largest speed [rad/s or m/s]
};

/// Conversion unit of a rig, and the limits within which rigcal-daq may move it.
struct UnitAnswer {
  std::string url;
  std::vector<std::string> channels = {};  ///< joints in the order of the unit; empty: of the rig
  std::vector<LimitAnswer> limits = {};    ///< in the order of RigAnswers::readings
  double command_max = 0.0;                ///< [unit of the motor]; 0: no motor
};

/// Parses the range of a joint, "MIN:MAX" in degrees or metres, to rad or m. The speed stays 0.
/// @throws proto::InputError for another form, and for a range without zero width
LimitAnswer parse_joint_range(const std::string& text, bool slides);

/// Use of a column of a recording.
struct ColumnUse {
  std::string column;
  std::string use;     ///< e.g. "time in s"; empty: not used
  std::string reason;  ///< reason why it is used or not, e.g. "by its name"
};

/// Description of a rig from the user's answers and from a recording.
struct RigAnswers {
  RigKind kind = RigKind::kPendulum;
  std::string name;
  std::vector<LinkAnswer> links;    ///< in the order of link_names
  std::optional<double> cart_mass;  ///< [kg]
  std::optional<double> ground;     ///< four-bar: distance between the two fixed joints [m]
  double axis_tilt = 0.0;           ///< planar rigs: tilt of the joint axes from horizontal [rad]
  double gravity = 9.81;        ///< [m/s²]
  std::optional<double> swing;  ///< frequency of small oscillations in a recording [Hz]
  std::optional<double> command_max;  ///< largest magnitude of the command in a recording [unit]
  std::string source;                 ///< path of the analysed recording; empty: no recording
  std::string time_column;            ///< name of the time column; empty: no time column
  TimeUnit time_unit = {};
  double rate = 0.0;                    ///< sampling rate if there is no time column [Hz]
  std::vector<EncoderAnswer> readings;  ///< in the order of measured_joint_names
  /// True if the angle of a link is measured from the vertical; false if from the previous link.
  bool absolute = false;
  std::optional<MotorAnswer> motor;
  std::optional<UnitAnswer> unit = {};  ///< nullopt: a commented template is written
  std::string segment_column;
  std::vector<std::string> column_names = {};  ///< given names, if the recording has no header line
  std::string source_layout = {};              ///< assumptions about a text file; empty: plain CSV
  std::vector<ColumnUse> columns;  ///< all columns of the recording, in their order
  std::string topic;               ///< chosen topic of a ROS 2 bag; empty: none
};

/// Returns the names of the links of a kind of rig, in the order of RigAnswers::links.
/// @param chain  number of links of a chain
std::vector<std::string> link_names(RigKind kind, int chain);

/// Checks the sizes of a rig's links.
/// @throws proto::InputError if a centre of mass is beyond the link's tip, or if a four-bar's loop
/// cannot be closed
void check_link_sizes(const RigAnswers& answers);

/// Returns the names of the measured joints of a kind of rig, in the order of RigAnswers::readings.
/// @param chain  number of links of a chain
std::vector<std::string> measured_joint_names(RigKind kind, int chain);

/// Returns whether a kind of rig has a cart, whose position is its first reading.
inline bool has_cart(RigKind kind) { return kind == RigKind::kCartPole || kind == RigKind::kCart; }

/// Returns whether an encoder measures the position of a cart rather than an angle.
/// @param reading  index of the encoder among the measured joints
inline bool measures_cart_position(RigKind kind, std::size_t reading) {
  return has_cart(kind) && reading == 0;
}

/// Returns the sections unit and safety of a rig file if the answers contain a unit; otherwise, and
/// for end stops, a commented-out template that marks the values that the user must fill in.
/// @param encoders  names of the encoders, in the order of RigAnswers::readings
/// @throws proto::InputError if a channel names no encoder
std::string make_driving_sections(const RigAnswers& answers,
                                  const std::vector<std::string>& encoders);

/// Returns the text of a rig file for the user's answers. Comments mark each quantity as given,
/// assumed, or unknown and estimated. Only parameters that the recorded quantities can identify are
/// free.
///
/// Missing values get defaults: masses and lengths of a table-top rig (or a length from the
/// oscillation frequency in the recording), centres of mass at half length, and inertias of slender
/// rods.
/// @throws proto::InputError if a value without a default is missing
std::string make_rig_file_text(const RigAnswers& answers);

}  // namespace service
