#include "daq/stream/stream_sink.hpp"

#include <gtest/gtest.h>

#include <array>
#include <asio/read.hpp>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <thread>

#include "daq/commands/commands.hpp"
#include "daq/console/stream_watch.hpp"
#include "daq/stream/service_endpoint.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "tests/daq/local_service.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/refusal.hpp"

namespace daq {
namespace {

using std::chrono::milliseconds;
using test_support::expect_parts;
using test_support::LocalService;
using test_support::sample_sequences;
using test_support::StreamPeer;
using test_support::TemporaryFolder;

constexpr milliseconds kPatience(20'000);

std::unique_ptr<StreamSink> start_sink(const std::string& service, const std::string& folder,
                                       const std::string& id) {
  auto spool = create_spool_folder(folder, {.id = id, .metadata = {{"rig", "furuta"}}});
  EXPECT_TRUE(test_support::ok(spool));
  return std::make_unique<StreamSink>(make_service_endpoint({service}), std::move(spool.value()));
}

// Writes samples in real time, as the supervisor does.
void write_samples(StreamSink& sink, std::uint64_t count) {
  for (std::uint64_t k = 0; k < count; ++k) {
    proto::Sample sample;
    sample.sequence = k;
    sample.channel_count = 1;
    ASSERT_TRUE(sink.write(sample).ok());
    if (k % 20 != 0) continue;
    ASSERT_TRUE(sink.idle().ok());
    std::this_thread::sleep_for(milliseconds(5));
  }
}

void expect_all(const std::vector<std::uint64_t>& found, std::uint64_t count) {
  ASSERT_EQ(found.size(), count);
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(found[k], k);
}

// After a restart of the service in the middle, it must have every sample once, in order.
TEST(StreamSink, DeliversEverySampleOnceThroughARestartOfTheService) {
  const TemporaryFolder folder;
  StreamPeer peer;
  {
    const LocalService service(peer, 0, /*hang_up_after_bytes=*/4000);
    const auto sink = start_sink(service.host_port(), folder.file("spool"), "run-1");
    write_samples(*sink, 2000);
    sink->end();
    EXPECT_TRUE(sink->wait(kPatience)) << sink->latest_problem();
    EXPECT_EQ(sink->latest_problem(), "") << "of the first connection";
    EXPECT_FALSE(sink->is_session_rejected());
    EXPECT_GE(service.connection_count(), 2);
    EXPECT_EQ(sink->unsent_batch_count(), 0u);
  }
  expect_all(sample_sequences(peer.session("run-1")), 2000);
  EXPECT_TRUE(peer.session("run-1").closed);
}

// Without a service everything goes to the spool, and nobody waits. A later process continues the
// spool under the same session, and removes it when the service has everything.
TEST(StreamSink, SpoolsWhileTheServiceIsAway) {
  const TemporaryFolder folder;
  const std::string spool = folder.file("run.mcap.spool");
  StreamPeer peer;
  const std::uint16_t port = test_support::refusing_port();
  {
    const auto sink = start_sink("127.0.0.1:" + std::to_string(port), spool, "run-2");
    write_samples(*sink, 1000);
    sink->end();
    EXPECT_FALSE(sink->wait(milliseconds(300)));
    expect_parts(sink->latest_problem(),
                 {"127.0.0.1:" + std::to_string(port) + ": Connection refused",
                  "data for the service are kept on the disk until it responds"});
    EXPECT_FALSE(sink->loses_samples());
    EXPECT_FALSE(sink->is_session_rejected());
    EXPECT_GT(sink->unsent_batch_count(), 0u);
  }
  {
    const LocalService service(peer, port);
    const std::atomic<bool> stop(false);
    std::ostringstream out;
    EXPECT_EQ(send_spooled_data({spool, {service.host_port()}}, stop, out), ExitCode::kDone)
        << out.str();
  }
  expect_all(sample_sequences(peer.session("run-2")), 1000);
  EXPECT_TRUE(peer.session("run-2").closed);
  EXPECT_FALSE(std::filesystem::exists(spool));
}

// A few samples are queued soon, not only when a batch is full or the run ends.
TEST(StreamSink, QueuesAnIncompleteBatchAfterAWhile) {
  const TemporaryFolder folder;
  const std::uint16_t port = test_support::refusing_port();
  const auto sink = start_sink("127.0.0.1:" + std::to_string(port), folder.file("spool"), "run-8");
  ASSERT_TRUE(sink->idle().ok());
  for (std::uint64_t k = 0; k < 3; ++k) {
    ASSERT_TRUE(sink->write(proto::Sample{.sequence = k, .channel_count = 1}).ok());
  }
  std::this_thread::sleep_for(milliseconds(120));
  ASSERT_TRUE(sink->idle().ok());
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (sink->unsent_batch_count() == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(sink->unsent_batch_count(), 1U);
}

// A service that refuses closes the connection at once. The operator must read its reason, not that
// the connection has ended. A refusal for good ends the session, a temporary one does not.
TEST(StreamSink, KeepsTheReasonOfAServiceThatRefuses) {
  using rigcal::v1::SessionRefused;
  for (const auto reason : {SessionRefused::REASON_STORAGE, SessionRefused::REASON_BAD_REQUEST}) {
    const bool is_final = reason == SessionRefused::REASON_BAD_REQUEST;
    rigcal::v1::StreamReply refusal;
    refusal.mutable_session_refused()->set_reason(reason);
    refusal.mutable_session_refused()->set_text("the disk is full");
    std::string bytes;
    ASSERT_TRUE(proto::append_frame(refusal, proto::stream_reply_limits(), bytes).ok());
    asio::io_context context;
    asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    const TemporaryFolder folder;
    const auto sink = start_sink("127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()),
                                 folder.file("spool"), "run-5");
    for (int k = 0; k < (is_final ? 1 : 2); ++k) {
      asio::ip::tcp::socket socket = acceptor.accept();
      std::array<char, 4> length{};
      asio::read(socket, asio::buffer(length));
      asio::write(socket, asio::buffer(bytes));
      socket.shutdown(asio::socket_base::shutdown_send);
      asio::error_code ended;  // the peer closes too
      std::array<char, 4096> rest{};
      while (!ended) socket.read_some(asio::buffer(rest), ended);
      EXPECT_FALSE(sink->wait(is_final ? kPatience : milliseconds(50)));
      EXPECT_EQ(sink->is_session_rejected(), is_final);
      const std::string problem = sink->latest_problem();
      expect_parts(problem, {"the service refuses: the disk is full"});
      EXPECT_EQ(problem.find("until it responds") == std::string::npos, is_final) << problem;
    }
  }
}

// Between two attempts there is nothing to do. Catches a thread that polls without pause and takes
// a whole core from the real-time loop. (Normal use is about 1 %.)
TEST(StreamSink, SleepsWhileTheServiceIsAway) {
  const TemporaryFolder folder;
  const std::uint16_t port = test_support::refusing_port();
  const auto sink = start_sink("127.0.0.1:" + std::to_string(port), folder.file("spool"), "run-4");
  sink->end();
  const std::clock_t before = std::clock();  // CPU time of the whole process
  EXPECT_FALSE(sink->wait(milliseconds(1000)));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.2);
}

// Samples that do not fit into the spool are listed as a gap, also if nothing follows them: the
// stream's last batch then carries the gap alone. The service has every sample or its gap, once.
TEST(StreamSink, ListsSamplesThatDoNotFitAsAGap) {
  const TemporaryFolder folder;
  StreamPeer peer;
  const std::uint16_t port = test_support::refusing_port();
  auto spool = create_spool_folder(folder.file("spool"), {.id = "run-7"});
  ASSERT_TRUE(test_support::ok(spool));
  const proto::SpoolLimits limits{.size_bytes_max = 5000, .segment_size_bytes = 1000};
  spool.value().spool = std::move(proto::Spool::open(folder.file("small"), limits).value());
  StreamSink sink(make_service_endpoint({"127.0.0.1:" + std::to_string(port)}),
                  std::move(spool.value()));
  write_samples(sink, 2000);
  sink.end();
  const LocalService service(peer, port);
  ASSERT_TRUE(sink.wait(kPatience)) << sink.latest_problem();
  std::vector<std::uint64_t> listed = sample_sequences(peer.session("run-7"));
  EXPECT_GT(listed.size(), 0U);
  EXPECT_LT(listed.size(), 2000U);
  for (const std::string& bytes : peer.session("run-7").batches) {
    rigcal::v1::SampleBatch batch;
    ASSERT_TRUE(batch.ParseFromString(bytes));
    for (const auto& gap : batch.gaps()) {
      EXPECT_EQ(gap.cause(), rigcal::v1::Gap::CAUSE_SPOOL_FULL);
      for (std::uint64_t k = 0; k < gap.sample_count(); ++k) {
        listed.push_back(gap.first_sequence() + k);
      }
    }
  }
  std::ranges::sort(listed);
  expect_all(listed, 2000);
}

// A removed spool is reported during the run, and the missing data are not promised for later.
TEST(StreamSink, ReportsARemovedSpool) {
  const TemporaryFolder folder;
  const std::uint16_t port = test_support::refusing_port();
  const auto sink = start_sink("127.0.0.1:" + std::to_string(port), folder.file("spool"), "run-6");
  EXPECT_FALSE(sink->loses_samples());
  std::filesystem::remove_all(folder.file("spool"));
  write_samples(*sink, 1000);
  sink->end();
  EXPECT_FALSE(sink->wait(milliseconds(300)));
  EXPECT_TRUE(sink->loses_samples());
  expect_parts(sink->latest_problem(),
               {"was removed or moved away", "samples will be missing on the service"});
}

// The operator reads once that the service is away, and once that it will lack samples.
TEST(StreamWatch, ReportsLostSamplesBesideAServiceThatIsAway) {
  const TemporaryFolder folder;
  const auto sink = start_sink("127.0.0.1:" + std::to_string(test_support::refusing_port()),
                               folder.file("spool"), "run-8");
  std::vector<std::string> said;
  UntilRule rule({});
  StreamWatch watch(sink.get(), rule, [&](const std::string& line) { said.push_back(line); });
  const auto look_until_said = [&](std::size_t count) {
    for (int k = 0; k < 1000 && said.size() < count; ++k) {
      watch.look();
      sink->wait(milliseconds(10));
    }
    for (int k = 0; k < 10; ++k) watch.look();
    ASSERT_EQ(said.size(), count);
  };
  ASSERT_NO_FATAL_FAILURE(look_until_said(1));
  expect_parts(said[0], {"note: ", "kept on the disk"});
  std::filesystem::remove_all(folder.file("spool"));
  write_samples(*sink, 1000);
  sink->end();
  ASSERT_NO_FATAL_FAILURE(look_until_said(2));
  expect_parts(said[1], {"note: ", "samples will be missing on the service"});
}

// However late the supervisor polls, its batches stay within the size limit, and so do the frames.
TEST(StreamSink, CutsALargeBacklogIntoBatches) {
  const TemporaryFolder folder;
  StreamPeer peer;
  {
    const LocalService service(peer);
    const auto sink = start_sink(service.host_port(), folder.file("spool"), "run-3");
    proto::Sample sample;
    sample.channel_count = proto::kChannelCountMax;
    sample.encoder_counts.fill(-(std::int64_t{1} << 53));  // the longest encoding of a count
    sample.motor_count = proto::kMotorCountMax;
    for (; sample.sequence < 8192; ++sample.sequence) ASSERT_TRUE(sink->write(sample).ok());
    sink->end();
    EXPECT_TRUE(sink->wait(kPatience)) << sink->latest_problem();
  }
  expect_all(sample_sequences(peer.session("run-3")), 8192);
}

// A spool belongs to one run: another run must not continue it.
TEST(SpoolFolder, IsNeverSharedByTwoRuns) {
  const TemporaryFolder folder;
  const std::string spool = folder.file("spool");
  ASSERT_TRUE(test_support::ok(create_spool_folder(spool, {.id = "first"})));
  const auto second = create_spool_folder(spool, {.id = "second"});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, proto::ErrorCode::kExists);
  const auto again = open_spool_folder(spool);
  ASSERT_TRUE(test_support::ok(again));
  EXPECT_EQ(again.value().session.id, "first");
}

// A restarted process resumes the session with the previous one's secret, which no other user of
// the machine can read.
TEST(SpoolFolder, KeepsTheSecretOfItsSession) {
  const TemporaryFolder folder;
  const std::string path = folder.file("spool");
  const auto made = create_spool_folder(path, {.id = "run"});
  ASSERT_TRUE(test_support::ok(made));
  EXPECT_EQ(made.value().session.secret.size(), 32u);
  EXPECT_FALSE(made.value().ended);
  const auto again = open_spool_folder(path);
  ASSERT_TRUE(test_support::ok(again));
  EXPECT_EQ(again.value().session.secret, made.value().session.secret);
  EXPECT_FALSE(again.value().ended);
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
  ASSERT_TRUE(test_support::ok(mark_run_ended(path)));
  EXPECT_TRUE(open_spool_folder(path).value().ended);
}

// A spool of a release without secrets is sent with a new secret that is the same in every process.
// That release stored no end mark, so its run counts as ended.
TEST(SpoolFolder, OfAnEarlierReleaseIsGivenASecret) {
  const TemporaryFolder folder;
  const std::string path = folder.file("spool");
  ASSERT_TRUE(test_support::ok(create_spool_folder(path, {.id = "run"})));
  rigcal::v1::OpenSession session;
  session.set_session_id("run");
  proto::write_file(path + "/session.pb", session.SerializeAsString());
  const auto opened = open_spool_folder(path);
  ASSERT_TRUE(test_support::ok(opened));
  EXPECT_EQ(opened.value().session.secret.size(), 32u);
  EXPECT_TRUE(opened.value().ended);
  const auto again = open_spool_folder(path);
  EXPECT_EQ(again.value().session.secret, opened.value().session.secret);
  EXPECT_TRUE(again.value().ended);
}

TEST(SpoolFolder, IsNotAnyFolder) {
  const TemporaryFolder folder;
  const auto opened = open_spool_folder(folder.file("nothing"));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, proto::ErrorCode::kNotFound);
  EXPECT_EQ(folder.file_count(), 0u) << "looking must not make it";
}

TEST(ServiceEndpoint, IsAnAddressWithAllFilesOfTlsOrNone) {
  EXPECT_THROW(static_cast<void>(make_service_endpoint({"rig"})), proto::InputError);
  EXPECT_THROW(static_cast<void>(make_service_endpoint({"rig:1", {"", "", "ca.pem"}})),
               proto::InputError);
}

}  // namespace
}  // namespace daq
