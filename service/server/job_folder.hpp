#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"

namespace service {

/// Makes a job's folder with its record, job.textproto, so that no crash leaves half of it.
proto::Status create_job_folder(const std::string& folder, const rigcal::v1::JobRecord& record);

/// Replaces what the record tells of the job; what the job is to do stays.
proto::Status save_job_info(const std::string& folder, const rigcal::v1::JobInfo& info);

/// What the job in a folder is to do.
proto::Result<rigcal::v1::JobSpec> load_job_spec(const std::string& folder);

/// Of the files directly inside a folder [byte].
std::uint64_t folder_size_bytes(const std::string& folder);

}  // namespace service
