#include "proto/stream/service_limits.hpp"

#include "proto/service.pb.h"
#include "proto/stream/stream_limits.hpp"

namespace proto {
namespace {

constexpr std::size_t kKibi = 1024;
constexpr std::size_t kIdSize = 128;        // a message with an id and a number [byte]
constexpr std::size_t kPartOverhead = 256;  // of a FilePart or UploadPart [byte]
constexpr std::size_t kJobSpecSize = 512 * kKibi;
constexpr std::size_t kJobElements = 4'096;
constexpr std::size_t kListSize = 8 * kKibi * kKibi;
constexpr std::size_t kListElements = 1'000'000;

std::vector<FrameLimit> joined(std::vector<FrameLimit> limits,
                               const std::vector<FrameLimit>& more) {
  limits.insert(limits.end(), more.begin(), more.end());
  return limits;
}

}  // namespace

const std::vector<FrameLimit>& service_request_limits() {
  using rigcal::v1::ServiceRequest;
  static const std::vector<FrameLimit> kLimits =
      joined(stream_request_limits(),
             {
                 {ServiceRequest::kHello, 4 * kKibi, 1},
                 {ServiceRequest::kListSessions, 16, 1},
                 {ServiceRequest::kInspectSession, kIdSize, 1},
                 {ServiceRequest::kEndSession, kIdSize, 1},
                 {ServiceRequest::kDeleteSession, kIdSize, 1},
                 {ServiceRequest::kSubscribeSession, kIdSize, 1},
                 {ServiceRequest::kReadRecording, kIdSize, 1},
                 {ServiceRequest::kOpenUpload, 512, 1},
                 {ServiceRequest::kUploadPart, kFilePartSizeMax + kPartOverhead, 1},
                 {ServiceRequest::kSubmitJob, kJobSpecSize, kJobElements},
                 {ServiceRequest::kListJobs, 16, 1},
                 {ServiceRequest::kInspectJob, kIdSize, 1},
                 {ServiceRequest::kSubscribeJob, kIdSize, 1},
                 {ServiceRequest::kCancelJob, kIdSize, 1},
                 {ServiceRequest::kDeleteJob, kIdSize, 1},
                 {ServiceRequest::kGetResult, kIdSize, 1},
                 {ServiceRequest::kReadReport, kIdSize, 1},
             });
  return kLimits;
}

const std::vector<FrameLimit>& service_reply_limits() {
  using rigcal::v1::ServiceReply;
  constexpr std::size_t kSessionInfoSize = 128 * kKibi;  // limit of the metadata in OpenSession
  constexpr std::size_t kJobInfoSize = 256 * kKibi;
  static const std::vector<FrameLimit> kLimits = joined(
      stream_reply_limits(), {
                                 {ServiceReply::kError, 8 * kKibi, 1},
                                 {ServiceReply::kWelcome, 4 * kKibi, 1},
                                 {ServiceReply::kSessionList, kListSize, kListElements},
                                 {ServiceReply::kSessionInfo, kSessionInfoSize, 1'000},
                                 {ServiceReply::kDeleted, 16, 1},
                                 {ServiceReply::kFilePart, kFilePartSizeMax + kPartOverhead, 1},
                                 {ServiceReply::kUploadState, 64, 1},
                                 {ServiceReply::kJobInfo, kJobInfoSize, kJobElements},
                                 {ServiceReply::kJobList, kListSize, kListElements},
                                 {ServiceReply::kJobResult, kListSize, kListElements},
                                 {ServiceReply::kJobUpdate, kJobInfoSize, kJobElements},
                                 {ServiceReply::kLiveBatch, kBatchSizeMax + kPartOverhead, 40'001},
                                 {ServiceReply::kLiveDropped, 64, 1},
                                 {ServiceReply::kLiveEnded, kIdSize, 1},
                             });
  return kLimits;
}

}  // namespace proto
