#include <gtest/gtest.h>

#include <chrono>

#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"
#include "proto/stream/stream_sender.hpp"

// The sender's messages, field by field, and its time limits at their bounds.

namespace proto {
namespace {

using namespace std::chrono_literals;
using rigcal::v1::StreamReply;
using rigcal::v1::StreamRequest;

// A store of durable batches. The time stamp of each batch is its number.
class Store final : public BatchStore {
 public:
  explicit Store(std::uint64_t count) : count_(count) {}
  std::uint64_t durable_end() const override { return count_ + 1; }
  std::uint64_t acknowledged_through() const override { return acknowledged_; }
  Result<std::string> read(std::uint64_t sequence) override {
    rigcal::v1::SampleBatch batch;
    batch.add_samples()->set_sequence(100 + sequence);
    return batch.SerializeAsString();
  }
  Status acknowledge(std::uint64_t through) override {
    acknowledged_ = through;
    return success();
  }

 private:
  std::uint64_t count_;
  std::uint64_t acknowledged_ = 0;
};

class Sending : public ::testing::Test {
 protected:
  std::vector<StreamRequest> requests(Nanoseconds now = 0ns) {
    std::vector<StreamRequest> all;
    for (auto next = sender_.next_request(now); next.ok() && next.value();
         next = sender_.next_request(now)) {
      EXPECT_TRUE(all.emplace_back().ParseFromString(next.value()->substr(4)));
    }
    return all;
  }
  void open(std::uint64_t through, Nanoseconds now = 0ns) {
    sender_.on_connected(now);
    requests(now);
    StreamReply reply;
    reply.mutable_session_opened()->set_acknowledged_through(through);
    EXPECT_TRUE(sender_.on_reply(reply, now).ok());
  }
  void acknowledge(std::uint64_t through, Nanoseconds now) {
    StreamReply reply;
    reply.mutable_acknowledge()->set_through(through);
    EXPECT_TRUE(sender_.on_reply(reply, now).ok());
  }

  Store store_{5};
  StreamSender sender_{
      store_,
      {.id = "run",
       .metadata = {{"hinges", "arm"}, {"rig", "r"}},
       .epoch_unix_ns = 77,
       .secret = "0123456789abcdef"},
      {.window = 3, .reply_timeout = 1s, .retry_delay_min = 100ms, .retry_delay_max = 400ms}};
};

TEST_F(Sending, OpensWithItsSessionsMetadata) {
  sender_.on_connected(0ns);
  const auto all = requests();
  ASSERT_EQ(all.size(), 1u);
  const auto& open = all[0].open_session();
  EXPECT_EQ(open.protocol_version(), kStreamVersion);
  EXPECT_EQ(open.session_id(), "run");
  EXPECT_EQ(open.epoch_unix_ns(), 77);
  EXPECT_EQ(open.secret(), "0123456789abcdef");
  ASSERT_EQ(open.metadata_size(), 2);
  EXPECT_EQ(open.metadata().at("rig"), "r");
}

// Each batch has its own number and content, starting after those that the service has. Only
// repeated batches are counted as resent.
TEST_F(Sending, NumbersAndCountsItsBatches) {
  open(0);
  auto all = requests();
  ASSERT_EQ(all.size(), 3u) << "the window";
  for (std::uint64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(all[k].sample_batch().batch_sequence(), k + 1);
    EXPECT_EQ(all[k].sample_batch().samples(0).sequence(), 101 + k);
  }
  EXPECT_EQ(sender_.resent_count(), 0u);
  acknowledge(1, 0ns);
  EXPECT_EQ(requests().size(), 1u);
  sender_.on_disconnected(0ns);
  open(2);
  EXPECT_EQ(store_.acknowledged_through(), 2u);
  all = requests();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sample_batch().batch_sequence(), 3u);
  EXPECT_EQ(sender_.resent_count(), 2u) << "3 and 4, and not 5";
}

// The closing carries the last number of all. It waits for the last acknowledgement, and only its
// own number ends it.
TEST_F(Sending, ClosesWithItsLastNumber) {
  open(3);
  sender_.end_session();
  EXPECT_EQ(requests().size(), 2u);
  acknowledge(4, 0ns);
  EXPECT_TRUE(requests().empty());
  acknowledge(5, 0ns);
  const auto all = requests();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].close_session().last_batch_sequence(), 5u);
  StreamReply closed;
  closed.mutable_session_closed()->set_through(5);
  EXPECT_TRUE(sender_.on_reply(closed, 0ns).ok());
  EXPECT_EQ(sender_.state(), StreamSender::State::kDone);
  EXPECT_TRUE(sender_.wants_disconnect(0ns));
  sender_.on_disconnected(0ns);
  EXPECT_FALSE(sender_.wants_connection(1h));
}

// The reply time-out runs from the first request without a reply. Each reply restarts it while
// others are due, and without open requests none runs.
TEST_F(Sending, WaitsForTheReplyTimeout) {
  open(0, 0ns);
  EXPECT_FALSE(sender_.wants_disconnect(1h)) << "nothing is due";
  requests(10s);
  EXPECT_FALSE(sender_.wants_disconnect(10s + 999ms));
  EXPECT_TRUE(sender_.wants_disconnect(11s));
  acknowledge(1, 10s + 900ms);
  EXPECT_FALSE(sender_.wants_disconnect(11s + 899ms));
  EXPECT_TRUE(sender_.wants_disconnect(11s + 900ms));
  acknowledge(3, 11s);
  EXPECT_FALSE(sender_.wants_disconnect(1h));
}

// A pause has exactly its length. Only an acknowledgement of new batches makes the next one short
// again.
TEST_F(Sending, PausesForTheBackoff) {
  sender_.on_connected(0ns);
  sender_.on_disconnected(0ns);
  EXPECT_FALSE(sender_.wants_connection(99ms));
  EXPECT_TRUE(sender_.wants_connection(100ms));
  open(0, 100ms);
  requests(100ms);
  acknowledge(0, 100ms);
  sender_.on_disconnected(100ms);
  EXPECT_FALSE(sender_.wants_connection(299ms));
  EXPECT_TRUE(sender_.wants_connection(300ms));
  open(0, 300ms);
  requests(300ms);
  acknowledge(1, 300ms);
  sender_.on_disconnected(300ms);
  EXPECT_FALSE(sender_.wants_connection(399ms));
  EXPECT_TRUE(sender_.wants_connection(400ms));
}

}  // namespace
}  // namespace proto
