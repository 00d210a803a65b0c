#pragma once

#include <limits>
#include <string>
#include <vector>

namespace estimator {

enum class Severity {
  kNote,     ///< told, and changes nothing
  kWarning,  ///< estimates may suffer
  kFault,    ///< estimates would be nonsense
};

/// A stretch of a recording; one instant where both are equal [s].
struct TimeStretch {
  double from = 0.0, to = 0.0;
};

/// Adds a stretch behind the others, to the last of them where it is so near that charts of a
/// recording show both as one.
inline void add_stretch(TimeStretch stretch, std::vector<TimeStretch>& stretches) {
  constexpr double kNear = 0.1;  // [s]
  if (stretches.empty() || stretch.from - stretches.back().to > kNear) {
    stretches.push_back(stretch);
  } else {
    stretches.back().to = stretch.to;
  }
}

/// Something noticed about a recording or the description of the rig, before or after a fit.
struct Finding {
  std::string
      kind;  ///< a word for programs: "outliers", "slip", "lost-time", "inverted-encoder", …
  Severity severity = Severity::kNote;
  std::string recording = {};  ///< empty: of all
  std::string channel = {};    ///< encoder, joint, motor or parameter; empty: none
  /// Where in the recording [s]; NaN: everywhere.
  double from = std::numeric_limits<double>::quiet_NaN();
  double to = std::numeric_limits<double>::quiet_NaN();
  /// Of these, what is to be marked on the readings: not what single readings show by themselves.
  std::vector<TimeStretch> stretches = {};
  double size = std::numeric_limits<double>::quiet_NaN();  ///< in `unit`
  std::string unit = {};
  double confidence = 1.0;     ///< that it is there, 0 to 1
  std::string what = {};       ///< one sentence: when, how large
  std::string advice = {};     ///< what to do
  std::string treatment = {};  ///< what was done without asking; empty: nothing
};

}  // namespace estimator
