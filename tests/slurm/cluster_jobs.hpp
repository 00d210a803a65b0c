#pragma once

#include <filesystem>
#include <string>

#include "tests/service/server/pendulum_jobs.hpp"
#include "tests/support/json.hpp"

// Common parts of the tests of rigcald with its jobs on a cluster.

namespace service {

/// Submits a job with the swing of SwingService, without waiting for its end.
inline void submit_swing(const test_support::ServiceProcess& service, const std::string& id,
                         const std::string& options = "") {
  run_successfully("calibrate session:run --rig " + config("rig-pendulum.textproto") + at(service) +
                   "--detach --job " + id + " " + options);
}

/// Waits until a job has iterated on its node, so that its progress has reached the service.
inline bool wait_until_on_node(const test_support::ServiceProcess& service, const std::string& id) {
  test_support::SocketClient client(service.port());
  EXPECT_TRUE(client.greet());
  return wait_until_running(client, id);
}

inline rigcal::v1::JobInfo end_of_job(const test_support::ServiceProcess& service,
                                      const std::string& id) {
  test_support::SocketClient client(service.port());
  EXPECT_TRUE(client.greet());
  return wait_for(client, id);
}

/// Expects that a job failed, with these parts of its reason.
inline void expect_failure(const test_support::ServiceProcess& service, const std::string& id,
                           const std::vector<std::string>& parts) {
  const rigcal::v1::JobInfo info = end_of_job(service, id);
  EXPECT_EQ(info.state(), rigcal::v1::JOB_FAILED) << info.error();
  test_support::expect_parts(info.error(), parts);
}

/// Returns the result of a job, or its cross-validation, without times.
template <class Message>
std::string result_without_times(const test_support::ServiceProcess& service, const std::string& id,
                                 const std::string& options = "") {
  auto result = test_support::from_json<Message>(
      run_successfully("result " + id + " --json" + at(service) + options).out);
  result.set_wall_time_s(0.0);
  result.mutable_provenance()->clear_date();
  return result.DebugString();  // with the entries of maps in a fixed order
}

/// Calibrates two recordings jointly, with their cross-validation. Returns the results without
/// times.
inline std::string calibrate_two(const test_support::ServiceProcess& service,
                                 const TemporaryFolder& files) {
  const std::string a = record_swing(files, "a.csv", 3.0, 1.0);
  const std::string b = record_swing(files, "b.csv", 3.0, 0.5);
  run_successfully("calibrate " + a + " " + b + " --rig " + config("rig-pendulum.textproto") +
                   at(service) + "--job two");
  return result_without_times<rigcal::v1::CalibrationResult>(service, "two") +
         result_without_times<rigcal::v1::CrossValidationResult>(service, "two",
                                                                 " --cross-validation");
}

/// Returns whether the folder of a job still contains its task on the cluster.
inline bool has_task_folder(const test_support::ServiceProcess& service, const std::string& id) {
  return std::filesystem::exists(service.folder() + "/jobs/" + id + "/cluster");
}

}  // namespace service
