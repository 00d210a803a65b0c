#include <gtest/gtest.h>

#include <random>

#include "proto/stream.pb.h"
#include "proto/stream/content_hash.hpp"
#include "proto/stream/spool.hpp"
#include "proto/stream/stream_sender.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/proto/stream_payload.hpp"
#include "tests/proto/stream_peer.hpp"

namespace proto {
namespace {
using namespace std::chrono_literals;
using namespace test_support;
using rigcal::v1::StreamReply;

using State = StreamSender::SenderState;

// A store in memory; crash() drops batches that were not synced.
class MemoryStore final : public BatchStore {
 public:
  void append(std::string payload) { batches_.push_back(std::move(payload)); }
  void sync() { durable_end_ = batches_.size() + 1; }
  void crash() { batches_.resize(durable_end_ - 1); }
  std::uint64_t end() const { return batches_.size() + 1; }

  std::uint64_t durable_batch_end() const override { return durable_end_; }
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
          resent += campaign.sender().resent_batch_count();
          store.crash();
          campaign.restart_sender();
          break;
        default:
          break;
      }
      campaign.step();
    }
    ASSERT_EQ(campaign.sender().state(), State::kDone) << campaign.sender().latest_problem();
    expect_everything_once(campaign.peer(), count);
    resent += campaign.sender().resent_batch_count();
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
    ASSERT_EQ(campaign.sender().state(), State::kDone) << campaign.sender().latest_problem();
    expect_everything_once(campaign.peer(), kCount);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.file("spool")), {}), 1);
  }
}

TEST(SessionSecret, DiffersEachTimeAndIsComparedCompletely) {
  const std::string secret = make_secret();
  EXPECT_EQ(secret.size(), kSecretSizeMax);
  EXPECT_NE(secret, make_secret());
  EXPECT_TRUE(are_secrets_equal(secret, secret));
  for (std::size_t k = 0; k < secret.size(); ++k) {
    std::string other = secret;
    other[k] ^= static_cast<char>(0x80);
    EXPECT_FALSE(are_secrets_equal(secret, other)) << k;
  }
  EXPECT_FALSE(are_secrets_equal(secret, secret.substr(1)));
  EXPECT_FALSE(are_secrets_equal(secret, ""));
}

TEST(SessionId, MayBeAFileName) {
  EXPECT_TRUE(is_valid_session_id("2026-11-21T07.15_rig-A"));
  for (const std::string bad : {"", ".", "..", "a/b", "a b", ".hidden", "\xc3\xa9"}) {
    EXPECT_FALSE(is_valid_session_id(bad)) << bad;
  }
  EXPECT_FALSE(is_valid_session_id(std::string(65, 'a')));
}
}  // namespace
}  // namespace proto
