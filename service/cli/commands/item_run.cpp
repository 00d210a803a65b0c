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
    print_text("The tasks are in " + options_.folder + "/tasks. Run \"rigcal work --folder " +
               options_.folder +
               " --task N\" for each of them, from N = 0, on machines that share the folder and "
               "the recordings. Then repeat this command without --tasks.\n");
    return kDone;
  }
  std::cerr << "rigcal: stopped; "
            << (temporary_ ? "nothing was written; with --folder, a repeated command continues"
                           : "finished results are kept in " + options_.folder +
                                 ", and the same command continues from there")
            << '\n';
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
