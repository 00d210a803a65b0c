#include <gtest/gtest.h>

#include <fstream>

#include "tests/service/server/pendulum_jobs.hpp"
#include "tests/support/refusal.hpp"

// The same calibration again, from the command line: after its job was damaged, cancelled or
// finished.

namespace service {
namespace {

using namespace test_support;

std::string pendulum_rig() { return " --rig " + config("rig-pendulum.textproto") + " "; }

/// Submits a calibration and returns the id of its job.
std::string submit_detached(const std::string& arguments) {
  const std::string out = run_successfully("calibrate " + arguments + " --detach").out;
  return out.substr(0, out.find('\n'));
}

void append_byte(const std::string& path) { std::ofstream(path, std::ios::app) << 'x'; }

// A user who interrupts rigcal or loses the connection needs the id, so it is printed before the
// progress. A finished calibration is not run again.
TEST(RepeatedJobs, PrintTheirIdBeforeTheirProgress) {
  SwingService service(3.0, 1.0);
  const std::string arguments = "calibrate session:run" + pendulum_rig() + at(service);
  const ProgramRun first = run_successfully(arguments, {"pendulum.J_zz"});
  ASSERT_EQ(first.err.find("job \"job-"), 0U) << first.err;
  const std::size_t begin = first.err.find('"') + 1;
  const std::string id = first.err.substr(begin, first.err.find('"', begin) - begin);
  const std::string line = first.err.substr(0, first.err.find('\n'));
  expect_parts(line, {"rigcal watch " + id, "rigcal cancel " + id});
  EXPECT_NE(first.err.find('\n'), first.err.size() - 1) << "no progress after it";

  const ProgramRun second = run_successfully(arguments, {"pendulum.J_zz"});
  EXPECT_EQ(second.out, first.out);
  expect_parts(second.err, {"job \"" + id + "\" has already finished"});
  const ProgramRun quiet = run_successfully(arguments + "--quiet");
  EXPECT_EQ(quiet.err, "");
}

// A damaged result names the command that deletes its job. The same calibration runs again.
TEST(RepeatedJobs, ReplaceADamagedResult) {
  SwingService service(3.0, 1.0);
  const std::string arguments = "session:run" + pendulum_rig() + at(service);
  const std::string id = submit_detached(arguments);
  GreetedClient client(service.port());
  ASSERT_EQ(wait_for(client, id).state(), rigcal::v1::JOB_DONE);
  append_byte(service.folder() + "/jobs/" + id + "/result.json");
  const ProgramRun damaged = run_rigcal("result " + id + at(service));
  EXPECT_EQ(damaged.exit_code, 3);
  expect_parts(damaged.err, {"result.json: is damaged", "rigcal jobs " + id + " --delete"});
  const ProgramRun again = run_successfully("calibrate " + arguments, {"pendulum.J_zz"});
  expect_parts(again.err, {"job \"" + id + "\" was submitted"});
  run_successfully("result " + id + at(service), {"pendulum.J_zz"});
}

// Another identity must not delete the damaged job, so its job gets the next id.
TEST(RepeatedJobs, GetTheNextIdBesideADamagedJobOfAnother) {
  const TemporaryFolder files;
  const std::string socket = files.file("rigcald.sock");
  RunningService service({"--listen", "unix:" + socket});
  const std::string arguments = record_swing(files, "run.csv", 3.0, 1.0) + pendulum_rig();
  const std::string id = submit_detached(arguments + "--server unix:" + socket);
  GreetedClient client(service.port());
  ASSERT_EQ(wait_for(client, id).state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(submit_detached(arguments + at(service)), id) << "it is whole";
  append_byte(service.folder() + "/jobs/" + id + "/result.json");
  EXPECT_EQ(submit_detached(arguments + at(service)), id + "-2");
  EXPECT_EQ(wait_for(client, id + "-2").state(), rigcal::v1::JOB_DONE);
}

// A submission while the same job is being cancelled must not end with that job. The same holds
// for an id that the user chose.
TEST(RepeatedJobs, RunAgainAfterACancellation) {
  SwingService service;
  GreetedClient client(service.port());
  for (const std::string chosen : {"", "--job mine"}) {
    SCOPED_TRACE(chosen);
    const std::string arguments = "session:run" + pendulum_rig() + at(service) + chosen;
    const std::string id = submit_detached(arguments);
    ASSERT_TRUE(wait_until_running(client, id));
    const auto first = inspect(client, id);
    run_successfully("cancel " + id + at(service));
    EXPECT_EQ(submit_detached(arguments), id);
    const auto second = inspect(client, id);
    EXPECT_GT(second.submitted_unix_ns(), first.submitted_unix_ns());
    EXPECT_TRUE(second.state() == rigcal::v1::JOB_QUEUED ||
                second.state() == rigcal::v1::JOB_RUNNING);
    run_successfully("cancel " + id + at(service));
    EXPECT_EQ(wait_for(client, id).state(), rigcal::v1::JOB_CANCELLED);
  }
}

}  // namespace
}  // namespace service
