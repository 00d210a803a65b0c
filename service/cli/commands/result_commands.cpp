#include <iostream>
#include <memory>

#include "proto/text/files.hpp"
#include "service/calibration/simulation_truth.hpp"
#include "service/cli/command.hpp"
#include "service/cli/remote/remote_calibration.hpp"
#include "service/cli/remote/service_client.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/sections/truth_comparison.hpp"

namespace service {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

namespace {

ExitCode print_beside_truth(ServiceClient& client, const std::string& job_id,
                            const TrueParameters& truth) {
  const auto result =
      client.call(&ServiceRequest::mutable_get_result, job_id).job_result().result();
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
  const ServiceReply reply = client.call(&ServiceRequest::mutable_get_result, job_id);
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
  add_option(*command, "id", options->id, "JOB", "Job")->required();
  auto* json =
      command->add_flag("--json", options->json, "Print JSON, as calibrate --json writes it");
  command
      ->add_flag("--cross-validation", options->cross_validation,
                 "With --json: its cross-validation, as crossvalidate --json writes it")
      ->needs(json);
  add_option(*command, "--truth", options->truth, "FILE",
             "Compare the estimates with the true values in this rigcal-sim file")
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
        const ServiceReply reply = client.call(&ServiceRequest::mutable_get_result, job_id);
        write_job_rig(job_id, reply.job_result().result(), options->files);
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
  add_option(*command, "id", options->id, "JOB", "Job")->required();
  add_option(*command, "--out", options->out, "FILE", "Default: JOB.html");
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
