#include "proto/stream/service_limits.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "proto/service.pb.h"
#include "proto/stream.pb.h"

namespace proto {
namespace {

// Every message counts as one element, and a sample has up to three arrays of eight channels.
constexpr std::size_t kBatchElementsMax = 40'000;
constexpr std::size_t kEnvelopeSize = 32;  // of a batch: tags, lengths, sequence [byte]

constexpr std::size_t kKibi = 1024;
constexpr std::size_t kSessionSize = 64 * kKibi;  // of an OpenSession without the rig file [byte]
constexpr std::size_t kSessionElements = 257;     // the message, and its metadata
constexpr std::size_t kRequestOverhead = 4 * kKibi;  // of a LiveRequest: name, tags, lengths [byte]
constexpr std::size_t kTargetSize = 256;             // of one LiveTarget [byte]
constexpr std::size_t kLiveElements = 1'024;         // of a LiveEstimate
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

std::string name_in(std::initializer_list<std::pair<int, const char*>> names, int state) {
  const auto* const found = std::ranges::find(names, state, &std::pair<int, const char*>::first);
  return found == names.end() ? "unreadable" : found->second;
}

}  // namespace

const std::vector<FrameLimit>& stream_request_limits() {
  using rigcal::v1::StreamRequest;
  static const std::vector<FrameLimit> kLimits = {
      {StreamRequest::kOpenSession, kSessionSize + kLiveRigSizeMax + kRequestOverhead,
       kSessionElements + 1},
      {StreamRequest::kSampleBatch, kBatchSizeMax + kEnvelopeSize, kBatchElementsMax},
      {StreamRequest::kCloseSession, 64, 1},
      {StreamRequest::kCheckLive,
       kLiveRigSizeMax + kRequestOverhead + kLiveTargetsMax * kTargetSize, kLiveTargetsMax + 2},
  };
  return kLimits;
}

const std::vector<FrameLimit>& stream_reply_limits() {
  using rigcal::v1::StreamReply;
  static const std::vector<FrameLimit> kLimits = {
      {StreamReply::kSessionOpened, 4 * kKibi, 1},
      {StreamReply::kAcknowledge, 64, 1},
      {StreamReply::kSessionClosed, 64, 1},
      {StreamReply::kSessionRefused, 4096, 1},
      {StreamReply::kLiveChecked, 8 * kKibi, 1},
      {StreamReply::kLiveEstimate, 128 * kKibi, kLiveElements},
      {StreamReply::kStopRun, 4 * kKibi, 1},
  };
  return kLimits;
}

bool is_valid_session_id(const std::string& text) {
  constexpr std::size_t kSizeMax = 64;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kSizeMax && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), allowed);
}

const std::vector<FrameLimit>& service_request_limits() {
  using rigcal::v1::ServiceRequest;
  static const std::vector<FrameLimit> kLimits =
      joined(stream_request_limits(),
             {
                 {ServiceRequest::kHello, 4 * kKibi, 1},
                 {ServiceRequest::kListSessions, 16, 1},
                 {ServiceRequest::kInspectSession, kIdSize, 1},
                 {ServiceRequest::kEndSession, kIdSize, 1},
                 {ServiceRequest::kStopSession, kIdSize, 1},
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

std::string state_name(rigcal::v1::SessionState state) {
  using namespace rigcal::v1;
  return name_in({{SESSION_OPEN, "open"},
                  {SESSION_CLOSED, "closed"},
                  {SESSION_STORED, "stored"},
                  {SESSION_UPLOADING, "uploading"},
                  {SESSION_FAILED, "failed"}},
                 state);
}

std::string state_name(rigcal::v1::JobState state) {
  using namespace rigcal::v1;
  return name_in({{JOB_QUEUED, "queued"},
                  {JOB_RUNNING, "running"},
                  {JOB_DONE, "done"},
                  {JOB_FAILED, "failed"},
                  {JOB_CANCELLED, "cancelled"}},
                 state);
}

bool has_ended(const rigcal::v1::JobInfo& info) {
  // A job with an unknown state does not continue either.
  return info.state() != rigcal::v1::JOB_QUEUED && info.state() != rigcal::v1::JOB_RUNNING;
}

}  // namespace proto
