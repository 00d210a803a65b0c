#pragma once

#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/server/http_message.hpp"

namespace service {

// Documents that the HTTP server makes by itself, from data that every client may read. They take
// long, so they are made on threads other than the main thread.

/// Returns the outline of a rig file as a response, with its free parameters and motors, and with
/// the settings that are missing for a run. Returns the reason if the rig file is invalid.
HttpResponse make_mechanism_response(const rigcal::v1::JobSpec& spec);

/// A job, and the folder that contains its result.
struct JobResultFolder {
  std::string job_id;
  std::string folder;
};

/// Returns the rig file of a job with its estimates, or the reason why there is none.
HttpResponse make_calibrated_rig_response(const JobResultFolder& job);

/// Returns a page that compares the results of jobs, or the reason why they cannot be compared.
HttpResponse make_comparison_response(const std::vector<JobResultFolder>& jobs);

}  // namespace service
