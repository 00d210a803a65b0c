#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "service/design/experiment.hpp"

namespace service {

/// Folder that contains the files of each run of an identification: run-01.textproto, run-01.mcap,
/// result-01.json, run-02.textproto and so on. The result of a run uses the recordings of all runs
/// so far.
class IdentificationFolder {
 public:
  /// Opens the folder, or creates it.
  /// @throws proto::InputError if that fails, or if a run is only partly recorded
  explicit IdentificationFolder(const std::string& path);

  /// Returns the number of recorded runs.
  int count() const { return count_; }

  std::string scenario(int run) const { return name("run-", run, ".textproto"); }
  std::string recording(int run) const { return name("run-", run, ".mcap"); }
  std::string result(int run) const { return name("result-", run, ".json"); }
  bool has_result(int run) const { return std::filesystem::exists(result(run)); }

  /// Counts the recordings in the folder again, after a run.
  void count_runs();

  /// Renames the result of a run to result-NN.no-fit.json, so that it is not used to design runs.
  /// @return the new path
  std::string set_result_aside(int run) const;

  /// Renames the recording of the last run, so that it no longer counts as a run, and removes its
  /// result.
  /// @param why  part of the new name, run-NN.WHY.mcap or run-NN.WHY-2.mcap and so on
  /// @return the new path
  std::string exclude_last_run(const std::string& why);

 private:
  std::string name(const std::string& stem, int run, const std::string& ending) const;

  std::filesystem::path path_;
  int count_ = 0;
};

/// Safety trip that ended a run.
struct RunTrip {
  std::string text;  ///< one or two sentences; the last sentence has no full stop
  /// Whether the samples before the trip are usable: motors were driven until a joint reached a
  /// motion limit.
  bool is_usable = false;
};

/// Returns the safety trip that ended a recorded run; nullopt if there was none.
std::optional<RunTrip> find_run_trip(const std::string& recording);

/// Returns the joint positions at rest after a recorded run, "JOINT=VALUE". The encoders keep
/// counting between runs, so these are the positions at the start of the next run.
/// @param path  the recording
std::vector<std::string> find_rest_positions(const std::string& path, const Rig& rig);

/// Refuses a target of --until whose standard deviation is far above the value; the percent sign
/// was probably forgotten.
/// @throws proto::InputError for such a target
void reject_implausible_target(const TargetPrecision& target,
                               const estimator::Mechanism& mechanism);

}  // namespace service
