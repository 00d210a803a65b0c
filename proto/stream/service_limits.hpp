#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"

namespace proto {

/// Version of proto/stream.proto that this program implements.
inline constexpr std::uint32_t kStreamVersion = 1;

/// Largest size of a batch [byte], sufficient for over a thousand samples of eight channels.
inline constexpr std::size_t kBatchSizeMax = 256u << 10;

/// Largest size of the rig file in a LiveRequest [byte], and largest number of targets in
/// CheckLive.
inline constexpr std::size_t kLiveRigSizeMax = 256u << 10;
inline constexpr std::size_t kLiveTargetsMax = 64;

/// Return the limits of frames with a StreamRequest and with a StreamReply.
const std::vector<FrameLimit>& stream_request_limits();
const std::vector<FrameLimit>& stream_reply_limits();

/// Returns whether an id is 1 to 64 characters of [A-Za-z0-9._-] without a leading dot, so that it
/// can be used as a file name.
bool is_valid_session_id(const std::string& text);

/// Version of proto/service.proto that this program implements.
inline constexpr std::uint32_t kServiceVersion = 2;

/// Largest data of a FilePart or an UploadPart [byte].
inline constexpr std::size_t kFilePartSizeMax = 1u << 20;

/// Return the limits of frames with a ServiceRequest and with a ServiceReply.
const std::vector<FrameLimit>& service_request_limits();
const std::vector<FrameLimit>& service_reply_limits();

/// Return a single word for the state of a session or job: "open", "queued", ...; "unreadable" for
/// an unknown value.
std::string state_name(rigcal::v1::SessionState state);
std::string state_name(rigcal::v1::JobState state);

/// Returns whether the job has ended: done, failed or cancelled.
bool has_ended(const rigcal::v1::JobInfo& info);

/// First words of the note in a job's result on the reason for a missing cross-validation.
inline constexpr std::string_view kNoCrossValidation = "There is no cross-validation: ";

}  // namespace proto
