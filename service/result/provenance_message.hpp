#pragma once

#include <string>

#include "proto/calibration.pb.h"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the current time as "2026-11-22T20:15:00Z". If SOURCE_DATE_EPOCH is set
/// (reproducible-builds.org), it gives the time, so that results can be identical to the last byte.
/// @throws proto::InputError if it is not a number of seconds
std::string utc_date();

/// Adds the provenance of a result.
void add_provenance(const CalibrationContext& context, rigcal::v1::ProvenanceResult* out);

/// Returns the request of a calibration from its stored result. Recordings have their original
/// paths.
/// @param file  path of the result, for messages
/// @throws proto::InputError naming file and field
CalibrationRequest stored_request(const std::string& file,
                                  const rigcal::v1::ProvenanceResult& provenance);

}  // namespace service
