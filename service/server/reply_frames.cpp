#include "service/server/reply_frames.hpp"

#include "proto/recording/mcap/file.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/server/jobs/job_files.hpp"
#include "service/server/sessions/service_context.hpp"

namespace service {

using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

std::string make_reply_frame(const ServiceReply& reply) {
  std::string bytes;
  const auto appended = proto::append_frame(reply, proto::service_reply_limits(), bytes);
  if (appended.ok()) return bytes;
  ServiceReply instead;
  *instead.mutable_error() =
      make_service_error(ServiceError::INTERNAL, "the reply is larger than the protocol allows: " +
                                                     appended.error().detail);
  if (!proto::append_frame(instead, proto::service_reply_limits(), bytes).ok()) bytes.clear();
  return bytes;
}

std::string make_error_frame(ServiceError::Code code, const std::string& text) {
  ServiceReply reply;
  *reply.mutable_error() = make_service_error(code, text);
  return make_reply_frame(reply);
}

std::string make_file_part_frame(const std::string& path, std::uint64_t offset_bytes) {
  const auto file = proto::open_input_file(path, proto::SymlinkPolicy::kRefuse);
  if (!file.ok()) {
    const bool none = file.error().code == proto::ErrorCode::kNotFound;
    return make_error_frame(none ? ServiceError::NOT_FOUND : ServiceError::STORAGE,
                            none ? "the file does not exist" : file.error().detail);
  }
  const std::uint64_t size = file.value()->size_bytes();
  if (offset_bytes > size) {
    return make_error_frame(ServiceError::BAD_REQUEST, "offset " + std::to_string(offset_bytes) +
                                                           " is beyond the end of the file at " +
                                                           std::to_string(size));
  }
  ServiceReply reply;
  auto& part = *reply.mutable_file_part();
  part.set_offset_bytes(offset_bytes);
  part.set_file_size_bytes(size);
  std::string& data = *part.mutable_data();
  data.resize(std::min<std::uint64_t>(size - offset_bytes, proto::kFilePartSizeMax));
  const auto read =
      file.value()->read(offset_bytes, {reinterpret_cast<std::uint8_t*>(data.data()), data.size()});
  if (!read.ok()) return make_error_frame(ServiceError::STORAGE, read.error().detail);
  return make_reply_frame(reply);
}

std::string make_result_frame(const std::string& folder, const rigcal::v1::JobInfo& info) {
  ServiceReply reply;
  *reply.mutable_job_result()->mutable_job() = info;
  const proto::Status loaded = load_job_result(folder, *reply.mutable_job_result());
  return loaded.ok() ? make_reply_frame(reply)
                     : make_error_frame(ServiceError::STORAGE, loaded.error().detail);
}

proto::Frame make_request_frame(const ServiceRequest& request) {
  return {static_cast<std::uint32_t>(request.request_case()), request.SerializeAsString()};
}

ServiceReply parse_reply_frame(const std::string& frame) {
  constexpr std::size_t kPrefix = 4;  // length of the frame [byte]
  ServiceReply reply;
  if (frame.size() < kPrefix ||
      !reply.ParseFromArray(frame.data() + kPrefix, static_cast<int>(frame.size() - kPrefix))) {
    reply.mutable_error()->set_code(ServiceError::INTERNAL);
  }
  return reply;
}

}  // namespace service
