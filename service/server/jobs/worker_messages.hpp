#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"

namespace service {

/// File descriptor at which a worker process writes to its pipe to the service.
inline constexpr int kProgressDescriptor = 3;

/// Longest time from a worker's time limit to its end, in which it completes an iteration and
/// writes the result of a calibration whose cross-validation is not finished.
inline constexpr int kTimeLimitGrace_s = 60;

/// Returns the size limits of the messages that a worker process sends to the service through its
/// pipe. Each message is a ServiceReply that contains the progress (JobUpdate) or, as the last
/// message, the reason for a failure (ServiceError).
const std::vector<proto::FrameLimit>& worker_message_limits();

std::string make_progress_frame(const rigcal::v1::JobProgress& progress);

/// Returns the frame with the reason for a failure, with at most kErrorTextSizeMax bytes. Bytes
/// that are not UTF-8, for example from the header of a CSV file, are escaped.
std::string make_error_frame(const std::string& error);

struct WorkerMessage {
  std::optional<rigcal::v1::JobProgress> progress;
  std::string error;
};

WorkerMessage parse_worker_message(const proto::Frame& frame);

}  // namespace service
