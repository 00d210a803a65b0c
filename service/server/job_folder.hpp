#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"

namespace service {

/// Makes a job's folder with its record, job.textproto; a crash never leaves a partial folder.
proto::Status create_job_folder(const std::string& folder, const rigcal::v1::JobRecord& record);

/// Replaces the job's info in the record; its specification stays.
proto::Status save_job_info(const std::string& folder, const rigcal::v1::JobInfo& info);

/// Returns the specification of the job in a folder.
proto::Result<rigcal::v1::JobSpec> load_job_spec(const std::string& folder);

/// Returns the total size of the files directly inside a folder [byte].
std::uint64_t folder_size_bytes(const std::string& folder);

}  // namespace service
