#include "tests/campaign/stream_relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/service.pb.h"
#include "proto/stream/service_limits.hpp"

namespace campaign {
namespace {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using test_support::readable;
using Clock = std::chrono::steady_clock;

constexpr int kLookPeriod_ms = 10;
constexpr std::chrono::milliseconds kDelay(300);
constexpr std::chrono::milliseconds kSilence(1500);
constexpr std::chrono::milliseconds kHang(2000);

}  // namespace

void StreamWitness::on_line() {
  const std::lock_guard lock(mutex_);
  sent_at_.clear();
}

void StreamWitness::on_request(const proto::Frame& frame, bool timed) {
  ServiceRequest request;
  if (!request.ParseFromString(frame.payload)) {
    return ledger_.fail("a rig sent a frame that does not parse");
  }
  if (request.has_open_session()) {
    const std::lock_guard lock(mutex_);
    session_id_ = request.open_session().session_id();
  }
  if (request.has_sample_batch()) {
    if (timed) {
      const std::lock_guard lock(mutex_);
      sent_at_[request.sample_batch().batch_sequence()] = std::chrono::steady_clock::now();
    }
    saw_batch(request.sample_batch().batch_sequence(), request.sample_batch().SerializeAsString());
  }
}

void StreamWitness::saw_batch(std::uint64_t sequence, const std::string& content) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = batches_.try_emplace(sequence, content);
  if (is_new) return ledger_.count("batches streamed by rigcal-daq");
  ledger_.count("batches streamed again by rigcal-daq");
  if (at->second != content) {
    ledger_.fail(session_id_ + ": batch " + std::to_string(sequence) + " came again altered");
  }
}

void StreamWitness::on_reply(const proto::Frame& frame, bool timed) {
  ServiceReply reply;
  if (!reply.ParseFromString(frame.payload)) {
    return ledger_.fail("rigcald sent a frame that does not parse");
  }
  if (reply.has_session_opened()) {
    saw_acknowledgement(reply.session_opened().acknowledged_through());
  }
  if (reply.has_acknowledge()) saw_acknowledgement(reply.acknowledge().through());
  if (reply.has_acknowledge() && timed) saw_timed(reply.acknowledge().through());
  if (reply.has_session_refused()) {
    ledger_.count("refusals sent to rigcal-daq");
    const auto reason = reply.session_refused().reason();
    if (reason != rigcal::v1::SessionRefused::REASON_STORAGE &&
        reason != rigcal::v1::SessionRefused::REASON_BUSY) {
      ledger_.fail("rigcal-daq was refused for good: " + reply.session_refused().text());
    }
  }
}

void StreamWitness::saw_timed(std::uint64_t through) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  while (!sent_at_.empty() && sent_at_.begin()->first <= through) {
    const std::chrono::duration<double> took = now - sent_at_.begin()->second;
    ledger_.note_duration("rigcal-daq: batch to acknowledgement, on lines without trouble",
                          took.count());
    sent_at_.erase(sent_at_.begin());
  }
}

void StreamWitness::saw_acknowledgement(std::uint64_t through) {
  const std::lock_guard lock(mutex_);
  if (through > 0 && !batches_.contains(through)) {
    ledger_.fail(session_id_ + ": batch " + std::to_string(through) +
                 " is acknowledged, and was never sent");
  }
  acknowledged_ = std::max(acknowledged_, through);
}

std::string StreamWitness::session_id() const {
  const std::lock_guard lock(mutex_);
  return session_id_;
}

std::vector<proto::Sample> StreamWitness::acknowledged_samples() const {
  const std::lock_guard lock(mutex_);
  std::vector<proto::Sample> samples;
  for (const auto& [sequence, content] : batches_) {
    if (sequence > acknowledged_) break;
    rigcal::v1::SampleBatch batch;
    if (!batch.ParseFromString(content)) continue;
    for (const auto& message : batch.samples()) {
      if (const auto sample = proto::from_message(message)) samples.push_back(*sample);
    }
  }
  return samples;
}

struct StreamRelay::Line {
  ~Line() {
    if (rig >= 0) ::close(rig);
    if (service >= 0) ::close(service);
  }

  int rig = -1;
  int service = -1;
  bool rig_ended = false;  // the rig sends nothing more
  Trouble trouble = Trouble::kNone;
  bool good = false;                   // without trouble from the start
  std::uint64_t trouble_at_bytes = 0;  // of the rig's stream
  std::uint64_t passed_bytes = 0;
  Clock::time_point quiet_until{};
  Clock::time_point end_at = Clock::time_point::max();
  proto::FrameDecoder requests{proto::service_request_limits()};
  proto::FrameDecoder replies{proto::service_reply_limits()};
  std::string last_batch;   // its frame, as relayed
  bool repeat_due = false;  // resend the last batch once that splits no frame
};

StreamRelay::StreamRelay(std::uint16_t service_port, StreamWitness& witness, Ledger& ledger,
                         std::uint64_t seed)
    : service_port_(service_port), witness_(witness), ledger_(ledger), random_(seed) {
  thread_ = std::thread([this] { serve(); });
}

StreamRelay::~StreamRelay() {
  stop_.store(true);
  thread_.join();
}

void StreamRelay::serve() {
  while (!stop_.load()) {
    std::vector<pollfd> wait = {{listener_.socket(), POLLIN, 0}};
    for (const auto& line : lines_) {
      if (line->rig >= 0 && !line->rig_ended) wait.push_back({line->rig, POLLIN, 0});
      wait.push_back({line->service, POLLIN, 0});
    }
    ::poll(wait.data(), wait.size(), kLookPeriod_ms);
    if (readable(listener_.socket())) accept();
    for (auto line = lines_.begin(); line != lines_.end();) {
      line = step(**line) ? std::next(line) : lines_.erase(line);
    }
  }
}

StreamRelay::Trouble StreamRelay::draw() {
  if (calm_.load() || random_() % 3 == 0) return Trouble::kNone;
  constexpr std::array kKinds = {Trouble::kCut,     Trouble::kReset,     Trouble::kDelay,
                                 Trouble::kSilence, Trouble::kHalfClose, Trouble::kHangingEnd,
                                 Trouble::kRepeat,  Trouble::kRepeat};
  return kKinds[random_() % kKinds.size()];
}

void StreamRelay::accept() {
  auto line = std::make_unique<Line>();
  line->rig = listener_.accept();
  line->service = test_support::connect_locally(service_port_);
  if (line->service < 0) return;  // the service is down: the rig's connection is closed
  line->trouble = draw();
  line->good = line->trouble == Trouble::kNone;
  witness_.on_line();
  line->trouble_at_bytes = 1 + random_() % (random_() % 2 == 0 ? 3'000 : 200'000);
  lines_.push_back(std::move(line));
}

void StreamRelay::end(Line& line, const char* how) {
  ledger_.count(std::string("lines ") + how);
  line.end_at = Clock::now();
}

// False if the line is over.
bool StreamRelay::step(Line& line) {
  const auto now = Clock::now();
  if (now >= line.end_at) return false;
  if (now < line.quiet_until) return true;
  if (readable(line.service) && !forward(line, /*to_service=*/false)) return false;
  if (line.rig < 0) return true;  // only the service's end is left, hanging
  if (line.rig_ended || !readable(line.rig)) return true;
  return forward(line, /*to_service=*/true);
}

void StreamRelay::repeat_batch(Line& line) {
  if (line.last_batch.empty()) return;
  line.repeat_due = false;
  ledger_.count("batches repeated on the line");
  ::send(line.service, line.last_batch.data(), line.last_batch.size(), MSG_NOSIGNAL);
}

bool StreamRelay::forward(Line& line, bool to_service) {
  const int from = to_service ? line.rig : line.service;
  const int to = to_service ? line.service : line.rig;
  std::array<std::uint8_t, 8192> buffer;
  std::size_t wanted = buffer.size();
  const bool due = to_service && line.trouble != Trouble::kNone;
  if (due) {  // up to the byte at which the trouble starts
    wanted = std::min<std::size_t>(wanted, line.trouble_at_bytes - line.passed_bytes);
  }
  const ssize_t size = ::recv(from, buffer.data(), wanted, 0);
  if (size <= 0) return false;
  const std::span<const std::uint8_t> bytes(buffer.data(), static_cast<std::size_t>(size));
  std::vector<proto::Frame> frames;
  const bool fine = (to_service ? line.requests : line.replies).feed(bytes, frames).ok();
  if (!fine) ledger_.fail(to_service ? "a rig breaks the protocol" : "rigcald breaks the protocol");
  for (const proto::Frame& frame : frames) {
    if (to_service) witness_.on_request(frame, line.good);
    if (!to_service) witness_.on_reply(frame, line.good);
    if (!to_service || frame.type != ServiceRequest::kSampleBatch) continue;
    const auto length = static_cast<std::uint32_t>(frame.payload.size());
    line.last_batch.assign(reinterpret_cast<const char*>(&length), 4).append(frame.payload);
  }
  if (to >= 0 && ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) != size) return false;
  if (!to_service) return true;
  line.passed_bytes += bytes.size();
  if (line.repeat_due && line.requests.idle()) repeat_batch(line);
  if (!due || line.passed_bytes < line.trouble_at_bytes) return true;
  const auto now = Clock::now();
  switch (std::exchange(line.trouble, Trouble::kNone)) {
    case Trouble::kNone:
      break;
    case Trouble::kCut:
      end(line, "cut");
      break;
    case Trouble::kReset: {
      const linger at_once{1, 0};
      ::setsockopt(line.rig, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      ::setsockopt(line.service, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      end(line, "reset");
      break;
    }
    case Trouble::kDelay:
      ledger_.count("lines delayed");
      line.quiet_until = now + kDelay;
      line.trouble = Trouble::kDelay;
      line.trouble_at_bytes = line.passed_bytes + 1 + random_() % 20'000;
      break;
    case Trouble::kSilence:
      end(line, "silent, then cut");
      line.quiet_until = line.end_at = now + kSilence;
      break;
    case Trouble::kHalfClose:
      ledger_.count("lines half closed");
      ::shutdown(line.service, SHUT_WR);
      line.rig_ended = true;
      line.end_at = now + kHang;
      break;
    case Trouble::kHangingEnd:
      ledger_.count("lines cut with the service's end left hanging");
      ::close(std::exchange(line.rig, -1));
      line.end_at = now + kHang;
      break;
    case Trouble::kRepeat:
      line.repeat_due = true;
      line.trouble = Trouble::kRepeat;
      line.trouble_at_bytes = line.passed_bytes + 1 + random_() % 20'000;
      break;
  }
  return true;
}

}  // namespace campaign
