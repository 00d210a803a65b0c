#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Returns the rig file's encoder of that name (estimator::used_encoders).
const rigcal::v1::Encoder& encoder_of(const rigcal::v1::Rig& rig, const std::string& name);

/// Reads the recording format of a rig, with columns in the order of its encoders and motors.
/// @param mechanism  the rig's, for its sensors and motors
/// @param place      location of `rig.recording`
/// @throws proto::InputError for unknown joints, missing units, and superfluous or missing columns
RecordingFormat read_recording_format(const rigcal::v1::Rig& rig,
                                      const estimator::Mechanism& mechanism,
                                      const proto::TextLocator& place);

}  // namespace service
