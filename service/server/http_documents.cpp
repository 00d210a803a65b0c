#include "service/server/http_documents.hpp"

#include <exception>

#include "proto/result.hpp"
#include "proto/text/input_error.hpp"
#include "service/report/comparison_report.hpp"
#include "service/result/calibrated_rig_file.hpp"
#include "service/result/stored_result.hpp"
#include "service/rig/drawing/rig_outline.hpp"
#include "service/rig/rig_file.hpp"
#include "service/server/http_access.hpp"
#include "service/server/jobs/job_files.hpp"
#include "service/text/number_format.hpp"

namespace service {

HttpResponse make_mechanism_response(const rigcal::v1::JobSpec& spec) {
  try {
    const Rig rig = parse_rig(spec.rig_name(), spec.rig_text());
    std::vector<std::string> free, motors;
    for (const estimator::Parameter& each : rig.mechanism.parameters) {
      if (each.free) free.push_back(json_string(each.name));
    }
    for (const estimator::Joint& each : rig.mechanism.joints) {
      if (each.motor.present) motors.push_back(json_string(each.name));
    }
    HttpResponse response;
    response.body = make_rig_outline_json(rig);
    response.body.pop_back();  // the closing brace
    response.body += ",\"freeParameters\":[" + join_items(free, std::identity(), ",") +
                     "],\"motors\":[" + join_items(motors, std::identity(), ",") +
                     "],\"hasUnit\":" + (rig.has_unit ? "true" : "false") +
                     ",\"incompleteSafety\":" + json_string(rig.incomplete_safety) + "}\n";
    return response;
  } catch (const std::exception& error) {  // also of a mechanism that cannot be assembled
    return make_http_error(400, "BAD_REQUEST", error.what());
  }
}

HttpResponse make_calibrated_rig_response(const JobResultFolder& job) {
  try {
    rigcal::v1::JobResult loaded;
    const proto::Status status = load_job_result(job.folder, loaded);
    if (!status.ok()) return make_http_error(503, "STORAGE", status.error().detail);
    const StoredResult result = convert_stored_result(job.job_id, loaded.result());
    HttpResponse response;
    response.type = "text/plain; charset=utf-8";
    response.body =
        write_calibrated_rig(result.rig_name, result.rig_text, result.rig, PriorChange::kUnchanged)
            .text;
    response.headers.emplace_back("Content-Disposition",
                                  "attachment; filename=\"" + job.job_id + ".textproto\"");
    return response;
  } catch (const std::exception& error) {
    return make_http_error(400, "BAD_REQUEST", error.what());
  }
}

HttpResponse make_comparison_response(const std::vector<JobResultFolder>& jobs) {
  try {
    std::vector<StoredResult> results;
    for (const JobResultFolder& job : jobs) {
      rigcal::v1::JobResult loaded;
      const proto::Status status = load_job_result(job.folder, loaded);
      if (!status.ok()) return make_http_error(503, "STORAGE", status.error().detail);
      results.push_back(convert_stored_result(job.job_id, loaded.result()));
    }
    HttpResponse response;
    response.type = "text/html; charset=utf-8";
    response.body = render_result_comparison_page(compare_results(std::move(results), true));
    response.headers.emplace_back("Content-Security-Policy", kReportPolicy);
    return response;
  } catch (const std::exception& error) {
    return make_http_error(400, "BAD_REQUEST", error.what());
  }
}

}  // namespace service
