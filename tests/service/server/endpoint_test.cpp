#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "proto/stream/content_hash.hpp"
#include "service/server/daemon.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/service/server/certificates.hpp"
#include "tests/service/server/service_process.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;

// The head and body of an HTTP response.
std::string http_get(std::uint16_t port, const std::string& request) {
  const TemporaryFolder files;
  const std::string command = "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port) +
                              " && printf '" + request + "' >&3 && timeout 10 cat <&3 >" +
                              files.file("answer");
  std::system(("bash -c \"" + command + "\" 2>/dev/null").c_str());
  return contents_of(files.file("answer"));
}

// Metrics count batches, in the format of Prometheus.
TEST(Endpoint, ReportsMetricsAndHealth) {
  RunningService service({"--http", "127.0.0.1:0"});
  const auto port = static_cast<std::uint16_t>(service.logged_number("port"));
  StreamingClient rig(service.port(), "run");
  for (std::uint64_t k = 1; k <= 3; ++k) ASSERT_TRUE(rig.call(batch_request(k)).has_acknowledge());
  ASSERT_TRUE(rig.call(batch_request(2)).has_acknowledge());
  const std::string metrics = http_get(port, "GET /metrics HTTP/1.1\\r\\n\\r\\n");
  expect_parts(metrics, {"HTTP/1.1 200 OK", "\nrigcald_batches_total 3\n",
                         "\nrigcald_samples_total 60\n", "\nrigcald_duplicate_batches_total 1\n",
                         "\nrigcald_connections 1\n", "\nrigcald_sessions{state=\"open\"} 1\n",
                         "\nrigcald_commit_duration_seconds_count 3\n",
                         "# TYPE rigcald_commit_duration_seconds histogram"});
  EXPECT_NE(http_get(port, "GET /health HTTP/1.1\\r\\n\\r\\n").find("ok"), std::string::npos);
  const std::string host = "\\r\\nHost: localhost:" + std::to_string(port) + "\\r\\n\\r\\n";
  EXPECT_NE(http_get(port, "GET /else HTTP/1.1" + host).find("404"), std::string::npos);
  EXPECT_NE(http_get(port, "POST /health HTTP/1.1\\r\\n\\r\\n").find("405"), std::string::npos);
}

// systemd is notified when the service is ready, repeatedly that it is alive, and when it stops.
TEST(Endpoint, NotifiesTheServiceManager) {
  const TemporaryFolder files;
  const std::string path = files.file("notify");
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const timeval limit{15, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const auto receive = [socket] {
    char text[512];
    const ssize_t size = ::recv(socket, text, sizeof text, 0);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  };
  ServiceProcess service;
  ASSERT_TRUE(service.start([&] { ::setenv("NOTIFY_SOCKET", path.c_str(), 1); }));
  std::string all;
  for (int k = 0; k < 20 && all.find("WATCHDOG=1") == std::string::npos; ++k) {
    all += receive() + "\n";
  }
  expect_parts(all, {"READY=1", "WATCHDOG=1"});
  EXPECT_EQ(service.stop(), 0);
  for (int k = 0; k < 20 && all.find("STOPPING=1") == std::string::npos; ++k) {
    all += receive() + "\n";
  }
  EXPECT_NE(all.find("STOPPING=1"), std::string::npos) << all;
  ::close(socket);
}

// The unit file contains nothing that systemd would ignore; tests/systemd/boot_unit.sh runs it.
TEST(Endpoint, HasAValidSystemdUnit) {
  if (std::system("command -v systemd-analyze >/dev/null") != 0) {
    GTEST_SKIP() << "systemd is not installed";
  }
  const TemporaryFolder files;
  std::string unit = contents_of(source_folder() + "/scripts/systemd/rigcald.service");
  const std::string installed = "/usr/local/bin/rigcald";
  const std::size_t at = unit.find("ExecStart=" + installed);
  ASSERT_NE(at, std::string::npos) << unit;
  unit.replace(at + 10, installed.size(), RIGCALD_BINARY);
  const std::string path = files.write("rigcald.service", unit);
  const int status =
      std::system(("systemd-analyze verify " + path + " >" + files.file("out") + " 2>&1").c_str());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents_of(files.file("out")), "");
}

// Listening on a network address without TLS is refused unless explicitly requested.
TEST(Endpoint, ListensBeyondLoopbackWithTlsOnly) {
  const TemporaryFolder files;
  ChildProcess refused({RIGCALD_BINARY, "--data", files.file("data"), "--listen", "0.0.0.0:0"},
                       files.file("output"));
  EXPECT_EQ(refused.wait(10.0), 1);
  EXPECT_NE(refused.output().find("--insecure"), std::string::npos) << refused.output();
  ChildProcess insisted(
      {RIGCALD_BINARY, "--data", files.file("data"), "--listen", "0.0.0.0:0", "--insecure"},
      files.file("output-2"));
  EXPECT_TRUE(eventually(
      [&] { return insisted.output().find("listens at 0.0.0.0:") != std::string::npos; }, 10.0));
}

// The monitoring endpoint has no TLS: the same rule holds for it.
TEST(Endpoint, ReportsHealthToThisMachineOnly) {
  const TemporaryFolder files;
  const std::vector<std::string> command = {RIGCALD_BINARY, "--data",      files.file("data"),
                                            "--listen",     "127.0.0.1:0", "--http",
                                            "0.0.0.0:0"};
  ChildProcess refused(command, files.file("output"));
  EXPECT_EQ(refused.wait(10.0), 1);
  expect_parts(refused.output(), {"0.0.0.0:0: other machines can reach this address"});
  std::vector<std::string> insisting = command;
  insisting.push_back("--insecure");
  ChildProcess insisted(insisting, files.file("output-2"));
  EXPECT_TRUE(eventually(
      [&] { return insisted.output().find("rigcald listens at") != std::string::npos; }, 10.0));
}

// On one machine no settings are needed: service and clients meet at the account's socket. The
// service also listens at a second place.
TEST(Endpoint, MeetsItsClientsAtTheSocketOfTheAccount) {
  const TemporaryFolder files;
  const auto environment = [&] { ::setenv("XDG_RUNTIME_DIR", files.file("").c_str(), 1); };
  std::filesystem::create_directories(files.file("data"));
  ChildProcess service({RIGCALD_BINARY, "--data", files.file("data")}, files.file("output"),
                       environment);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(files.file("rigcald.sock")); }, 20.0))
      << service.output();
  const std::string sessions = "env XDG_RUNTIME_DIR=" + files.file("") +
                               " " RIGCAL_BINARY " sessions >" + files.file("out") + " 2>&1";
  EXPECT_EQ(std::system(sessions.c_str()), 0) << contents_of(files.file("out"));
  EXPECT_EQ(std::system((std::string(RIGCAL_BINARY) + " sessions --server unix:" +
                         files.file("rigcald.sock") + " >" + files.file("out") + " 2>&1")
                            .c_str()),
            0)
      << contents_of(files.file("out"));
  service.send_signal(SIGTERM);
  EXPECT_EQ(service.wait(20.0), 0) << service.output();
  EXPECT_FALSE(std::filesystem::exists(files.file("rigcald.sock")));
}

// With verbose logging the service logs every request and its client; otherwise none.
TEST(Endpoint, LogsRequestsOnDemand) {
  for (const bool debug : {false, true}) {
    RunningService service(debug ? std::vector<std::string>{"--debug"}
                                 : std::vector<std::string>{});
    GreetedClient client(service.port());
    ASSERT_TRUE(client.call(list_request()).has_session_list());
    EXPECT_EQ(service.stop(), 0);
    const std::string log = service.output();
    EXPECT_EQ(log.find("level=debug event=request") != std::string::npos, debug) << log;
    if (!debug) continue;
    expect_parts(log, {"request=hello", "request=list_sessions", "identity=address:127.0.0.1"});
  }
}

// Names chosen by a client reach the service's log through every layer. They must neither control a
// terminal nor forge a line: a job with a rig file of that name fails, and the log says so on one
// line.
TEST(Endpoint, EscapesClientNamesInTheLog) {
  RunningService service;
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(upload_request("data", 1)).has_upload_state());
  ASSERT_TRUE(client.call(part_request("data", 0, "x")).upload_state().complete());
  rigcal::v1::ServiceRequest request;
  auto& job = *request.mutable_submit_job();
  job.set_job_id("job");
  job.mutable_spec()->set_rig_name("\x1b]0;owned\a\nlevel=error event=forged \" x=\x1b[2J");
  job.mutable_spec()->set_rig_text("body { ");
  job.mutable_spec()->add_recordings()->set_session_id("data");
  ASSERT_TRUE(client.call(request).has_job_info());
  ASSERT_TRUE(eventually(
      [&] { return service.output().find("event=job_ended") != std::string::npos; }, 20.0))
      << service.output();
  const std::string log = service.output();
  EXPECT_EQ(log.find('\x1b'), std::string::npos) << log;
  EXPECT_EQ(log.find('\a'), std::string::npos) << log;
  EXPECT_EQ(log.find("\nlevel="), std::string::npos) << log;
  EXPECT_NE(log.find("\\u001b]0;owned"), std::string::npos) << log;
}

// Another client has begun to upload the same file and does not finish. A client gets its own
// upload under the next id, and its job runs.
TEST(Endpoint, AcceptsAFileThatAnotherHasOnlyBegun) {
  const TemporaryFolder files;
  const std::string socket = files.file("rigcald.sock");
  RunningService service({"--listen", "unix:" + socket});
  const std::string table = "t_s,theta1_rad\n0,0\n0.001,1\n";
  proto::ContentHash content;
  content.add(table);
  const std::string id = proto::make_upload_id(content.text(), 1);
  SocketClient squatter(service.port());  // identified by address, not account
  ASSERT_TRUE(squatter.greet());
  ASSERT_TRUE(squatter.call(upload_request(id, table.size())).has_upload_state());
  run_successfully("calibrate " + files.write("run.csv", table) + " --rig " +
                   config("rig-pendulum.textproto") + " --detach --server unix:" + socket);
  EXPECT_EQ(contents_of(service.session_folder(id + "-2") + "/recording.csv"), table);
  EXPECT_FALSE(std::filesystem::exists(service.session_folder(id) + "/recording.csv"));
}

// With TLS the certificate's name is the owner. Another name is refused unless it is an operator's.
TEST(Endpoint, IdentifiesOwnersAndOperatorsByCertificate) {
  const TemporaryFolder files;
  ASSERT_EQ(make_certificates(files), "");
  RunningService service(tls_options(files, "service", "ours"),
                         "operators { certificate: \"service\" }");
  const auto rigcal = [&](const std::string& words, const std::string& who) {
    std::string command = words + " --server 127.0.0.1:" + std::to_string(service.port());
    for (const auto& word : tls_options(files, who, "ours")) command += " " + word;
    return run_rigcal(command);
  };
  const std::string csv = files.write("run.csv", "t_s,theta_rad\n0,0\n0.001,0\n0.002,0\n");
  const auto submit = [&](const std::string& job, const std::string& who) {
    const ProgramRun run = rigcal("calibrate " + csv + " --rig " +
                                      config("rig-pendulum.textproto") + " --detach --job " + job,
                                  who);
    EXPECT_EQ(run.exit_code, 0) << run.err;
  };
  submit("a", "client");
  submit("b", "service");
  const ProgramRun refused = rigcal("cancel b", "client");
  EXPECT_EQ(refused.exit_code, 3);
  expect_parts(refused.err, {"job \"b\" belongs to \"certificate:service\", not to "
                             "\"certificate:client\""});
  EXPECT_EQ(rigcal("cancel b", "service").exit_code, 0);
  EXPECT_EQ(rigcal("cancel a", "service").exit_code, 0) << "an operator";

  // With two names a client could choose whose rights it has.
  const ProgramRun twofold = rigcal("cancel b", "twofold");
  EXPECT_EQ(twofold.exit_code, 3);
  expect_parts(twofold.err, {"2 common names (\"client\", \"service\")", "use a certificate"});
  const ProgramRun nameless = rigcal("sessions", "nameless");
  EXPECT_EQ(nameless.exit_code, 3);
  expect_parts(nameless.err, {"0 common names"});
  EXPECT_EQ(rigcal("sessions", "client").exit_code, 0);
}

// If the sessions' folder cannot be read, the service must not start as if it were empty.
TEST(Endpoint, RefusesDataItCannotRead) {
  const TemporaryFolder files;
  const std::string sessions = files.file("data/sessions");
  ASSERT_TRUE(std::filesystem::create_directories(sessions));
  for (const auto denied : {std::filesystem::perms::none, std::filesystem::perms::owner_read}) {
    std::filesystem::permissions(sessions, denied);
    ChildProcess service({RIGCALD_BINARY, "--data", files.file("data"), "--listen", "127.0.0.1:0"},
                         files.file("output"), [] {
                           ::prctl(PR_CAPBSET_DROP,
                                   CAP_DAC_OVERRIDE);  // so that permissions also bind root
                           ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
                         });
    EXPECT_EQ(service.wait(10.0), 1);
    expect_parts(service.output(), {"sessions: Permission denied"});
  }
  std::filesystem::permissions(sessions, std::filesystem::perms::owner_all);
}

// A faulty address gives one line with the remedy, and the service does not listen.
TEST(Endpoint, ReportsWhyItCannotListen) {
  const TemporaryFolder files;
  ServiceProcess other;
  ASSERT_TRUE(other.start()) << other.output();
  const std::string taken = "127.0.0.1:" + std::to_string(other.port());
  const auto refused = [&](const std::vector<std::string>& options, const char* why) {
    std::vector<std::string> command = {RIGCALD_BINARY, "--data", files.file("data")};
    command.insert(command.end(), options.begin(), options.end());
    ChildProcess service(command, files.file("output"));
    EXPECT_EQ(service.wait(10.0), 1);
    const std::string output = service.output();
    EXPECT_NE(output.find(why), std::string::npos) << output;
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
  };
  refused({"--listen", taken},
          "stop the program that uses it, or name another address with --listen");
  refused({"--listen", "127.0.0.1:0", "--http", taken}, "name another address with --http");
  refused({"--listen", "127.0.0.1:99999"}, "a port is a number from 0 to 65535");
  refused({"--listen", "localhost"}, "the port is missing");
}

// The example configuration states the defaults.
TEST(DaemonConfig, ReadsTheExample) {
  const DaemonConfig loaded = load_daemon_config(config("daemon.textproto"));
  EXPECT_EQ(loaded.data_folder, "/var/lib/rigcald");
  EXPECT_EQ(loaded.limits.connections, ServiceLimits().connections);
  EXPECT_EQ(loaded.limits.session_size_bytes, ServiceLimits().session_size_bytes);
  EXPECT_EQ(loaded.limits.job_memory_bytes, ServiceLimits().job_memory_bytes);
  EXPECT_EQ(loaded.limits.buffer_bytes, ServiceLimits().buffer_bytes);
  EXPECT_EQ(loaded.limits.index_bytes, ServiceLimits().index_bytes);
  EXPECT_EQ(loaded.limits.limits_per_identity().queued_jobs,
            ServiceLimits().limits_per_identity().queued_jobs);
  EXPECT_EQ(loaded.operators.certificates, (std::vector<std::string>{"operator"}));
  EXPECT_EQ(loaded.listen.size(), 2u);
}

// Runs the Python example as its own text describes, on a recording of a simulated swing.
TEST(PythonClient, StreamsAndCalibrates) {
  if (std::system("/usr/bin/python3 -c 'import google.protobuf' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3-protobuf is not installed";
  }
  const TemporaryFolder files;
  const std::string root = source_folder();
  ASSERT_EQ(std::system(("mkdir " + files.file("py") + " && cd " + root +
                         " && protoc --python_out=" + files.file("py") + " proto/*.proto")
                            .c_str()),
            0);
  const std::string scenario =
      files.write("swing.textproto",
                  "name: \"swing\" duration_s: 4 initial { joint: \"pivot\" angle_rad: 1 }\n"
                  "release { joint: \"pivot\" held_angle_rad: 1 held_tolerance_rad: 0.1 }\n"
                  "noise { angle_standard_deviation_rad: 0.0005 seed: 4 }\n");
  run_successfully("simulate --rig " + config("rig-pendulum.textproto") + " --scenario " +
                   scenario + " --start pendulum.J_zz=0.0012 --out " + files.file("run.csv"));
  RunningService service;
  const int status = std::system(
      ("PYTHONPATH=" + files.file("py") + " /usr/bin/python3 " + root +
       "/docs/examples/rigcal_client.py " + "127.0.0.1:" + std::to_string(service.port()) + " " +
       config("rig-pendulum.textproto") + " " + files.file("run.csv") + " --joint pivot >" +
       files.file("out") + " 2>" + files.file("err"))
          .c_str());
  EXPECT_EQ(status, 0) << contents_of(files.file("err")) << service.output();
  const std::string out = contents_of(files.file("out"));
  const std::size_t line = out.find("pendulum.J_zz\t");
  ASSERT_NE(line, std::string::npos) << out;
  EXPECT_NEAR(std::atof(out.c_str() + line + 14), 0.0012, 1e-5);
}

}  // namespace
}  // namespace service
