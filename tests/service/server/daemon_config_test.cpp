#include "service/server/daemon.hpp"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <fstream>

#include "proto/daemon.pb.h"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using namespace test_support;

DaemonConfig load(const std::string& text) {
  const test_support::TemporaryFolder folder;
  const std::string path = folder.file("daemon.textproto");
  std::ofstream(path) << text;
  return load_daemon_config(path);
}

// The settings as a message, which reveals a value in a neighbouring field.
v1::Daemon reported(const DaemonConfig& config) {
  v1::Daemon message;
  message.set_data_folder(config.data_folder);
  message.mutable_listen()->Assign(config.listen.begin(), config.listen.end());
  message.set_http(config.http);
  message.mutable_tls()->set_certificate(config.tls.certificate);
  message.mutable_tls()->set_private_key(config.tls.private_key);
  message.mutable_tls()->set_client_ca(config.tls.authority);
  message.set_workers(config.limits.workers);
  v1::DaemonLimits& limits = *message.mutable_limits();
  limits.set_connections(config.limits.connections);
  limits.set_streaming_sessions(config.limits.streaming_sessions);
  limits.set_sessions(config.limits.sessions);
  limits.set_session_size_bytes(config.limits.session_size_bytes);
  limits.set_free_space_bytes(config.limits.free_space_bytes);
  limits.set_queued_jobs(config.limits.queued_jobs);
  limits.set_jobs(config.limits.jobs);
  limits.set_job_duration_s(config.limits.job_duration_s);
  limits.set_job_memory_bytes(config.limits.job_memory_bytes);
  limits.set_handshake_timeout_s(config.handshake_timeout_s);
  limits.set_frame_timeout_s(config.frame_timeout_s);
  limits.set_write_timeout_s(config.write_timeout_s);
  limits.set_unload_after_s(config.limits.unload_after_s);
  limits.set_buffer_bytes(config.limits.buffer_bytes);
  limits.set_index_bytes(config.limits.index_bytes);
  limits.set_live_fits(config.limits.live_fits);
  v1::DaemonShare& share = *message.mutable_share();
  share.set_connections(config.limits.share.connections);
  share.set_streaming_sessions(config.limits.share.streaming_sessions);
  share.set_sessions(config.limits.share.sessions);
  share.set_disk_bytes(config.limits.share.disk_bytes);
  share.set_queued_jobs(config.limits.share.queued_jobs);
  share.set_jobs(config.limits.share.jobs);
  share.set_running_jobs(config.limits.share.running_jobs);
  share.set_buffer_bytes(config.limits.share.buffer_bytes);
  share.set_index_bytes(config.limits.share.index_bytes);
  share.set_live_fits(config.limits.share.live_fits);
  share.set_processor_s(config.limits.share.processor_s);
  message.mutable_operators()->mutable_certificate()->Assign(config.operators.certificates.begin(),
                                                             config.operators.certificates.end());
  message.mutable_operators()->mutable_account()->Assign(config.operators.accounts.begin(),
                                                         config.operators.accounts.end());
  if (!config.cluster.empty()) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        config.cluster, message.mutable_executor()->mutable_slurm()));
  }
  for (const std::string& host : config.http_access.hosts) {
    message.mutable_http_access()->add_host(host);
  }
  for (const std::string& origin : config.http_access.origins) {
    message.mutable_http_access()->add_origin(origin);
  }
  for (const HttpToken& token : config.http_access.tokens) {
    v1::HttpToken& written = *message.mutable_http_access()->add_token();
    written.set_sha256(token.sha256);
    written.set_identity(token.identity);
  }
  return message;
}

// Each setting, with a number of its own.
constexpr const char* kEverything = R"(
data_folder: "/data" listen: "unix:/a" listen: "[::1]:2" http: "127.0.0.1:3"
tls { certificate: "c.pem" private_key: "k.pem" client_ca: "a.pem" }
workers: 4
limits {
  connections: 101 streaming_sessions: 102 sessions: 103 session_size_bytes: 104
  free_space_bytes: 105 queued_jobs: 106 jobs: 107 job_duration_s: 108.5 job_memory_bytes: 109
  handshake_timeout_s: 110.5 frame_timeout_s: 111.5 write_timeout_s: 112.5 unload_after_s: 113.5
  buffer_bytes: 33554433 index_bytes: 115 live_fits: 116
}
share {
  connections: 21 streaming_sessions: 22 sessions: 23 disk_bytes: 24 queued_jobs: 25 jobs: 26
  running_jobs: 27 buffer_bytes: 28 index_bytes: 29 processor_s: 30.5
  live_fits: 31
}
operators { certificate: "anna" certificate: "bert" account: "carl" }
executor {
  slurm { partition: "p" account: "a" memory_MB: 31 batch_head: "h" node_program: "/n" }
}
http_access {
  host: "rigs.example.org"
  origin: "https://app.example.org"
  token {
    sha256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    identity: "account:carl"
  }
}
)";

// Every field of the schema is set here and must reach its setting.
TEST(DaemonConfig, AppliesEverySetting) {
  v1::Daemon written;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kEverything, &written));
  for (const google::protobuf::Message* part : std::vector<const google::protobuf::Message*>{
           &written, &written.tls(), &written.limits(), &written.share(), &written.operators(),
           &written.executor(), &written.executor().slurm(), &written.http_access(),
           &written.http_access().token(0)}) {
    std::vector<const google::protobuf::FieldDescriptor*> set;
    part->GetReflection()->ListFields(*part, &set);
    EXPECT_EQ(static_cast<int>(set.size()), part->GetDescriptor()->field_count())
        << part->GetDescriptor()->name() << ": a field that this test does not set";
  }
  const v1::Daemon read = reported(load(kEverything));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(written, read))
      << read.DebugString();
}

// Omitted settings have the defaults that the schema and docs/service.md state.
TEST(DaemonConfig, HasTheDocumentedDefaults) {
  const v1::Daemon read = reported(load(""));
  const v1::Daemon defaults = reported(DaemonConfig());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(defaults, read));
  EXPECT_EQ(read.workers(), 1u);
  EXPECT_EQ(read.limits().connections(), 512u);
  EXPECT_EQ(read.limits().streaming_sessions(), 128u);
  EXPECT_EQ(read.limits().sessions(), 10'000u);
  EXPECT_EQ(read.limits().session_size_bytes(), std::uint64_t{4} << 30);
  EXPECT_EQ(read.limits().free_space_bytes(), std::uint64_t{256} << 20);
  EXPECT_EQ(read.limits().queued_jobs(), 128u);
  EXPECT_EQ(read.limits().jobs(), 10'000u);
  EXPECT_EQ(read.limits().job_duration_s(), 3600.0);
  EXPECT_EQ(read.limits().job_memory_bytes(), std::uint64_t{4} << 30);
  EXPECT_EQ(read.limits().handshake_timeout_s(), 10.0);
  EXPECT_EQ(read.limits().frame_timeout_s(), 20.0);
  EXPECT_EQ(read.limits().write_timeout_s(), 30.0);
  EXPECT_EQ(read.limits().unload_after_s(), 60.0);
  EXPECT_EQ(read.limits().buffer_bytes(), std::uint64_t{256} << 20);
  EXPECT_EQ(read.limits().index_bytes(), std::uint64_t{64} << 20);
}

// Ranges are in one table. One reply and one message must fit, and a share must not be zero.
TEST(DaemonConfig, RefusesValuesOutsideTheTable) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)load(text); }); };
  expect_parts(refused("limits {\n buffer_bytes: 33554431 }"),
               {"daemon.textproto:2:2", "limits.buffer_bytes is 33.5544e6"});
  expect_parts(refused("limits { connections: 0 }"), {"limits.connections is 0", "from 1 to"});
  expect_parts(refused("limits { jobs: 3 }\nshare {\n jobs: 0 }"), {"daemon.textproto:3:"});
  expect_parts(refused("\nlimit { }\n"), {"daemon.textproto:2:"});
  expect_parts(refused("share { processor_s: 0.5 }"), {"share.processor_s is 0.5", "from 1 to"});
  expect_parts(refused("share { disk_bytes: 0 }"), {"share.disk_bytes is 0"});
  expect_parts(refused("share { index_bytes: 0 }"), {"share.index_bytes is 0"});
  expect_parts(refused("http_access { token { sha256: \"ab\" identity: \"account:a\" } }"),
               {"daemon.textproto:1:", "a token needs sha256"});
  expect_parts(refused("workers: 65"), {"workers is 65", "from 1 to 64"});
  expect_parts(refused("executor { slurm { memory_MB: 0 } }"), {"memory_MB is 0", "from 1 to"});
  for (const char* lacking : {"tls { certificate: \"c\" private_key: \"k\" }",
                              "tls { certificate: \"c\" client_ca: \"a\" }",
                              "tls { private_key: \"k\" client_ca: \"a\" }"}) {
    expect_parts(refused(lacking), {"tls needs certificate, private_key and client_ca"});
  }
}

}  // namespace
}  // namespace service
