#include <fstream>
#include <iostream>
#include <memory>

#include "proto/text/files.hpp"
#include "service/calibration/simulation_truth.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/calibration_files.hpp"
#include "service/cli/remote/service_client.hpp"
#include "service/cli/remote/service_results.hpp"
#include "service/cli/remote/short_id.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/result/stored_result.hpp"

namespace service {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

namespace {

ExitCode print_beside_truth(ServiceClient& client, const std::string& job_id,
                            const TrueParameters& truth) {
  ServiceRequest request;
  request.mutable_get_result()->set_job_id(job_id);
  const rigcal::v1::CalibrationResult result = client.call(request).job_result().result();
  std::vector<estimator::ParameterEstimate> estimates;
  for (const rigcal::v1::ParameterResult& parameter : result.parameters()) {
    estimator::ParameterEstimate estimate;
    estimate.name = parameter.name();
    estimate.unit = parameter.unit();
    estimate.value = parameter.value();
    estimate.standard_deviation = parameter.at_bound() ? 0.0 : parameter.standard_deviation();
    estimates.push_back(estimate);
  }
  print_text(format_truth_comparison(estimates, truth));
  return result.converged() ? kDone : kNotConverged;
}

ExitCode print_cross_validation(ServiceClient& client, const std::string& job_id) {
  ServiceRequest request;
  request.mutable_get_result()->set_job_id(job_id);
  const ServiceReply reply = client.call(request);
  if (!reply.job_result().has_cross_validation()) {
    throw proto::InputError(
        "job \"" + job_id +
        "\" has no cross-validation: it has only one recording, cross-validation was skipped, or a "
        "note in its result gives the reason");
  }
  print_json(reply.job_result().cross_validation());
  return reply.job_result().cross_validation().converged() ? kDone : kNotConverged;
}

}  // namespace

ExitCode print_result(ServiceClient& client, const std::string& job_id, bool json) {
  ServiceRequest request;
  request.mutable_get_result()->set_job_id(job_id);
  const ServiceReply reply = client.call(request);
  const rigcal::v1::JobResult& result = reply.job_result();
  if (json) {
    print_json(result.result());
  } else {
    print_text(result.table());
  }
  // For a refined result, `converged` refers to its last stage.
  return result.result().converged() ? kDone : kNotConverged;
}

void write_job_rig(const std::string& job_id, const rigcal::v1::CalibrationResult& result,
                   const ResultFiles& files) {
  const StoredResult stored = stored_result("job " + job_id, result);
  write_rig_files(stored.rig_name, stored.rig_text, stored.rig, files,
                  files.json.empty() ? "the JSON of rigcal result " + job_id : files.json);
}

void fetch_report(ServiceClient& client, const std::string& job_id, bool cross_validation,
                  const std::string& path) {
  std::string page;
  client.read_file(
      [&](std::uint64_t offset) {
        ServiceRequest request;
        request.mutable_read_report()->set_job_id(job_id);
        request.mutable_read_report()->set_offset_bytes(offset);
        request.mutable_read_report()->set_kind(cross_validation
                                                    ? rigcal::v1::ReadReport::CROSS_VALIDATION
                                                    : rigcal::v1::ReadReport::CALIBRATION);
        return request;
      },
      [&](const rigcal::v1::FilePart& part) { page += part.data(); });
  proto::write_file(path, page);
}

void add_result(CLI::App& app, ExitCode& exit_code) {
  struct Options {
    ServiceAddress server;
    std::string id;
    std::string truth;
    bool json = false;
    bool cross_validation = false;
    ResultFiles files;  // rig descriptions only
  };
  CLI::App* command = app.add_subcommand("result", "Result of a job of a calibration service");
  const auto options = std::make_shared<Options>();
  command->add_option("id", options->id, "Job")->required()->type_name("JOB");
  auto* json =
      command->add_flag("--json", options->json, "Print JSON, as calibrate --json writes it");
  command
      ->add_flag("--cross-validation", options->cross_validation,
                 "With --json: its cross-validation, as crossvalidate --json writes it")
      ->needs(json);
  command
      ->add_option("--truth", options->truth,
                   "Compare the estimates with the true values in this rigcal-sim file")
      ->type_name("FILE")
      ->excludes(json);
  add_rig_files(*command, options->files);
  add_service_options(*command, options->server);
  command->callback([options, &exit_code] {
    TrueParameters truth;
    if (!options->truth.empty()) truth = load_simulation_truth(options->truth);
    check_result_files(options->files, std::vector<std::string>{});
    exit_code = with_service(options->server, [&](ServiceClient& client) {
      const std::string job_id = find_job(client, options->id);
      if (wants_rig_files(options->files)) {
        ServiceRequest request;
        request.mutable_get_result()->set_job_id(job_id);
        write_job_rig(job_id, client.call(request).job_result().result(), options->files);
      }
      if (options->cross_validation) return print_cross_validation(client, job_id);
      if (!options->truth.empty()) return print_beside_truth(client, job_id, truth);
      return print_result(client, job_id, options->json);
    });
  });
}

void add_report(CLI::App& app, ExitCode& exit_code) {
  struct Options {
    ServiceAddress server;
    std::string id;
    std::string out;
    bool cross_validation = false;
  };
  CLI::App* command =
      app.add_subcommand("report", "Write the report of a job as one HTML file with plots");
  const auto options = std::make_shared<Options>();
  command->add_option("id", options->id, "Job")->required()->type_name("JOB");
  command->add_option("--out", options->out, "Default: JOB.html")->type_name("FILE");
  command->add_flag("--cross-validation", options->cross_validation,
                    "The report of its cross-validation");
  add_service_options(*command, options->server);
  command->callback([options, &exit_code] {
    const std::string path = options->out.empty() ? options->id + ".html" : options->out;
    proto::check_output(path, {});
    proto::check_ending(path, {".html", ".htm"});
    exit_code = with_service(options->server, [&](ServiceClient& client) {
      fetch_report(client, find_job(client, options->id), options->cross_validation, path);
      std::cout << "wrote " << path << '\n';
      return kDone;
    });
  });
}

}  // namespace service
