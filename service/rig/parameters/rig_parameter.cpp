#include "service/rig/parameters/rig_parameter.hpp"

#include <cmath>

#include "proto/rig.pb.h"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using google::protobuf::Message;

}  // namespace

bool read_parameter(const Message& message, const char* field, const proto::TextLocator& parent,
                    estimator::Parameter& target) {
  const auto* descriptor = message.GetDescriptor()->FindFieldByName(field);
  if (!message.GetReflection()->HasField(message, descriptor)) return false;
  const auto& source =
      static_cast<const v1::Parameter&>(message.GetReflection()->GetMessage(message, descriptor));
  const proto::TextLocator place = parent.at(field);
  const std::string who = "\"" + target.name + "\": ";
  if (!source.has_value() && !source.free()) {
    place.fail(who + "has neither a value nor free: true. Write value: ... [" + target.unit + "]");
  }
  if (source.has_value()) target.value = source.value();
  if (!std::isfinite(target.value)) place.at("value").fail(who + "the value must be finite");
  const auto below_physics = [&](double bound) { return !(bound >= target.lower); };
  if (source.has_lower() && below_physics(source.lower())) {
    place.at("lower").fail(who + "the lower bound must be at least " +
                           format_number(target.lower, 6) + " " + target.unit);
  }
  if (source.has_lower()) target.lower = source.lower();
  if (source.has_upper()) target.upper = source.upper();
  if (!(target.lower <= target.upper)) {
    place.fail(who + "the lower bound " + format_number(target.lower, 6) +
               " lies above the upper bound " + format_number(target.upper, 6) + "; exchange them");
  }
  if (target.value < target.lower || target.value > target.upper) {
    place.at("value").fail(who + "value " + format_number(target.value, 6) + " " + target.unit +
                           " lies outside its bounds [" + format_number(target.lower, 6) + ", " +
                           format_number(target.upper, 6) + "]; correct the value or the bounds");
  }
  target.free = source.free();
  target.prior_mean = source.has_prior_mean() ? source.prior_mean() : target.value;
  if (source.has_prior_mean() && !source.has_prior_standard_deviation()) {
    place.at("prior_mean").fail(who + "a prior needs prior_standard_deviation too");
  }
  if (!source.has_prior_standard_deviation()) return source.has_value();
  target.prior_standard_deviation = source.prior_standard_deviation();
  if (!(target.prior_standard_deviation > 0.0)) {
    place.at("prior_standard_deviation").fail(who + "prior_standard_deviation must be positive");
  }
  return source.has_value();
}

bool goes_below_zero(const Message& message, const char* field) {
  const auto* descriptor = message.GetDescriptor()->FindFieldByName(field);
  const auto& source =
      static_cast<const v1::Parameter&>(message.GetReflection()->GetMessage(message, descriptor));
  return source.value() < 0.0 || source.lower() < 0.0;
}

}  // namespace service
