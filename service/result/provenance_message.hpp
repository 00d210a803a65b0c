#pragma once

#include <string>

#include "proto/calibration.pb.h"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the current time in UTC, e.g. "2026-11-22T20:15:00Z". If the environment variable
/// SOURCE_DATE_EPOCH is set (reproducible-builds.org), returns its time instead, so that results
/// can be reproduced to the last byte.
/// @throws proto::InputError if SOURCE_DATE_EPOCH is not a number of seconds
std::string utc_date();

/// Fills the message with the provenance of a result: program version, date, command and inputs.
void add_provenance(const CalibrationContext& context, rigcal::v1::ProvenanceResult* out);

/// Returns the request of the calibration that made a stored result. Recordings have their original
/// paths.
/// @param file  path of the result for messages
/// @throws proto::InputError naming file and field
CalibrationRequest stored_request(const std::string& file,
                                  const rigcal::v1::ProvenanceResult& provenance);

}  // namespace service
