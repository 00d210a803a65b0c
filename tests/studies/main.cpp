#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <thread>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/command_line/malloc_tuning.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/cli/work_progress.hpp"
#include "service/work/slurm/slurm_executor.hpp"
#include "service/work/work_task.hpp"
#include "tests/studies/runs/run_tasks.hpp"
#include "tests/studies/study_file.hpp"
#include "tests/studies/study_kinds.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

struct StudyOptions {
  std::string file;
  std::string out;
  StudyFolders folders;
  int jobs = 0;
  bool quiet = false;
  bool on_slurm = false;  ///< whether a Slurm cluster computes the runs
  SlurmSettings slurm;
  std::string runs;  ///< on a node: folder of the finished runs and of the tasks
  int task = -1;     ///< on a node: number of the task to compute; negative: the whole study
};

std::string default_data_folder() {
  const char* named = std::getenv("RIG_DATA");
  return named == nullptr ? "../shared/data" : named;
}

std::unique_ptr<Executor> make_executor(const StudyOptions& options) {
  if (!options.on_slurm) return make_local_executor(options.jobs);
  SlurmSettings slurm = options.slurm;
  const auto path = [](const std::string& name) {
    return std::filesystem::absolute(name).lexically_normal().string();
  };
  slurm.node_arguments = {path(options.file), "--quiet",
                          "--recordings",     path(options.folders.recordings),
                          "--data",           path(options.folders.evaluation_data)};
  return make_slurm_executor(slurm, describe_this_program(RIGCAL_VERSION));
}

/// Computes one task of a study on a node of a cluster.
ExitCode compute_task(const StudyOptions& options, const Study& study,
                      const std::vector<LoadedSet>& sets) {
  const WorkBatch batch =
      read_task(options.runs, options.task, describe_this_program(RIGCAL_VERSION));
  WorkStore store(options.runs);
  const InterruptFlag interrupt;
  compute_node_task(batch, store, *make_local_executor(options.jobs), &interrupt.flag(),
                    [&](const TaskRunner& runner) { run_study(study, sets, runner); });
  return interrupt.flag().load() ? kInterrupted : kDone;
}

ExitCode run(const StudyOptions& options) {
  const Study study = load_study(options.file);
  std::vector<std::string> notes;
  std::vector<LoadedSet> sets;
  if (!study.sets.empty()) sets = load_sets(study, options.folders, notes);
  if (!options.quiet) {
    for (const std::string& note : notes) std::cerr << "note: " << note << '\n';
  }
  if (options.task >= 0) return compute_task(options, study, sets);
  WorkStore store((std::filesystem::path(options.out) / "runs").string());
  const auto executor = make_executor(options);

  const InterruptFlag interrupt;
  std::optional<StudyReport> report;
  {
    ProgressLine progress({.quiet = options.quiet});
    const TaskRunner runner =
        [&](const std::vector<StudyTask>& tasks) -> std::optional<std::vector<StudyRun>> {
      std::vector<StudyRun> runs =
          run_tasks(tasks, store, *executor, &interrupt.flag(), [&](const WorkProgress& p) {
            if (p.total == 0) return;
            const std::string text = format_work_progress("run", p);
            progress.show(text, text);
          });
      if (interrupt.flag().load()) return std::nullopt;
      return runs;
    };
    report = run_study(study, sets, runner);
  }
  if (!report) {
    std::cerr << "rigcal-study: stopped; finished runs are kept in " << options.out
              << "; the same command continues from there\n";
    return kInterrupted;
  }
  report->notes.insert(report->notes.end(), notes.begin(), notes.end());
  for (const StudyTable& table : report->tables) {
    std::cout << table.title << "\n" << table.caption << "\n\n" << format_table(table) << '\n';
  }
  std::cout << report->outcome
            << "\nTables, figures and raw numbers: " << write_report(*report, options.out) << '\n';
  return report->good ? kDone : kNotConverged;
}

std::filesystem::path config_folder() {
  return std::filesystem::path(test_support::source_folder()) / "tests/studies/configs";
}

/// Returns the names of the study files in this repository: NAME for study-NAME.textproto.
std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(config_folder())) {
    names.push_back(entry.path().stem().string().substr(std::string_view("study-").size()));
  }
  std::ranges::sort(names);
  return names;
}

/// Returns a command-line validator that accepts a path or the name of a study, which it replaces
/// by the study's path.
CLI::Validator name_or_file(const std::vector<std::string>& names) {
  return CLI::Validator(
      [is_name = proto::one_of(names)](std::string& text) -> std::string {
        if (text.find_first_of("./") != std::string::npos) return "";
        std::string refusal = is_name(text);
        if (refusal.empty()) text = config_folder() / ("study-" + text + ".textproto");
        return refusal;
      },
      "");
}

void complete(StudyOptions& options) {
  if (options.out.empty()) {
    std::string name = std::filesystem::path(options.file).stem().string();
    if (name.starts_with("study-")) name = name.substr(std::string_view("study-").size());
    options.out = "out/study/" + name;
  }
  if (options.jobs == 0) {
    options.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 2U));
  }
}

void add_study_options(CLI::App& app, StudyOptions& options) {
  options.folders = {"out/study/recordings", default_data_folder()};
  const std::vector<std::string> names = study_names();
  app.add_option("study", options.file,
                 "Study file (tests/studies/study.proto), or the name of one in "
                 "tests/studies/configs: " +
                     CLI::detail::join(names, ", "))
      ->required()
      ->transform(name_or_file(names))
      ->type_name("NAME|FILE");
  app.add_option("--out", options.out, "Folder to write to; default: out/study/NAME")
      ->type_name("DIR");
  app.add_option("--recordings", options.folders.recordings,
                 "Folder of the recordings that scripts/study.sh makes")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--data", options.folders.evaluation_data,
                 "Folder of the evaluation data; default: RIG_DATA, or ../shared/data")
      ->type_name("DIR");
  app.add_option("--jobs,--threads", options.jobs,
                 "Parallel runs; default: 2, or fewer if there are fewer cores")
      ->check(proto::count_from_to(1, 256))
      ->type_name("N");
  app.add_flag("--quiet", options.quiet, "No progress");
  add_cluster_options(app, options.on_slurm, options.slurm);
  // An empty group: the executor for Slurm gives these options to the program on the nodes.
  CLI::Option* const runs = app.add_option("--folder", options.runs)->group("");
  app.add_option("--task", options.task)->group("")->needs(runs);
  app.footer(
      "A study can be stopped by Ctrl-C or killed; the same command continues it. Runs\n"
      "whose recordings, rig, settings or program version have changed are repeated.\n"
      "Examples:\n"
      "  scripts/study.sh                           (records what is missing, then all studies)\n"
      "  rigcal-study synthetic\n"
      "  rigcal-study furuta --recordings recordings --out out/furuta --jobs 4\n"
      "  rigcal-study my-study.textproto --out out/mine\n"
      "  rigcal-study robustness --out /shared/robustness --executor slurm --task-memory 1000\n"
      "\nExit status: 0 done, 1 bad input or usage, or output that failed, 2 a goal was missed,\n"
      "130 stopped by Ctrl-C.");
}

}  // namespace
}  // namespace service

int main(int argc, char** argv) {
  proto::enable_memory_reuse();
  CLI::App app("Repeat calibrations under varied conditions: tables, figures, one page",
               "rigcal-study");
  app.set_version_flag("--version", std::string("rigcal-study ") + RIGCAL_VERSION);
  service::StudyOptions options;
  service::add_study_options(app, options);
  return proto::run_program(app, argc, argv, service::kBadInput, [&] {
    service::complete(options);
    return static_cast<int>(service::run(options));
  });
}
