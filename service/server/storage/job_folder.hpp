#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"

namespace service {

/// Creates the folder of a job with its record in job.textproto. A crash never leaves a partial
/// folder.
/// partial folder.
proto::Status create_job_folder(const std::string& folder, const rigcal::v1::JobRecord& record);

/// Replaces the info in the stored record of a job; the job's specification in the record is
/// unchanged.
proto::Status save_job_info(const std::string& folder, const rigcal::v1::JobInfo& info);

/// Returns the specification of the job that is stored in a folder.
proto::Result<rigcal::v1::JobSpec> load_job_spec(const std::string& folder);

/// Returns the total size of the files directly inside a folder [byte].
std::uint64_t folder_size_bytes(const std::string& folder);

}  // namespace service
