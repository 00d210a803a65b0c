#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/leg/leg.hpp"
#include "tests/studies/redundant/redundant.hpp"

namespace service {

enum class StudyKind { kPendulum, kFuruta, kSynthetic, kRobustness, kRedundant, kLeg, kArm };

/// Location of the recordings of a set.
enum class StudyFolder { kBesideStudy, kRecordings, kEvaluationData };

/// Settings for a recording that the SPOOK stepper simulates with the rig's true parameters.
struct StudySimulation {
  Scenario scenario;
  double step = 0.0;           ///< time step [s]
  double compliance = -1.0;    ///< compliance of all joints; negative: the rig file's
  double damping_time = -1.0;  ///< damping time of all joints [s]; negative: the rig file's
};

struct StudyRecording {
  std::string name;
  std::string file;                           ///< file name as in the study file; empty: simulated
  std::optional<StudySimulation> simulation;  ///< absent: recording is read from the file
  RecordingSelection selection;
  ParameterEdits edits;  ///< edits of parameters that the recording cannot identify
};

/// Choice of the parameters to estimate, as edits of the rig file.
struct StudyModel {
  std::string name;
  ParameterEdits edits;
};

/// Method of estimation with its options.
struct StudyMethod {
  std::string name;
  estimator::ResidualForm residual = estimator::ResidualForm::kImplicit;
  estimator::StateForm states = estimator::StateForm::kConfigurations;
  double weighting_compliance = 0.0;
  bool approach = false;  ///< shadow parameters: start from physical ones
  bool physical = false;  ///< physical parameters: no simulator settings
};

/// Settings of the method that a study can vary.
struct StudySettings {
  double step = 0.0;                ///< time step h [s]
  double state_error_weight = 0.0;  ///< weight κ of the state error
  double compliance = -1.0;         ///< compliance ε of all joints; negative: the rig file's
  double damping_time = -1.0;       ///< damping time τ of all joints [s]; negative: the rig file's
  int max_iterations = 50;
};

/// True value of a parameter.
struct TrueValue {
  std::string name;
  double value = 0.0;
};

struct StudySet {
  std::string name;
  Rig rig;
  StudyFolder folder = StudyFolder::kBesideStudy;
  std::vector<StudyRecording> recordings;
  std::vector<StudyModel> models;
  StudySettings settings;
  std::vector<TrueValue> truth;
};

enum class SweepAxis { kStep, kCompliance, kStateErrorWeight };

struct StudySweep {
  SweepAxis axis = SweepAxis::kStep;
  std::vector<double> values;
};

/// Settings for the initial values of a robustness study.
struct StudyStarts {
  double factor = 10.0;
  int random = 0;
  std::uint64_t seed = 0;
};

/// Recording and weights κ for plots of iteration histories and simulations.
struct StudyTrace {
  std::string recording;
  std::vector<double> state_error_weights;
};

/// Contents of a study file (tests/studies/study.proto).
struct Study {
  std::string path;
  StudyKind kind = StudyKind::kPendulum;
  std::string title;
  std::vector<StudyMethod> methods;
  std::vector<StudySet> sets;
  std::string sweep_recording;
  std::vector<StudySweep> sweeps;
  StudyStarts starts;
  StudyTrace trace;
  std::optional<RedundantStudy> redundant;  ///< for kRedundant, which has no sets
  std::optional<LegStudy> leg;              ///< for kLeg, which has no sets
  std::vector<StudyArm> arms;               ///< for kArm, which has no sets
};

}  // namespace service
