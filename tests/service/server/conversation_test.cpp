#include "service/server/conversation.hpp"

#include <google/protobuf/descriptor.h>

#include <filesystem>
#include <fstream>

#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/server/storage/checksums.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/service/server/store_in_hand.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using test_support::read_request;

using Client = test_support::ClientInHand;

struct GreetedPeer : Client {
  GreetedPeer(StoreInHand& store, const Identity& who) : Client(store, who) {
    EXPECT_TRUE(call(hello_request()).has_welcome());
  }
};

// An empty request of every type.
std::vector<ServiceRequest> every_request() {
  std::vector<ServiceRequest> requests;
  const auto* const descriptor = ServiceRequest::descriptor();
  for (int k = 0; k < descriptor->oneof_decl(0)->field_count(); ++k) {
    ServiceRequest& request = requests.emplace_back();
    request.GetReflection()->MutableMessage(&request, descriptor->oneof_decl(0)->field(k));
  }
  return requests;
}

// Each request, of any type, gets exactly one reply after the greeting. Catches a request that is
// added to the schema but not handled, so that its client would wait forever. Requests that are not
// for clients end the connection with a reason.
TEST(Conversation, AnswersEveryRequestThereIsOnce) {
  const auto requests = every_request();
  ASSERT_GT(requests.size(), 18u);
  for (const ServiceRequest& request : requests) {
    SCOPED_TRACE(request.DebugString());
    const auto number = static_cast<std::uint32_t>(request.request_case());
    EXPECT_TRUE(std::any_of(proto::service_request_limits().begin(),
                            proto::service_request_limits().end(),
                            [&](const auto& limit) { return limit.type == number; }))
        << "has no cap on its size";
    StoreInHand store;
    GreetedPeer client(store, kAnna);
    client.call(request);
    EXPECT_EQ(client.outlet.replies.size(), 1u);
    EXPECT_EQ(client.outlet.finished, number <= ServiceRequest::kHello);
    EXPECT_TRUE(client.outlet.finished || client.conversation().ready());
  }
}

// A connection's first message is Hello or OpenSession; a streaming one accepts no other request.
TEST(Conversation, EndsAtAMisplacedRequest) {
  for (const ServiceRequest& request : every_request()) {
    SCOPED_TRACE(request.DebugString());
    StoreInHand store;
    Client fresh(store, kAnna);
    fresh.call(request);
    EXPECT_EQ(fresh.outlet.replies.size(), 1u);
    EXPECT_TRUE(fresh.outlet.finished) << "an empty Hello has no version, an empty OpenSession too";
    Client rig(store, kAnna);
    ASSERT_TRUE(rig.call(open_request("run")).has_session_opened());
    rig.call(request);
    EXPECT_EQ(rig.outlet.replies.size(), 1u);
  }
}

// Capacity is checked at the first message, for clients and rigs alike.
TEST(Conversation, ReportsAFullServiceAtTheFirstMessage) {
  StoreInHand store;
  Client client(store, kAnna);
  client.conversation().set_refusal_check([] { return std::string("full"); });
  EXPECT_EQ(client.call(hello_request()).error().code(), ServiceError::BUSY);
  EXPECT_TRUE(client.outlet.finished);
  EXPECT_FALSE(store.sessions->list().total_count());
  Client rig(store, kAnna);
  rig.conversation().set_refusal_check([] { return std::string("full"); });
  const ServiceReply refused = rig.call(open_request("run"));
  EXPECT_EQ(refused.session_refused().reason(), rigcal::v1::SessionRefused::REASON_BUSY);
  EXPECT_FALSE(store.sessions->list().total_count());
}

// Only the owner and operators may end and delete a session, which shows its owner. While it
// streams, it can be neither ended, deleted nor read.
TEST(Conversation, EndsAndDeletesForOwnersAndOperatorsOnly) {
  StoreInHand store;
  {
    Client rig(store, kAnna);
    ASSERT_TRUE(rig.call(open_request("run")).has_session_opened());
    ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
    GreetedPeer early(store, kAnna);
    for (const auto& request : {end_request("run"), delete_request("run"), read_request("run")}) {
      EXPECT_EQ(early.call(request).error().code(), ServiceError::NOT_READY);
    }
  }
  GreetedPeer stranger(store, kBert);
  GreetedPeer owner(store, kAnna);
  GreetedPeer root(store, kRoot);
  const ServiceError refused = stranger.call(end_request("run")).error();
  EXPECT_EQ(refused.code(), ServiceError::NOT_ALLOWED);
  EXPECT_NE(refused.text().find("session \"run\" belongs to \"account:anna\""), std::string::npos);
  const auto inspect = inspect_request("run");
  EXPECT_EQ(stranger.call(inspect).session_info().owner(), "account:anna");
  EXPECT_EQ(stranger.call(inspect).session_info().state(), rigcal::v1::SESSION_OPEN);
  EXPECT_TRUE(owner.call(end_request("run")).has_session_info());
  EXPECT_EQ(owner.call(inspect).session_info().state(), rigcal::v1::SESSION_STORED);
  EXPECT_EQ(stranger.call(delete_request("run")).error().code(), ServiceError::NOT_ALLOWED);
  store.restart();
  GreetedPeer later(store, kBert);
  EXPECT_EQ(later.call(delete_request("run")).error().code(), ServiceError::NOT_ALLOWED);
  GreetedPeer operator_later(store, kRoot);
  EXPECT_TRUE(operator_later.call(delete_request("run")).has_deleted());
}

// Only its owner may continue an upload. A client with the same content finds it there once it is
// complete.
TEST(Conversation, LetsOnlyItsOwnerContinueAnUpload) {
  StoreInHand store;
  GreetedPeer owner(store, kAnna);
  GreetedPeer stranger(store, kBert);
  proto::ContentHash content;
  content.add("aa");
  const std::string id = proto::make_upload_id(content.text(), 1);
  const auto open = upload_request(id, 2);
  ASSERT_TRUE(owner.call(open).has_upload_state());
  ASSERT_TRUE(owner.call(part_request(id, 0, "a")).has_upload_state());
  EXPECT_EQ(stranger.call(open).error().code(), ServiceError::EXISTS);
  const auto part = part_request(id, 1, "a");
  EXPECT_EQ(stranger.call(part).error().code(), ServiceError::NOT_ALLOWED);
  EXPECT_TRUE(owner.call(part).upload_state().complete());
  EXPECT_TRUE(stranger.call(open).upload_state().complete());
}

// An upload reserves its space at the start: the last byte of a share fits, one more does not, and
// others keep theirs.
TEST(Conversation, PromisesUploadsNoMoreThanTheShareOfTheDisk) {
  StoreInHand store;
  store.context.limits.share.disk_bytes = 1000;
  GreetedPeer client(store, kAnna);
  const auto open = [](Client& by, const std::string& id, std::uint64_t size_bytes) {
    return by.call(upload_request(id, size_bytes));
  };
  EXPECT_EQ(open(client, "a", 1001).error().code(), ServiceError::STORAGE);
  EXPECT_TRUE(open(client, "a", 600).has_upload_state());
  EXPECT_EQ(open(client, "b", 401).error().code(), ServiceError::STORAGE);
  store.count_use();  // a new count gives the same: no byte has arrived
  EXPECT_EQ(open(client, "b", 401).error().code(), ServiceError::STORAGE);
  EXPECT_TRUE(open(client, "b", 400).has_upload_state());
  GreetedPeer other(store, kBert);
  EXPECT_TRUE(open(other, "c", 1000).has_upload_state());
}

// A disk share without a setting is half of the total, and reservations do not enlarge it.
TEST(Conversation, DerivesTheDiskShareFromTheTotal) {
  StoreInHand store;
  store.context.disk_capacity_bytes = 2000;
  EXPECT_EQ(store.context.disk_share_bytes(), 1000u);
  store.context.disk.add("account:anna", 900);
  EXPECT_EQ(store.context.disk_share_bytes(), 1000u);
  store.context.limits.share.disk_bytes = 10;
  EXPECT_EQ(store.context.disk_share_bytes(), 10u);
}

// Before a refusal the disk is measured again: space freed by others since the last time is
// available to all.
TEST(Conversation, MeasuresTheDiskBeforeItRefuses) {
  StoreInHand store;
  int measured = 0;
  std::uint64_t capacity = 10;
  store.context.disk_capacity_bytes = 10;
  store.context.measure_disk_capacity = [&] {
    ++measured;
    return capacity;
  };
  Client rig(store, kAnna);
  ASSERT_TRUE(rig.call(open_request("run")).has_session_opened());
  EXPECT_EQ(rig.call(batch_request(1)).session_refused().reason(),
            rigcal::v1::SessionRefused::REASON_STORAGE);
  EXPECT_EQ(measured, 1);
  capacity = 1'000'000;
  Client again(store, kAnna);
  ASSERT_TRUE(again.call(open_request("run")).has_session_opened());
  EXPECT_TRUE(again.call(batch_request(1)).has_acknowledge());
  EXPECT_TRUE(again.call(batch_request(2)).has_acknowledge());
  EXPECT_EQ(measured, 2) << "not while there is room";
}

// A stream beyond its owner's share is refused as by a full disk, which the rig survives, and no
// acknowledged data are lost.
TEST(Conversation, RefusesAStreamBeyondTheShareOfTheDisk) {
  StoreInHand store;
  Client rig(store, kAnna);
  ASSERT_TRUE(rig.call(open_request("run")).has_session_opened());
  ASSERT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  store.count_use();
  const std::uint64_t size = recorded_size_bytes(batch_request(2).sample_batch());
  store.context.limits.share.disk_bytes = store.context.disk.of("account:anna") + size;
  ASSERT_TRUE(rig.call(batch_request(2)).has_acknowledge()) << "fills the share to its last byte";
  const ServiceReply refused = rig.call(batch_request(3));
  EXPECT_EQ(refused.session_refused().reason(), rigcal::v1::SessionRefused::REASON_STORAGE);
  EXPECT_TRUE(rig.outlet.finished);
  Client other(store, kBert);
  ASSERT_TRUE(other.call(open_request("other")).has_session_opened());
  EXPECT_TRUE(other.call(batch_request(1)).has_acknowledge());
}

// Empty messages take two bytes each in a batch but fifty in the recording. The recording's size is
// checked against the share and the limit of a session, before anything is written.
TEST(Conversation, CountsSparseBatchesByTheirRecordingSize) {
  StoreInHand store;
  ServiceRequest sparse;
  for (int k = 0; k < 1000; ++k) sparse.mutable_sample_batch()->add_loop_stats();
  const auto acknowledged = [&](Client& rig, const std::string& id) {
    EXPECT_TRUE(rig.call(open_request(id)).has_session_opened());
    std::uint64_t count = 0;
    ServiceReply reply;
    do {
      sparse.mutable_sample_batch()->set_batch_sequence(count + 1);
      reply = rig.call(sparse);
      store.count_use();
    } while (reply.has_acknowledge() && ++count < 50);
    EXPECT_EQ(reply.session_refused().reason(), rigcal::v1::SessionRefused::REASON_STORAGE);
    return count;
  };
  store.context.limits.share.disk_bytes = 160'000;
  Client first(store, kAnna);
  EXPECT_EQ(acknowledged(first, "a"), 3u);
  store.context.limits.share.disk_bytes = 0;
  store.context.limits.session_size_bytes = 260'000;
  Client second(store, kBert);
  EXPECT_EQ(acknowledged(second, "b"), 5u);
  GreetedPeer owner(store, kBert);
  ASSERT_TRUE(owner.call(end_request("b")).has_session_info());
  const auto stored = owner.call(inspect_request("b")).session_info();
  ASSERT_EQ(stored.state(), rigcal::v1::SESSION_STORED);
  EXPECT_GT(stored.size_bytes(), 200'000u) << "less was counted than it takes";
  EXPECT_LT(stored.size_bytes(), 280'000u) << "beside the schemas at its beginning";
}

// A stranger's job on a recording does not prevent its owner from deleting it: the job fails. A job
// of the owner does.
TEST(Conversation, DeletesAnOwnersSessionDespiteOthersJobs) {
  StoreWithData store;
  GreetedPeer owner(store, kAnna);
  ASSERT_EQ(fault_of(store.submit("own", kAnna)).code(), 0);
  ASSERT_EQ(fault_of(store.submit("strange", kBert)).code(), 0);
  EXPECT_EQ(owner.call(delete_request("data")).error().code(), ServiceError::NOT_READY);
  store.finish("own");
  ASSERT_EQ(store.job("strange").state(), rigcal::v1::JOB_RUNNING);
  ASSERT_EQ(fault_of(store.submit("waiting", kBert)).code(), 0);
  EXPECT_TRUE(owner.call(delete_request("data")).has_deleted());
  store.finish("strange");
  EXPECT_EQ(store.job("waiting").state(), rigcal::v1::JOB_FAILED);
  EXPECT_NE(store.job("waiting").error().find("there is no session \"data\""), std::string::npos);
}

// The number of sessions has a share and a limit, and so has the memory of their metadata.
TEST(Conversation, EnforcesTheSharesOfSessionsAndMetadata) {
  ServiceLimits limits;
  limits.sessions = 3;
  StoreInHand store(limits);
  const auto open = [&](const std::string& id, const Identity& who) {
    Client rig(store, who);
    return rig.call(open_request(id)).session_refused().text();
  };
  EXPECT_EQ(open("a1", kAnna), "");
  EXPECT_EQ(open("a2", kAnna), "");
  EXPECT_NE(open("a3", kAnna).find("2 sessions of account:anna are kept"), std::string::npos);
  EXPECT_EQ(open("b1", kBert), "");
  EXPECT_NE(open("b2", kBert).find("3 sessions are kept, the limit"), std::string::npos);
  store.context.limits.sessions = 100;
  store.count_use();
  store.context.limits.share.index_bytes = store.context.index.of("account:anna") + 1000;
  EXPECT_NE(open("a3", kAnna).find("the index of sessions and jobs"), std::string::npos);
  Client rig(store, kBert);
  ASSERT_TRUE(rig.call(open_request("b2")).has_session_opened()) << "it has less";
  // Existing sessions continue, even above the limit.
  store.context.limits.index_bytes = store.context.limits.share.index_bytes = 1;
  EXPECT_TRUE(rig.call(batch_request(1)).has_acknowledge());
}

// Streaming sessions, at the share and above it. Reopening one's own session does not count twice.
TEST(Conversation, EnforcesTheShareAndLimitOfStreamingSessions) {
  ServiceLimits limits;
  limits.streaming_sessions = 3;
  StoreInHand store(limits);
  Client a1(store, kAnna), a2(store, kAnna), a3(store, kAnna), b1(store, kBert), b2(store, kBert);
  const auto stream = [](Client& rig, const std::string& id) {
    EXPECT_TRUE(rig.call(open_request(id)).has_session_opened());
    EXPECT_TRUE(rig.call(batch_request(1)).has_acknowledge());
  };
  stream(a1, "a1");
  stream(a2, "a2");
  expect_parts(a3.call(open_request("a3")).session_refused().text(),
               {"2 sessions are streaming from account:anna"});
  stream(b1, "b1");
  expect_parts(b2.call(open_request("b2")).session_refused().text(),
               {"3 sessions are streaming, the limit"});
}

// Rigs that open sessions and send nothing cost their identity's share only: the oldest of them
// makes room, and can continue its session later. Rigs that stream stay.
TEST(Conversation, LetsSilentRigsMakeRoomForTheSameIdentity) {
  ServiceLimits limits;
  limits.streaming_sessions = 6;
  StoreInHand store(limits);
  Client active(store, kAnna), older(store, kAnna), newer(store, kAnna), next(store, kAnna);
  Client other(store, kBert);
  EXPECT_TRUE(other.call(open_request("other")).has_session_opened());
  EXPECT_TRUE(active.call(open_request("active")).has_session_opened());
  EXPECT_TRUE(active.call(batch_request(1)).has_acknowledge());
  EXPECT_TRUE(older.call(open_request("older")).has_session_opened());
  EXPECT_TRUE(newer.call(open_request("newer")).has_session_opened());
  older.outlet.replies.clear();
  EXPECT_TRUE(next.call(open_request("next")).has_session_opened());
  ASSERT_EQ(older.outlet.replies.size(), 1u);
  EXPECT_EQ(older.outlet.replies[0].session_refused().reason(),
            rigcal::v1::SessionRefused::REASON_BUSY);
  EXPECT_TRUE(next.call(batch_request(1)).has_acknowledge());
  for (Client* rig : {&active, &newer, &other}) EXPECT_FALSE(rig->outlet.finished);
  Client again(store, kAnna);
  EXPECT_TRUE(again.call(open_request("older")).has_session_opened());
  EXPECT_TRUE(newer.outlet.finished) << "the only silent one";
}

// A large reply without room is replaced by a refusal, so that each request has its one reply; a
// small one always passes.
TEST(Conversation, AnswersBusyIfALargeReplyHasNoRoom) {
  StoreInHand store;
  store.upload("data", kAnna, std::string(100'000, 'x'));
  GreetedPeer client(store, kAnna);
  const auto read = read_request("data");
  EXPECT_EQ(client.call(read).file_part().data().size(), 100'000u);
  client.outlet.room = 50'000;
  EXPECT_EQ(client.call(read).error().code(), ServiceError::BUSY);
  client.outlet.room = 0;
  EXPECT_TRUE(client.call(list_request()).has_session_list());
}

// A slow subscriber misses iterations, but never the end.
TEST(Conversation, ReportsTheEndOfAJobToASlowReader) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("j", kAnna)).code(), 0);
  GreetedPeer client(store, kAnna);
  ASSERT_TRUE(client.call(about(&ServiceRequest::mutable_subscribe_job, "j")).has_job_info());
  client.outlet.replies.clear();
  rigcal::v1::JobProgress progress;
  store.runner.runs.at("j").on_progress(progress);
  EXPECT_EQ(client.outlet.replies.size(), 1u);
  client.outlet.room = 0;
  store.runner.runs.at("j").on_progress(progress);
  EXPECT_EQ(client.outlet.replies.size(), 1u);
  store.finish("j");
  ASSERT_EQ(client.outlet.replies.size(), 2u);
  EXPECT_EQ(client.outlet.replies.back().job_update().job().state(), rigcal::v1::JOB_DONE);
}

// After the greeting a client cannot open a streaming session, even with a valid OpenSession: a
// connection either serves a client or streams.
TEST(Conversation, OpensNoSessionAfterAGreeting) {
  StoreInHand store;
  GreetedPeer client(store, kAnna);
  EXPECT_EQ(client.call(open_request("run")).error().code(), ServiceError::BAD_REQUEST);
  EXPECT_TRUE(client.outlet.finished);
  EXPECT_EQ(store.sessions->list().total_count(), 0u);
}

// Changes a byte of a file in the data folder, as a failing disk does.
void damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out);
  const int byte = file.get();
  file.seekp(0);
  file.put(static_cast<char>(byte ^ 1));
}

ServiceRequest report_request(rigcal::v1::ReadReport::Kind kind) {
  ServiceRequest request = about(&ServiceRequest::mutable_read_report, "j");
  request.mutable_read_report()->set_kind(kind);
  return request;
}

// A damaged recording is reported and not served, neither from its beginning nor from its middle.
TEST(Conversation, ServesNoDamagedRecording) {
  StoreWithData store;
  GreetedPeer client(store, kAnna);
  EXPECT_EQ(client.call(read_request("data")).file_part().data(), "abc");
  EXPECT_EQ(client.call(read_request("data", 1)).file_part().data(), "bc");
  const std::string path = store.context.data_folder + "/sessions/data/recording.csv";
  damage(path);
  for (const std::uint64_t offset : {0u, 1u}) {
    const ServiceError fault = client.call(read_request("data", offset)).error();
    EXPECT_EQ(fault.code(), ServiceError::STORAGE);
    expect_parts(fault.text(), {"recording.csv: is damaged", "SHA-256", "restore it",
                                "rigcal sessions data --delete"});
  }
  damage(path);  // changes the byte back
  EXPECT_EQ(client.call(read_request("data", 1)).file_part().data(), "bc");
}

// The same holds for every file of a result; a file that a job does not have is not damaged.
// Results of earlier releases have no checksums and are served.
TEST(Conversation, ServesNoDamagedResult) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("j", kAnna)).code(), 0);
  const std::string folder = store.context.data_folder + "/jobs/j/";
  const std::vector<std::string> names = {"report.html", "result.json", "table.txt"};
  for (const std::string& name : names) std::ofstream(folder + name) << "{ }";
  store.finish("j");
  GreetedPeer client(store, kAnna);
  const ServiceRequest get = about(&ServiceRequest::mutable_get_result, "j");
  const ServiceRequest report = report_request(rigcal::v1::ReadReport::CALIBRATION);
  EXPECT_TRUE(client.call(get).has_job_result()) << "of an earlier release";
  EXPECT_TRUE(client.call(report).has_file_part());

  Checksums checksums;
  for (const std::string& name : names) {
    checksums[name] = compute_checksum(folder + name).value();
  }
  ASSERT_TRUE(write_checksums(folder, checksums).ok());
  const auto validation = report_request(rigcal::v1::ReadReport::CROSS_VALIDATION);
  EXPECT_EQ(client.call(validation).error().code(), ServiceError::NOT_FOUND);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const ServiceRequest& request = name == "report.html" ? report : get;
    EXPECT_FALSE(client.call(request).has_error());
    damage(folder + name);
    expect_parts(client.call(request).error().text(),
                 {name + ": is damaged", "rigcal jobs j --delete"});
    std::filesystem::rename(folder + name, folder + "away");
    expect_parts(client.call(request).error().text(), {name + ": is damaged", "it is missing"});
    std::filesystem::rename(folder + "away", folder + name);
    damage(folder + name);
    EXPECT_FALSE(client.call(request).has_error());
  }
}

// A file can be read from any position to its end; beyond it there is nothing to request.
TEST(Conversation, ReadsAFileOnlyToItsEnd) {
  StoreWithData store;
  GreetedPeer client(store, kAnna);
  const auto read = [&](std::uint64_t offset) { return client.call(read_request("data", offset)); };
  EXPECT_EQ(read(0).file_part().data(), "abc");
  EXPECT_EQ(read(2).file_part().data(), "c");
  EXPECT_EQ(read(2).file_part().file_size_bytes(), 3u);
  ASSERT_TRUE(read(3).has_file_part());
  EXPECT_EQ(read(3).file_part().data(), "");
  EXPECT_EQ(read(4).error().code(), ServiceError::BAD_REQUEST);
  EXPECT_EQ(read(std::uint64_t{1} << 63).error().code(), ServiceError::BAD_REQUEST);
}

}  // namespace
}  // namespace service
