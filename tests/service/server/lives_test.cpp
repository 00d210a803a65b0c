#include <fstream>

#include "proto/stream/content_hash.hpp"
#include "service/server/storage/session_log.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/service/server/store_in_hand.hpp"

// Life cycles of jobs and recordings: stops and restarts of the service, cancelled and running
// jobs, objects in use or being deleted.

namespace service {
namespace {

using rigcal::v1::ServiceError;
using rigcal::v1::UploadState;
using test_support::fault_of;
using test_support::kAnna;
using test_support::part_request;
using test_support::StoreInHand;

ServiceError::Code remove_session(StoreInHand& store, const std::string& id) {
  ServiceError fault;
  store.sessions->remove(id, kAnna, [&](const auto& outcome) { fault = fault_of(outcome); });
  store.drain();
  return fault.code();
}

// Neither a running nor a waiting job can be deleted, nor the recording that it reads.
TEST(Lives, KeepObjectsInUse) {
  StoreInHand store;
  store.upload("data", kAnna);
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
  StoreInHand store;
  store.upload("data", kAnna);
  for (const bool done : {false, true}) {
    const std::string id = done ? "a2" : "a1";
    ASSERT_EQ(fault_of(store.submit(id, kAnna)).code(), 0);
    ASSERT_EQ(fault_of(store.jobs->cancel(id, kAnna)).code(), 0);
    ASSERT_TRUE(store.runner.runs.at(id).stopped);
    EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_RUNNING) << "its worker has not ended yet";
    store.runner.runs.at(id).on_ended({done, done ? "" : "killed"});
    store.drain();
    EXPECT_EQ(store.job(id).state(), done ? rigcal::v1::JOB_DONE : rigcal::v1::JOB_CANCELLED);
  }
}

TEST(Lives, OfFailedJobsKeepTheReason) {
  StoreInHand store;
  store.upload("data", kAnna);
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  store.runner.runs.at("a1").on_ended({false, "no convergence"});
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_FAILED);
  EXPECT_EQ(store.job("a1").error(), "no convergence");
}

// An orderly stop is no failure: the job waits, its start is not counted, and the next process
// starts it again.
TEST(Lives, OfJobsGoOnAfterAnOrderlyStop) {
  StoreInHand store;
  store.upload("data", kAnna);
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
  StoreInHand store;
  store.upload("data", kAnna);
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  std::ofstream(store.context.data_folder + "/jobs/a1/result.json") << "{}";
  store.restart();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(store.runner.order.size(), 1u) << "not started again";
}

// Waiting jobs keep their order of arrival, not that of their names.
TEST(Lives, OfWaitingJobsKeepTheirOrderOverARestart) {
  StoreInHand store;
  store.upload("data", kAnna);
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
  test_support::ClientInHand rig(store, kAnna);
  rig.call(test_support::open_request("run"));
  EXPECT_EQ(fault_of(store.submit("early", kAnna, "run")).code(), ServiceError::NOT_READY);
  EXPECT_EQ(remove_session(store, "run"), ServiceError::NOT_READY) << "it streams";
  rig.call(test_support::close_request(0));
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
  const std::string named = proto::upload_id(name.text(), 1);
  ASSERT_FALSE(found(open(named, "a.csv", kBert)));
  EXPECT_TRUE(refused(open(named, "a.csv", kAnna))) << "under way";
  EXPECT_TRUE(refused(open(named, "a.csv", kRoot)))
      << "under way, and an operator's own may differ";
  store.upload(named, test_support::kBert);
  EXPECT_TRUE(found(open(named, "b.csv", kAnna)));
  EXPECT_TRUE(refused(open(named, "a.mcap", kAnna))) << "stored as a table";

  store.upload("mine", kBert);
  EXPECT_TRUE(found(open("mine", "a.csv", kBert)));
  EXPECT_TRUE(refused(open("mine", "a.csv", kAnna)));
  EXPECT_TRUE(refused(open("mine", "a.csv", kRoot)));
}

// From the request of its deletion on, a recording is gone for everybody.
TEST(Lives, OfSessionsEndWithTheRequestToDelete) {
  StoreInHand store;
  store.upload("data", kAnna);
  EXPECT_FALSE(std::holds_alternative<ServiceError>(store.sessions->recording_path("data")));
  store.sessions->remove("data", kAnna, [](const auto&) {});
  EXPECT_EQ(fault_of(store.sessions->recording_path("data")).code(), ServiceError::NOT_FOUND);
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY) << "twice";
}

// While a part is being stored the next one is not accepted: its position is not known yet.
TEST(Lives, OfUploadsTakeOnePartAtATime) {
  StoreInHand store;
  ASSERT_EQ(fault_of(store.open_upload("u", kAnna, 4)).code(), 0);
  std::vector<ServiceError::Code> faults;
  const auto append = [&](std::uint64_t offset) {
    store.sessions->append_upload(
        part_request("u", offset, "ab").upload_part(), kAnna,
        [&](const auto& outcome) { faults.push_back(fault_of(outcome).code()); });
  };
  append(0);
  append(0);
  EXPECT_EQ(faults, std::vector<ServiceError::Code>{ServiceError::BAD_REQUEST});
  store.drain();
  append(2);
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

}  // namespace
}  // namespace service
