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

/// Returns the settings of a rig file that a commissioning checks, as text independent of comments
/// and layout. They are the unit and safety sections without url and record, and the encoder and
/// motor fields that rigcal-daq uses. Quantities that a calibration estimates are omitted, except
/// the sign of a gain.
std::string commissioned_fields(const rigcal::v1::Rig& rig);

/// @param fields              commissioned_fields()
/// @param configuration_hash  of the unit
std::string commission_hash(const std::string& fields, const std::string& configuration_hash);

enum class CommissionState {
  kCurrent,
  kNever,        ///< the rig file has no record
  kFileChanged,  ///< the settings that were checked have changed in the rig file
  kUnitChanged,  ///< another unit, or its description has changed
};

CommissionState commission_state(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

/// Describes the state in words: "rig.textproto was never commissioned"; empty for kCurrent.
std::string describe(CommissionState state, const RigConfig& rig);

/// Return the unit's id and configuration hash as text, as written in a commissioning record.
std::string unit_id_text(const firmware_iface::UnitFacts& facts);
std::string configuration_hash_text(const firmware_iface::UnitFacts& facts);

/// Changes that a commissioning makes to a rig file. Joints are in the order of the unit's
/// channels.
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
  std::vector<Stall> stall = {};           ///< new stall limits; other motors keep theirs
  std::optional<CommissionRecord> record;  ///< without its hash, which edit_rig computes
};

/// Returns the rig file's text after the edit. Comments and layout are kept.
/// @param rig  settings parsed from the text to edit
/// @throws proto::InputError if a field to change is inside a list, [ ... ]
std::string edit_rig(const RigConfig& rig, const CommissionEdit& edit);

/// Descriptions of a joint's positive direction and zero for the operator, from the rig file.
struct JointGuide {
  std::string positive_way;  ///< e.g. "counter-clockwise seen from above"; empty: unknown
  std::string zero;          ///< zero position, e.g. "hanging"
};

/// Reads the descriptions for one joint from a valid rig file.
JointGuide read_joint_guide(const RigConfig& rig, const std::string& joint);

}  // namespace daq
