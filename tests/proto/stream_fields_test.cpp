#include <gtest/gtest.h>

#include <chrono>

#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"
#include "proto/stream/stream_sender.hpp"
#include "tests/support/results.hpp"

// The sender's messages, field by field, its window, its pauses and time limits at their bounds,
// and replies that cannot be true.

namespace proto {
namespace {

using namespace std::chrono_literals;
using rigcal::v1::SessionRefused;
using rigcal::v1::StreamReply;
using rigcal::v1::StreamRequest;
using test_support::ok;
using State = StreamSender::SenderState;

// A store of durable batches, whose sample has the number of its batch plus 100.
class Store final : public BatchStore {
 public:
  explicit Store(std::uint64_t count) : durable_count(count) {}
  std::uint64_t durable_batch_end() const override { return durable_count + 1; }
  std::uint64_t acknowledged_through() const override { return acknowledged; }
  Result<std::string> read(std::uint64_t sequence) override {
    rigcal::v1::SampleBatch batch;
    batch.add_samples()->set_sequence(100 + sequence);
    return batch.SerializeAsString();
  }
  Status acknowledge(std::uint64_t through) override {
    EXPECT_GE(through, acknowledged);
    EXPECT_LE(through, durable_count);
    acknowledged = through;
    return success();
  }

  std::uint64_t durable_count;
  std::uint64_t acknowledged = 0;
};

// A sender of durable batches, and the replies of its service.
struct Sending {
  explicit Sending(std::uint64_t batch_count, const StreamSenderOptions& options = {},
                   const StreamSession& session = {.id = "a"})
      : store(batch_count), sender(store, session, options) {}

  std::vector<StreamRequest> requests(Nanoseconds now = 0ns) {
    std::vector<StreamRequest> all;
    for (auto next = sender.next_request(now); next.ok() && next.value();
         next = sender.next_request(now)) {
      EXPECT_TRUE(all.emplace_back().ParseFromString(next.value()->substr(4)));
    }
    return all;
  }
  void reply(const StreamReply& message, Nanoseconds now = 0ns) {
    EXPECT_TRUE(ok(sender.on_reply(message, now)));
  }
  // Connects and sends the opening.
  std::vector<StreamRequest> connect(Nanoseconds now = 0ns) {
    sender.on_connected(now);
    return requests(now);
  }
  void open(std::uint64_t through, Nanoseconds now = 0ns) {
    connect(now);
    StreamReply opened;
    opened.mutable_session_opened()->set_acknowledged_through(through);
    reply(opened, now);
  }
  void acknowledge(std::uint64_t through, Nanoseconds now = 0ns) {
    StreamReply acknowledged;
    acknowledged.mutable_acknowledge()->set_through(through);
    reply(acknowledged, now);
  }
  void close(std::uint64_t through) {
    StreamReply closed;
    closed.mutable_session_closed()->set_through(through);
    reply(closed);
  }
  void refuse(SessionRefused::Reason reason, Nanoseconds now = 0ns) {
    StreamReply refusal;
    refusal.mutable_session_refused()->set_reason(reason);
    refusal.mutable_session_refused()->set_text("queue is full");
    reply(refusal, now);
  }
  // Expects that the next connection is wanted after exactly this pause.
  void expect_pause(Nanoseconds now, Nanoseconds pause) {
    EXPECT_FALSE(sender.wants_connection(now + pause - 1ns));
    EXPECT_TRUE(sender.wants_connection(now + pause));
  }

  Store store;
  StreamSender sender;
};

constexpr StreamSenderOptions kShort{
    .window = 3, .reply_timeout = 1s, .retry_delay_min = 100ms, .retry_delay_max = 400ms};

TEST(Sending, OpensWithItsSessionsMetadata) {
  Sending sending(5, kShort,
                  {.id = "run",
                   .metadata = {{"hinges", "arm"}, {"rig", "r"}},
                   .epoch_unix_ns = 77,
                   .secret = "0123456789abcdef"});
  const auto all = sending.connect();
  ASSERT_EQ(all.size(), 1u) << "nothing more before its answer";
  const auto& open = all[0].open_session();
  EXPECT_EQ(open.protocol_version(), kStreamVersion);
  EXPECT_EQ(open.session_id(), "run");
  EXPECT_EQ(open.epoch_unix_ns(), 77);
  EXPECT_EQ(open.secret(), "0123456789abcdef");
  ASSERT_EQ(open.metadata_size(), 2);
  EXPECT_EQ(open.metadata().at("rig"), "r");
}

// Each batch has its own number and content, starting after those that the service has. At most the
// window is in transit. Only repeated batches are counted as resent.
TEST(Sending, NumbersAndCountsItsBatches) {
  Sending sending(5, kShort);
  sending.open(0);
  auto all = sending.requests();
  ASSERT_EQ(all.size(), 3u) << "the window";
  for (std::uint64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(all[k].sample_batch().batch_sequence(), k + 1);
    EXPECT_EQ(all[k].sample_batch().samples(0).sequence(), 101 + k);
  }
  EXPECT_EQ(sending.sender.resent_batch_count(), 0u);
  sending.acknowledge(1);
  all = sending.requests();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].sample_batch().batch_sequence(), 4u);
  sending.sender.on_disconnected(0ns);
  sending.open(2);
  EXPECT_EQ(sending.store.acknowledged, 2u);
  all = sending.requests();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sample_batch().batch_sequence(), 3u);
  EXPECT_EQ(sending.sender.resent_batch_count(), 2u) << "3 and 4, and not 5";
}

// The closing carries the last number of all. It waits for the last acknowledgement, and only its
// own number ends it.
TEST(Sending, ClosesWithItsLastNumber) {
  Sending sending(5, kShort);
  sending.open(3);
  sending.sender.end_session();
  EXPECT_EQ(sending.requests().size(), 2u);
  sending.acknowledge(4);
  EXPECT_TRUE(sending.requests().empty());
  sending.acknowledge(5);
  const auto all = sending.requests();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].close_session().last_batch_sequence(), 5u);
  sending.close(5);
  EXPECT_EQ(sending.sender.state(), State::kDone);
  EXPECT_TRUE(sending.sender.wants_disconnect(0ns));
  sending.sender.on_disconnected(0ns);
  EXPECT_FALSE(sending.sender.wants_connection(1h));
}

// The reply time-out runs from the first request without a reply. Each reply restarts it while
// others are due, and without open requests none runs.
TEST(Sending, WaitsForTheReplyTimeout) {
  Sending sending(5, kShort);
  sending.open(0);
  EXPECT_FALSE(sending.sender.wants_disconnect(1h)) << "nothing is due";
  sending.requests(10s);
  EXPECT_FALSE(sending.sender.wants_disconnect(10s + 999ms));
  EXPECT_TRUE(sending.sender.wants_disconnect(11s));
  sending.acknowledge(1, 10s + 900ms);
  EXPECT_FALSE(sending.sender.wants_disconnect(11s + 899ms));
  EXPECT_TRUE(sending.sender.wants_disconnect(11s + 900ms));
  sending.acknowledge(3, 11s);
  EXPECT_FALSE(sending.sender.wants_disconnect(1h));
}

// A pause has exactly its length. Only an acknowledgement of new batches makes the next one short
// again.
TEST(Sending, PausesForTheBackoff) {
  Sending sending(5, kShort);
  sending.sender.on_connected(0ns);
  sending.sender.on_disconnected(0ns);
  sending.expect_pause(0ns, 100ms);
  sending.open(0, 100ms);
  sending.requests(100ms);
  sending.acknowledge(0, 100ms);
  sending.sender.on_disconnected(100ms);
  sending.expect_pause(100ms, 200ms);
  sending.open(0, 300ms);
  sending.requests(300ms);
  sending.acknowledge(1, 300ms);
  sending.sender.on_disconnected(300ms);
  sending.expect_pause(300ms, 100ms);
}

// A batch that is not durable here must not reach the service. After a power cut its number would
// be given to another batch, which the service would drop as a duplicate.
TEST(StreamSender, SendsOnlyWhatIsDurable) {
  Sending sending(0);
  sending.open(0);
  EXPECT_TRUE(sending.requests().empty());
  sending.store.durable_count = 1;
  EXPECT_EQ(sending.requests().size(), 1u);
}

// A silent service is disconnected and tried again after pauses that grow up to a limit.
TEST(StreamSender, DisconnectsFromASilentServiceAndBacksOff) {
  Sending sending(0, kShort);
  Nanoseconds now = 0ns;
  EXPECT_TRUE(sending.sender.wants_connection(now));
  for (const Nanoseconds pause : {100ms, 200ms, 400ms, 400ms}) {
    sending.connect(now);
    EXPECT_FALSE(sending.sender.wants_disconnect(now + 999ms));
    now += 1s;
    EXPECT_TRUE(sending.sender.wants_disconnect(now));
    sending.sender.on_disconnected(now);
    sending.expect_pause(now, pause);
    now += pause;
  }
}

// A service with a full disk opens the session each time and then accepts nothing. An opened
// session alone must not shorten the pauses, or the service would read the session from disk five
// times a second.
TEST(StreamSender, BacksOffFromAServiceThatAcceptsNothing) {
  Sending sending(1, {.retry_delay_min = 100ms, .retry_delay_max = 400ms});
  Nanoseconds now = 0ns;
  for (const Nanoseconds pause : {100ms, 200ms, 400ms, 400ms}) {
    sending.open(0, now);
    ASSERT_EQ(sending.requests(now).size(), 1u);
    sending.refuse(SessionRefused::REASON_STORAGE, now);
    sending.sender.on_disconnected(now);
    sending.expect_pause(now, pause);
    now += pause;
  }
  sending.open(0, now);
  ASSERT_EQ(sending.requests(now).size(), 1u);
  sending.acknowledge(1, now);
  sending.sender.on_disconnected(now);
  EXPECT_TRUE(sending.sender.wants_connection(now + 100ms));
}

// A reply that cannot be true must not advance the store: batches would be deleted unsent.
TEST(StreamSender, RejectsAcknowledgementsOfUnsentBatches) {
  Sending sending(5, {.window = 2});
  sending.open(0);
  sending.requests();
  sending.acknowledge(3);
  EXPECT_EQ(sending.store.acknowledged, 0u);
  EXPECT_TRUE(sending.sender.wants_disconnect(0ns));
  EXPECT_TRUE(sending.requests().empty());
  EXPECT_FALSE(sending.sender.latest_problem().empty());
}

// A session id used twice, or a service restored from a backup, cannot be repaired automatically.
// Continuing would lose batches without notice.
TEST(StreamSender, RefusesASessionThatDoesNotFit) {
  for (const std::uint64_t through : {1u, 6u, 9u}) {
    Sending sending(5);
    sending.store.acknowledged = 3;
    sending.open(through);
    EXPECT_EQ(sending.sender.state(), State::kRefused);
    EXPECT_EQ(sending.store.acknowledged, 3u);
    EXPECT_FALSE(sending.sender.wants_connection(1h));
  }
}

// While closing, the sender waits for the end, whatever else arrives. A service that is silent
// after a late acknowledgement is disconnected like any other.
TEST(StreamSender, DisconnectsFromAServiceThatIsSilentWhileClosing) {
  Sending sending(1, {.reply_timeout = 1s});
  sending.sender.end_session();
  sending.open(0);
  sending.requests();
  sending.acknowledge(1);
  const auto closing = sending.requests();
  ASSERT_EQ(closing.size(), 1u);
  ASSERT_TRUE(closing[0].has_close_session());
  sending.acknowledge(1, 500ms);
  EXPECT_EQ(sending.sender.state(), State::kClosing);
  EXPECT_FALSE(sending.sender.wants_disconnect(1499ms));
  EXPECT_TRUE(sending.sender.wants_disconnect(1500ms));
}

// A close counts only if it was requested and covers everything sent. Otherwise batches that the
// service lacks would be deleted.
TEST(StreamSender, RejectsAnUnrequestedClose) {
  for (const bool asked : {false, true}) {
    Sending sending(2);
    if (asked) sending.sender.end_session();
    sending.open(0);
    sending.requests();
    sending.acknowledge(2);
    sending.requests();
    sending.close(asked ? 1 : 2);
    EXPECT_NE(sending.sender.state(), State::kDone);
    EXPECT_TRUE(sending.sender.wants_disconnect(0ns));
  }
}

// The session is reopened with its secret, whether the sender chose it or was given it.
TEST(StreamSender, SendsTheSecretOfItsSession) {
  Sending sending(0, {}, {.id = "a", .secret = "its own"});
  const auto secret_at = [&](Nanoseconds now) {
    return sending.connect(now).at(0).open_session().secret();
  };
  EXPECT_EQ(secret_at(0ns), "its own");
  StreamReply opened;
  opened.mutable_session_opened()->set_acknowledged_through(0);
  sending.reply(opened);
  sending.sender.on_disconnected(0ns);
  EXPECT_EQ(secret_at(1h), "its own");
  opened.mutable_session_opened()->set_secret("given");
  sending.reply(opened, 1h);
  sending.sender.on_disconnected(1h);
  EXPECT_EQ(secret_at(2h), "given");
}

// A sender of the rest of an interrupted run declares no end of it.
TEST(StreamSender, ReportsWhetherTheEndWasDeclared) {
  for (const bool interrupted : {false, true}) {
    Sending sending(0);
    sending.sender.end_session(interrupted);
    sending.open(0);
    const auto closing = sending.requests();
    ASSERT_EQ(closing.size(), 1u);
    EXPECT_EQ(closing[0].close_session().interrupted(), interrupted);
  }
}

TEST(StreamSender, RetriesOnlyTemporaryFailures) {
  for (const auto reason : {SessionRefused::REASON_BUSY, SessionRefused::REASON_PROTOCOL_VERSION}) {
    Sending sending(0);
    sending.connect();
    sending.refuse(reason);
    EXPECT_TRUE(sending.sender.wants_disconnect(0ns));
    sending.sender.on_disconnected(0ns);
    EXPECT_EQ(sending.sender.wants_connection(1h), reason == SessionRefused::REASON_BUSY);
    EXPECT_NE(sending.sender.latest_problem().find("queue is full"), std::string::npos);
  }
}

}  // namespace
}  // namespace proto
