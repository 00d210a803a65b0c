#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace service {

/// Mechanisms that `rigcal init` knows how to ask about.
enum class RigKind { kPendulum, kDoublePendulum, kChain, kFuruta, kCartPole, kFourbar };

/// Name of a kind on the command line, and what it is.
struct RigKindName {
  RigKind kind;
  const char* name;  ///< "double-pendulum"
  const char* what;  ///< "two links on one another, in a plane"
};
const std::vector<RigKindName>& rig_kinds();

/// @throws proto::InputError listing the kinds
RigKind parse_rig_kind(const std::string& text);
const char* name_of(RigKind kind);

/// Units that a column may count in; of angles, and of positions.
enum class ReadingUnit { kRadian, kDegree, kTurn, kCount, kMetre, kMillimetre };
/// @throws proto::InputError listing them
ReadingUnit parse_reading_unit(const std::string& text);
const char* name_of(ReadingUnit unit);

enum class TimeUnit { kSecond, kMillisecond, kMicrosecond };
TimeUnit parse_time_unit(const std::string& text);

/// What is known of one link; what is not is left to the writer, which says what it takes.
struct LinkAnswer {
  std::optional<double> length;  ///< from its hinge to the next, or to its tip [m]
  std::optional<double> center;  ///< from its hinge to its centre of mass [m]
  std::optional<double> mass;    ///< [kg]
};

/// One column that an encoder fills.
struct ReadingAnswer {
  std::string column;
  ReadingUnit unit = ReadingUnit::kRadian;
  bool inverted = false;
  double rest = 0.0;  ///< what it reads, not inverted, where the angle is to be zero [rad]
  std::optional<double> counts = {};  ///< per turn, or per metre
};

struct MotorAnswer {
  std::string column;      ///< empty: none is known
  std::string unit = "V";  ///< of the control signal
};

/// What a person said of a rig, or a look at a recording.
struct RigAnswers {
  RigKind kind = RigKind::kPendulum;
  std::string name;
  std::vector<LinkAnswer> links;      ///< see link_names
  std::optional<double> cart_mass;    ///< [kg]
  std::optional<double> ground;       ///< of a four-bar: between the two fixed hinges [m]
  double axis_lean = 0.0;             ///< of planar rigs: of the axis out of the level [rad]
  double gravity = 9.81;              ///< [m/s²]
  std::optional<double> swing;        ///< frequency of small swings, seen in a recording [Hz]
  std::optional<double> command_max;  ///< largest command seen in a recording
  std::string source;                 ///< the recording that was looked at; empty: none
  std::string time_column;            ///< empty: none
  TimeUnit time_unit = TimeUnit::kSecond;
  double rate = 0.0;                    ///< where there is no time column [Hz]
  std::vector<ReadingAnswer> readings;  ///< see reading_names
  bool absolute = false;  ///< a link's angle is against the vertical, not the link before
  std::optional<MotorAnswer> motor;
  std::string segment_column;
};

/// Links of a kind, in the order of RigAnswers::links.
/// @param chain  number of links of a chain
std::vector<std::string> link_names(RigKind kind, int chain);

/// Refuses sizes that no rig of the kind has: a centre of mass beyond a link's tip, or a four-bar
/// that cannot be closed. @throws proto::InputError
void check_sizes(const RigAnswers& answers);

/// What is read of a kind, in the order of RigAnswers::readings: joints by their names.
std::vector<std::string> reading_names(RigKind kind, int chain);

/// Whether a reading is a position: of a cart.
inline bool is_position(RigKind kind, std::size_t reading) {
  return kind == RigKind::kCartPole && reading == 0;
}

}  // namespace service
