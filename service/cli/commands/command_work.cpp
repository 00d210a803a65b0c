#include <iostream>
#include <map>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/batch_run.hpp"
#include "service/calibration/bootstrap_run.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/work/executor.hpp"
#include "service/work/work_task.hpp"

namespace service {
namespace {

using MakeWorkFunction = WorkFunction (*)(const std::string& common);

ExitCode work(const WorkOptions& options) {
  static const std::map<std::string, MakeWorkFunction> kFunctions = {
      {kBootstrapWork, make_bootstrap_function}, {kBatchWork, make_batch_function}};
  WorkBatch batch = read_task(options.folder, options.task, describe_this_program(RIGCAL_VERSION));
  const auto make_function = kFunctions.find(batch.kind);
  if (make_function == kFunctions.end()) {
    throw proto::InputError(
        "{}: contains tasks of another program, {:?}; run the program that made them",
        options.folder, batch.kind);
  }
  WorkStore store(options.folder, "task" + std::to_string(options.task));
  const InterruptFlag interrupt;
  if (!store.find_missing(batch.items).empty()) {
    batch.compute = make_function->second(batch.common);
    const auto executor = make_local_executor(options.threads);
    if (!executor->run(batch, store, &interrupt.flag(), {})) return kInterrupted;
  }
  std::cout << "task " << options.task << ": " << batch.items.size() << " items have results\n";
  return kDone;
}

}  // namespace

void add_options(CLI::App& command, WorkOptions& options) {
  add_option(command, "--folder", options.folder, "DIR", "Folder with the tasks")->required();
  add_option(command, "--task", options.task, "N", "Number of the task, from 0")
      ->required()
      ->check(proto::count_from_to(0, 10'000'000));
  add_option(command, "--threads", options.threads, "N", "Number of threads")
      ->check(proto::count_from_to(1, 256))
      ->capture_default_str();
}

void add_work(CLI::App& app, ExitCode& exit_code) {
  add_command<WorkOptions>(
      app, exit_code, "work", "Compute one task of a folder, on a machine that shares the folder",
      "Other commands write the tasks, and start this command on the nodes of a cluster.\n"
      "It accepts only tasks of the same build of rigcal,\n"
      "and stores each result as soon as it is finished.\n"
      "Example:\n"
      "  rigcal work --folder draws --task 3",
      work);
}

}  // namespace service
