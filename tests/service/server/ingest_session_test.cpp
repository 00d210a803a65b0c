#include "service/server/sessions/ingest_session.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "service/server/sessions/session_store.hpp"
#include "service/server/storage/durable_file.hpp"
#include "tests/service/server/played_service.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/service/server/stored_session.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::SessionRefused;
class Rig final : public RigConnection {
 public:
  const std::string& identity() const override { return name_; }
  void on_session_opened(std::uint64_t through, const std::string& given) override {
    opened.push_back(through);
    secret = given;
  }
  void on_batches_acknowledged(std::uint64_t through) override { acknowledged = through; }
  void on_live_estimate(const rigcal::v1::LiveEstimate&) override {}
  void on_stop_requested(const std::string&) override {}
  void on_session_closed(std::uint64_t) override { closed = true; }
  void on_session_refused(SessionRefused::Reason why, const std::string& sentence) override {
    reason = why;
    text = sentence;
  }
  void on_connection_superseded() override { superseded = true; }

  std::vector<std::uint64_t> opened;
  std::string secret, text;
  std::uint64_t acknowledged = 0;
  bool closed = false, superseded = false;
  SessionRefused::Reason reason = SessionRefused::REASON_UNSPECIFIED;

 private:
  std::string name_ = "account:rig";
};

/// Sessions with every thread run by the test: events that arrive during a pending operation.
class IngestSessions : public ::testing::Test {
 protected:
  IngestSessions() { EXPECT_TRUE(store_->load().ok()); }
  ~IngestSessions() override { service_.run_all(); }

  /// The session, or nullptr with the refusal in refusal_.
  std::shared_ptr<IngestSession> find(const std::string& id, const std::string& secret) {
    auto request = open_request(id).open_session();
    request.set_secret(secret);
    auto opened = store_->open(request, owner_);
    if (const auto* refused = std::get_if<SessionRefused>(&opened)) {
      refusal_ = refused->text();
      return nullptr;
    }
    return std::get<std::shared_ptr<IngestSession>>(opened);
  }

  /// Opens the session as a rig, and waits for the answer.
  std::shared_ptr<Rig> open(const std::string& id) {
    auto rig = begin_open(id);
    service_.run_all();
    return rig;
  }
  std::shared_ptr<Rig> begin_open(const std::string& id) {
    auto rig = std::make_shared<Rig>();
    session_ = find(id, secret_of(id));
    if (!session_) return nullptr;
    session_->open(rig, open_request(id).open_session());
    return rig;
  }

  void send(const Rig& rig, std::uint64_t sequence) {
    auto request = batch_request(sequence);
    session_->append_batch(rig, *request.mutable_sample_batch());
  }

  /// Sends a batch and waits until it is durable.
  void store_batch(const Rig& rig, std::uint64_t sequence) {
    send(rig, sequence);
    service_.run_all();
  }

  void close(const Rig& rig, std::uint64_t last_batch, bool interrupted = false) {
    begin_close(rig, last_batch, interrupted);
    service_.run_all();
  }
  void begin_close(const Rig& rig, std::uint64_t last_batch, bool interrupted = false) {
    rigcal::v1::CloseSession request;
    request.set_last_batch_sequence(last_batch);
    request.set_interrupted(interrupted);
    session_->close(rig, request);
  }

  void begin_remove(bool& deleted) {
    store_->delete_session("run", owner_, [&](const auto& outcome) {
      deleted = std::holds_alternative<rigcal::v1::Deleted>(outcome);
    });
  }

  void restart() {
    session_.reset();
    service_.run_all();
    store_.emplace(
        service_.context, [] {}, [](const std::string&) { return std::string(); });
    ASSERT_TRUE(store_->load().ok());
    service_.run_all();
  }

  std::string folder(const std::string& id) const {
    return service_.context.data_folder + "/sessions/" + id;
  }
  rigcal::v1::SessionInfo info(const std::string& id) const {
    return std::get<rigcal::v1::SessionInfo>(store_->find_session_info(id));
  }

  const Identity owner_{"account:rig", false};
  PlayedService service_;
  std::optional<SessionStore> store_{std::in_place, service_.context, [] {},
                                     [](const std::string&) { return std::string(); }};
  std::shared_ptr<IngestSession> session_;
  std::string refusal_;
};

// A rig that reconnects while its last batches are being made durable is answered only afterwards.
// Otherwise it would resend them, or get acknowledgements for batches of another connection.
TEST_F(IngestSessions, AnswerAnOpeningAfterThePendingCommit) {
  const auto first = open("run");
  send(*first, 1);
  ASSERT_TRUE(service_.storage_waits());
  const auto second = begin_open("run");
  EXPECT_TRUE(first->superseded);
  EXPECT_TRUE(second->opened.empty());
  service_.run_all();
  EXPECT_EQ(second->opened, std::vector<std::uint64_t>{1});
  EXPECT_EQ(second->acknowledged, 0u) << "the opening reported it";
  EXPECT_EQ(first->acknowledged, 0u) << "it is gone";
}

// A connected rig that is silent for long continues where it was. A disk may take longer than an
// abandoned session stays in memory; the session must not be unloaded during the write.
TEST_F(IngestSessions, StayLoadedWhileConnectedOrCommitting) {
  service_.context.limits.unload_after_s = 0.0;
  {
    const auto rig = open("run");
    session_->unload_if_disconnected();
    service_.run_all();
    send(*rig, 1);
    session_->disconnect_rig(*rig);
  }
  session_->unload_if_disconnected();
  service_.run_storage();
  EXPECT_EQ(info("run").batch_count(), 1u);
  session_->unload_if_disconnected();
  service_.run_all();
  const auto again = open("run");
  EXPECT_EQ(again->opened, std::vector<std::uint64_t>{1});
}

// At least once on the wire, exactly once in the store: also within one group, before the first is
// durable.
TEST_F(IngestSessions, StoreABatchOnceThatComesTwice) {
  const auto rig = open("run");
  send(*rig, 1);
  send(*rig, 1);
  store_batch(*rig, 2);
  send(*rig, 1);
  EXPECT_EQ(rig->acknowledged, 2u);
  rig->acknowledged = 0;
  service_.run_all();
  EXPECT_EQ(rig->acknowledged, 2u) << "what is there already is acknowledged again";
  EXPECT_EQ(service_.context.metrics.duplicate_batches_total, 2u);
  close(*rig, 2);
  EXPECT_TRUE(rig->closed);
  expect_recording_of(folder("run") + "/recording.mcap", 2);
}

// Batch numbers have no gaps: a batch that skips a number is refused, and nothing of it is stored.
TEST_F(IngestSessions, RefuseABatchThatSkipsANumber) {
  for (const std::uint64_t first : {0u, 2u, 3u}) {
    SCOPED_TRACE(first);
    const std::string id = "run" + std::to_string(first);
    const auto rig = open(id);
    store_batch(*rig, first);
    EXPECT_EQ(rig->reason, SessionRefused::REASON_BAD_REQUEST);
    EXPECT_EQ(rig->acknowledged, 0u);
    EXPECT_EQ(info(id).batch_count(), 0u);
  }
}

// A connection that was replaced by a newer one must not write any more.
TEST_F(IngestSessions, AcceptNothingFromAReplacedConnection) {
  const auto first = open("run");
  const auto second = open("run");
  store_batch(*first, 1);
  EXPECT_EQ(info("run").batch_count(), 0u);
  store_batch(*second, 1);
  EXPECT_EQ(second->acknowledged, 1u);
}

// A batch that no recording can hold is refused without acknowledgement, and the session continues
// without it.
TEST_F(IngestSessions, RefuseABatchThatNoRecordingCanHold) {
  const auto rig = open("run");
  send(*rig, 1);
  auto poison = batch_request(2);
  poison.mutable_sample_batch()->mutable_samples(7)->set_timestamp(-1.0);
  session_->append_batch(*rig, *poison.mutable_sample_batch());
  service_.run_all();
  EXPECT_EQ(rig->reason, SessionRefused::REASON_BAD_REQUEST);
  EXPECT_NE(rig->text.find("times must not decrease"), std::string::npos) << rig->text;
  const auto again = open("run");
  EXPECT_EQ(again->opened, std::vector<std::uint64_t>{1});
  store_batch(*again, 2);
  EXPECT_EQ(again->acknowledged, 2u);
}

// If the stored batch differs from the resent one, it must not be acknowledged, whether the stored
// one is durable yet or not.
TEST_F(IngestSessions, RefuseAResentBatchWithOtherContent) {
  for (const bool durable_before : {true, false}) {
    SCOPED_TRACE(durable_before);
    const std::string id = durable_before ? "durable" : "pending";
    const auto rig = open(id);
    send(*rig, 1);
    if (durable_before) service_.run_all();
    rig->acknowledged = 0;
    auto altered = batch_request(1);
    altered.mutable_sample_batch()->mutable_samples(7)->mutable_command()->Clear();
    altered.mutable_sample_batch()->mutable_samples(7)->add_command(1e-9);
    session_->append_batch(*rig, *altered.mutable_sample_batch());
    service_.run_storage();
    service_.run_all();
    EXPECT_EQ(rig->reason, SessionRefused::REASON_BAD_REQUEST);
    EXPECT_NE(rig->text.find("different content"), std::string::npos) << rig->text;
    EXPECT_EQ(rig->acknowledged, durable_before ? 0u : 1u);
    const auto again = open(id);
    close(*again, 1);
    expect_recording_of(folder(id) + "/recording.mcap", 1);
  }
}

// Batches of a replaced connection must not cause a conflict for the new one.
TEST_F(IngestSessions, DoNotBlameANewConnectionForTheOldOne) {
  const auto first = open("run");
  store_batch(*first, 1);
  auto altered = batch_request(2);
  altered.mutable_sample_batch()->set_batch_sequence(1);
  session_->append_batch(*first, *altered.mutable_sample_batch());
  const auto second = open("run");
  EXPECT_EQ(second->reason, SessionRefused::REASON_UNSPECIFIED) << second->text;
  EXPECT_EQ(second->opened, std::vector<std::uint64_t>{1});
  // Also if both resend during one commit, the first one wrongly.
  send(*second, 2);
  altered.mutable_sample_batch()->set_batch_sequence(1);
  session_->append_batch(*second, *altered.mutable_sample_batch());
  const auto third = begin_open("run");
  send(*third, 1);
  service_.run_all();
  EXPECT_EQ(third->reason, SessionRefused::REASON_UNSPECIFIED) << third->text;
  EXPECT_EQ(third->opened, std::vector<std::uint64_t>{2});
}

// A session's name is not enough: without its secret it is neither taken over nor disconnected,
// before and after a restart of the service.
TEST_F(IngestSessions, AreOpenedAgainOnlyWithTheirSecret) {
  const auto rig = open("run");
  EXPECT_EQ(rig->secret, "") << "it has chosen its own";
  for (int round = 0; round < 2; ++round) {
    std::string last_byte = secret_of("run");
    last_byte.back() ^= 1;
    for (const std::string& wrong :
         {std::string(), secret_of("other"), last_byte, secret_of("run").substr(0, 31)}) {
      EXPECT_EQ(find("run", wrong), nullptr);
      EXPECT_NE(refusal_.find("the secret is wrong"), std::string::npos) << refusal_;
    }
    EXPECT_FALSE(rig->superseded);
    EXPECT_NE(find("run", secret_of("run")), nullptr);
    restart();
  }
}

// A rig that brings no secret gets one, once.
TEST_F(IngestSessions, GiveASecretToARigThatBringsNone) {
  const auto rig = std::make_shared<Rig>();
  session_ = find("run", "");
  session_->open(rig, rigcal::v1::OpenSession());
  service_.run_all();
  ASSERT_EQ(rig->secret.size(), 32u);
  EXPECT_EQ(find("run", ""), nullptr);
  const auto again = std::make_shared<Rig>();
  ASSERT_NE(find("run", rig->secret), nullptr);
  rigcal::v1::OpenSession reopened;
  reopened.set_secret(rig->secret);
  session_->open(again, reopened);
  service_.run_all();
  EXPECT_EQ(again->secret, "");
  EXPECT_EQ(find("short", "secret"), nullptr);
  EXPECT_NE(refusal_.find("16 to 32"), std::string::npos) << refusal_;
}

// Data of a release without secrets: open sessions continue, and the first secret that a rig brings
// applies from then on.
TEST_F(IngestSessions, OfAnEarlierReleaseAdoptTheFirstSecret) {
  open("run");
  const std::string record = folder("run") + "/session.textproto";
  std::string text = read_small_file(record, 1 << 20).value();
  text.resize(text.find("secret:"));
  ASSERT_TRUE(write_durably(record, text).ok());
  restart();
  EXPECT_NE(find("run", ""), nullptr);
  EXPECT_EQ(open("run")->reason, SessionRefused::REASON_UNSPECIFIED);
  EXPECT_EQ(find("run", ""), nullptr);
  restart();
  EXPECT_EQ(find("run", ""), nullptr);
  EXPECT_NE(find("run", secret_of("run")), nullptr);
}

// An undeclared end is reported in the session and in its recording.
TEST_F(IngestSessions, ReportAnUndeclaredEnd) {
  for (const std::string id : {"declared", "dead", "ended"}) {
    SCOPED_TRACE(id);
    const auto rig = open(id);
    store_batch(*rig, 1);
    if (id == "ended") {
      session_->disconnect_rig(*rig);
      EXPECT_EQ(session_->end(), std::nullopt);
    } else {
      begin_close(*rig, 1, id == "dead");
    }
    service_.run_all();
    EXPECT_EQ(info(id).state(), rigcal::v1::SESSION_STORED);
    EXPECT_EQ(info(id).interrupted(), id != "declared");
    const auto recording = proto::read_recording(folder(id) + "/recording.mcap");
    ASSERT_TRUE(ok(recording));
    ASSERT_EQ(recording.value().events.size(), id == "declared" ? 0u : 1u);
    if (id == "declared") continue;
    EXPECT_EQ(recording.value().events[0].name, "interrupted");
  }
}

// Storing that can never succeed is tried three times. Then the session is in its final state, is
// listed with the reason, blocks nobody, and can be deleted.
TEST_F(IngestSessions, FailAfterThreeTriesToStoreThem) {
  const auto rig = open("run");
  store_batch(*rig, 1);
  // A file in place of the log: it can be neither read nor replaced.
  std::filesystem::remove_all(folder("run") + "/spool");
  std::ofstream(folder("run") + "/spool") << "not a folder";
  begin_close(*rig, 1);
  service_.run_storage();
  for (int tries = 1; tries <= 3; ++tries) {
    EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_CLOSED) << tries;
    ASSERT_TRUE(service_.maintenance_waits()) << tries;
    service_.run_maintenance();
    store_->retry();
  }
  service_.run_all();
  EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_FAILED);
  EXPECT_NE(info("run").problem().find("cannot be stored"), std::string::npos);
  store_->retry();
  EXPECT_FALSE(service_.maintenance_waits());
  restart();
  EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_FAILED) << "not begun again";
  bool deleted = false;
  begin_remove(deleted);
  service_.run_all();
  EXPECT_TRUE(deleted);
  EXPECT_FALSE(std::filesystem::exists(folder("run")));
}

// A full disk may be emptied at any time: a session waits for space without limit.
TEST_F(IngestSessions, WaitForSpaceWithoutLimit) {
  const auto rig = open("run");
  store_batch(*rig, 1);
  const std::string large = folder("run") + "/spool/large";
  std::ofstream{large};
  std::filesystem::resize_file(large, std::uintmax_t{1} << 42);
  begin_close(*rig, 1);
  service_.run_storage();
  for (int tries = 1; tries <= 5; ++tries) {
    ASSERT_TRUE(service_.maintenance_waits()) << tries;
    service_.run_maintenance();
    EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_CLOSED) << info("run").problem();
    store_->retry();
  }
  std::filesystem::remove(large);
  service_.run_all();
  EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_STORED);
  expect_recording_of(folder("run") + "/recording.mcap", 1);
}

// A session that waits for space can be deleted to make some.
TEST_F(IngestSessions, CanBeDeletedWhileTheyWaitToBeStored) {
  const auto rig = open("run");
  std::filesystem::create_directory(folder("run") + "/recording.mcap");
  std::ofstream(folder("run") + "/recording.mcap/in the way");
  begin_close(*rig, 0);
  service_.run_storage();
  service_.run_maintenance();
  ASSERT_EQ(info("run").state(), rigcal::v1::SESSION_CLOSED);
  bool deleted = false;
  begin_remove(deleted);
  store_->retry();
  service_.run_all();
  EXPECT_TRUE(deleted);
  EXPECT_FALSE(std::filesystem::exists(folder("run")));
}

// A log that was damaged on the disk while the session was open must not keep it open: it ends, and
// is stored up to the damage.
TEST_F(IngestSessions, EndAtLogDamage) {
  const auto rig = open("run");
  for (std::uint64_t k = 1; k <= 3; ++k) store_batch(*rig, k);
  session_->disconnect_rig(*rig);
  service_.context.limits.unload_after_s = 0.0;
  session_->unload_if_disconnected();
  service_.run_all();
  const std::string file = folder("run") + "/spool/00000000000000000001.spool";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);  // batch 3 is torn
  const auto again = open("run");
  EXPECT_EQ(again->reason, SessionRefused::REASON_BAD_REQUEST);
  EXPECT_NE(again->text.find("lost stored batches"), std::string::npos) << again->text;
  EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_STORED);
  EXPECT_EQ(info("run").sample_count(), 40u);
  EXPECT_NE(info("run").problem().find("batch 3"), std::string::npos) << info("run").problem();
  EXPECT_TRUE(std::holds_alternative<std::string>(store_->recording_path("run")));
}

// Neither linked files nor a linked folder's content are read.
TEST_F(IngestSessions, DoNotFollowLinks) {
  std::filesystem::create_directories(service_.files.file("elsewhere"));
  std::filesystem::create_directory_symlink(service_.files.file("elsewhere"), folder("linked"));
  restart();
  EXPECT_FALSE(
      std::holds_alternative<rigcal::v1::SessionInfo>(store_->find_session_info("linked")));
  const auto rig = open("run");
  store_batch(*rig, 1);
  close(*rig, 1);
  const std::string recording = folder("run") + "/recording.mcap";
  std::filesystem::rename(recording, service_.files.file("moved"));
  std::filesystem::create_symlink(service_.files.file("moved"), recording);
  EXPECT_FALSE(std::holds_alternative<std::string>(store_->recording_path("run")));
}

// A session reports the batches it holds, each counted once however often it was sent, also after
// it has left memory.
TEST_F(IngestSessions, CountDurableBatches) {
  const auto rig = open("run");
  EXPECT_TRUE(info("run").connected());
  send(*rig, 1);
  send(*rig, 2);
  EXPECT_EQ(info("run").batch_count(), 0u) << "not durable yet";
  service_.run_all();
  send(*rig, 3);
  store_batch(*rig, 2);
  const auto expect_all = [&] {
    EXPECT_EQ(info("run").batch_count(), 3u);
    EXPECT_EQ(info("run").sample_count(), 60u);
    EXPECT_GT(info("run").size_bytes(), 3 * batch_request(1).sample_batch().ByteSizeLong());
  };
  expect_all();
  EXPECT_EQ(service_.context.metrics.batches_total, 3u);
  EXPECT_EQ(service_.context.metrics.samples_total, 60u);
  EXPECT_EQ(service_.context.metrics.duplicate_batches_total, 1u);
  session_->disconnect_rig(*rig);
  EXPECT_FALSE(info("run").connected());
  service_.context.limits.unload_after_s = 0.0;
  session_->unload_if_disconnected();
  service_.run_all();
  expect_all();
  const auto again = open("run");
  EXPECT_EQ(again->opened, std::vector<std::uint64_t>{3});
  expect_all();
  EXPECT_EQ(service_.context.metrics.samples_total, 60u);
}

// A session ends with its last batch: closing it with one less or one more keeps it open.
TEST_F(IngestSessions, EndWithTheirLastBatch) {
  for (const std::uint64_t last : {1U, 3U}) {
    const auto rig = open("run");
    for (std::uint64_t k = 1; k <= 2; ++k) send(*rig, k);
    close(*rig, last);
    EXPECT_EQ(rig->reason, SessionRefused::REASON_BAD_REQUEST) << last;
    EXPECT_FALSE(rig->closed);
    EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_OPEN);
  }
  const auto rig = open("run");
  close(*rig, 2);
  EXPECT_TRUE(rig->closed);
  EXPECT_EQ(info("run").state(), rigcal::v1::SESSION_STORED);
}

}  // namespace
}  // namespace service
