#pragma once

#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace daq {

/// A change of a rig file, and parts of the message with which the file is then refused.
struct RefusedEdit {
  std::string from, to;
  std::vector<std::string> parts;
};

inline RigConfig rig_of(const std::string& text) { return parse_rig_config("r.textproto", text); }

inline std::string rig_refusal(const std::string& text) {
  return test_support::refusal([&] { rig_of(text); });
}

/// Expects that the rig file is refused after each of the changes.
inline void expect_refused(const std::string& rig, const std::vector<RefusedEdit>& edits) {
  for (const RefusedEdit& edit : edits) {
    SCOPED_TRACE(edit.to);
    test_support::expect_parts(rig_refusal(test_support::replaced(rig, edit.from, edit.to)),
                               edit.parts);
  }
}

}  // namespace daq
