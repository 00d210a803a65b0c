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

/// Returns the settings of a rig file that a commissioning checks, as text without comments and
/// layout. These settings are the unit section without the URL and the commissioning record, the
/// safety limits in the record, and the encoder and motor fields that rigcal-daq uses. Quantities
/// that a calibration estimates are omitted, except the sign of a gain. A file whose record has no
/// safety limits uses its safety section instead.
std::string commissioned_fields(const rigcal::v1::Rig& rig);

/// @param fields              commissioned_fields()
/// @param configuration_hash  of the unit
std::string commission_hash(const std::string& fields, const std::string& configuration_hash);

enum class CommissionState {
  kCurrent,
  kNever,          ///< the rig file has no record
  kFileChanged,    ///< the settings that were checked have changed in the rig file
  kUnitChanged,    ///< another conversion unit, or its description has changed
  kLimitLoosened,  ///< a safety limit permits more than when the settings were checked
};

CommissionState commission_state(const RigConfig& rig,
                                 const firmware_iface::UnitDescription& facts);

/// Describes the commissioning state of a rig in words, such as "rig.textproto was never
/// commissioned"; empty for kCurrent.
std::string describe_commission_state(CommissionState state, const RigConfig& rig);

/// Returns the advice for a rig that is not commissioned, as a clause.
std::string commission_remedy(const RigConfig& rig);

/// Return the unit's id and configuration hash as text, as written in a commissioning record.
std::string unit_id_text(const firmware_iface::UnitDescription& facts);
std::string configuration_hash_text(const firmware_iface::UnitDescription& facts);

/// Changes that a commissioning makes to a rig file. Joints are in the order of the unit's
/// channels.
struct CommissionEdit {
  struct ChannelEdit {
    std::string joint;
    bool inverted = false;
    double offset = 0.0;  ///< [rad] or [m]
  };
  struct StallEdit {
    std::string joint;
    double command = 0.0;  ///< [unit of the control signal]
    double time_s = 0.0;
  };
  std::vector<ChannelEdit> channel;
  std::vector<StallEdit> stall = {};       ///< new stall limits; other motors keep theirs
  std::optional<CommissionRecord> record;  ///< without hash and limits, which edit_rig_text adds
};

/// Returns the text of the rig file with the changes applied. Comments and layout are kept.
/// @param rig  settings parsed from the text to edit
/// @throws proto::InputError if a field to change is inside a list, [ ... ]
std::string edit_rig_text(const RigConfig& rig, const CommissionEdit& edit);

/// Texts in the rig file that describe a joint's positive direction and zero position to the
/// operator.
struct JointDescription {
  std::string positive_way;  ///< e.g. "counter-clockwise seen from above"; empty: unknown
  std::string zero;          ///< zero position, e.g. "hanging"
};

/// Reads the texts about one joint's positive direction and zero position from a valid rig file.
JointDescription read_joint_description(const RigConfig& rig, const std::string& joint);

}  // namespace daq
