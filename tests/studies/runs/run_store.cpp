#include "tests/studies/runs/run_store.hpp"

#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "tests/studies/study.pb.h"

namespace service {
namespace {

namespace v1 = rigcal::v1;

void put_place(const RunPlace& place, v1::StudyRunRecord& out) {
  out.set_stage(place.stage);
  out.set_set(place.set);
  out.set_recording(place.recording);
  out.set_model(place.model);
  out.set_method(place.method);
  out.set_start(place.start);
  out.set_trained_on(place.trained_on);
  out.set_step_s(place.step);
  out.set_compliance(place.compliance);
  out.set_state_error_weight(place.state_error_weight);
}

RunPlace get_place(const v1::StudyRunRecord& in) {
  return {in.stage(), in.set(),        in.recording(), in.model(),      in.method(),
          in.start(), in.trained_on(), in.step_s(),    in.compliance(), in.state_error_weight()};
}

void put_parameter(const RunParameter& parameter, v1::StudyRunRecord::Parameter& out) {
  out.set_name(parameter.name);
  out.set_unit(parameter.unit);
  out.set_value(parameter.value);
  out.set_standard_deviation(parameter.standard_deviation);
  out.set_initial(parameter.initial);
  out.set_at_bound(parameter.at_bound);
}

RunParameter get_parameter(const v1::StudyRunRecord::Parameter& in) {
  return {in.name(), in.unit(), in.value(), in.standard_deviation(), in.initial(), in.at_bound()};
}

void put_lists(const StudyRun& run, v1::StudyRunRecord& out) {
  for (const RunParameter& each : run.parameters) put_parameter(each, *out.add_parameter());
  for (const RunParameter& each : run.base) put_parameter(each, *out.add_base());
  for (const RunIteration& iteration : run.history) {
    v1::StudyRunRecord::Iteration* i = out.add_history();
    i->set_iteration(iteration.iteration);
    i->set_cost(iteration.cost);
    i->mutable_value()->Assign(iteration.values.begin(), iteration.values.end());
  }
  for (const RunHinge& hinge : run.hinges) {
    v1::StudyRunRecord::Hinge* h = out.add_hinge();
    h->set_name(hinge.name);
    h->set_slides(!joint_traits(hinge.kind).turns);
    h->set_rmse_rad(hinge.rmse);
    h->mutable_measured()->Assign(hinge.measured.begin(), hinge.measured.end());
    h->mutable_simulated()->Assign(hinge.simulated.begin(), hinge.simulated.end());
  }
  out.mutable_control()->Assign(run.control.begin(), run.control.end());
}

void get_lists(const v1::StudyRunRecord& in, StudyRun& run) {
  for (const auto& each : in.parameter()) run.parameters.push_back(get_parameter(each));
  for (const auto& each : in.base()) run.base.push_back(get_parameter(each));
  for (const v1::StudyRunRecord::Iteration& i : in.history()) {
    run.history.push_back({i.iteration(), i.cost(), {i.value().begin(), i.value().end()}});
  }
  for (const v1::StudyRunRecord::Hinge& h : in.hinge()) {
    run.hinges.push_back(
        {h.name(),
         h.rmse_rad(),
         {h.measured().begin(), h.measured().end()},
         {h.simulated().begin(), h.simulated().end()},
         std::ranges::find(estimator::kJointKinds, !h.slides(), &estimator::JointTraits::turns)
             ->kind});
  }
  run.control.assign(in.control().begin(), in.control().end());
}

/// Formats the run as JSON (StudyRunRecord of tests/studies/study.proto).
std::string json_of(const StudyRun& run) {
  v1::StudyRunRecord record;
  record.set_key(run.key);
  put_place(run.place, record);
  record.set_termination(run.termination);
  record.set_converged(run.converged);
  record.set_iterations(run.iterations);
  record.set_cost(run.cost);
  record.set_observation_error(run.observation_error);
  record.set_state_error(run.state_error);
  record.set_nodes(run.nodes);
  record.set_wall_time_s(run.wall_time);
  record.set_error(run.error);
  record.set_start_s(run.start);
  record.set_spacing_s(run.spacing);
  put_lists(run, record);
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(record, &json);
  if (!status.ok()) throw std::runtime_error("run as JSON: " + status.ToString());
  return json + '\n';
}

/// Parses such a file; returns nothing if it is damaged.
std::optional<StudyRun> parse_run(const std::string& json) {
  v1::StudyRunRecord record;
  if (!google::protobuf::util::JsonStringToMessage(json, &record).ok() || record.key().empty()) {
    return std::nullopt;
  }
  StudyRun run;
  run.key = record.key();
  run.place = get_place(record);
  run.termination = record.termination();
  run.converged = record.converged();
  run.iterations = record.iterations();
  run.cost = record.cost();
  run.observation_error = record.observation_error();
  run.state_error = record.state_error();
  run.nodes = record.nodes();
  run.wall_time = record.wall_time_s();
  run.error = record.error();
  run.start = record.start_s();
  run.spacing = record.spacing_s();
  get_lists(record, run);
  return run;
}

}  // namespace

RunStore::RunStore(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw proto::InputError(folder_ + ": cannot be created: " + error.message());
}

std::string RunStore::path_of(const std::string& key) const {
  return folder_ + "/" + key + ".json";
}

std::optional<StudyRun> RunStore::find(const std::string& key) const {
  if (!std::filesystem::exists(path_of(key))) return std::nullopt;
  return parse_run(proto::read_file(path_of(key), proto::kTableSizeMax));
}

void RunStore::store(const StudyRun& run) const {
  proto::write_file(path_of(run.key), json_of(run));
}

}  // namespace service
