#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "service/import/parameter_edits.hpp"
#include "service/import/recording_selection.hpp"
#include "service/import/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/leg/leg.hpp"
#include "tests/studies/redundant/redundant.hpp"

namespace service {

enum class StudyKind { kPendulum, kFuruta, kSynthetic, kRobustness, kRedundant, kLeg, kArm };

/// Location of a set's recordings.
enum class StudyFolder { kBesideStudy, kRecordings, kEvaluationData };

/// A recording simulated by the SPOOK stepper on the rig with its true parameters.
struct StudySimulation {
  Scenario scenario;
  double step = 0.0;           ///< [s]
  double compliance = -1.0;    ///< of all joints; negative: the rig file's
  double damping_time = -1.0;  ///< of all joints [s]; negative: the rig file's
};

struct StudyRecording {
  std::string name;
  std::string file;                           ///< as named in the study; empty: simulated
  std::optional<StudySimulation> simulation;  ///< absent: read from the file
  Selection selection;
  ParameterEdits edits;  ///< for parameters that this recording cannot identify
};

/// A choice of estimated parameters, as changes to the rig file.
struct StudyModel {
  std::string name;
  ParameterEdits edits;
};

/// A method of estimation.
struct StudyMethod {
  std::string name;
  estimator::ResidualForm residual = estimator::ResidualForm::kImplicit;
  estimator::StateForm states = estimator::StateForm::kConfigurations;
  double weighting_compliance = 0.0;
  bool approach = false;  ///< shadow: start from the physical parameters
  bool physical = false;  ///< physical parameters; simulator settings do not apply
};

/// Settings of the method that a study can vary.
struct StudySettings {
  double step = 0.0;                ///< h [s]
  double state_error_weight = 0.0;  ///< κ
  double compliance = -1.0;         ///< ε of all joints; negative: the rig file's
  double damping_time = -1.0;       ///< τ of all joints [s]; negative: the rig file's
  int max_iterations = 50;
};

/// A parameter's true value.
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

/// Initial values of a robustness study.
struct StudyStarts {
  double factor = 10.0;
  int random = 0;
  std::uint64_t seed = 0;
};

/// Recording and weights κ of a study of histories and simulations.
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
  std::optional<LegStudy> leg;              ///< for kLeg, likewise
  std::vector<StudyArm> arms;               ///< for kArm, likewise
};

}  // namespace service
