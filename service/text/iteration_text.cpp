#include "service/text/iteration_text.hpp"

#include "service/text/number_format.hpp"

namespace service {

std::string iteration_text(const std::string& stage, int iteration, double cost, double gradient,
                           bool cost_has_changed) {
  return stage + ": iteration " + std::to_string(iteration) + "  cost " + format_number(cost, 7) +
         "  gradient " + format_number(gradient, 2) +
         (cost_has_changed ? "  (new cost function: not comparable with the costs above)" : "");
}

}  // namespace service
