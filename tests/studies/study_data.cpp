#include "tests/studies/study_data.hpp"

#include <filesystem>

#include "proto/text/input_error.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/simulation/simulation.hpp"
#include "service/work/fingerprint.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;

std::string path_of(const Study& study, const StudySet& set, const StudyRecording& recording,
                    const StudyFolders& folders) {
  switch (set.folder) {
    case StudyFolder::kRecordings:
      return (fs::path(folders.recordings) / recording.file).string();
    case StudyFolder::kEvaluationData:
      return (fs::path(folders.evaluation_data) / recording.file).string();
    case StudyFolder::kBesideStudy:
      break;
  }
  return (fs::path(study.path).parent_path() / recording.file).string();
}

/// Simulates a recording of the readings of a rig's sensors.
ImportedRecording simulate_recording(const StudySet& set, const StudyRecording& recording) {
  Rig rig = set.rig;
  rig.mechanism = with_true_values(set, std::move(rig.mechanism));
  const StudySimulation& simulation = *recording.simulation;
  for (estimator::Joint& joint : rig.mechanism.joints) {
    if (simulation.compliance >= 0.0) {
      joint.spook.compliance_linear = joint.spook.compliance_angular = simulation.compliance;
    }
    if (simulation.damping_time >= 0.0) joint.spook.damping_time = simulation.damping_time;
  }
  const SimulatedRun run = simulate(rig, simulation.scenario, simulation.step);
  estimator::Segment segment;
  segment.period = run.period;
  segment.controls = run.controls;
  segment.angles = run.angles;
  ImportedRecording imported;
  imported.recording = {recording.name, {std::move(segment)}};
  imported.summary.file = recording.name;
  imported.summary.period = run.period;
  return imported;
}

std::shared_ptr<const StudyData> load(const Study& study, const StudySet& set,
                                      const StudyRecording& recording, const StudyFolders& folders,
                                      std::vector<std::string>& notes) {
  const std::string path =
      recording.simulation ? recording.name : path_of(study, set, recording, folders);
  if (!recording.simulation && !fs::exists(path)) {
    throw proto::InputError(path + ": the recording does not exist; it is needed for " +
                            study.path + "; scripts/study.sh records what is missing");
  }
  ImportedRecording imported =
      recording.simulation ? simulate_recording(set, recording) : import_recording(path, set.rig);
  keep_selected_part(recording.selection, imported);
  for (const std::string& note : describe_import(imported.summary)) notes.push_back(note);
  const auto data = std::make_shared<StudyData>();
  data->name = recording.name;
  data->edits = recording.edits;
  Fingerprint fingerprint;
  for (const estimator::Segment& segment : imported.recording.segments) {
    fingerprint.add(segment.start).add(segment.period).add(segment.angles).add(segment.controls);
    data->duration += segment.sample_count() * segment.period;
  }
  data->fingerprint = fingerprint.value();
  data->recordings.push_back(std::move(imported.recording));
  data->recordings.front().name = recording.name;
  return data;
}

bool is_left_out(const Study& study, const StudySet& set, const StudyFolders& folders,
                 std::vector<std::string>& notes) {
  if (set.folder != StudyFolder::kEvaluationData) return false;
  for (const StudyRecording& recording : set.recordings) {
    const std::string path = path_of(study, set, recording, folders);
    if (fs::exists(path)) continue;
    notes.push_back("set \"" + set.name + "\" is left out: " + path +
                    " does not exist (--data gives the folder of the evaluation data)");
    return true;
  }
  return false;
}

}  // namespace

std::vector<LoadedSet> load_sets(const Study& study, const StudyFolders& folders,
                                 std::vector<std::string>& notes) {
  std::vector<LoadedSet> loaded;
  for (const StudySet& set : study.sets) {
    if (is_left_out(study, set, folders, notes)) continue;
    LoadedSet& out = loaded.emplace_back();
    out.set = &set;
    for (const StudyRecording& recording : set.recordings) {
      out.data.push_back(load(study, set, recording, folders, notes));
    }
  }
  if (loaded.empty()) {
    throw proto::InputError(study.path + ": none of its recordings exists; " + notes.front());
  }
  return loaded;
}

estimator::Mechanism mechanism_of(const StudySet& set, const StudyModel& model,
                                  const StudyData& data) {
  estimator::Mechanism mechanism = set.rig.mechanism;
  apply_parameter_edits(model.edits, mechanism);
  apply_parameter_edits(data.edits, mechanism);
  return mechanism;
}

estimator::Mechanism with_true_values(const StudySet& set, estimator::Mechanism mechanism) {
  for (const TrueValue& truth : set.truth) {
    const int index = mechanism.find_parameter(truth.name);
    mechanism.parameters[static_cast<std::size_t>(index)].value = truth.value;
  }
  return mechanism;
}

}  // namespace service
