#include "service/result/finding_message.hpp"
#include "service/messages/message_text.hpp"

namespace service {

void add_findings(const std::vector<estimator::Finding>& findings,
                  google::protobuf::RepeatedPtrField<rigcal::v1::FindingResult>* out_list) {
  for (const estimator::Finding& finding : findings) {
    rigcal::v1::FindingResult* out = out_list->Add();
    const FindingText text = describe(finding);
    out->set_kind(text.kind);
    out->set_severity(to_text(finding.severity));
    out->set_recording(finding.recording);
    out->set_channel(finding.channel);
    out->set_from_s(finding.from);
    out->set_to_s(finding.to);
    out->set_size(finding.size);
    out->set_unit(finding.unit);
    out->set_confidence(finding.confidence);
    out->set_what(text.what);
    out->set_advice(text.advice);
    out->set_treatment(text.treatment);
  }
}

}  // namespace service
