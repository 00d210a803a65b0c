#include "proto/text/control_unit.hpp"

#include "proto/notation/number_format.hpp"

namespace proto {

double read_control_max(const std::string& unit, double stated, const TextLocator& motor) {
  if (unit != kDutyUnit) return stated;
  if (stated > 1.0) {
    motor.at("control_max")
        .fail("control_max is " + notation::format_number(stated) +
              ", but a duty is at most 1; lower it, or correct control_unit");
  }
  return stated == 0.0 ? 1.0 : stated;
}

}  // namespace proto
