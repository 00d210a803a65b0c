#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace service {

/// Mechanisms that `rigcal init` supports.
enum class RigKind { kPendulum, kDoublePendulum, kChain, kFuruta, kCartPole, kFourbar };

/// Name of a kind on the command line, and a description.
struct RigKindName {
  RigKind kind;
  const char* name;  ///< "double-pendulum"
  const char* what;  ///< "two links on one another, in a plane"
};
const std::vector<RigKindName>& rig_kinds();

/// @throws proto::InputError listing the kinds
RigKind parse_rig_kind(const std::string& text);
const char* name_of(RigKind kind);

/// Units of a column, for angles and positions.
enum class ReadingUnit { kRadian, kDegree, kTurn, kCount, kMetre, kMillimetre };
/// @throws proto::InputError listing the units
ReadingUnit parse_reading_unit(const std::string& text);
const char* name_of(ReadingUnit unit);

enum class TimeUnit { kSecond, kMillisecond, kMicrosecond };
TimeUnit parse_time_unit(const std::string& text);

/// SourcedValue properties of one link. For the others the writer assumes values and marks them.
struct LinkAnswer {
  std::optional<double> length;  ///< from its joint to the next one, or to its tip [m]
  std::optional<double> center;  ///< from its joint to its centre of mass [m]
  std::optional<double> mass;    ///< [kg]
};

/// Column of one encoder.
struct ReadingAnswer {
  std::string column;
  ReadingUnit unit = ReadingUnit::kRadian;
  bool inverted = false;
  double rest = 0.0;  ///< reading, not inverted, at which the angle is to be zero [rad]
  std::optional<double> counts = {};  ///< per turn or metre
};

struct MotorAnswer {
  std::string column;      ///< empty: unknown
  std::string unit = "V";  ///< of the control signal
};

/// Description of a rig from a user's answers or from a recording.
struct RigAnswers {
  RigKind kind = RigKind::kPendulum;
  std::string name;
  std::vector<LinkAnswer> links;      ///< see link_names
  std::optional<double> cart_mass;    ///< [kg]
  std::optional<double> ground;       ///< of a four-bar: distance of the two fixed joints [m]
  double axis_tilt = 0.0;             ///< of planar rigs: tilt of the axis from horizontal [rad]
  double gravity = 9.81;              ///< [m/s²]
  std::optional<double> swing;        ///< frequency of small oscillations in a recording [Hz]
  std::optional<double> command_max;  ///< largest command in a recording
  std::string source;                 ///< recording that was analysed; empty: none
  std::string time_column;            ///< empty: none
  TimeUnit time_unit = TimeUnit::kSecond;
  double rate = 0.0;                    ///< sampling rate if there is no time column [Hz]
  std::vector<ReadingAnswer> readings;  ///< see reading_names
  bool absolute = false;  ///< a link's angle is relative to the vertical, not to the previous link
  std::optional<MotorAnswer> motor;
  std::string segment_column;
};

/// Returns the names of a kind's links, in the order of RigAnswers::links.
/// @param chain  number of links of a chain
std::vector<std::string> link_names(RigKind kind, int chain);

/// Checks the sizes: refuses a centre of mass beyond a link's tip, and a four-bar that cannot be
/// closed. @throws proto::InputError
void check_sizes(const RigAnswers& answers);

/// Returns the names of a kind's measured joints, in the order of RigAnswers::readings.
std::vector<std::string> reading_names(RigKind kind, int chain);

/// Whether a reading is a position (of a cart).
inline bool is_position(RigKind kind, std::size_t reading) {
  return kind == RigKind::kCartPole && reading == 0;
}

}  // namespace service
