#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"

namespace service {

/// The pipe's descriptor in the worker.
inline constexpr int kProgressDescriptor = 3;

/// Messages from a worker process to the service through its pipe: progress as JobUpdate and, last,
/// the reason for a failure as ServiceError, both framed as ServiceReply.
const std::vector<proto::FrameLimit>& worker_message_limits();

std::string make_progress_frame(const rigcal::v1::JobProgress& progress);
std::string make_error_frame(const std::string& error);

struct WorkerMessage {
  std::optional<rigcal::v1::JobProgress> progress;
  std::string error;
};

WorkerMessage parse_worker_message(const proto::Frame& frame);

}  // namespace service
