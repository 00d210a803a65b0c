#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "service/server/storage/checksums.hpp"
#include "tests/service/server/store_in_hand.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;

ServiceLimits small_limits() {
  ServiceLimits limits;
  limits.queued_jobs = 4;
  limits.jobs = 8;
  return limits;
}

// Submits a job that runs, so that others wait.
void occupy(StoreInHand& store) {
  ASSERT_EQ(fault_of(store.submit("running", kRoot)).code(), 0);
  ASSERT_EQ(store.job("running").state(), rigcal::v1::JOB_RUNNING);
}

// An identity's share of the queue is enforced exactly, then the queue's own limit; each refusal
// says which.
TEST(JobStore, EnforcesTheShareAndLimitOfWaitingJobs) {
  StoreWithData store(small_limits());
  occupy(store);
  EXPECT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  EXPECT_EQ(fault_of(store.submit("a2", kAnna)).code(), 0);
  const ServiceError share = fault_of(store.submit("a3", kAnna));
  EXPECT_EQ(share.code(), ServiceError::BUSY);
  EXPECT_NE(share.text().find("2 jobs from account:anna are waiting"), std::string::npos);
  EXPECT_EQ(fault_of(store.submit("b1", kBert)).code(), 0);
  EXPECT_EQ(fault_of(store.submit("b2", kBert)).code(), 0);
  const ServiceError full = fault_of(store.submit("c1", {"account:carl", false}));
  EXPECT_NE(full.text().find("4 jobs are waiting, the limit"), std::string::npos) << full.text();
  // Both are freed with the jobs, also by cancelling.
  ASSERT_EQ(fault_of(store.cancel("a1", kAnna)).code(), 0);
  store.drain();
  EXPECT_EQ(fault_of(store.submit("a3", kAnna)).code(), 0);
}

// Stored jobs have a share and a limit as well.
TEST(JobStore, EnforcesTheShareAndLimitOfStoredJobs) {
  ServiceLimits limits = small_limits();
  limits.jobs = 3;
  StoreWithData store(limits);
  const auto end_one = [&](const std::string& id, const Identity& who) {
    const auto outcome = store.submit(id, who);
    if (store.runner.runs.contains(id)) store.finish(id);
    return fault_of(outcome);
  };
  EXPECT_EQ(end_one("a1", kAnna).code(), 0);
  EXPECT_EQ(end_one("a2", kAnna).code(), 0);
  expect_parts(end_one("a3", kAnna).text(), {"2 jobs from account:anna are kept"});
  EXPECT_EQ(end_one("b1", kBert).code(), 0);
  EXPECT_NE(end_one("b2", kBert).text().find("3 jobs are kept, the limit"), std::string::npos);
}

// The owner with the least processor time in the last hour comes first, whoever waits longer.
// Deleting jobs does not help.
TEST(JobStore, PrefersTheLeastProcessorTime) {
  StoreWithData store;
  const auto run = [&](const std::string& id, const Identity& who, double processor_s) {
    ASSERT_EQ(fault_of(store.submit(id, who)).code(), 0);
    store.time_s += processor_s;
    store.finish(id, processor_s);
    EXPECT_EQ(store.job(id).processor_s(), processor_s);
    ASSERT_EQ(store.remove_job(id, who), 0);
    ASSERT_EQ(store.job(id).job_id(), "");
  };
  run("a0", kAnna, 100.0);
  run("b0", kBert, 90.0);
  occupy(store);
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  ASSERT_EQ(fault_of(store.submit("b1", kBert)).code(), 0);
  EXPECT_EQ(store.job("b1").queue_position(), 1);
  EXPECT_EQ(store.job("a1").queue_position(), 2);
  store.finish("running");
  EXPECT_EQ(store.runner.order.back(), "b1");
  // A running job's time counts continuously.
  ASSERT_EQ(fault_of(store.submit("b2", kBert)).code(), 0);
  EXPECT_EQ(store.job("b2").queue_position(), 1);
  store.time_s += 11.0;
  EXPECT_EQ(store.job("b2").queue_position(), 2);
}

// Beyond its share an owner's jobs wait, with that reason, and start by themselves after the hour.
// Others continue meanwhile, and a restart of the service resets nothing.
TEST(JobStore, EnforcesTheShareOfProcessorTime) {
  ServiceLimits limits;
  limits.share.processor_s = 50.0;
  StoreWithData store(limits);
  for (const double processor_s : {50.0, 1.0}) {  // exactly the share is allowed
    ASSERT_EQ(fault_of(store.submit("a" + std::to_string(processor_s), kAnna)).code(), 0);
    ASSERT_EQ(store.runner.order.back(), "a" + std::to_string(processor_s));
    store.finish(store.runner.order.back(), processor_s);
  }
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  expect_parts(store.job("a1").error(),
               {"has used 51 s of processor time in the last hour, and its "
                "share is 50 s"});
  ASSERT_EQ(fault_of(store.submit("b1", kBert)).code(), 0);
  EXPECT_EQ(store.job("b1").state(), rigcal::v1::JOB_RUNNING);
  store.finish("b1", 1.0);
  store.restart();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  store.time_s += 3480.0;
  store.jobs->start_ready_jobs();
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  store.time_s += 180.0;
  store.jobs->start_ready_jobs();
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);
}

// Jobs start in turns of their owners, and one identity uses at most its share of the workers.
TEST(JobStore, LetsOwnersTakeTurnsAtTheWorkers) {
  ServiceLimits limits;
  limits.workers = 2;
  StoreWithData store(limits);
  for (const char* id : {"a1", "a2", "a3"}) store.submit(id, kAnna);
  EXPECT_EQ(store.runner.order, (std::vector<std::string>{"a1"})) << "its share is one of two";
  store.submit("b1", kBert);
  store.submit("b2", kBert);
  EXPECT_EQ(store.runner.order, (std::vector<std::string>{"a1", "b1"}));
  EXPECT_EQ(store.job("a2").queue_position(), 1);
  EXPECT_EQ(store.job("b2").queue_position(), 2);
  EXPECT_EQ(store.job("a3").queue_position(), 3);
  for (const char* id : {"a1", "b1", "b2", "a2", "a3"}) {
    store.finish(id);
  }
  EXPECT_EQ(store.runner.order, (std::vector<std::string>{"a1", "b1", "a2", "b2", "a3"}));
}

// Only the owner and operators may cancel and delete a job, in any state.
TEST(JobStore, LetsOnlyOwnersAndOperatorsCancelAndDelete) {
  StoreWithData store;
  occupy(store);
  store.submit("a1", kAnna);
  const ServiceError refused = fault_of(store.cancel("a1", kBert));
  EXPECT_EQ(refused.code(), ServiceError::NOT_ALLOWED);
  expect_parts(refused.text(), {"belongs to \"account:anna\""});
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_QUEUED);
  EXPECT_EQ(fault_of(store.cancel("running", kAnna)).code(), ServiceError::NOT_ALLOWED);
  EXPECT_FALSE(store.runner.runs.at("running").stopped);
  EXPECT_EQ(fault_of(store.cancel("a1", kAnna)).code(), 0);
  EXPECT_EQ(fault_of(store.cancel("running", kRoot)).code(), 0);
  EXPECT_TRUE(store.runner.runs.at("running").stopped);
  store.drain();
  EXPECT_EQ(store.remove_job("a1", kBert), ServiceError::NOT_ALLOWED);
  EXPECT_EQ(store.remove_job("a1", kRoot), 0);
  EXPECT_EQ(store.remove_job("a1", kRoot), ServiceError::NOT_FOUND);
}

// Owners are stored on disk: others are also refused after a restart. Jobs from before owners were
// introduced belong to operators.
TEST(JobStore, RemembersOwnersAfterARestart) {
  StoreWithData store;
  occupy(store);
  store.submit("a1", kAnna);
  store.restart();
  EXPECT_EQ(store.job("a1").owner(), "account:anna");
  EXPECT_EQ(fault_of(store.cancel("a1", kBert)).code(), ServiceError::NOT_ALLOWED);
  EXPECT_EQ(fault_of(store.cancel("a1", kAnna)).code(), 0);
  store.drain();
  const std::string path = store.context.data_folder + "/jobs/a1/job.textproto";
  std::string text = text_of(path);
  const std::string owner = "owner: \"account:anna\"";
  ASSERT_NE(text.find(owner), std::string::npos) << text;
  text.erase(text.find(owner), owner.size());
  std::ofstream(path) << text;
  store.restart();
  EXPECT_EQ(store.remove_job("a1", kAnna), ServiceError::NOT_ALLOWED);
  EXPECT_EQ(store.remove_job("a1", kRoot), 0);
}

// Submitting again reports the job's state, while it waits and after its end, when the job's input
// is on the disk only. Another job under the same id is refused.
TEST(JobStore, ComparesARepeatedJobWithTheOneOnDisk) {
  StoreWithData store;
  occupy(store);
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  EXPECT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  EXPECT_EQ(fault_of(store.submit("a1", kAnna, "data", "name: \"other\"")).code(),
            ServiceError::EXISTS);
  store.finish("running");
  store.finish("a1");
  store.restart();
  const auto again = store.submit("a1", kAnna);
  ASSERT_EQ(fault_of(again).code(), 0);
  EXPECT_EQ(std::get<rigcal::v1::JobInfo>(again).state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(fault_of(store.submit("a1", kAnna, "data", "name: \"other\"")).code(),
            ServiceError::EXISTS);
}

/// Appends a byte to a file, as a failing disk changes it; or removes the file.
void damage_or_remove(const std::string& path, bool removes) {
  ASSERT_TRUE(std::filesystem::exists(path)) << path;
  if (removes) {
    std::filesystem::remove(path);
  } else {
    std::ofstream(path, std::ios::app) << '{';
  }
}

/// Submits a job that ends with a result and a report, with checksums.
void complete_job(StoreInHand& store, const std::string& id) {
  ASSERT_EQ(fault_of(store.submit(id, kAnna)).code(), 0);
  const std::string folder = store.job_folder(id);
  std::ofstream(folder + "report.html") << "<html></html>";
  store.finish(id);
  Checksums checksums;
  for (const char* const name : {"report.html", "result.json", "table.txt"}) {
    checksums[name] = compute_checksum(folder + name).value();
  }
  ASSERT_TRUE(write_checksums(folder, checksums).ok());
}

// A job that cannot be read must not block the same calibration: it is replaced and runs again,
// whichever of its files is damaged or missing.
TEST(JobStore, RunsADamagedJobAgain) {
  StoreWithData store;
  int number = 0;
  for (const char* const name : {"job.textproto", "result.json", "table.txt", "report.html"}) {
    for (const bool removes : {false, true}) {
      SCOPED_TRACE(std::string(name) + (removes ? " is missing" : " is damaged"));
      const std::string id = "a" + std::to_string(++number);
      complete_job(store, id);
      damage_or_remove(store.job_folder(id) + name, removes);
      const auto again = store.submit(id, kAnna);
      ASSERT_EQ(fault_of(again).code(), 0) << fault_of(again).text();
      EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_RUNNING);
      EXPECT_EQ(std::ranges::count(store.runner.order, id), 2);
      store.finish(id);
      EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_DONE);
      EXPECT_EQ(fault_of(store.submit(id, kAnna)).code(), 0);
      EXPECT_EQ(std::ranges::count(store.runner.order, id), 2) << "it is whole";
    }
  }
  complete_job(store, "gone");
  std::filesystem::remove_all(store.job_folder("gone"));
  EXPECT_EQ(fault_of(store.submit("gone", kAnna)).code(), 0);
  EXPECT_EQ(store.job("gone").state(), rigcal::v1::JOB_RUNNING);
}

// A damaged job is replaced only by an identity that may delete it, and only by a valid job. The
// owner of a job whose record was unreadable at the start is unknown: it belongs to operators.
TEST(JobStore, ReplacesADamagedJobOnlyIfItMayBeDeleted) {
  StoreWithData store;
  complete_job(store, "a1");
  const std::string record = store.job_folder("a1") + "job.textproto";
  damage_or_remove(record, false);
  EXPECT_EQ(fault_of(store.submit("a1", kBert)).code(), ServiceError::NOT_ALLOWED);
  EXPECT_EQ(fault_of(store.submit("a1", kAnna, "nowhere")).code(), ServiceError::NOT_FOUND);
  EXPECT_TRUE(std::filesystem::exists(record));
  store.restart();
  expect_parts(store.job("a1").error(), {"job.textproto", "rigcal jobs a1 --delete"});
  EXPECT_EQ(fault_of(store.submit("a1", kAnna)).code(), ServiceError::NOT_ALLOWED);
  EXPECT_TRUE(std::filesystem::exists(record));
  EXPECT_EQ(fault_of(store.submit("a1", kRoot)).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);

  // A running job is not replaced.
  damage_or_remove(record, false);
  const ServiceError refused = fault_of(store.submit("a1", kRoot));
  EXPECT_EQ(refused.code(), ServiceError::STORAGE);
  expect_parts(refused.text(), {"rigcal jobs a1 --delete"});
}

// While a job is being cancelled, the same submission must not join it. The answer comes at the
// job's end, when the client can delete the job and submit it again.
TEST(JobStore, AnswersARepeatedJobAfterItsCancellation) {
  StoreWithData store;
  for (const bool done : {false, true}) {
    SCOPED_TRACE(done);
    const std::string id = done ? "a2" : "a1";
    ASSERT_EQ(fault_of(store.submit(id, kAnna)).code(), 0);
    ASSERT_EQ(fault_of(store.cancel(id, kAnna)).code(), 0);
    std::vector<rigcal::v1::JobState> answers;
    for (int client = 0; client < 2; ++client) {
      rigcal::v1::SubmitJob request = StoreInHand::submission(id);
      store.jobs->submit_job(request, kAnna, [&](const auto& answer) {
        answers.push_back(std::get<rigcal::v1::JobInfo>(answer).state());
      });
    }
    store.drain();
    EXPECT_TRUE(answers.empty()) << "the worker has not ended yet";
    store.runner.runs.at(id).on_ended({done, done ? "" : "stopped"});
    store.drain();
    const auto state = done ? rigcal::v1::JOB_DONE : rigcal::v1::JOB_CANCELLED;
    EXPECT_EQ(answers, (std::vector<rigcal::v1::JobState>{state, state}));
  }
  ASSERT_EQ(store.remove_job("a1", kAnna), 0);
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);
}

// A submission during the deletion of the same job neither joins nor replaces the job.
TEST(JobStore, RefusesAJobThatIsBeingDeleted) {
  StoreWithData store;
  complete_job(store, "a1");
  store.jobs->delete_job("a1", kAnna, [](const auto&) {});
  ServiceError refused;
  rigcal::v1::SubmitJob request = StoreInHand::submission("a1");
  store.jobs->submit_job(request, kAnna, [&](const auto& answer) { refused = fault_of(answer); });
  while (refused.code() == 0 && !store.tasks.empty()) {
    // The reader runs first, as another thread may.
    std::rotate(store.tasks.begin(), store.tasks.end() - 1, store.tasks.end());
    store.step();
  }
  EXPECT_EQ(refused.code(), ServiceError::BUSY);
  store.drain();
  ASSERT_EQ(store.job("a1").job_id(), "");

  // Once the job is deleted, the waiting submission is a new job.
  complete_job(store, "a2");
  store.jobs->delete_job("a2", kAnna, [](const auto&) {});
  EXPECT_EQ(fault_of(store.submit("a2", kAnna)).code(), 0);
  EXPECT_EQ(store.job("a2").state(), rigcal::v1::JOB_RUNNING);
}

// A change of state keeps the job's input on disk, from which its worker reads.
TEST(JobStore, KeepsTheJobsInputOnTheDiskThroughItsStates) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna, "data", "name: \"kept\"")).code(), 0);
  store.finish("a1");
  const std::string text = text_of(store.context.data_folder + "/jobs/a1/job.textproto");
  expect_parts(text, {"name: \\\"kept\\\"", "JOB_DONE"});
}

// A worker's message that comes late, twice or after the job was deleted must not revive the job.
TEST(JobStore, IgnoresMessagesOfEndedJobs) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  const auto run = store.runner.runs.at("a1");
  run.on_ended({true, ""});
  run.on_progress({});
  run.on_ended({false, "again"});
  store.drain();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_DONE);
  EXPECT_EQ(store.remove_job("a1", kAnna), 0);
  run.on_progress({});
  run.on_ended({false, "once more"});
  store.drain();
  EXPECT_EQ(store.jobs->list().total_count(), 0u);
  EXPECT_EQ(fault_of(store.jobs->find_job_info("a1")).code(), ServiceError::NOT_FOUND);
  ASSERT_EQ(fault_of(store.submit("a2", kAnna)).code(), 0);
  EXPECT_EQ(store.job("a2").state(), rigcal::v1::JOB_RUNNING) << "the worker was counted twice";
}

// A job deleted between its creation and its storage, because of a disk failure, is reported.
TEST(JobStore, ReportsThatAJobCouldNotBeStored) {
  StoreWithData store;
  std::filesystem::remove_all(store.context.data_folder + "/jobs");
  std::ofstream(store.context.data_folder + "/jobs") << "no folder";
  EXPECT_EQ(fault_of(store.submit("a1", kAnna)).code(), ServiceError::STORAGE);
  EXPECT_EQ(store.jobs->list().total_count(), 0u);
}

// The shorter of the requested time and the service's limit ends a job; without a request, the
// limit.
TEST(JobStore, GivesAJobTheShorterOfTwoTimes) {
  ServiceLimits limits;
  limits.job_duration_s = 100.0;
  limits.workers = 6;
  StoreWithData store(limits);
  for (const double asked : {0.0, 99.0, 101.0}) {
    rigcal::v1::SubmitJob request;
    request.set_job_id("j" + std::to_string(static_cast<int>(asked)));
    request.mutable_spec()->set_rig_text("x");
    request.mutable_spec()->add_recordings()->set_session_id("data");
    request.mutable_spec()->set_time_limit_s(asked);
    store.jobs->submit_job(request, kAnna, [](const auto&) {});
    store.drain();
  }
  EXPECT_EQ(store.runner.runs.at("j0").duration_s_max, 100.0);
  EXPECT_EQ(store.runner.runs.at("j99").duration_s_max, 99.0);
  EXPECT_EQ(store.runner.runs.at("j101").duration_s_max, 100.0);
  // Jobs that start again after a restart keep their time.
  store.runner.runs.clear();
  store.restart();
  EXPECT_EQ(store.runner.runs.at("j99").duration_s_max, 99.0);
  EXPECT_EQ(store.runner.runs.at("j101").duration_s_max, 100.0);
  // The remedy depends on who set the limit.
  for (const char* const id : {"j0", "j99", "j101"}) {
    store.runner.runs.at(id).on_ended({.is_time_over = true});
    store.drain();
    EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_FAILED);
    EXPECT_TRUE(store.job(id).is_time_over());
    EXPECT_EQ(store.job(id).error().find("job_duration_s") != std::string::npos, id[1] != '9');
  }
  expect_parts(store.job("j99").error(), {"the time limit of 99 s is over", "raise --time-limit"});
}

// A job starts at most three times: one that has killed the service three times may do so again.
TEST(JobStore, RunsAnInterruptedJobThreeTimesAtMost) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  for (int start = 1; start < JobStore::kStartCountMax; ++start) {
    EXPECT_EQ(store.job("a1").start_count(), start);
    store.restart();
    EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING) << start;
  }
  store.restart();
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_FAILED);
}

// The reply to a cancellation promises that the job does not run again, even if the service is
// killed before the worker ends. It is therefore sent after the cancellation is on disk.
TEST(JobStore, NeverRunsACancelledJobAgain) {
  StoreWithData store;
  ASSERT_EQ(fault_of(store.submit("a1", kAnna)).code(), 0);
  ASSERT_EQ(fault_of(store.submit("a2", kAnna)).code(), 0);
  ASSERT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING);
  ASSERT_EQ(store.job("a2").state(), rigcal::v1::JOB_QUEUED);
  for (const std::string id : {"a2", "a1"}) {
    bool is_answered = false;
    store.jobs->cancel_job(id, kAnna, [&](const auto&) { is_answered = true; });
    EXPECT_FALSE(is_answered);
    store.drain();
    EXPECT_TRUE(is_answered);
  }
  EXPECT_EQ(store.job("a1").state(), rigcal::v1::JOB_RUNNING) << "its worker has not ended yet";
  store.restart();
  for (const std::string id : {"a1", "a2"}) {
    EXPECT_EQ(store.job(id).state(), rigcal::v1::JOB_CANCELLED);
    EXPECT_EQ(store.job(id).error(), "cancelled by a client");
  }
  EXPECT_EQ(store.runner.order, std::vector<std::string>{"a1"});
}

// The memory of ended jobs does not grow with the size of their input.
TEST(JobStore, CountsTheDiskAndMemoryOfItsJobs) {
  StoreWithData store;
  const std::string rig(200'000, 'r');
  ASSERT_EQ(fault_of(store.submit("a1", kAnna, "data", rig)).code(), 0);
  store.finish("a1");
  store.count_use();
  EXPECT_GT(store.context.disk.of("account:anna"), 200'000u);
  EXPECT_LT(store.context.index.of("account:anna"), 20'000u);
  // The next one must fit beside it.
  store.context.limits.share.disk_bytes = store.context.disk.of("account:anna") + 1000;
  EXPECT_EQ(fault_of(store.submit("a2", kAnna, "data", rig)).code(), ServiceError::STORAGE);
  EXPECT_EQ(fault_of(store.submit("b1", kBert)).code(), 0);
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A client may submit and cancel forever: the input of ended jobs is on disk, and memory holds only
// their listed fields, 200 MB less here. The same after a restart, and for queue and shares.
TEST(JobStore, KeepsLittleOfTwoThousandCancelledJobs) {
#ifdef RIG_SANITIZED
  GTEST_SKIP() << "sanitizers keep what was freed";
#endif
  constexpr int kJobs = 2000;
  constexpr std::uint64_t kBytesMax = kJobs * 20'000u;  // 2 kB each, and malloc's overhead
  StoreWithData store;
  occupy(store);
  const std::string rig(100'000, 'r');
  ASSERT_EQ(fault_of(store.submit("first", kAnna, "data", rig)).code(), 0);
  const std::uint64_t before = resident_bytes();
  for (int k = 0; k < kJobs; ++k) {
    const std::string id = "job-" + std::to_string(k);
    ASSERT_EQ(fault_of(store.submit(id, kAnna, "data", rig)).code(), 0) << k;
    ASSERT_EQ(fault_of(store.cancel(id, kAnna)).code(), 0);
    store.drain();
  }
  EXPECT_LT(resident_bytes(), before + kBytesMax);
  store.restart();
  EXPECT_EQ(store.jobs->list().total_count(), kJobs + 2u);
  EXPECT_LT(resident_bytes(), before + kBytesMax);
  store.count_use();
  EXPECT_LT(store.context.index.total(), kJobs * 3'000u);
}

}  // namespace
}  // namespace service
