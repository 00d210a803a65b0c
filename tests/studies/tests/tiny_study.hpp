#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "service/work/work_lines.hpp"
#include "tests/service/run_rigcal.hpp"

namespace service {

/// Returns the path of a study file in this repository.
inline std::string study_config(const std::string& name) {
  return test_support::source_folder() + "/tests/studies/configs/" + name;
}

/// Returns the lines of the stored runs in a study's output folder, by key.
inline std::map<std::string, std::string> stored_runs(const std::string& out) {
  std::map<std::string, std::string> runs;
  if (!std::filesystem::exists(out + "/runs")) return runs;
  for (const auto& entry : std::filesystem::directory_iterator(out + "/runs")) {
    std::istringstream lines(contents_of(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      if (const auto fields = parse_work_line(line)) runs.emplace(fields->front(), line);
    }
  }
  return runs;
}

/// Writes a study file with a two-second release and a sweep of four time steps. Returns its path.
inline std::string write_tiny_study(const TemporaryFolder& folder, const std::string& extra = "") {
  for (const char* name : {"rig-paper-furuta.textproto", "scenario-paper-release.textproto"}) {
    folder.write(name, contents_of(config(name)));
  }
  return folder.write("study.textproto", R"(kind: SYNTHETIC
title: "Tiny"
settings { step_s: 0.01 state_error_weight: 100 compliance: 1e-4 damping_time_s: 0.02 }
set {
  name: "release"
  rig: "rig-paper-furuta.textproto"
  truth: "A.J_zz=0.003"
  truth: "B.J_yy=0.004"
  truth: "1.b=0.001"
  truth: "2.b=0.0001"
  recording {
    name: "release"
    simulation { scenario: "scenario-paper-release.textproto" step_s: 1e-3 }
    to_s: 2
  }
}
sweep { axis: STEP value: [5e-3, 1e-2, 2e-2, 4e-2] }
)" + extra);
}

}  // namespace service
