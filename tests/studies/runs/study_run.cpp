#include "tests/studies/runs/study_run.hpp"

#include <algorithm>

namespace service {

const RunParameter* StudyRun::find(const std::string& name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const RunParameter& p) { return p.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

}  // namespace service
