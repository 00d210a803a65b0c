#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/convert/recording_format.hpp"

namespace service {

/// The recording format of a rig, with its columns in hinge order.
/// @param mechanism  the rig's, for the hinges that are measured and motorised
/// @param place      where `rig.recording` stands
/// @throws proto::InputError for unknown hinges, missing units, columns too many or too few
RecordingFormat read_recording_format(const rigcal::v1::Rig& rig,
                                      const estimator::Mechanism& mechanism,
                                      const proto::TextLocator& place);

}  // namespace service
