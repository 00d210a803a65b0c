#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"
#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/proto/stream_payload.hpp"

// The spool in random runs against a model, and the sender's times and states one by one.

namespace proto {
namespace {

using namespace std::chrono_literals;
using rigcal::v1::StreamReply;
using rigcal::v1::StreamRequest;
using test_support::ok;
using test_support::require;
using State = StreamSender::SenderState;

/// A file of the spool: 8 bytes, and 16 bytes more than its content for each batch.
struct ModelFile {
  std::uint64_t first = 1, count = 0, size_bytes = 8;
};

// Appends of all sizes, syncs, acknowledgements of all numbers and restarts. Catches a batch, a
// file, a size or a number that is taken for another, and a file that is kept or removed wrongly.
TEST(SpoolModel, AgreesInRandomRuns) {
  int full_count = 0;
  for (std::uint32_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const test_support::TemporaryFolder folder;
    const SpoolLimits limits{.size_bytes_max = 400 + random() % 800,
                             .segment_size_bytes = 100 + random() % 200};
    auto spool = require(Spool::open(folder.file("spool"), limits));
    std::vector<std::string> batches;
    std::deque<ModelFile> files = {{}};
    std::uint64_t durable_end = 1, acknowledged = 0;
    const auto total = [&] {
      std::uint64_t sum = 0;
      for (const ModelFile& file : files) sum += file.size_bytes;
      return sum;
    };
    for (int step = 0; step < 100; ++step) {
      switch (random() % 8) {
        case 0:
          ASSERT_TRUE(ok(spool.sync()));
          durable_end = batches.size() + 1;
          break;
        case 1: {
          const std::uint64_t through = random() % durable_end;
          ASSERT_TRUE(ok(spool.acknowledge(through)));
          acknowledged = std::max(acknowledged, through);
          while (files.size() > 1 && files[0].first + files[0].count <= acknowledged + 1) {
            files.pop_front();
          }
          break;
        }
        case 2:
          if (random() % 3 != 0) break;
          spool = require(Spool::open(folder.file("spool"), limits));
          durable_end = batches.size() + 1;
          acknowledged = files[0].first - 1;
          break;
        default: {
          const std::string payload(random() % 90, static_cast<char>('a' + random() % 26));
          const std::uint64_t added = 16 + payload.size();
          const bool fits = total() + added <= limits.size_bytes_max;
          const auto appended = spool.append(payload);
          ASSERT_EQ(appended.ok(), fits);
          full_count += !fits;
          if (!fits) break;
          if (files.back().size_bytes >= limits.segment_size_bytes && files.back().count > 0) {
            durable_end = batches.size() + 1;
            files.push_back({batches.size() + 1});
          }
          batches.push_back(payload);
          EXPECT_EQ(appended.value(), batches.size());
          ++files.back().count;
          files.back().size_bytes += added;
        }
      }
      ASSERT_EQ(spool.end(), batches.size() + 1);
      ASSERT_EQ(spool.durable_batch_end(), durable_end);
      ASSERT_EQ(spool.acknowledged_through(), acknowledged);
      ASSERT_EQ(spool.size_bytes(), total());
      ASSERT_EQ(spool.damaged_count(), 0U);
      for (std::uint64_t k = acknowledged + 1; k <= batches.size(); ++k) {
        ASSERT_EQ(require(spool.read(k)), batches[k - 1]) << k;
      }
      std::map<std::string, std::uintmax_t> found;
      for (const auto& entry : std::filesystem::directory_iterator(folder.file("spool"))) {
        found[entry.path().filename().string()] = entry.file_size();
      }
      ASSERT_EQ(found.size(), files.size());
      for (const ModelFile& file : files) {
        const std::string digits = std::to_string(file.first);
        const std::string name = std::string(20 - digits.size(), '0') + digits + ".spool";
        ASSERT_TRUE(found.contains(name)) << name;
        ASSERT_EQ(found[name], file.size_bytes);
      }
    }
  }
  EXPECT_GT(full_count, 20);
}

// Other files in the folder are no part of the spool.
TEST(SpoolModel, IgnoresFilesOfOtherNames) {
  for (const char* name :
       {"0000000000000000007.spool", "00000000000000000000007.spool", "0000000000000000000x.spool",
        "00000000000000000007.spoil", "00000000000000000000.spool", "99999999999999999999.spool"}) {
    SCOPED_TRACE(name);
    const test_support::TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("spool"));
    test_support::write_bytes(folder.file("spool") + "/" + name, {});
    const auto spool = require(Spool::open(folder.file("spool")));
    EXPECT_EQ(spool.end(), 1U);
  }
}

// --- The sender

class NumberedBatches final : public BatchStore {
 public:
  std::uint64_t durable_batch_end() const override { return durable_end; }
  std::uint64_t acknowledged_through() const override { return acknowledged; }
  Result<std::string> read(std::uint64_t sequence) override {
    return test_support::make_payload(sequence);
  }
  Status acknowledge(std::uint64_t through) override {
    acknowledged = through;
    return success();
  }

  std::uint64_t durable_end = 1;
  std::uint64_t acknowledged = 0;
};

class Sender : public ::testing::Test {
 protected:
  StreamRequest::RequestCase next() {
    const auto bytes = require(sender_->next_request(now_));
    if (!bytes) return StreamRequest::REQUEST_NOT_SET;
    std::vector<Frame> frames;
    FrameDecoder decoder(stream_request_limits());
    EXPECT_TRUE(ok(decoder.feed(
        {reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()}, frames)));
    EXPECT_EQ(frames.size(), 1U);
    EXPECT_TRUE(ok(parse_frame(frames.at(0), stream_request_limits(), request_)));
    return request_.request_case();
  }
  void reply(const std::function<void(StreamReply&)>& fill) {
    StreamReply reply;
    fill(reply);
    ASSERT_TRUE(ok(sender_->on_reply(reply, now_)));
  }
  void opened(std::uint64_t through) {
    reply([&](StreamReply& r) { r.mutable_session_opened()->set_acknowledged_through(through); });
  }
  void acknowledged(std::uint64_t through) {
    reply([&](StreamReply& r) { r.mutable_acknowledge()->set_through(through); });
  }
  void closed(std::uint64_t through) {
    reply([&](StreamReply& r) { r.mutable_session_closed()->set_through(through); });
  }
  void start() {
    store_ = {};
    sender_.emplace(store_, StreamSession{.id = "run"}, options_);
  }
  void open(std::uint64_t through = 0) {
    sender_->on_connected(now_);
    ASSERT_EQ(next(), StreamRequest::kOpenSession);
    opened(through);
  }

  const StreamSenderOptions options_{
      .window = 3, .reply_timeout = 500ms, .retry_delay_min = 100ms, .retry_delay_max = 700ms};
  NumberedBatches store_;
  std::optional<StreamSender> sender_;
  StreamRequest request_;
  Nanoseconds now_ = 10s;
};

// The delay before the next attempt doubles up to its maximum. An acknowledgement of new batches
// resets it; opening a session does not.
TEST_F(Sender, WaitsLongerAfterEachFailure) {
  start();
  store_.durable_end = 9;
  const auto expect_delay = [&](Nanoseconds delay) {
    sender_->on_disconnected(now_);
    EXPECT_FALSE(sender_->wants_connection(now_ + delay - 1ns));
    EXPECT_TRUE(sender_->wants_connection(now_ + delay));
  };
  EXPECT_TRUE(sender_->wants_connection(now_)) << "at first at once";
  for (const Nanoseconds delay : {100ms, 200ms, 400ms, 700ms, 700ms}) {
    open();
    EXPECT_FALSE(sender_->wants_connection(now_ + 9s)) << "is connected";
    expect_delay(delay);
  }
  open();
  ASSERT_EQ(next(), StreamRequest::kSampleBatch);
  acknowledged(0);
  expect_delay(700ms);
  open();
  ASSERT_EQ(next(), StreamRequest::kSampleBatch);
  acknowledged(1);
  expect_delay(100ms);
}

// After the reply timeout without a reply that is due, the sender disconnects. Each reply restarts
// the timeout; without anything to wait for there is none.
TEST_F(Sender, DisconnectsWhenAReplyIsMissing) {
  start();
  store_.durable_end = 3;
  const auto expect_deadline = [&](Nanoseconds at) {
    EXPECT_FALSE(sender_->wants_disconnect(at - 1ns));
    EXPECT_TRUE(sender_->wants_disconnect(at));
  };
  sender_->on_connected(now_);
  expect_deadline(now_ + 500ms);
  now_ += 100ms;
  ASSERT_EQ(next(), StreamRequest::kOpenSession);
  expect_deadline(now_ + 400ms);
  opened(0);
  EXPECT_FALSE(sender_->wants_disconnect(now_ + 9s)) << "nothing was sent";
  now_ += 100ms;
  ASSERT_EQ(next(), StreamRequest::kSampleBatch);
  now_ += 100ms;
  ASSERT_EQ(next(), StreamRequest::kSampleBatch);
  expect_deadline(now_ + 400ms);
  acknowledged(1);
  expect_deadline(now_ + 500ms);
  acknowledged(2);
  EXPECT_FALSE(sender_->wants_disconnect(now_ + 9s)) << "all is acknowledged";
  sender_->end_session();
  now_ += 100ms;
  ASSERT_EQ(next(), StreamRequest::kCloseSession);
  expect_deadline(now_ + 500ms);
  now_ += 100ms;
  acknowledged(2);  // repeated
  expect_deadline(now_ + 500ms);
  closed(2);
  EXPECT_EQ(sender_->state(), State::kDone);
  EXPECT_TRUE(sender_->wants_disconnect(now_));
}

// At most three batches are sent without an acknowledgement, each once, with its number. After a
// new connection those that were not acknowledged are sent again, and counted.
TEST_F(Sender, SendsAWindowOfBatches) {
  start();
  open();
  EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET) << "nothing is durable";
  store_.durable_end = 8;
  for (const std::uint64_t k : {1U, 2U, 3U}) {
    ASSERT_EQ(next(), StreamRequest::kSampleBatch);
    EXPECT_EQ(request_.sample_batch().batch_sequence(), k);
  }
  EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET);
  acknowledged(2);
  for (const std::uint64_t k : {4U, 5U}) {
    ASSERT_EQ(next(), StreamRequest::kSampleBatch);
    EXPECT_EQ(request_.sample_batch().batch_sequence(), k);
  }
  EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET);
  EXPECT_EQ(sender_->resent_batch_count(), 0U);
  sender_->on_disconnected(now_);
  open(3);  // the service has one that it had not acknowledged
  EXPECT_EQ(store_.acknowledged, 3U);
  for (const std::uint64_t k : {4U, 5U, 6U}) {
    ASSERT_EQ(next(), StreamRequest::kSampleBatch);
    EXPECT_EQ(request_.sample_batch().batch_sequence(), k);
  }
  EXPECT_EQ(sender_->resent_batch_count(), 2U);
}

// The session is closed after its last acknowledgement, with the number of its last batch.
TEST_F(Sender, ClosesASessionWhenAllIsAcknowledged) {
  for (const bool interrupted : {false, true}) {
    start();
    store_.durable_end = 3;
    sender_->end_session(interrupted);
    open();
    ASSERT_EQ(next(), StreamRequest::kSampleBatch);
    ASSERT_EQ(next(), StreamRequest::kSampleBatch);
    EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET);
    acknowledged(1);
    EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET);
    acknowledged(2);
    ASSERT_EQ(next(), StreamRequest::kCloseSession);
    EXPECT_EQ(request_.close_session().last_batch_sequence(), 2U);
    EXPECT_EQ(request_.close_session().interrupted(), interrupted);
    EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET);
    sender_->on_disconnected(now_);
    open(2);
    ASSERT_EQ(next(), StreamRequest::kCloseSession) << "again after a new connection";
  }
}

// What the service must not do in each state. The sender disconnects, or ends if the data of both
// sides cannot agree.
TEST_F(Sender, DetectsAServiceThatViolatesTheProtocol) {
  const std::map<std::string, std::function<void()>> violations = {
      {"opened twice",
       [&] {
         open();
         opened(0);
       }},
      {"opened without a request",
       [&] {
         sender_->on_connected(now_);
         opened(0);
       }},
      {"acknowledged without a session",
       [&] {
         sender_->on_connected(now_);
         ASSERT_EQ(next(), StreamRequest::kOpenSession);
         acknowledged(0);
       }},
      {"acknowledged too much",
       [&] {
         open();
         ASSERT_EQ(next(), StreamRequest::kSampleBatch);
         acknowledged(2);
       }},
      {"closed without a request",
       [&] {
         open();
         closed(0);
       }},
      {"closed too early",
       [&] {
         sender_->end_session();
         open(4);
         ASSERT_EQ(next(), StreamRequest::kCloseSession);
         closed(3);
       }},
      {"an empty reply", [&] {
         open();
         reply([](StreamReply&) {});
       }}};
  for (const auto& [name, violate] : violations) {
    SCOPED_TRACE(name);
    start();
    store_.durable_end = 5;
    violate();
    EXPECT_TRUE(sender_->wants_disconnect(now_));
    EXPECT_EQ(next(), StreamRequest::REQUEST_NOT_SET);
    EXPECT_TRUE(sender_->latest_problem().starts_with("the service violates the protocol: "));
    EXPECT_NE(sender_->state(), State::kDone);
    EXPECT_NE(sender_->state(), State::kRefused);
    sender_->on_disconnected(now_);
    EXPECT_TRUE(sender_->wants_connection(now_ + 1s));
  }
  for (const auto& [through, is_refused] :
       {std::pair(1U, true), std::pair(2U, false), std::pair(4U, false), std::pair(5U, true)}) {
    start();
    store_.durable_end = 5;
    store_.acknowledged = 2;
    open(through);
    EXPECT_EQ(sender_->state() == State::kRefused, is_refused) << through;
    EXPECT_EQ(sender_->wants_disconnect(now_), is_refused);
    sender_->on_disconnected(now_);
    EXPECT_EQ(sender_->wants_connection(now_ + 1s), !is_refused);
  }
}

// Only a service that is busy or has a full disk is asked again.
TEST_F(Sender, RetriesOnlyAfterTemporaryRefusals) {
  using rigcal::v1::SessionRefused;
  for (int reason = 0; reason <= SessionRefused::Reason_MAX; ++reason) {
    if (!SessionRefused::Reason_IsValid(reason)) continue;
    start();
    sender_->on_connected(now_);
    ASSERT_EQ(next(), StreamRequest::kOpenSession);
    reply([&](StreamReply& r) {
      r.mutable_session_refused()->set_reason(static_cast<SessionRefused::Reason>(reason));
      r.mutable_session_refused()->set_text("no");
    });
    EXPECT_TRUE(sender_->wants_disconnect(now_));
    EXPECT_EQ(sender_->latest_problem(), "the service refuses: no");
    const bool may_end =
        reason == SessionRefused::REASON_BUSY || reason == SessionRefused::REASON_STORAGE;
    EXPECT_EQ(sender_->state() == State::kRefused, !may_end) << reason;
  }
}

// The session's metadata and secret are sent; a secret from the service replaces it.
TEST_F(Sender, OpensTheSessionWithItsFields) {
  StreamSession session{.id = "run", .metadata = {{"rig", "furuta"}}, .epoch_unix_ns = 77};
  session.secret = "secret";
  sender_.emplace(store_, session, options_);
  sender_->on_connected(now_);
  ASSERT_EQ(next(), StreamRequest::kOpenSession);
  EXPECT_EQ(request_.open_session().protocol_version(), kStreamVersion);
  EXPECT_EQ(request_.open_session().session_id(), "run");
  EXPECT_EQ(request_.open_session().epoch_unix_ns(), 77);
  EXPECT_EQ(request_.open_session().metadata().at("rig"), "furuta");
  EXPECT_EQ(request_.open_session().secret(), "secret");
  reply([](StreamReply& r) { r.mutable_session_opened()->set_secret("other"); });
  sender_->on_disconnected(now_);
  sender_->on_connected(now_);
  ASSERT_EQ(next(), StreamRequest::kOpenSession);
  EXPECT_EQ(request_.open_session().secret(), "other");
}

}  // namespace
}  // namespace proto
