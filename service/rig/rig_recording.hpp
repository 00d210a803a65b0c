#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Returns the Protobuf message of the encoder with this name in a rig file.
const rigcal::v1::Encoder& find_encoder_message(const rigcal::v1::Rig& rig,
                                                const std::string& name);

/// Reads the format of CSV recordings from recording { } of a rig file. Columns are in the order of
/// the encoders and motors of the mechanism.
/// @param mechanism  mechanism of the same rig file
/// @param place      location of recording { } in the rig file
/// @throws proto::InputError for unknown joints, missing units, and superfluous or missing columns
RecordingFormat read_recording_format(const rigcal::v1::Rig& rig,
                                      const estimator::Mechanism& mechanism,
                                      const proto::TextLocator& place);

}  // namespace service
