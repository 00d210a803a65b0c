#pragma once

#include <string>

#include "proto/calibration.pb.h"
#include "service/result/calibration_message.hpp"

namespace service {

/// Now, as "2026-11-22T20:15:00Z"; the time that SOURCE_DATE_EPOCH names where it is set
/// (reproducible-builds.org), so that a result can be the same to the last byte.
/// @throws proto::InputError where it is no number of seconds
std::string utc_date();

/// Where a result comes from.
void add_provenance(const CalibrationContext& context, rigcal::v1::ProvenanceResult* out);

/// What a calibration was asked with, as its result tells. Recordings have the paths of then.
/// @param file  the result's, for messages
/// @throws proto::InputError naming file and field
CalibrationRequest request_of(const std::string& file,
                              const rigcal::v1::ProvenanceResult& provenance);

}  // namespace service
