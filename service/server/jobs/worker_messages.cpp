#include "service/server/jobs/worker_messages.hpp"

#include "proto/text/printable.hpp"
#include "service/server/sessions/service_context.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceReply;

std::string worker_frame(const ServiceReply& reply) {
  std::string bytes;
  if (!proto::append_frame(reply, worker_message_limits(), bytes).ok()) bytes.clear();
  return bytes;
}

}  // namespace

const std::vector<proto::FrameLimit>& worker_message_limits() {
  static const std::vector<proto::FrameLimit> kLimits = {
      {ServiceReply::kError, 2 * kErrorTextSizeMax, 1},
      {ServiceReply::kJobUpdate, 256u << 10, 4096}};
  return kLimits;
}

std::string make_progress_frame(const rigcal::v1::JobProgress& progress) {
  ServiceReply reply;
  *reply.mutable_job_update()->mutable_job()->mutable_progress() = progress;
  return worker_frame(reply);
}

std::string make_error_frame(const std::string& error) {
  ServiceReply reply;
  reply.mutable_error()->set_text(proto::to_utf8(error, kErrorTextSizeMax));
  return worker_frame(reply);
}

WorkerMessage parse_worker_message(const proto::Frame& frame) {
  ServiceReply reply;
  WorkerMessage message;
  if (!proto::parse_frame(frame, worker_message_limits(), reply).ok()) return message;
  if (reply.has_error()) message.error = reply.error().text();
  if (reply.has_job_update()) message.progress = reply.job_update().job().progress();
  return message;
}

}  // namespace service
