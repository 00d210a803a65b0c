#include "proto/stream/service_states.hpp"

namespace proto {

std::string state_name(rigcal::v1::SessionState state) {
  switch (state) {
    case rigcal::v1::SESSION_OPEN:
      return "open";
    case rigcal::v1::SESSION_CLOSED:
      return "closed";
    case rigcal::v1::SESSION_STORED:
      return "stored";
    case rigcal::v1::SESSION_UPLOADING:
      return "uploading";
    case rigcal::v1::SESSION_FAILED:
      return "failed";
    default:
      return "unreadable";
  }
}

std::string state_name(rigcal::v1::JobState state) {
  switch (state) {
    case rigcal::v1::JOB_QUEUED:
      return "queued";
    case rigcal::v1::JOB_RUNNING:
      return "running";
    case rigcal::v1::JOB_DONE:
      return "done";
    case rigcal::v1::JOB_FAILED:
      return "failed";
    case rigcal::v1::JOB_CANCELLED:
      return "cancelled";
    default:
      return "unreadable";
  }
}

bool has_ended(const rigcal::v1::JobInfo& info) {
  // A job with an unknown state does not continue either.
  return info.state() != rigcal::v1::JOB_QUEUED && info.state() != rigcal::v1::JOB_RUNNING;
}

}  // namespace proto
