#include "tests/studies/runs/run_tasks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "tests/studies/runs/run_record.hpp"
#include "tests/studies/spook/robustness_starts.hpp"
#include "tests/studies/study_data.hpp"
#include "tests/studies/study_file.hpp"
#include "tests/studies/tests/tiny_study.hpp"

namespace service {
namespace {

/// Arguments of a call of make_task.
struct Asked {
  std::shared_ptr<const StudyData> data;
  estimator::Mechanism mechanism;
  estimator::CalibrationOptions options;
  bool states_only = false, keep_trajectories = false;

  StudyTask task() const {
    return make_task({}, data, mechanism, options, states_only, keep_trajectories);
  }
};

/// Tiny study in memory, with a task per time step.
struct Loaded {
  TemporaryFolder folder;
  Study study = load_study(write_tiny_study(folder));
  std::vector<std::string> notes;
  std::vector<LoadedSet> sets = load_sets(study, {}, notes);
  std::vector<StudyTask> tasks;
  Asked asked;  ///< arguments of the first task

  Loaded() {
    const LoadedSet& set = sets.front();
    for (const double step : study.sweeps.front().values) {
      StudySettings settings = set.set->settings;
      settings.step = step;
      const Asked one{set.data.front(),
                      mechanism_of(*set.set, set.set->models.front(), *set.data.front()),
                      make_options(study.methods.front(), settings)};
      if (tasks.empty()) asked = one;
      tasks.push_back(one.task());
    }
  }

  std::vector<StudyRun> run(WorkStore& store, const std::atomic<bool>* stop, WorkProgress& last) {
    return run_tasks(tasks, store, *make_local_executor(2), stop,
                     [&](const WorkProgress& p) { last = p; });
  }
};

// A run is taken from the store if its key exists, so every change of a result must change the key.
// Otherwise a study shows the numbers of other options.
TEST(StudyTask, KeyChangesWithWhateverChangesTheResult) {
  const Loaded loaded;
  const Asked& plain = loaded.asked;
  std::set<std::string> keys;
  const auto expect_new_key = [&](const char* what, const auto& change) {
    Asked other = plain;
    change(other);
    EXPECT_TRUE(keys.insert(other.task().key).second) << what;
  };
  using Task = Asked;
  expect_new_key("nothing", [](Task&) {});
  expect_new_key("kind", [](Task& t) { t.options.kind = estimator::EstimateKind::kPhysical; });
  expect_new_key("no kind", [](Task& t) { t.options.kind.reset(); });
  expect_new_key("step", [](Task& t) { t.options.step = 0.02; });
  expect_new_key("acceleration noise", [](Task& t) { t.options.acceleration_noise = 0.1; });
  expect_new_key("kappa", [](Task& t) { t.options.state_error_weight = 7.0; });
  expect_new_key("compliance", [](Task& t) { t.options.compliance = 1e-7; });
  expect_new_key("damping time", [](Task& t) { t.options.damping_time = 0.7; });
  expect_new_key("weighting", [](Task& t) { t.options.weighting_compliance = 0.3; });
  expect_new_key("residual",
                 [](Task& t) { t.options.residual_form = estimator::ResidualForm::kExplicit; });
  expect_new_key("states", [](Task& t) { t.options.state_form = estimator::StateForm::kFull; });
  expect_new_key("cutoff", [](Task& t) { t.options.filter_cutoff = 3.0; });
  expect_new_key("iterations", [](Task& t) { t.options.max_iterations = 3; });
  expect_new_key("refinement",
                 [](Task& t) { t.options.refine_simulation = !t.options.refine_simulation; });
  expect_new_key("start_from_physical",
                 [](Task& t) { t.options.start_from_physical = !t.options.start_from_physical; });
  expect_new_key("states only", [](Task& t) { t.states_only = true; });
  expect_new_key("trajectories", [](Task& t) { t.keep_trajectories = true; });
  expect_new_key("prior",
                 [](Task& t) { t.mechanism.parameters[0].prior_standard_deviation = 0.5; });
  expect_new_key("a free one",
                 [](Task& t) { t.mechanism.parameters[0].free = !t.mechanism.parameters[0].free; });
  expect_new_key("an encoder less", [](Task& t) { t.mechanism.joints[1].measured = false; });
  expect_new_key("noise of a control",
                 [](Task& t) { t.mechanism.joints[0].motor.control_noise = 1.0; });
  expect_new_key("another body", [](Task& t) { t.mechanism.joints[1].body_a = 1; });
}

// Runs are returned in the order of their tasks, whichever thread ends first. A second call finds
// them all in the store: a resumed study repeats nothing.
TEST(RunTasks, KeepOrderAndAreNotRepeated) {
  Loaded loaded;
  WorkStore store(loaded.folder.file("runs"));
  WorkProgress progress;
  const std::vector<StudyRun> first = loaded.run(store, nullptr, progress);
  EXPECT_EQ(progress.kept, 0);
  EXPECT_EQ(progress.done, 4);
  ASSERT_EQ(first.size(), 4U);
  const auto kept = stored_runs(loaded.folder.file(""));
  EXPECT_EQ(kept.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first[i].key, loaded.tasks[i].key);
    EXPECT_TRUE(first[i].error.empty()) << first[i].error;
    EXPECT_NEAR(first[i].place.step, loaded.study.sweeps.front().values[i], 1e-12);
    // The parts of the cost must add up to it.
    const double whole = first[i].observation_error + 100.0 * first[i].state_error;
    EXPECT_NEAR(whole, first[i].mean_squared_error(), 1e-12 * whole);
  }
  const std::vector<StudyRun> second = loaded.run(store, nullptr, progress);
  EXPECT_EQ(progress.kept, 4);
  EXPECT_EQ(stored_runs(loaded.folder.file("")), kept);
  EXPECT_EQ(second[3].cost, first[3].cost);
}

// An interrupted run must not be stored as a result.
TEST(RunTasks, DoNotStoreStoppedRuns) {
  Loaded loaded;
  WorkStore store(loaded.folder.file("runs"));
  const std::atomic<bool> stop{true};
  WorkProgress progress;
  EXPECT_TRUE(loaded.run(store, &stop, progress).empty());
  EXPECT_TRUE(std::filesystem::is_empty(loaded.folder.file("runs")));
}

// Every input must change the key: two runs with one key would share one's result.
TEST(StudyTask, KeysDifferWithEveryInput) {
  Loaded loaded;
  const Asked& base = loaded.asked;
  std::set<std::string> keys;
  for (const StudyTask& task : loaded.tasks) keys.insert(task.key);
  EXPECT_EQ(keys.size(), loaded.tasks.size());
  estimator::Mechanism mechanism = base.mechanism;
  mechanism.parameters.front().value *= 1.0 + 1e-15;
  keys.insert(make_task({}, base.data, mechanism, base.options).key);
  estimator::CalibrationOptions options = base.options;
  options.residual_form = estimator::ResidualForm::kExplicit;
  keys.insert(make_task({}, base.data, base.mechanism, options).key);
  keys.insert(make_task({}, base.data, base.mechanism, base.options, true).key);
  keys.insert(make_task({}, base.data, base.mechanism, base.options, false, true).key);
  EXPECT_EQ(keys.size(), loaded.tasks.size() + 4);
  // The position of a run in its study is not an input.
  RunLabels place;
  place.stage = "elsewhere";
  EXPECT_EQ(make_task(place, base.data, base.mechanism, base.options).key, base.task().key);
}

// With a clock 35 ppm off, 10 ms are not exactly ten periods; the estimator would refuse the step.
TEST(StudyTask, StepsFitAClockThatRunsAFewPartsPerMillionOff) {
  Loaded loaded;
  const auto data = std::make_shared<StudyData>(*loaded.sets.front().data.front());
  const double period = 1e-3 * (1.0 + 35e-6);
  data->recordings.front().segments.front().period = period;
  const StudyTask task = make_task({}, data, loaded.asked.mechanism, loaded.asked.options);
  EXPECT_DOUBLE_EQ(task.place.step, 5.0 * period);
  EXPECT_TRUE(run_task(task, nullptr).error.empty());
}

// Figures plot trajectories over time, for a simulator at its steps, for the rig at the readings.
// Stored runs must contain the times too.
TEST(StudyTask, TrajectoriesHaveTimes) {
  Loaded loaded;
  const Asked& base = loaded.asked;
  for (const bool physical : {false, true}) {
    StudyMethod method = loaded.study.methods.front();
    method.physical = physical;
    const StudyTask task =
        make_task({}, base.data, base.mechanism,
                  make_options(method, loaded.sets.front().set->settings), false, true);
    const StudyRun run = run_task(task, nullptr);
    ASSERT_FALSE(run.joints.empty()) << run.error;
    const estimator::Segment& segment = base.data->recordings.front().segments.front();
    EXPECT_DOUBLE_EQ(run.spacing, physical ? segment.period : task.place.step);
    EXPECT_EQ(parse_run(format_run(run)).spacing, run.spacing);
  }
}

// A refusal by the estimator is a result of the study, with its reason.
TEST(StudyTask, RefusalsAreStoredWithTheirReason) {
  Loaded loaded;
  Asked asked = loaded.asked;
  asked.options.step = 0.0123;
  const StudyRun run = run_task(asked.task(), nullptr);
  EXPECT_FALSE(run.converged);
  EXPECT_NE(run.error.find("sampling period"), std::string::npos) << run.error;
}

// Starts must be wrong by the stated factor, and within the bounds.
TEST(RobustnessStarts, AreWrongByTheFactorAndWithinBounds) {
  Loaded loaded;
  const StudySet& set = *loaded.sets.front().set;
  StudyStarts starts;
  starts.factor = 10.0;
  starts.random = 3;
  const std::vector<NamedStart> all = make_starts(set, set.rig.mechanism, starts);
  ASSERT_EQ(all.size(), 9U);
  EXPECT_EQ(all[0].name, "reference");
  const auto value = [](const NamedStart& start, const char* name) {
    const int index = start.mechanism.find_parameter(name);
    return start.mechanism.parameters[static_cast<std::size_t>(index)].value;
  };
  EXPECT_DOUBLE_EQ(value(all[0], "A.J_zz"), 0.003);
  EXPECT_DOUBLE_EQ(value(all[1], "A.J_zz"), 0.03);
  EXPECT_DOUBLE_EQ(value(all[2], "1.b"), 1e-4);
  EXPECT_DOUBLE_EQ(value(all[3], "A.J_zz"), 0.03);
  EXPECT_DOUBLE_EQ(value(all[3], "1.b"), 1e-4);
  EXPECT_EQ(value(all[8], "1.b"), 0.0);
  for (const NamedStart& start : all) {
    for (const estimator::Parameter& p : start.mechanism.parameters) {
      EXPECT_GE(p.value, p.lower) << start.name << ' ' << p.name;
    }
    if (!start.name.starts_with("random")) continue;
    const double ratio = value(start, "B.J_yy") / 0.004;
    EXPECT_GT(ratio, 0.1);
    EXPECT_LT(ratio, 10.0);
  }
}

}  // namespace
}  // namespace service
