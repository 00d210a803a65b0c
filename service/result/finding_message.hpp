#pragma once

#include <google/protobuf/repeated_field.h>

#include <string>
#include <vector>

#include "estimator/assessment/finding.hpp"
#include "proto/calibration.pb.h"

namespace service {

/// Appends findings about the recordings to a list of a result message.
void add_findings(const std::vector<estimator::Finding>& findings,
                  google::protobuf::RepeatedPtrField<rigcal::v1::FindingResult>* out_list);

}  // namespace service
