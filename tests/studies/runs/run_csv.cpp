#include "tests/studies/runs/run_csv.hpp"

#include <algorithm>
#include <cmath>

#include "proto/notation/number_format.hpp"
#include "service/text/csv_row.hpp"

namespace service {
namespace {

/// Formats a value with all digits; empty for NaN.
std::string exact(double value) { return std::isnan(value) ? "" : notation::format_exact(value); }

const RunJoint* find_joint(const std::vector<RunJoint>& joints, const RunJoint& wanted) {
  const auto found = std::ranges::find_if(joints, [&](const RunJoint& joint) {
    return joint.name == wanted.name && joint.kind == wanted.kind;
  });
  return found == joints.end() ? nullptr : &*found;
}

/// Returns the names of the parameters of all runs, in order of appearance.
std::vector<std::string> parameter_names(const std::vector<StudyRun>& runs) {
  std::vector<std::string> names;
  for (const StudyRun& run : runs) {
    for (const RunParameter& parameter : run.parameters) {
      if (std::find(names.begin(), names.end(), parameter.name) == names.end()) {
        names.push_back(parameter.name);
      }
    }
  }
  return names;
}

/// Returns the joints of all runs, distinct by name and by unit of their readings, in order of
/// appearance.
std::vector<RunJoint> all_joints(const std::vector<StudyRun>& runs) {
  std::vector<RunJoint> joints;
  for (const StudyRun& run : runs) {
    for (const RunJoint& joint : run.joints) {
      if (find_joint(joints, joint) == nullptr) joints.push_back(joint);
    }
  }
  return joints;
}

std::vector<std::string> place_cells(const StudyRun& run) {
  const RunLabels& p = run.place;
  return {run.key,
          p.stage,
          p.set,
          p.recording,
          p.model,
          p.method,
          p.start,
          p.trained_on,
          exact(p.step),
          p.compliance < 0.0 ? "" : exact(p.compliance),
          exact(p.state_error_weight)};
}

std::vector<std::string> place_header() {
  return {"key",        "stage",  "set",        "recording",         "model", "method", "start",
          "trained_on", "step_s", "compliance", "state_error_weight"};
}

void append(std::vector<std::string>& cells, const std::vector<std::string>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
}

}  // namespace

std::string runs_csv(const std::vector<StudyRun>& runs) {
  const std::vector<std::string> parameters = parameter_names(runs);
  const std::vector<RunJoint> joints = all_joints(runs);
  std::vector<std::string> header = place_header();
  append(header, {"termination", "converged", "iterations", "nodes", "cost",
                  "observation_error_rad2", "state_error", "wall_time_s", "error"});
  for (const RunJoint& joint : joints) {
    header.push_back(std::string("open_loop_rmse_") + joint_units(joint.kind).coordinate + " " +
                     joint.name);
  }
  for (const std::string& name : parameters) append(header, {name, "std " + name});
  std::string csv = format_csv_row(header);
  for (const StudyRun& run : runs) {
    std::vector<std::string> cells = place_cells(run);
    append(cells, {run.termination, run.converged ? "1" : "0", std::to_string(run.iterations),
                   std::to_string(run.nodes), exact(run.cost), exact(run.observation_error),
                   exact(run.state_error), exact(run.wall_time), run.error});
    for (const RunJoint& each : joints) {
      const RunJoint* joint = find_joint(run.joints, each);
      cells.push_back(joint == nullptr ? "" : exact(joint->rmse));
    }
    for (const std::string& name : parameters) {
      const RunParameter* p = run.find(name);
      append(cells, p == nullptr
                        ? std::vector<std::string>{"", ""}
                        : std::vector<std::string>{exact(p->value), exact(p->standard_deviation)});
    }
    csv += format_csv_row(cells);
  }
  return csv;
}

std::string histories_csv(const std::vector<StudyRun>& runs) {
  const std::vector<std::string> parameters = parameter_names(runs);
  std::vector<std::string> header = place_header();
  append(header, {"iteration", "cost"});
  append(header, parameters);
  std::string csv = format_csv_row(header);
  for (const StudyRun& run : runs) {
    for (const RunIteration& iteration : run.history) {
      std::vector<std::string> cells = place_cells(run);
      append(cells, {std::to_string(iteration.iteration), exact(iteration.cost)});
      for (const std::string& name : parameters) {
        const RunParameter* p = run.find(name);
        const auto at = static_cast<std::size_t>(p == nullptr ? 0 : p - run.parameters.data());
        cells.push_back(p == nullptr ? "" : exact(iteration.values[at]));
      }
      csv += format_csv_row(cells);
    }
  }
  return csv;
}

}  // namespace service
