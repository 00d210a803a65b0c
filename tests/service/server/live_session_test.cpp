#include <gtest/gtest.h>

#include "service/server/sessions/live_fits.hpp"
#include "tests/service/server/store_in_hand.hpp"

// Estimates during a session: who receives them, and when they begin and end.

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

/// Estimations that the test plays.
class LiveFitsInHand final : public LiveFits {
 public:
  struct Run {
    std::string owner;
    std::string rig_text;
    std::size_t batch_count = 0;
    std::size_t unread_bytes = 0;
    OnEstimate on_estimate;
  };

  std::variant<std::unique_ptr<LiveFitRun>, std::string> start(
      const std::string& owner, const rigcal::v1::OpenSession& request,
      OnEstimate on_estimate) override {
    if (!problem.empty()) return problem;
    auto run = std::make_shared<Run>(
        Run{owner, request.live().rig_text(), 0, unread_bytes, std::move(on_estimate)});
    runs.push_back(run);
    return std::make_unique<Handle>(run);
  }
  void check(const std::string&, const rigcal::v1::CheckLive&, OnChecked on_checked) override {
    on_checked(problem);
  }

  std::string problem;
  std::size_t unread_bytes = 0;  // of new runs
  std::vector<std::weak_ptr<Run>> runs;

 private:
  struct Handle final : LiveFitRun {
    explicit Handle(std::shared_ptr<Run> own) : run(std::move(own)) {}
    void add(const std::string& batch) override {
      rigcal::v1::SampleBatch parsed;
      EXPECT_TRUE(parsed.ParseFromString(batch));
      EXPECT_EQ(parsed.batch_sequence(), ++run->batch_count) << "in order, without gaps";
    }
    std::size_t unread_bytes() const override { return run->unread_bytes; }
    std::shared_ptr<Run> run;
  };
};

/// A client that keeps the live frames sent to it.
struct Viewer final : LiveSubscriber {
  void on_live_update(const LiveFrame& frame) override {
    EXPECT_TRUE(replies.emplace_back().ParseFromString(frame.bytes->substr(4)));
  }
  void on_live_updates_ended(const std::string&) override {}
  std::vector<ServiceReply> replies;
};

class LiveSessions : public ::testing::Test {
 protected:
  LiveSessions() { store_.context.live_fits = &fits_; }

  static ServiceRequest open_live(const std::string& id) {
    ServiceRequest request = open_request(id);
    request.mutable_open_session()->mutable_live()->set_rig_text("name: 'rig'");
    return request;
  }

  rigcal::v1::LiveEstimate estimate() const {
    rigcal::v1::LiveEstimate estimate;
    estimate.set_through_s(1.5);
    return estimate;
  }

  LiveFitsInHand fits_;
  StoreInHand store_;
};

// The estimation gets every durable batch, and the rig computer its estimates. It belongs to the
// owner of the session.
TEST_F(LiveSessions, EstimateForTheRigComputer) {
  ClientInHand rig(store_, kAnna);
  EXPECT_EQ(rig.call(open_live("run")).session_opened().live_problem(), "");
  ASSERT_EQ(fits_.runs.size(), 1U);
  const auto run = fits_.runs[0].lock();
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->owner, "account:anna");
  EXPECT_EQ(run->rig_text, "name: 'rig'");
  ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  ASSERT_TRUE(rig.call(batch_request(2)).has_acknowledge());
  EXPECT_EQ(run->batch_count, 2U);
  rig.outlet.replies.clear();
  run->on_estimate(estimate());
  ASSERT_EQ(rig.outlet.replies.size(), 1U);
  EXPECT_EQ(rig.outlet.replies[0].live_estimate().session_id(), "run");
  EXPECT_EQ(rig.outlet.replies[0].live_estimate().through_s(), 1.5);
  rig.outlet.room = 0;  // a rig computer that reads slowly misses estimates
  run->on_estimate(estimate());
  EXPECT_EQ(rig.outlet.replies.size(), 1U);
}

// Programs of an older release do not know the message, so they must not get it.
TEST_F(LiveSessions, SendEstimatesOnlyOnRequest) {
  ClientInHand rig(store_, kAnna);
  rig.call(open_request("plain"));
  EXPECT_TRUE(fits_.runs.empty());
  ClientInHand other(store_, kAnna);
  other.call(open_live("run"));
  const auto with = std::make_shared<Viewer>(), without = std::make_shared<Viewer>();
  store_.sessions->add_subscriber("run", with, true);
  store_.sessions->add_subscriber("run", without, false);
  fits_.runs.at(0).lock()->on_estimate(estimate());
  ASSERT_EQ(with->replies.size(), 1U);
  EXPECT_EQ(with->replies[0].live_estimate().session_id(), "run");
  EXPECT_TRUE(without->replies.empty());
}

ServiceRequest open_running(const std::string& id) {
  ServiceRequest request = open_request(id);
  request.mutable_open_session()->set_accepts_stop(true);
  return request;
}

// The request reaches the rig computer even if it reads slowly, and again after a reconnect: the
// first connection may have broken before the rig computer has read it.
TEST_F(LiveSessions, StopTheRig) {
  ClientInHand owner(store_, kAnna);
  owner.call(hello_request());
  {
    ClientInHand rig(store_, kAnna);
    rig.call(open_running("run"));
    rig.outlet.replies.clear();
    rig.outlet.room = 0;
    const auto reply = owner.call(about(&ServiceRequest::mutable_stop_session, "run"));
    EXPECT_TRUE(reply.session_info().can_stop()) << reply.ShortDebugString();
    EXPECT_EQ(reply.session_info().stop_requested_by(), "account:anna");
    ASSERT_EQ(rig.outlet.replies.size(), 1U);
    EXPECT_EQ(rig.outlet.replies[0].stop_run().requested_by(), "account:anna");
  }
  ClientInHand again(store_, kAnna);
  again.call(open_running("run"));
  EXPECT_EQ(again.outlet.replies.back().stop_run().requested_by(), "account:anna");
}

// Nobody may believe that a rig was stopped if the request reached none. Strangers may not stop it.
TEST_F(LiveSessions, RefuseAStopThatReachesNoRig) {
  ClientInHand owner(store_, kAnna), stranger(store_, kBert);
  owner.call(hello_request());
  stranger.call(hello_request());
  const auto stop = about(&ServiceRequest::mutable_stop_session, "run");
  EXPECT_EQ(owner.call(stop).error().code(), rigcal::v1::ServiceError::NOT_FOUND);
  {
    ClientInHand rig(store_, kAnna);
    rig.call(open_running("run"));
    rig.outlet.replies.clear();
    EXPECT_EQ(stranger.call(stop).error().code(), rigcal::v1::ServiceError::NOT_ALLOWED);
    EXPECT_TRUE(rig.outlet.replies.empty());
  }
  const auto gone = owner.call(stop);
  EXPECT_EQ(gone.error().code(), rigcal::v1::ServiceError::NOT_READY);
  EXPECT_NE(gone.error().text().find("switch off at the rig"), std::string::npos);
  ClientInHand sender(store_, kAnna);  // sends the rest of a run that has ended
  sender.call(open_request("run"));
  EXPECT_EQ(owner.call(stop).error().code(), rigcal::v1::ServiceError::NOT_READY);
  EXPECT_FALSE(sender.outlet.replies.back().has_stop_run());
}

// An estimation must end with its session, and never hold it.
TEST_F(LiveSessions, EndTheEstimationWithTheSession) {
  ClientInHand rig(store_, kAnna);
  rig.call(open_live("run"));
  ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  EXPECT_FALSE(fits_.runs.at(0).expired());
  ASSERT_TRUE(rig.call(close_request(1)).has_session_closed());
  EXPECT_TRUE(fits_.runs.at(0).expired());
}

// A reconnected rig computer continues with the same estimation, which has all batches so far.
TEST_F(LiveSessions, KeepTheEstimationAcrossConnections) {
  {
    ClientInHand rig(store_, kAnna);
    rig.call(open_live("run"));
    ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  }
  ClientInHand again(store_, kAnna);
  EXPECT_EQ(again.call(open_live("run")).session_opened().live_problem(), "");
  EXPECT_EQ(fits_.runs.size(), 1U);
  fits_.runs[0].lock()->on_estimate(estimate());
  EXPECT_TRUE(again.outlet.replies.back().has_live_estimate());
}

// After a restart of the service the first batches are only on the disk. The estimation must get
// them, too: estimates from the rest would be wrong, for example of a rig that is released early.
TEST_F(LiveSessions, ResumeFromTheDiskAfterARestart) {
  constexpr std::uint64_t kBatches = 150;  // several reads
  {
    ClientInHand rig(store_, kAnna);
    rig.call(open_live("run"));
    for (std::uint64_t k = 1; k <= kBatches; ++k) {
      ASSERT_TRUE(rig.call(batch_request(k)).has_acknowledge());
    }
  }
  store_.restart();
  ClientInHand again(store_, kAnna);
  EXPECT_EQ(again.call(open_live("run")).session_opened().live_problem(), "");
  ASSERT_EQ(fits_.runs.size(), 2U);
  const auto run = fits_.runs[1].lock();
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->batch_count, kBatches);
  ASSERT_TRUE(again.call(batch_request(kBatches + 1)).has_acknowledge());
  EXPECT_EQ(run->batch_count, kBatches + 1);
}

// An estimation that reads slowly gets no more stored batches than it can hold, and the rest later.
TEST_F(LiveSessions, PaceTheBatchesFromTheDisk) {
  {
    ClientInHand rig(store_, kAnna);
    rig.call(open_request("run"));
    for (std::uint64_t k = 1; k <= 3; ++k) {
      ASSERT_TRUE(rig.call(batch_request(k)).has_acknowledge());
    }
  }
  fits_.unread_bytes = std::size_t{1} << 30;
  ClientInHand again(store_, kAnna);
  again.call(open_live("run"));
  const auto run = fits_.runs.at(0).lock();
  EXPECT_EQ(run->batch_count, 0U);
  ASSERT_TRUE(again.call(batch_request(4)).has_acknowledge());
  EXPECT_EQ(run->batch_count, 0U) << "batch 4 follows the stored ones";
  run->unread_bytes = 0;
  ASSERT_TRUE(again.call(batch_request(5)).has_acknowledge());
  EXPECT_EQ(run->batch_count, 5U);
}

// A refused estimation must not prevent the recording.
TEST_F(LiveSessions, StreamWithoutEstimatesIfThereCanBeNone) {
  fits_.problem = "live_fits is 0";
  ClientInHand rig(store_, kAnna);
  EXPECT_EQ(rig.call(open_live("run")).session_opened().live_problem(), "live_fits is 0");
  EXPECT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  store_.context.live_fits = nullptr;
  ClientInHand other(store_, kAnna);
  EXPECT_NE(other.call(open_live("other")).session_opened().live_problem(), "");
}

TEST_F(LiveSessions, CheckRequestsBeforeASession) {
  ServiceRequest request;
  request.mutable_check_live()->set_protocol_version(proto::kStreamVersion);
  for (const std::string problem : {"", "there is no parameter \"x\""}) {
    fits_.problem = problem;
    ClientInHand rig(store_, kAnna);
    const ServiceReply reply = rig.call(request);
    ASSERT_TRUE(reply.has_live_checked());
    EXPECT_EQ(reply.live_checked().problem(), problem);
    EXPECT_TRUE(rig.outlet.finished);
  }
  EXPECT_EQ(store_.sessions->list().total_count(), 0U) << "no session is created";
}

}  // namespace
}  // namespace service
