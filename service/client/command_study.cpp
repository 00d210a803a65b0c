#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <thread>

#include "proto/text/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/client/command.hpp"
#include "service/client/interrupt.hpp"
#include "service/client/progress_line.hpp"
#include "service/study/run_store.hpp"
#include "service/study/run_tasks.hpp"
#include "service/study/study_file.hpp"
#include "service/study/study_kinds.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

struct StudyOptions {
  StudyKind kind = StudyKind::kPendulum;
  std::string config;
  std::string out;
  StudyFolders folders;
  int jobs = 0;
  bool quiet = false;
};

std::string default_data_folder() {
  const char* named = std::getenv("RIG_DATA");
  return named == nullptr ? "../shared/data" : named;
}

/// Formats a duration: "2 h 5 min", "40 s".
std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole >= 3600) {
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
  }
  if (whole >= 60) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole) + " s";
}

std::string progress_text(const StudyProgress& progress) {
  std::string text =
      "run " + std::to_string(progress.done) + " of " + std::to_string(progress.total);
  if (progress.kept > 0) text += " (" + std::to_string(progress.kept) + " done before)";
  if (progress.time_left >= 0.0 && progress.done < progress.total) {
    text += ", " + duration_text(progress.time_left) + " left";
  }
  return text;
}

Study load(const StudyOptions& options) {
  Study study = load_study(options.config);
  if (study.kind == options.kind) return study;
  throw proto::InputError(options.config + ": is a study of kind " + to_string(study.kind) +
                          "; run rigcal study " + to_string(study.kind));
}

ExitCode run(const StudyOptions& options) {
  const Study study = load(options);
  std::vector<std::string> notes;
  std::vector<LoadedSet> sets;
  if (!study.sets.empty()) sets = load_sets(study, options.folders, notes);
  if (!options.quiet) {
    for (const std::string& note : notes) std::cerr << "note: " << note << '\n';
  }
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) throw proto::InputError(options.out + ": cannot be created: " + error.message());
  RunStore store((std::filesystem::path(options.out) / "runs.jsonl").string());

  const InterruptFlag interrupt;
  std::optional<StudyReport> report;
  {
    ProgressLine progress(options.quiet);
    const TaskRunner runner =
        [&](const std::vector<StudyTask>& tasks) -> std::optional<std::vector<StudyRun>> {
      std::vector<StudyRun> runs =
          run_tasks(tasks, store, options.jobs, &interrupt.flag(), [&](const StudyProgress& p) {
            if (p.total > 0) progress.show(progress_text(p));
          });
      if (interrupt.flag().load()) return std::nullopt;
      return runs;
    };
    report = run_study(study, sets, runner);
  }
  if (!report) {
    std::cerr << "rigcal: stopped; finished runs are kept in " << options.out
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

void complete(StudyOptions& options) {
  if (options.config.empty()) {
    options.config = "configs/study-" + to_string(options.kind) + ".textproto";
  }
  if (options.out.empty()) options.out = "out/study/" + to_string(options.kind);
  if (options.jobs == 0) {
    options.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 2U));
  }
}

}  // namespace

void add_study(CLI::App& app, ExitCode& exit_code) {
  std::map<std::string, StudyKind> kinds;
  for (const StudyKind kind :
       {StudyKind::kPendulum, StudyKind::kFuruta, StudyKind::kSynthetic, StudyKind::kRobustness,
        StudyKind::kRedundant, StudyKind::kLeg, StudyKind::kArm}) {
    kinds.emplace(to_string(kind), kind);
  }
  CLI::App* command = app.add_subcommand(
      "study", "Repeat calibrations under varied conditions: tables, figures, one page");
  const auto options = std::make_shared<StudyOptions>();
  options->folders = {"out/study/recordings", default_data_folder()};
  command->add_option("kind", options->kind, "Kind of study")
      ->required()
      ->transform(proto::one_of(kinds))
      ->type_name("pendulum|furuta|synthetic|robustness|redundant|leg|arm");
  command
      ->add_option("--config", options->config,
                   "Study file (proto/study.proto); default: configs/study-KIND.textproto")
      ->type_name("FILE");
  command->add_option("--out", options->out, "Folder to write to; default: out/study/KIND")
      ->type_name("DIR");
  command
      ->add_option("--recordings", options->folders.recordings,
                   "Folder of the recordings that scripts/study.sh makes")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("--data", options->folders.evaluation_data,
                   "Folder of the evaluation data; default: RIG_DATA, or ../shared/data")
      ->type_name("DIR");
  command
      ->add_option("--jobs", options->jobs,
                   "Parallel runs; default: 2, or fewer if there are fewer cores")
      ->check(proto::count_from_to(1, 256))
      ->type_name("N");
  command->add_flag("--quiet", options->quiet, "No progress");
  command->footer(
      "A study can be stopped by Ctrl-C or killed; the same command continues it. Runs\n"
      "whose recordings, rig, settings or program version have changed are repeated.\n"
      "Examples:\n"
      "  scripts/study.sh                           (records what is missing, then all studies)\n"
      "  rigcal study synthetic\n"
      "  rigcal study redundant\n"
      "  rigcal study leg\n"
      "  rigcal study arm\n"
      "  rigcal study furuta --recordings recordings --out out/furuta --jobs 4\n"
      "  rigcal study robustness --config my-study.textproto --out out/mine");
  command->callback([options, &exit_code] {
    complete(*options);
    exit_code = run(*options);
  });
}

}  // namespace service
