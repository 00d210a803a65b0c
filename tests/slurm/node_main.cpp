// Computes one task of test items, with the arguments of "rigcal work".
//
// RIGCAL_LATE_S in the environment: the results appear in the folder this time after the end of the
// task, as on a network file system.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "proto/text/input_error.hpp"
#include "service/work/executor.hpp"
#include "tests/slurm/node_program.hpp"

namespace service::slurm_tests {
namespace {

/// Computes the task; with `late`, its results go to a folder beside the shared one.
void compute_task(const std::string& folder, int task, bool late) {
  WorkBatch batch = read_task(folder, task, kNodeProgram);
  batch.compute = [](const WorkItem& item, const std::atomic<bool>* stop) {
    return compute_test_item(item, stop, true);
  };
  WorkStore store(late ? folder + "-late" : folder, "task" + std::to_string(task));
  make_local_executor(1)->run(batch, store, nullptr, {});
}

/// Leaves a process that outlives the task and copies its results into the shared folder.
void copy_late(const std::string& folder, double delay_s) {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  std::this_thread::sleep_for(std::chrono::duration<double>(delay_s));
  for (const auto& entry : std::filesystem::directory_iterator(folder + "-late")) {
    std::filesystem::copy(entry.path(), folder + "/" + entry.path().filename().string());
  }
  ::_exit(0);
}

}  // namespace
}  // namespace service::slurm_tests

// Arguments: work --folder DIR --task N --threads T
int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const char* const late = std::getenv("RIGCAL_LATE_S");
  try {
    service::slurm_tests::compute_task(argv[3], std::atoi(argv[5]), late != nullptr);
  } catch (const proto::InputError& refusal) {
    std::cerr << "rigcal: " << refusal.what() << '\n';
    return 1;
  }
  if (late != nullptr) service::slurm_tests::copy_late(argv[3], std::atof(late));
  return 0;
}
