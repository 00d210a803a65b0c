#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// What the file says of the sensor of that name (estimator::sensors_of).
const rigcal::v1::Encoder& encoder_of(const rigcal::v1::Rig& rig, const std::string& name);

/// The recording format of a rig, with columns in the order of its sensors and of its motors.
/// @param mechanism  the rig's, for its sensors and motors
/// @param place      where `rig.recording` stands
/// @throws proto::InputError for unknown hinges, missing units, columns too many or too few
RecordingFormat read_recording_format(const rigcal::v1::Rig& rig,
                                      const estimator::Mechanism& mechanism,
                                      const proto::TextLocator& place);

}  // namespace service
