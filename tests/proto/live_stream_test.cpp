#include <gtest/gtest.h>

#include <chrono>

#include "proto/stream.pb.h"
#include "proto/stream/live_check.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/stream/stream_sender.hpp"
#include "tests/support/results.hpp"

// Estimates during a session, from the view of the rig computer.

namespace proto {
namespace {

using namespace std::chrono_literals;
using rigcal::v1::StreamReply;
using rigcal::v1::StreamRequest;
using test_support::ok;

class NoBatches final : public BatchStore {
 public:
  std::uint64_t durable_batch_end() const override { return 1; }
  std::uint64_t acknowledged_through() const override { return 0; }
  Result<std::string> read(std::uint64_t) override { return std::string(); }
  Status acknowledge(std::uint64_t) override { return success(); }
};

StreamRequest next_request(StreamDialog& dialog) {
  const auto frame = dialog.next_request(0ns);
  StreamRequest request;
  EXPECT_TRUE(ok(frame));
  if (frame.ok() && frame.value()) {
    EXPECT_TRUE(request.ParseFromString(frame.value()->substr(4)));
  }
  return request;
}

StreamRequest open_with_rig_file(std::size_t size, StreamSender& sender) {
  sender.on_connected(0ns);
  StreamRequest request = next_request(sender);
  EXPECT_EQ(request.open_session().session_id(), "run");
  EXPECT_EQ(request.open_session().metadata().at("hinges"), "arm");
  EXPECT_EQ(request.open_session().live().rig_text().size(), size);
  return request;
}

StreamSession make_session(std::size_t rig_size) {
  return {.id = "run",
          .metadata = {{"hinges", "arm"}},
          .secret = "0123456789abcdef",
          .live = {"rig.textproto", std::string(rig_size, 'r')}};
}

// A rig file of any length must not prevent streaming: an OpenSession above its limit would be
// refused at every attempt, and the run's data would never arrive.
TEST(LiveStreamTest, OpensWithoutARigFileThatIsTooLong) {
  NoBatches store;
  StreamSender longest(store, make_session(kLiveRigSizeMax));
  open_with_rig_file(kLiveRigSizeMax, longest);
  EXPECT_EQ(longest.live_problem(), "");
  StreamSender too_long(store, make_session(kLiveRigSizeMax + 1));
  open_with_rig_file(0, too_long);
  EXPECT_EQ(too_long.live_problem(),
            "the rig file is too long for estimates during the recording: it has 256 KiB, and 256 "
            "KiB are allowed");
}

// The rig file may have the longest path; then the request as a whole is too long.
TEST(LiveStreamTest, OpensWithoutARigFileWhoseNameIsTooLong) {
  NoBatches store;
  StreamSession session = make_session(kLiveRigSizeMax);
  session.live.rig_name = std::string(128u << 10, 'n');
  StreamSender sender(store, session);
  open_with_rig_file(0, sender);
  EXPECT_NE(sender.live_problem(), "");
}

// Estimates may arrive at any time. They are no replies: a service that sends them but does not
// answer must still be dropped.
TEST(LiveStreamTest, CollectsEstimatesThatAreNotReplies) {
  NoBatches store;
  StreamSender sender(store, make_session(10), {.reply_timeout = 1s});
  open_with_rig_file(10, sender);
  StreamReply reply;
  auto& message = *reply.mutable_live_estimate();
  message.set_through_s(2.5);
  message.set_is_model_accepted(true);
  auto& parameter = *message.add_parameters();
  parameter.set_name("B.J_yy");
  parameter.set_unit("kg·m²");
  parameter.set_value(4e-3);
  parameter.set_half_width(1e-5);
  EXPECT_TRUE(ok(sender.on_reply(reply, 900ms)));
  EXPECT_TRUE(sender.wants_disconnect(1000ms)) << "the opening was never answered";
  const auto estimates = sender.take_estimates();
  ASSERT_EQ(estimates.size(), 1U);
  EXPECT_EQ(estimates[0].through_s, 2.5);
  EXPECT_TRUE(estimates[0].is_model_accepted);
  ASSERT_EQ(estimates[0].parameters.size(), 1U);
  EXPECT_EQ(estimates[0].parameters[0].name, "B.J_yy");
  EXPECT_EQ(estimates[0].parameters[0].unit, "kg·m²");
  EXPECT_EQ(estimates[0].parameters[0].value, 4e-3);
  EXPECT_EQ(estimates[0].parameters[0].half_width, 1e-5);
  EXPECT_TRUE(sender.take_estimates().empty());
}

// A stop may arrive at any time, even before the opening is answered. Once the run has ended, the
// sender no longer offers to stop it.
TEST(LiveStreamTest, KeepsTheRequestToStop) {
  NoBatches store;
  StreamSession session = make_session(0);
  session.accepts_stop = true;
  StreamSender sender(store, session);
  sender.on_connected(0ns);
  EXPECT_TRUE(next_request(sender).open_session().accepts_stop());
  EXPECT_EQ(sender.stop_requested_by(), "");
  StreamReply reply;
  reply.mutable_stop_run();
  EXPECT_TRUE(ok(sender.on_reply(reply, 0ns)));
  EXPECT_NE(sender.stop_requested_by(), "") << "a request without a name must stop, too";
  reply.mutable_stop_run()->set_requested_by("account:anna");
  EXPECT_TRUE(ok(sender.on_reply(reply, 0ns)));
  EXPECT_EQ(sender.stop_requested_by(), "account:anna");
  EXPECT_FALSE(sender.wants_disconnect(0ns));
  sender.end_session();
  sender.on_disconnected(0ns);
  sender.on_connected(1s);
  EXPECT_FALSE(next_request(sender).open_session().accepts_stop());
}

TEST(LiveStreamTest, ReportsWhyThereAreNoEstimates) {
  NoBatches store;
  StreamSender sender(store, make_session(10));
  open_with_rig_file(10, sender);
  StreamReply opened;
  opened.mutable_session_opened()->set_live_problem("live_fits is 0");
  EXPECT_TRUE(ok(sender.on_reply(opened, 0ns)));
  EXPECT_EQ(sender.live_problem(), "live_fits is 0");
  EXPECT_EQ(sender.state(), StreamSender::SenderState::kStreaming);
}

LiveCheck make_check() { return LiveCheck({"rig.textproto", "text"}, {{"B.J_yy", 0.1, "%"}}); }

TEST(LiveCheckTest, AsksOnceAndReportsTheReply) {
  for (const std::string problem : {"", "there is no parameter \"x\""}) {
    LiveCheck check = make_check();
    EXPECT_TRUE(check.wants_connection(0ns));
    check.on_connected(0ns);
    const StreamRequest request = next_request(check);
    EXPECT_EQ(request.check_live().protocol_version(), kStreamVersion);
    EXPECT_EQ(request.check_live().live().rig_name(), "rig.textproto");
    EXPECT_EQ(request.check_live().live().rig_text(), "text");
    ASSERT_EQ(request.check_live().targets_size(), 1);
    EXPECT_EQ(request.check_live().targets(0).parameter(), "B.J_yy");
    EXPECT_EQ(request.check_live().targets(0).half_width(), 0.1);
    EXPECT_EQ(request.check_live().targets(0).unit(), "%");
    EXPECT_EQ(next_request(check).request_case(), StreamRequest::REQUEST_NOT_SET);
    EXPECT_FALSE(check.is_done());
    StreamReply reply;
    reply.mutable_live_checked()->set_problem(problem);
    EXPECT_TRUE(ok(check.on_reply(reply, 0ns)));
    EXPECT_TRUE(check.is_done());
    EXPECT_TRUE(check.wants_disconnect(0ns));
    EXPECT_EQ(check.latest_problem(), problem);
  }
}

// A service of an older release ends the connection.
TEST(LiveCheckTest, NoticesAServiceThatDoesNotKnowTheRequest) {
  LiveCheck check = make_check();
  check.on_connected(0ns);
  next_request(check);
  check.on_disconnected(0ns);
  EXPECT_TRUE(check.was_left_unanswered());
  EXPECT_FALSE(check.is_done());
  EXPECT_FALSE(check.wants_connection(1h)) << "asked once";
}

}  // namespace
}  // namespace proto
