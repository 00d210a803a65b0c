#include <fmt/core.h>

#include <iostream>

#include "proto/text/command_line/command_line.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/work_progress.hpp"
#include "service/work/slurm/slurm_executor.hpp"

namespace service {

void add_item_options(CLI::App& command, ItemOptions& items, const std::string& item) {
  CLI::Option* const folder =
      add_option(command, "--folder", items.folder, "DIR",
                 "Folder for finished " + item +
                     "s, from which a repeated command continues; default: a temporary folder");
  CLI::Option* const tasks =
      add_option(
          command, "--tasks", items.tasks, "N",
          "Write the missing " + item +
              "s as this number of tasks into --folder, for \"rigcal work\" on other machines, "
              "instead of computing them")
          ->check(proto::count_from_to(1, 100'000))
          ->needs(folder);
  add_cluster_options(command, items.on_slurm, items.slurm)->needs(folder)->excludes(tasks);
}

ItemRun::ItemRun(const ItemOptions& options, int threads)
    : options_(options), program_(describe_this_program(RIGCAL_VERSION)) {
  if (options.folder.empty()) temporary_.emplace();
  store_.emplace(temporary_ ? temporary_->file("items") : options.folder);
  executor_ = options.on_slurm    ? make_slurm_executor(options.slurm, program_)
              : options.tasks > 0 ? make_task_writer(options.tasks, program_)
                                  : make_local_executor(count_threads(threads));
}

ExitCode ItemRun::report_unfinished(bool stopped) const {
  if (!stopped) {
    print_text(fmt::format(
        "The tasks are in {0}/tasks. Run \"rigcal work --folder {0} --task N\" for each task N, "
        "from 0, on machines that share the folder and the recordings. "
        "Then repeat this command without --tasks.\n",
        options_.folder));
    return kDone;
  }
  std::cerr << (temporary_
                    ? "rigcal: stopped; nothing was written. Add --folder to keep finished "
                      "results: a repeated command then continues from them\n"
                    : fmt::format("rigcal: stopped; finished results are kept in {}. The same "
                                  "command continues from them\n",
                                  options_.folder));
  return kInterrupted;
}

WorkProgressFunction show_items(const std::string& item, ProgressLine& progress) {
  return [item, &progress](const WorkProgress& done) {
    if (done.total == 0) return;
    const std::size_t tenth = 10 * done.done / done.total;
    progress.show(format_work_progress(item, done), item + "s: " + std::to_string(10 * tenth) +
                                                        " % of " + std::to_string(done.total));
  };
}

}  // namespace service
