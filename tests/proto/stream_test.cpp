#include <gtest/gtest.h>

#include <random>

#include "proto/stream.pb.h"
#include "proto/stream/session_secret.hpp"
#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/proto/stream_payload.hpp"
#include "tests/proto/stream_peer.hpp"

namespace proto {
namespace {
using namespace std::chrono_literals;
using rigcal::v1::StreamReply;
using rigcal::v1::StreamRequest;
using test_support::make_payload;
using test_support::ok;
using test_support::require;
using test_support::StreamPeer;

using State = StreamSender::State;

// A store in memory; crash() drops batches that were not synced.
class MemoryStore final : public BatchStore {
 public:
  void append(std::string payload) { batches_.push_back(std::move(payload)); }
  void sync() { durable_end_ = batches_.size() + 1; }
  void crash() { batches_.resize(durable_end_ - 1); }
  std::uint64_t end() const { return batches_.size() + 1; }

  std::uint64_t durable_end() const override { return durable_end_; }
  std::uint64_t acknowledged_through() const override { return acknowledged_through_; }
  Result<std::string> read(std::uint64_t sequence) override { return batches_.at(sequence - 1); }
  Status acknowledge(std::uint64_t through) override {
    EXPECT_GE(through, acknowledged_through_);
    EXPECT_LT(through, durable_end_);
    acknowledged_through_ = through;
    return success();
  }

 private:
  std::vector<std::string> batches_;
  std::uint64_t durable_end_ = 1;
  std::uint64_t acknowledged_through_ = 0;
};

StreamRequest parse_request(const std::string& bytes) {
  StreamRequest request;
  EXPECT_TRUE(request.ParseFromString(bytes.substr(4)));
  return request;
}

StreamReply opened(std::uint64_t through) {
  StreamReply reply;
  reply.mutable_session_opened()->set_acknowledged_through(through);
  return reply;
}

StreamReply acknowledge(std::uint64_t through) {
  StreamReply reply;
  reply.mutable_acknowledge()->set_through(through);
  return reply;
}

std::vector<StreamRequest> take_requests(StreamSender& sender, Nanoseconds now) {
  std::vector<StreamRequest> requests;
  while (true) {
    auto next = sender.next_request(now);
    EXPECT_TRUE(ok(next));
    if (!next.ok() || !next.value()) return requests;
    requests.push_back(parse_request(*next.value()));
  }
}

// One connection of a sender and a peer, which breaks after a random byte. Both processes may die.
// Time is a counter.
template <typename Store>
class Campaign {
 public:
  Campaign(Store& store, std::uint32_t seed) : store_(store), random_(seed) { restart_sender(); }

  void step() {
    now_ += 50ms;
    if (!connected_ && sender_->wants_connection(now_)) connect();
    if (connected_) exchange();
    if (connected_ && sender_->wants_disconnect(now_)) disconnect();
  }

  void connect() {
    connected_ = true;
    to_peer_.clear();
    to_sender_.clear();
    replies_ = FrameDecoder(stream_reply_limits());
    peer_.on_connected();
    sender_->on_connected(now_);
  }

  void disconnect() {
    if (!connected_) return;
    connected_ = false;
    // Part of the data in transit still arrives.
    if (!to_peer_.empty()) peer_.on_bytes(to_peer_.substr(0, random_() % to_peer_.size()));
    peer_.make_durable();
    sender_->on_disconnected(now_);
  }

  void crash_peer() {
    disconnect();
    peer_.crash();
  }

  void restart_sender() {
    connected_ = false;
    sender_.emplace(
        store_, StreamSession{.id = "run-1", .metadata = {{"rig", "furuta"}}},
        StreamSenderOptions{.window = 4, .reply_timeout = 500ms, .retry_delay_max = 1s});
    if (ending_) sender_->end_session();
  }

  void end() {
    ending_ = true;
    sender_->end_session();
  }

  StreamSender& sender() { return *sender_; }
  StreamPeer& peer() { return peer_; }
  std::mt19937& random() { return random_; }

 private:
  void exchange() {
    while (true) {
      auto request = require(sender_->next_request(now_));
      if (!request) break;
      to_peer_ += *request;
    }
    if (!move_some(to_peer_, [&](const std::string& bytes) {
          const auto replies = peer_.on_bytes(bytes);
          if (replies) to_sender_ += *replies;
          return replies.has_value();
        })) {
      FAIL() << "the peer objects";
    }
    if (random_() % 3 == 0) to_sender_ += peer_.make_durable();
    move_some(to_sender_, [&](const std::string& bytes) {
      std::vector<Frame> frames;
      EXPECT_TRUE(
          replies_.feed({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, frames)
              .ok());
      for (const Frame& frame : frames) {
        StreamReply reply;
        EXPECT_TRUE(ok(parse_frame(frame, stream_reply_limits(), reply)));
        EXPECT_TRUE(ok(sender_->on_reply(reply, now_)));
      }
      return true;
    });
  }

  template <typename Deliver>
  bool move_some(std::string& pipe, const Deliver& deliver) {
    const std::size_t count = random_() % (pipe.size() + 1);
    const std::string bytes = pipe.substr(0, count);
    pipe.erase(0, count);
    return deliver(bytes);
  }

  Store& store_;
  std::mt19937 random_;
  StreamPeer peer_;
  std::optional<StreamSender> sender_;
  FrameDecoder replies_{stream_reply_limits()};
  std::string to_peer_, to_sender_;
  Nanoseconds now_{0};
  bool connected_ = false;
  bool ending_ = false;
};

void expect_everything_once(StreamPeer& peer, std::uint64_t count) {
  const StreamPeer::Session& session = peer.session("run-1");
  ASSERT_EQ(session.batches.size(), count);
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(session.batches[k], make_payload(k)) << k;
  EXPECT_TRUE(session.closed);
}

// At least once on the wire, exactly once in the store: connections break at any byte, the service
// dies and loses batches that are not durable, the recorder dies and restarts. Every batch must
// arrive once, in order. A thousand seeded runs; the message gives the seed.
TEST(Stream, DeliversEveryBatchExactlyOnceWhateverBreaks) {
  std::uint64_t resent = 0;
  for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    MemoryStore store;
    Campaign<MemoryStore> campaign(store, seed);
    const std::uint64_t count = 5 + seed % 40;
    for (int step = 0; step < 20'000 && campaign.sender().state() != State::kDone; ++step) {
      if (campaign.random()() % 3 == 0 && store.end() <= count) {
        store.append(make_payload(store.end() - 1));
        if (campaign.random()() % 2 == 0) store.sync();
      }
      if (store.end() > count) {
        store.sync();
        campaign.end();
      }
      switch (campaign.random()() % 60) {
        case 0:
          campaign.disconnect();
          break;
        case 1:
          campaign.crash_peer();
          break;
        case 2:
          campaign.disconnect();
          resent += campaign.sender().resent_count();
          store.crash();
          campaign.restart_sender();
          break;
        default:
          break;
      }
      campaign.step();
    }
    ASSERT_EQ(campaign.sender().state(), State::kDone) << campaign.sender().problem();
    expect_everything_once(campaign.peer(), count);
    resent += campaign.sender().resent_count();
  }
  EXPECT_GT(resent, 1000u);  // otherwise the campaign breaks nothing
}

// The same on disk, with the spool opened again after each crash of the recorder.
TEST(Stream, ResumesFromTheSpoolOnDisk) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const test_support::TemporaryFolder folder;
    const SpoolLimits limits{.size_bytes_max = 1 << 20, .segment_size_bytes = 200};
    auto spool = require(Spool::open(folder.file("spool"), limits));
    Campaign<Spool> campaign(spool, seed);
    constexpr std::uint64_t kCount = 40;
    for (int step = 0; step < 20'000 && campaign.sender().state() != State::kDone; ++step) {
      if (campaign.random()() % 3 == 0 && spool.end() <= kCount) {
        ASSERT_TRUE(ok(spool.append(make_payload(spool.end() - 1))));
        ASSERT_TRUE(ok(spool.sync()));
      }
      if (spool.end() > kCount) campaign.end();
      if (campaign.random()() % 40 == 0) {
        campaign.disconnect();
        spool = require(Spool::open(folder.file("spool"), limits));
        campaign.restart_sender();
      }
      campaign.step();
    }
    ASSERT_EQ(campaign.sender().state(), State::kDone) << campaign.sender().problem();
    expect_everything_once(campaign.peer(), kCount);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.file("spool")), {}), 1);
  }
}

// A slow service must not be flooded: at most the window is in transit.
TEST(StreamSender, KeepsToItsWindow) {
  MemoryStore store;
  for (std::uint64_t k = 0; k < 10; ++k) store.append(make_payload(k));
  store.sync();
  StreamSender sender(store, {.id = "a"}, {.window = 3});
  sender.on_connected(0ns);
  ASSERT_EQ(take_requests(sender, 0ns).size(), 1u);  // the opening; nothing more before its answer
  ASSERT_TRUE(ok(sender.on_reply(opened(0), 0ns)));
  EXPECT_EQ(take_requests(sender, 0ns).size(), 3u);
  ASSERT_TRUE(ok(sender.on_reply(acknowledge(2), 0ns)));
  const auto next = take_requests(sender, 0ns);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(next[0].sample_batch().batch_sequence(), 4u);
}

// A batch that is not durable here must not reach the service. After a power cut its number would
// be given to another batch, which the service would drop as a duplicate.
TEST(StreamSender, SendsOnlyWhatIsDurable) {
  MemoryStore store;
  store.append(make_payload(0));
  StreamSender sender(store, {.id = "a"});
  sender.on_connected(0ns);
  static_cast<void>(take_requests(sender, 0ns));
  ASSERT_TRUE(ok(sender.on_reply(opened(0), 0ns)));
  EXPECT_TRUE(take_requests(sender, 0ns).empty());
  store.sync();
  EXPECT_EQ(take_requests(sender, 0ns).size(), 1u);
}

// A silent service is disconnected and tried again after pauses that grow up to a limit.
TEST(StreamSender, DisconnectsFromASilentServiceAndBacksOff) {
  MemoryStore store;
  StreamSender sender(store, {.id = "a"},
                      {.reply_timeout = 1s, .retry_delay_min = 100ms, .retry_delay_max = 400ms});
  Nanoseconds now = 0ns;
  EXPECT_TRUE(sender.wants_connection(now));
  for (const Nanoseconds pause : {100ms, 200ms, 400ms, 400ms}) {
    sender.on_connected(now);
    static_cast<void>(take_requests(sender, now));
    EXPECT_FALSE(sender.wants_disconnect(now + 999ms));
    now += 1s;
    EXPECT_TRUE(sender.wants_disconnect(now));
    sender.on_disconnected(now);
    EXPECT_FALSE(sender.wants_connection(now + pause - 1ns));
    now += pause;
    EXPECT_TRUE(sender.wants_connection(now));
  }
  // An idle session is not silent: no reply is due.
  sender.on_connected(now);
  static_cast<void>(take_requests(sender, now));
  ASSERT_TRUE(ok(sender.on_reply(opened(0), now)));
  EXPECT_FALSE(sender.wants_disconnect(now + 1h));
}

// A service with a full disk opens the session each time and then accepts nothing. An opened
// session alone must not shorten the pauses, or the service would read the session from disk five
// times a second.
TEST(StreamSender, BacksOffFromAServiceThatAcceptsNothing) {
  MemoryStore store;
  store.append(make_payload(1));
  store.sync();
  StreamSender sender(store, {.id = "a"}, {.retry_delay_min = 100ms, .retry_delay_max = 400ms});
  StreamReply refusal;
  refusal.mutable_session_refused()->set_reason(rigcal::v1::SessionRefused::REASON_STORAGE);
  Nanoseconds now = 0ns;
  const auto open_and_send = [&] {
    sender.on_connected(now);
    static_cast<void>(take_requests(sender, now));
    ASSERT_TRUE(ok(sender.on_reply(opened(0), now)));
    ASSERT_EQ(take_requests(sender, now).size(), 1u);
  };
  for (const Nanoseconds pause : {100ms, 200ms, 400ms, 400ms}) {
    open_and_send();
    ASSERT_TRUE(ok(sender.on_reply(refusal, now)));
    sender.on_disconnected(now);
    EXPECT_FALSE(sender.wants_connection(now + pause - 1ns));
    now += pause;
    EXPECT_TRUE(sender.wants_connection(now));
  }
  open_and_send();
  ASSERT_TRUE(ok(sender.on_reply(acknowledge(1), now)));
  sender.on_disconnected(now);
  EXPECT_TRUE(sender.wants_connection(now + 100ms));
}

// A reply that cannot be true must not advance the store: batches would be deleted unsent.
TEST(StreamSender, RejectsAcknowledgementsOfUnsentBatches) {
  MemoryStore store;
  for (std::uint64_t k = 0; k < 5; ++k) store.append(make_payload(k));
  store.sync();
  StreamSender sender(store, {.id = "a"}, {.window = 2});
  sender.on_connected(0ns);
  static_cast<void>(take_requests(sender, 0ns));
  ASSERT_TRUE(ok(sender.on_reply(opened(0), 0ns)));
  static_cast<void>(take_requests(sender, 0ns));
  ASSERT_TRUE(ok(sender.on_reply(acknowledge(3), 0ns)));
  EXPECT_EQ(store.acknowledged_through(), 0u);
  EXPECT_TRUE(sender.wants_disconnect(0ns));
  EXPECT_TRUE(take_requests(sender, 0ns).empty());
  EXPECT_FALSE(sender.problem().empty());
}

// A session id used twice, or a service restored from a backup, cannot be repaired automatically.
// Continuing would lose batches without notice.
TEST(StreamSender, RefusesASessionThatDoesNotFit) {
  for (const std::uint64_t through : {std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{9}}) {
    MemoryStore store;
    for (std::uint64_t k = 0; k < 5; ++k) store.append(make_payload(k));
    store.sync();
    ASSERT_TRUE(ok(store.acknowledge(3)));
    StreamSender sender(store, {.id = "a"});
    sender.on_connected(0ns);
    static_cast<void>(take_requests(sender, 0ns));
    ASSERT_TRUE(ok(sender.on_reply(opened(through), 0ns)));
    EXPECT_EQ(sender.state(), State::kRefused);
    EXPECT_EQ(store.acknowledged_through(), 3u);
    EXPECT_FALSE(sender.wants_connection(1h));
  }
}

// While closing, the sender waits for the end, whatever else arrives. A service that is silent
// after a late acknowledgement is disconnected like any other.
TEST(StreamSender, DisconnectsFromAServiceThatIsSilentWhileClosing) {
  MemoryStore store;
  store.append(make_payload(0));
  store.sync();
  StreamSender sender(store, {.id = "a"}, {.reply_timeout = 1s});
  sender.end_session();
  sender.on_connected(0ns);
  static_cast<void>(take_requests(sender, 0ns));
  ASSERT_TRUE(ok(sender.on_reply(opened(0), 0ns)));
  static_cast<void>(take_requests(sender, 0ns));
  ASSERT_TRUE(ok(sender.on_reply(acknowledge(1), 0ns)));
  const auto closing = take_requests(sender, 0ns);
  ASSERT_EQ(closing.size(), 1u);
  ASSERT_TRUE(closing[0].has_close_session());
  ASSERT_TRUE(ok(sender.on_reply(acknowledge(1), 500ms)));
  EXPECT_EQ(sender.state(), State::kClosing);
  EXPECT_FALSE(sender.wants_disconnect(1499ms));
  EXPECT_TRUE(sender.wants_disconnect(1500ms));
}

// A close counts only if it was requested and covers everything sent. Otherwise batches that the
// service lacks would be deleted.
TEST(StreamSender, RejectsAnUnrequestedClose) {
  for (const bool asked : {false, true}) {
    MemoryStore store;
    for (std::uint64_t k = 0; k < 2; ++k) store.append(make_payload(k));
    store.sync();
    StreamSender sender(store, {.id = "a"});
    if (asked) sender.end_session();
    sender.on_connected(0ns);
    static_cast<void>(take_requests(sender, 0ns));
    ASSERT_TRUE(ok(sender.on_reply(opened(0), 0ns)));
    static_cast<void>(take_requests(sender, 0ns));
    ASSERT_TRUE(ok(sender.on_reply(acknowledge(2), 0ns)));
    static_cast<void>(take_requests(sender, 0ns));
    rigcal::v1::StreamReply closed;
    closed.mutable_session_closed()->set_through(asked ? 1 : 2);
    ASSERT_TRUE(ok(sender.on_reply(closed, 0ns)));
    EXPECT_NE(sender.state(), State::kDone);
    EXPECT_TRUE(sender.wants_disconnect(0ns));
  }
}

// The session is reopened with its secret, whether the sender chose it or was given it.
TEST(StreamSender, BringsTheSecretOfItsSession) {
  MemoryStore store;
  StreamSender sender(store, {.id = "a", .secret = "its own"});
  sender.on_connected(0ns);
  EXPECT_EQ(take_requests(sender, 0ns).at(0).open_session().secret(), "its own");
  StreamReply reply = opened(0);
  ASSERT_TRUE(ok(sender.on_reply(reply, 0ns)));
  sender.on_disconnected(0ns);
  sender.on_connected(1h);
  EXPECT_EQ(take_requests(sender, 1h).at(0).open_session().secret(), "its own");
  reply.mutable_session_opened()->set_secret("given");
  ASSERT_TRUE(ok(sender.on_reply(reply, 1h)));
  sender.on_disconnected(1h);
  sender.on_connected(2h);
  EXPECT_EQ(take_requests(sender, 2h).at(0).open_session().secret(), "given");
}

// A sender of the rest of an interrupted run declares no end of it.
TEST(StreamSender, ReportsWhetherTheEndWasDeclared) {
  for (const bool interrupted : {false, true}) {
    MemoryStore store;
    StreamSender sender(store, {.id = "a"});
    sender.end_session(interrupted);
    sender.on_connected(0ns);
    static_cast<void>(take_requests(sender, 0ns));
    ASSERT_TRUE(ok(sender.on_reply(opened(0), 0ns)));
    const auto closing = take_requests(sender, 0ns);
    ASSERT_EQ(closing.size(), 1u);
    EXPECT_EQ(closing[0].close_session().interrupted(), interrupted);
  }
}

TEST(SessionSecret, IsAnotherEachTimeAndComparedWhole) {
  const std::string secret = make_secret();
  EXPECT_EQ(secret.size(), kSecretSizeMax);
  EXPECT_NE(secret, make_secret());
  EXPECT_TRUE(secrets_equal(secret, secret));
  for (std::size_t k = 0; k < secret.size(); ++k) {
    std::string other = secret;
    other[k] ^= static_cast<char>(0x80);
    EXPECT_FALSE(secrets_equal(secret, other)) << k;
  }
  EXPECT_FALSE(secrets_equal(secret, secret.substr(1)));
  EXPECT_FALSE(secrets_equal(secret, ""));
}

TEST(StreamSender, TriesAgainOnlyWhereThatCanHelp) {
  for (const auto reason : {rigcal::v1::SessionRefused::REASON_BUSY,
                            rigcal::v1::SessionRefused::REASON_PROTOCOL_VERSION}) {
    MemoryStore store;
    StreamSender sender(store, {.id = "a"});
    sender.on_connected(0ns);
    static_cast<void>(take_requests(sender, 0ns));
    StreamReply refusal;
    refusal.mutable_session_refused()->set_reason(reason);
    refusal.mutable_session_refused()->set_text("queue is full");
    ASSERT_TRUE(ok(sender.on_reply(refusal, 0ns)));
    EXPECT_TRUE(sender.wants_disconnect(0ns));
    sender.on_disconnected(0ns);
    EXPECT_EQ(sender.wants_connection(1h), reason == rigcal::v1::SessionRefused::REASON_BUSY);
    EXPECT_NE(sender.problem().find("queue is full"), std::string::npos);
  }
}

TEST(SessionId, MayBeAFileName) {
  EXPECT_TRUE(is_session_id("2026-11-21T07.15_rig-A"));
  for (const std::string bad : {"", ".", "..", "a/b", "a b", ".hidden", "\xc3\xa9"}) {
    EXPECT_FALSE(is_session_id(bad)) << bad;
  }
  EXPECT_FALSE(is_session_id(std::string(65, 'a')));
}
}  // namespace
}  // namespace proto
