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
using test_support::OutletInHand;
using test_support::StoreInHand;

const Identity kLifeAnna{"account:anna", false};
const Identity kBerta{"account:berta", false};

ServiceError::Code remove_job(StoreInHand& store, const std::string& id) {
  ServiceError fault;
  store.jobs->remove(id, kLifeAnna, [&](const auto& outcome) { fault = fault_of(outcome); });
  store.drain();
  return fault.code();
}

ServiceError::Code remove_session(StoreInHand& store, const std::string& id) {
  ServiceError fault;
  store.sessions->remove(id, kLifeAnna, [&](const auto& outcome) { fault = fault_of(outcome); });
  store.drain();
  return fault.code();
}

ServiceError::Code open_upload(StoreInHand& store, const std::string& id, std::uint64_t size) {
  rigcal::v1::OpenUpload open;
  open.set_session_id(id);
  open.set_file_name("a.csv");
  open.set_size_bytes(size);
  ServiceError fault;
  store.sessions->open_upload(open, kLifeAnna,
                              [&](const auto& outcome) { fault = fault_of(outcome); });
  store.drain();
  return fault.code();
}

// Neither a running nor a waiting job can be deleted, nor the recording that it reads.
TEST(Lives, KeepObjectsInUse) {
  StoreInHand store;
  store.upload("data", kLifeAnna);
  ASSERT_EQ(fault_of(store.submit("a1", kLifeAnna)).code(), 0);
  ASSERT_EQ(fault_of(store.submit("a2", kLifeAnna)).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);
  EXPECT_EQ(store.job("a2").state(), rigcal::v1::JOB_QUEUED);
  EXPECT_EQ(remove_job(store, "a1"), ServiceError::NOT_READY);
  EXPECT_EQ(remove_job(store, "a2"), ServiceError::NOT_READY);
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY);
  store.runner.finish("a1");
  store.drain();
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY) << "the second runs now";
  store.runner.finish("a2");
  store.drain();
  EXPECT_EQ(remove_session(store, "data"), 0);
  EXPECT_EQ(remove_job(store, "a1"), 0);
}

// A job that was stopped by a cancellation is cancelled, whatever its worker reports at the end.
// One that was done before is done.
TEST(Lives, OfCancelledJobsEndAsCancelled) {
  StoreInHand store;
  store.upload("data", kLifeAnna);
  for (const bool done : {false, true}) {
    const std::string id = done ? "a2" : "a1";
    ASSERT_EQ(fault_of(store.submit(id, kLifeAnna)).code(), 0);
    ASSERT_EQ(fault_of(store.jobs->cancel(id, kLifeAnna)).code(), 0);
    ASSERT_TRUE(store.runner.runs.at(id).stopped);
    EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_RUNNING) << "its worker has not ended yet";
    store.runner.runs.at(id).on_ended({done, done ? "" : "killed"});
    store.drain();
    EXPECT_EQ(store.job(id).state(), done ? rigcal::v1::JOB_DONE : rigcal::v1::JOB_CANCELLED);
  }
}

TEST(Lives, OfFailedJobsKeepTheReason) {
  StoreInHand store;
  store.upload("data", kLifeAnna);
  ASSERT_EQ(fault_of(store.submit("a1", kLifeAnna)).code(), 0);
  store.runner.runs.at("a1").on_ended({false, "no convergence"});
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_FAILED);
  EXPECT_EQ(store.job("a1").error(), "no convergence");
}

// An orderly stop is no failure: the job waits, its start is not counted, and the next process
// starts it again.
TEST(Lives, OfJobsGoOnAfterAnOrderlyStop) {
  StoreInHand store;
  store.upload("data", kLifeAnna);
  ASSERT_EQ(fault_of(store.submit("a1", kLifeAnna)).code(), 0);
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
  store.upload("data", kLifeAnna);
  ASSERT_EQ(fault_of(store.submit("a1", kLifeAnna)).code(), 0);
  std::ofstream(store.context.data_folder + "/jobs/a1/result.json") << "{}";
  store.restart();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(store.runner.order.size(), 1u) << "not started again";
}

// Waiting jobs keep their order of arrival, not that of their names.
TEST(Lives, OfWaitingJobsKeepTheirOrderOverARestart) {
  StoreInHand store;
  store.upload("data", kLifeAnna);
  for (const char* id : {"m", "z", "a"}) ASSERT_EQ(fault_of(store.submit(id, kLifeAnna)).code(), 0);
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
  auto outlet = std::make_unique<OutletInHand>();
  const auto rig = std::make_shared<Conversation>(store.context, *store.sessions, *store.jobs,
                                                  Peer{kLifeAnna, "test"});
  rig->attach(*outlet);
  const auto send = [&](const rigcal::v1::ServiceRequest& request) {
    std::vector<proto::Frame> frames;
    const std::string bytes = test_support::request_frame(request);
    ASSERT_TRUE(
        proto::FrameDecoder(proto::service_request_limits())
            .feed({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, frames)
            .ok());
    rig->on_frame(frames.at(0));
    store.drain();
  };
  send(test_support::open_request("run"));
  EXPECT_EQ(fault_of(store.submit("early", kLifeAnna, "run")).code(), ServiceError::NOT_READY);
  EXPECT_EQ(remove_session(store, "run"), ServiceError::NOT_READY) << "it streams";
  send(test_support::close_request(0));
  ASSERT_EQ(fault_of(store.submit("a1", kLifeAnna, "run")).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  ASSERT_FALSE(kept.empty());
  for (const Task& task : kept) task();
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING) << store.job("a1").error();
  rig->on_disconnected();
}

// An upload that is repeated must be the same; one larger than the limit of a session does not
// start.
TEST(Lives, OfUploadsHaveOneSize) {
  ServiceLimits limits;
  limits.session_size_bytes = 1000;
  StoreInHand store(limits);
  EXPECT_EQ(open_upload(store, "u", 1000), 0);
  EXPECT_EQ(open_upload(store, "u", 1000), 0) << "goes on";
  EXPECT_EQ(open_upload(store, "u", 999), ServiceError::EXISTS);
  EXPECT_EQ(open_upload(store, "v", 1001), ServiceError::BAD_REQUEST);
  EXPECT_EQ(open_upload(store, "v", 0), ServiceError::BAD_REQUEST);
}

// Another's upload is found only by a client with the same content, once it is complete and
// verified: not while in progress, not as another kind of file, not under an id without the
// content's name.
TEST(Lives, OfUploadsAreSharedByContentOnly) {
  StoreInHand store;
  const auto open = [&](const std::string& id, const std::string& name, const Identity& who) {
    rigcal::v1::OpenUpload request;
    request.set_session_id(id);
    request.set_file_name(name);
    request.set_size_bytes(3);
    std::variant<rigcal::v1::UploadState, ServiceError> answer;
    store.sessions->open_upload(request, who, [&](const auto& outcome) { answer = outcome; });
    store.drain();
    return answer;
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
  const Identity root{"account:root", true};
  ASSERT_FALSE(found(open(named, "a.csv", kBerta)));
  EXPECT_TRUE(refused(open(named, "a.csv", kLifeAnna))) << "under way";
  EXPECT_TRUE(refused(open(named, "a.csv", root))) << "under way, and an operator's own may differ";
  store.upload(named, kBerta);
  EXPECT_TRUE(found(open(named, "b.csv", kLifeAnna)));
  EXPECT_TRUE(refused(open(named, "a.mcap", kLifeAnna))) << "stored as a table";

  store.upload("mine", kBerta);
  EXPECT_TRUE(found(open("mine", "a.csv", kBerta)));
  EXPECT_TRUE(refused(open("mine", "a.csv", kLifeAnna)));
  EXPECT_TRUE(refused(open("mine", "a.csv", root)));
}

// From the request of its deletion on, a recording is gone for everybody.
TEST(Lives, OfSessionsEndWithTheRequestToDelete) {
  StoreInHand store;
  store.upload("data", kLifeAnna);
  EXPECT_FALSE(std::holds_alternative<ServiceError>(store.sessions->recording_path("data")));
  store.sessions->remove("data", kLifeAnna, [](const auto&) {});
  EXPECT_EQ(fault_of(store.sessions->recording_path("data")).code(), ServiceError::NOT_FOUND);
  EXPECT_EQ(remove_session(store, "data"), ServiceError::NOT_READY) << "twice";
}

// While a part is being stored the next one is not accepted: its position is not known yet.
TEST(Lives, OfUploadsTakeOnePartAtATime) {
  StoreInHand store;
  ASSERT_EQ(open_upload(store, "u", 4), 0);
  std::vector<ServiceError::Code> faults;
  const auto append = [&](std::uint64_t offset) {
    rigcal::v1::UploadPart part;
    part.set_session_id("u");
    part.set_offset_bytes(offset);
    part.set_data("ab");
    store.sessions->append_upload(
        part, kLifeAnna, [&](const auto& outcome) { faults.push_back(fault_of(outcome).code()); });
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
