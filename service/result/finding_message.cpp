#include "service/result/finding_message.hpp"

namespace service {

std::string to_text(estimator::Severity severity) {
  switch (severity) {
    case estimator::Severity::kNote:
      return "note";
    case estimator::Severity::kWarning:
      return "warning";
    case estimator::Severity::kFault:
      break;
  }
  return "fault";
}

void add_findings(const std::vector<estimator::Finding>& findings,
                  google::protobuf::RepeatedPtrField<rigcal::v1::FindingResult>* out_list) {
  for (const estimator::Finding& finding : findings) {
    rigcal::v1::FindingResult* out = out_list->Add();
    out->set_kind(finding.kind);
    out->set_severity(to_text(finding.severity));
    out->set_recording(finding.recording);
    out->set_channel(finding.channel);
    out->set_from_s(finding.from);
    out->set_to_s(finding.to);
    out->set_size(finding.size);
    out->set_unit(finding.unit);
    out->set_confidence(finding.confidence);
    out->set_what(finding.what);
    out->set_advice(finding.advice);
    out->set_treatment(finding.treatment);
  }
}

}  // namespace service
