#pragma once

#include <cstdint>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"

namespace service {

/// Largest size of a result file that is read into memory at once [byte].
inline constexpr std::uint64_t kResultSizeMax = 32u << 20;

/// Folder within a job's folder for the job's task on a cluster. It exists only while the job runs.
/// A task whose folder is deleted ends by itself.
inline constexpr const char* kClusterFolder = "cluster";

/// Reads the result of a finished job, its cross-validation and its table.
/// @param folder  folder of the job
/// @return an error if a file is damaged or cannot be read
proto::Status load_job_result(const std::string& folder, rigcal::v1::JobResult& result);

/// Checks that the result and the reports of a finished job can be read.
/// @param folder  folder of the job
/// @return the error of the first file that cannot be read
proto::Status check_job_files(const std::string& folder);

/// Returns whether an error means that the content of a file is lost, so that another attempt to
/// read the file cannot succeed.
bool is_content_lost(const proto::Error& error);

}  // namespace service
