#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/text/name_words.hpp"

namespace service {

/// Unit of an encoder column, for angles or for positions of prismatic joints.
enum class ReadingUnit {
  kRadian,
  kDegree,
  kTurn,
  kCount,
  kMetre,
  kMillimetre,
  kMilliradian,
  kGon,
  kArcminute,
  kCentimetre,
  kInch,
  kMicrometre
};

/// Parses the name of a unit of encoder readings, e.g. "deg".
/// @throws proto::InputError, listing the units, for an unknown name
ReadingUnit parse_reading_unit(const std::string& text);
const char* reading_unit_name(ReadingUnit unit);
/// Returns the field of a rig file for a unit, e.g. "unit: DEGREE" or "unit_rad: 0.001".
std::string reading_unit_field(ReadingUnit unit);
/// Returns whether a unit is a unit of length. Counts are not.
bool is_length_unit(ReadingUnit unit);
/// Returns the size of a unit of encoder readings in rad or m. One count is one turn divided by
/// `counts`; 0 if they are unknown.
double reading_unit_size(ReadingUnit unit, double counts);

/// Unit of a time column.
struct TimeUnit {
  std::string name = "s";        ///< name for users
  std::string field = "SECOND";  ///< enumerator in the rig file; empty: `size` is written
  double size = 1.0;             ///< [s]
  bool operator==(const TimeUnit&) const = default;
};

/// Parses the name of a unit of time, e.g. "ms", or its length in seconds, e.g. "13.9e-9".
/// @throws proto::InputError, listing the units, for an unknown name
TimeUnit parse_time_unit(const std::string& text);
/// Returns the field of a rig file for a unit, e.g. "unit: MILLISECOND" or "unit_s: 60".
std::string time_unit_field(const TimeUnit& unit);

/// Returns the unit of readings that the name of a column contains; nullopt if it contains none.
std::optional<ReadingUnit> find_reading_unit(const std::string& name);
/// Returns the unit of time that the name of a column contains; nullopt if it contains none.
std::optional<TimeUnit> find_time_unit(const std::string& name);
/// Returns the unit of time stamps that are dates; nullopt if they are not. Dates count from an
/// epoch of a computer system: Unix, Windows (FILETIME), .NET, Excel or MATLAB.
/// @param first  first time stamp
/// @param step   mean time between time stamps, in their unit
std::optional<TimeUnit> find_date_unit(double first, double step);
/// Returns the unit of time in which time stamps are plausible; seconds if there is none.
TimeUnit find_plausible_time_unit(double step);

/// Returns why the unit in the name of a column is unknown or ambiguous, for a message; empty if it
/// is neither, or if the name has no unit. Only text in square brackets is certainly a unit.
/// @param option  option that gives the unit, e.g. "--angle-unit"
std::string describe_unknown_unit(const std::string& name, const std::string& option);

}  // namespace service
