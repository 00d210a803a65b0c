#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace rigcal::v1 {
class Rig;
}

namespace daq {

/// What a commissioning vouches for, in a form that does not depend on comments or layout: the unit
/// and safety sections, but for the unit's url and its record, and what rigcal-daq uses of encoders
/// and motors. Quantities that a calibration estimates are left out, but for the sign of a gain.
std::string commissioned_fields(const rigcal::v1::Rig& rig);

/// @param fields              commissioned_fields()
/// @param configuration_hash  of the unit
std::string commission_hash(const std::string& fields, const std::string& configuration_hash);

enum class CommissionState {
  kCurrent,
  kNever,        ///< the rig file has no record
  kFileChanged,  ///< what was checked has changed in the rig file
  kUnitChanged,  ///< another unit, or it describes itself otherwise
};

CommissionState commission_state(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

/// "rig.textproto was never commissioned"; empty for kCurrent.
std::string describe(CommissionState state, const RigConfig& rig);

/// Unit id and configuration hash as a record states them.
std::string unit_id_text(const firmware_iface::UnitFacts& facts);
std::string configuration_hash_text(const firmware_iface::UnitFacts& facts);

/// What a commissioning changes in a rig file. Joints by name, in the order of the unit's channels.
struct CommissionEdit {
  struct Channel {
    std::string joint;
    bool inverted = false;
    double offset = 0.0;  ///< [rad] or [m]
  };
  struct Stall {
    std::string joint;
    double command = 0.0;  ///< [unit of the control signal]
    double time_s = 0.0;
  };
  std::vector<Channel> channel;
  std::vector<Stall> stall = {};           ///< of motors whose limits are to change
  std::optional<CommissionRecord> record;  ///< its hash is filled in
};

/// The rig file's text with the edit made; all else stays, comments and layout too.
/// @param rig  of that text
/// @throws proto::InputError where the text has what must change in a list, [ ... ]
std::string edit_rig(const RigConfig& rig, const CommissionEdit& edit);

}  // namespace daq
