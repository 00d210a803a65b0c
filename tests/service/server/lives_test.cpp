#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proto/stream/content_hash.hpp"
#include "service/server/sessions/upload.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/session_log.hpp"
#include "tests/service/server/played_service.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/service/server/store_in_hand.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;
using rigcal::v1::UploadState;

// Life cycles of jobs and recordings: stops and restarts of the service, cancelled and running
// jobs, objects in use or being deleted.

ServiceError::Code remove_session(StoreInHand& store, const std::string& id) {
  ServiceError fault;
  store.sessions->delete_session(id, kAnna,
                                 [&](const auto& outcome) { fault = fault_of(outcome); });
  store.drain();
  return fault.code();
}

// Neither a running nor a waiting job can be deleted, nor the recording that it reads.
TEST(Lives, KeepObjectsInUse) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  ASSERT_EQ(fault_of(store.submit("a2", kAnna)).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);
  EXPECT_EQ(store.job("a2").state(), rigcal::v1::JOB_QUEUED);
  EXPECT_EQ(store.remove_job("a1", kAnna), ServiceError::NOT_READY);
  EXPECT_EQ(store.remove_job("a2", kAnna), ServiceError::NOT_READY);
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY);
  store.finish("a1");
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY) << "the second runs now";
  store.finish("a2");
  EXPECT_EQ(remove_session(store, "data"), 0);
  EXPECT_EQ(store.remove_job("a1", kAnna), 0);
}

// A job that was stopped by a cancellation is cancelled, whatever its worker reports at the end.
// One that was done before is done.
TEST(Lives, OfCancelledJobsEndAsCancelled) {
  StoreWithData store;
  for (const bool done : {false, true}) {
    const std::string id = done ? "a2" : "a1";
    ASSERT_EQ(fault_of(store.submit(id, kAnna)).code(), 0);
    ASSERT_EQ(fault_of(store.cancel(id, kAnna)).code(), 0);
    ASSERT_TRUE(store.runner.runs.at(id).stopped);
    EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_RUNNING) << "its worker has not ended yet";
    store.runner.runs.at(id).on_ended({done, done ? "" : "killed"});
    store.drain();
    EXPECT_EQ(store.job(id).state(), done ? rigcal::v1::JOB_DONE : rigcal::v1::JOB_CANCELLED);
  }
}

TEST(Lives, OfFailedJobsKeepTheReason) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  store.runner.runs.at("a1").on_ended({false, "no convergence"});
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_FAILED);
  EXPECT_EQ(store.job("a1").error(), "no convergence");
}

// An orderly stop is no failure: the job waits, its start is not counted, and the next process
// starts it again.
TEST(Lives, OfJobsGoOnAfterAnOrderlyStop) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  EXPECT_EQ(store.job("a1").start_count(), 1);
  store.jobs->shut_down();
  EXPECT_TRUE(store.runner.runs.at("a1").stopped);
  store.runner.runs.at("a1").on_ended({false, "stopped"});
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  EXPECT_EQ(store.job("a1").start_count(), 0);
  store.restart();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);
  EXPECT_EQ(store.job("a1").start_count(), 1);
}

// If the service died between the result and its record, the result is valid.
TEST(Lives, OfJobsWithAResultAreOver) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  std::ofstream(store.context.data_folder + "/jobs/a1/result.json") << "{}";
  store.restart();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(store.runner.order.size(), 1u) << "not started again";
}

// Waiting jobs keep their order of arrival, not that of their names.
TEST(Lives, OfWaitingJobsKeepTheirOrderOverARestart) {
  StoreWithData store;
  for (const char* id : {"m", "z", "a"}) ASSERT_EQ(fault_of(store.submit(id, kAnna)).code(), 0);
  store.runner.order.clear();
  store.restart();
  EXPECT_EQ(store.runner.order, (std::vector<std::string>{"m"})) << "it was interrupted";
  EXPECT_EQ(store.job("z").queue_position(), 1);
  EXPECT_EQ(store.job("a").queue_position(), 2);
}

// A job on a session that is closed but not stored yet waits for that, and then starts.
TEST(Lives, OfJobsWaitForTheirSessionToBeStored) {
  StoreInHand store;
  std::vector<Task> kept;  // the storing of the session
  store.context.maintenance = [&](const std::string&, Task task) {
    kept.push_back(std::move(task));
  };
  ClientInHand rig(store, kAnna);
  rig.call(open_request("run"));
  EXPECT_EQ(fault_of(store.submit("early", kAnna, "run")).code(), ServiceError::NOT_READY);
  EXPECT_EQ(remove_session(store, "run"), ServiceError::NOT_READY) << "it streams";
  rig.call(close_request(0));
  ASSERT_EQ(fault_of(store.submit("a1", kAnna, "run")).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  ASSERT_FALSE(kept.empty());
  for (const Task& task : kept) task();
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING) << store.job("a1").error();
}

// An upload that is repeated must be the same; one larger than the limit of a session does not
// start.
TEST(Lives, OfUploadsHaveOneSize) {
  ServiceLimits limits;
  limits.session_size_bytes = 1000;
  StoreInHand store(limits);
  EXPECT_EQ(fault_of(store.open_upload("u", kAnna, 1000)).code(), 0);
  EXPECT_EQ(fault_of(store.open_upload("u", kAnna, 1000)).code(), 0) << "goes on";
  EXPECT_EQ(fault_of(store.open_upload("u", kAnna, 999)).code(), ServiceError::EXISTS);
  EXPECT_EQ(fault_of(store.open_upload("v", kAnna, 1001)).code(), ServiceError::BAD_REQUEST);
  EXPECT_EQ(fault_of(store.open_upload("v", kAnna, 0)).code(), ServiceError::BAD_REQUEST);
}

// Another's upload is found only by a client with the same content, once it is complete and
// verified: not while in progress, not as another kind of file, not under an id without the
// content's name.
TEST(Lives, OfUploadsAreSharedByContentOnly) {
  StoreInHand store;
  const auto open = [&](const std::string& id, const std::string& name, const Identity& who) {
    return store.open_upload(id, who, 3, name);
  };
  const auto found = [](const auto& answer) {
    const auto* const state = std::get_if<rigcal::v1::UploadState>(&answer);
    return state != nullptr && state->complete();
  };
  const auto refused = [](const auto& answer) {
    return fault_of(answer).code() == ServiceError::EXISTS;
  };
  proto::ContentHash name;
  name.add("abc");
  const std::string named = proto::make_upload_id(name.text(), 1);
  ASSERT_FALSE(found(open(named, "a.csv", kBert)));
  EXPECT_TRUE(refused(open(named, "a.csv", kAnna))) << "under way";
  EXPECT_TRUE(refused(open(named, "a.csv", kRoot)))
      << "under way, and an operator's own may differ";
  store.upload(named, kBert);
  EXPECT_TRUE(found(open(named, "b.csv", kAnna)));
  EXPECT_TRUE(refused(open(named, "a.mcap", kAnna))) << "stored as a table";

  store.upload("mine", kBert);
  EXPECT_TRUE(found(open("mine", "a.csv", kBert)));
  EXPECT_TRUE(refused(open("mine", "a.csv", kAnna)));
  EXPECT_TRUE(refused(open("mine", "a.csv", kRoot)));
}

// From the request of its deletion on, a recording is gone for everybody.
TEST(Lives, OfSessionsEndWithTheRequestToDelete) {
  StoreWithData store;
  EXPECT_FALSE(std::holds_alternative<ServiceError>(store.sessions->recording_path("data")));
  store.sessions->delete_session("data", kAnna, [](const auto&) {});
  EXPECT_EQ(fault_of(store.sessions->recording_path("data")).code(), ServiceError::NOT_FOUND);
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY) << "twice";
}

// While a part is being stored the next one is not accepted: its position is not known yet.
TEST(Lives, OfUploadsTakeOnePartAtATime) {
  StoreInHand store;
  ASSERT_EQ(fault_of(store.open_upload("u", kAnna, 4)).code(), 0);
  std::vector<ServiceError::Code> faults;
  const auto append_part = [&](std::uint64_t offset) {
    auto part = part_request("u", offset, "ab").upload_part();
    store.sessions->append_upload(
        part, kAnna, [&](const auto& outcome) { faults.push_back(fault_of(outcome).code()); });
  };
  append_part(0);
  append_part(0);
  EXPECT_EQ(faults, std::vector<ServiceError::Code>{ServiceError::BAD_REQUEST});
  store.drain();
  const auto info = store.sessions->find_session_info("u");
  EXPECT_EQ(std::get<rigcal::v1::SessionInfo>(info).size_bytes(), 2U) << "what is stored so far";
  append_part(2);
  store.drain();
  EXPECT_TRUE(std::holds_alternative<std::string>(store.sessions->recording_path("u")));
}

// A batch that the disk returns under another number is refused.
TEST(Lives, OfBatchesDependOnTheirNumbers) {
  const test_support::TemporaryFolder folder("/dev/shm");
  auto spool = proto::Spool::open(folder.file("spool"));
  ASSERT_TRUE(spool.ok());
  for (const std::uint64_t number : {1u, 5u}) {
    rigcal::v1::SampleBatch batch;
    batch.set_batch_sequence(number);
    ASSERT_TRUE(spool.value().append(batch.SerializeAsString()).ok());
  }
  EXPECT_TRUE(read_batch(spool.value(), 1).ok());
  const auto other = read_batch(spool.value(), 2);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, proto::ErrorCode::kDamaged);
}

std::string name_of(const std::string& content) {
  proto::ContentHash name;
  name.add(content);
  return name.text();
}

class Uploads : public ::testing::Test {
 protected:
  Uploads() {
    EXPECT_TRUE(open_item_folders(service_.context.data_folder).ok());
    record_.set_upload_size_bytes(10);
    record_.mutable_info()->set_session_id("file");
    record_.mutable_info()->set_state(rigcal::v1::SESSION_UPLOADING);
    record_.mutable_info()->set_file_name("recording.csv");
    open();
  }

  /// Opens the uploads as at the service's start, with the existing files.
  void open() {
    upload_ = std::make_shared<Upload>(
        service_.context, folder(), record_,
        [this](const Upload& ended) { ++(ended.is_stored() ? stored_ : gone_); });
    upload_->open(answer());
    service_.run_all();
  }

  std::string folder() const { return service_.context.data_folder + "/file"; }
  Upload::Answer answer() {
    return [this](const ReplyOrError<UploadState>& outcome) { last_ = outcome; };
  }
  void append_part(std::uint64_t offset, const std::string& data) {
    upload_->append_part(offset, data, answer());
    service_.run_all();
  }
  bool refused() const { return std::holds_alternative<ServiceError>(last_); }
  UploadState state() const { return std::get<UploadState>(last_); }

  /// Opens one under an id that promises this content.
  void open_named(const std::string& content) {
    record_.mutable_info()->set_session_id(proto::make_upload_id(name_of(content), 1));
    record_.set_upload_size_bytes(content.size());
    open();
  }

  PlayedService service_;
  rigcal::v1::SessionRecord record_;
  std::shared_ptr<Upload> upload_;
  ReplyOrError<UploadState> last_;
  int stored_ = 0;
  int gone_ = 0;
};

// One byte more than announced is refused, at the start and at the end, without a change to the
// stored data. Exactly the announced size completes the file.
TEST_F(Uploads, AcceptNoMoreThanAnnounced) {
  append_part(0, std::string(11, 'x'));
  EXPECT_TRUE(refused());
  append_part(0, std::string(6, 'a'));
  EXPECT_EQ(state().durable_bytes(), 6u);
  append_part(6, std::string(5, 'x'));
  EXPECT_TRUE(refused());
  EXPECT_EQ(stored_, 0);
  append_part(6, std::string(4, 'b'));
  EXPECT_TRUE(state().complete());
  EXPECT_EQ(stored_, 1);
  EXPECT_EQ(read_small_file(folder() + "/recording.csv", 100).value(), "aaaaaabbbb");
}

// Damage by the disk is found even if the id contains no hash. The checksum is that of the received
// bytes, also of those from before a restart.
TEST_F(Uploads, HaveAChecksum) {
  append_part(0, "aaaaaa");
  open();
  append_part(6, "bbbb");
  ASSERT_TRUE(state().complete());
  const std::string path = folder() + "/recording.csv";
  EXPECT_TRUE(check_checksum(path).ok());
  std::ofstream(path) << "aaaaaabbbx";
  const auto damaged = check_checksum(path);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, proto::ErrorCode::kDamaged);
  std::ofstream(folder() + "/SHA256SUMS").close();  // lost its content
  EXPECT_FALSE(check_checksum(path).ok());
  std::filesystem::remove(folder() + "/SHA256SUMS");
  EXPECT_TRUE(check_checksum(path).ok()) << "of an earlier release";
}

// Parts follow one another without gap or overlap, and none is empty.
TEST_F(Uploads, AcceptOnlyThePartThatIsDue) {
  append_part(1, "x");
  EXPECT_TRUE(refused());
  append_part(0, "");
  EXPECT_TRUE(refused());
  append_part(0, "aaa");
  append_part(2, "x");
  EXPECT_TRUE(refused());
  append_part(4, "x");
  EXPECT_TRUE(refused());
  append_part(3, "b");
  EXPECT_EQ(state().durable_bytes(), 4u);
}

// A link at the place of the file is not followed.
TEST_F(Uploads, DoNotFollowLinks) {
  std::ofstream(service_.files.file("victim")) << "untouched";
  std::filesystem::create_symlink(service_.files.file("victim"), folder() + "/recording.csv.part");
  append_part(0, "aaa");
  EXPECT_TRUE(refused());
  EXPECT_EQ(read_small_file(service_.files.file("victim"), 100).value(), "untouched");
}

// The content must match the one that the id promises: otherwise it is refused on completion and
// deleted. The right content is stored, however it was split.
TEST_F(Uploads, MustMatchTheContentHashInTheirIds) {
  open_named("aaaabbbb");
  append_part(0, "aaaabbbc");
  ASSERT_TRUE(refused());
  const auto fault = std::get<ServiceError>(last_);
  EXPECT_EQ(fault.code(), ServiceError::BAD_REQUEST);
  EXPECT_NE(fault.text().find(name_of("aaaabbbc")), std::string::npos) << fault.text();
  EXPECT_EQ(gone_, 1);
  EXPECT_FALSE(std::filesystem::exists(folder()));

  open();
  append_part(0, "aaaa");
  append_part(4, "bbbb");
  ASSERT_FALSE(refused());
  EXPECT_TRUE(state().complete());
  EXPECT_EQ(stored_, 1);
  EXPECT_EQ(gone_, 1);
}

// Data from before a restart count as well, right or wrong, and so does a file whose last part was
// stored just before it.
TEST_F(Uploads, CountDataFromBeforeARestart) {
  open_named("aaaabbbb");
  append_part(0, "aaaa");
  open();
  ASSERT_EQ(state().durable_bytes(), 4u);
  append_part(4, "bbbb");
  ASSERT_FALSE(refused());
  EXPECT_TRUE(state().complete());

  for (const char* path : {"/recording.csv", "/recording.csv.part"}) {
    SCOPED_TRACE(path);
    std::filesystem::remove_all(folder());
    open();
    std::ofstream(folder() + path) << "aaaabbbb";
    open();
    EXPECT_TRUE(!refused() && state().complete());
    std::filesystem::remove_all(folder());
    open();
    std::ofstream(folder() + path) << "aaaaxxxx";
    open();
    EXPECT_TRUE(refused());
    EXPECT_FALSE(std::filesystem::exists(folder()));
  }
}

// Files stored before contents were verified are verified once, on request. A wrong one is shared
// with nobody but stays, as jobs may have used it.
TEST_F(Uploads, VerifyFilesOfEarlierReleases) {
  open_named("aaaabbbb");
  append_part(0, "aaaabbbb");
  record_ = upload_->session_record();
  EXPECT_TRUE(record_.content_checked());
  record_.set_content_checked(false);
  open();
  ASSERT_FALSE(refused());
  EXPECT_TRUE(upload_->session_record().content_checked());

  std::ofstream(folder() + "/recording.csv") << "aaaaxxxx";
  open();
  ASSERT_TRUE(refused());
  EXPECT_EQ(std::get<ServiceError>(last_).code(), ServiceError::EXISTS);
  EXPECT_EQ(gone_, 0);
  EXPECT_TRUE(std::filesystem::exists(folder() + "/recording.csv"));
}

}  // namespace
}  // namespace service
