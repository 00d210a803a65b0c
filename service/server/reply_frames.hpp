#pragma once

#include <cstdint>
#include <string>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"

namespace service {

// Frames of the service protocol. Functions that read files run on threads other than the main one.

/// Returns the frame of a reply, or of an error if the reply is larger than the protocol allows.
std::string make_reply_frame(const rigcal::v1::ServiceReply& reply);
std::string make_error_frame(rigcal::v1::ServiceError::Code code, const std::string& text);

/// Returns the frame with the part of a file at an offset, or with the reason why it cannot be
/// read.
std::string make_file_part_frame(const std::string& path, std::uint64_t offset_bytes);

/// Returns the frame with the result of a job, from the job's folder.
std::string make_result_frame(const std::string& folder, const rigcal::v1::JobInfo& info);

/// Returns a request as the frame of a client within this process.
proto::Frame make_request_frame(const rigcal::v1::ServiceRequest& request);
/// Returns the reply in a frame that a FrameSink received; an error if the frame is damaged.
rigcal::v1::ServiceReply parse_reply_frame(const std::string& frame);

}  // namespace service
