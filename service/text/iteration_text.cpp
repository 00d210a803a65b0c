#include "service/text/iteration_text.hpp"

#include "service/text/number_format.hpp"

namespace service {

std::string iteration_text(const std::string& stage, int iteration, double cost, double gradient,
                           bool another_problem) {
  return stage + ": iteration " + std::to_string(iteration) + "  cost " + format_number(cost, 7) +
         "  gradient " + format_number(gradient, 2) +
         (another_problem ? "  (new cost function: not comparable with the costs above)" : "");
}

}  // namespace service
