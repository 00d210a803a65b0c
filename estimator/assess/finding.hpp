#pragma once

#include <limits>
#include <string>
#include <vector>

namespace estimator {

enum class Severity {
  kNote,     ///< for information; estimates are unaffected
  kWarning,  ///< estimates may be inaccurate
  kFault,    ///< estimates would be meaningless
};

/// An interval of a recording; one instant if both times are equal [s].
struct TimeStretch {
  double from = 0.0, to = 0.0;
};

/// Appends an interval, or extends the last one if plots of a recording would not separate them.
inline void add_stretch(TimeStretch stretch, std::vector<TimeStretch>& stretches) {
  constexpr double kNear = 0.1;  // [s]
  if (stretches.empty() || stretch.from - stretches.back().to > kNear) {
    stretches.push_back(stretch);
  } else {
    stretches.back().to = stretch.to;
  }
}

/// A fault of a recording or of the rig description, found before or after a fit.
struct Finding {
  std::string kind;  ///< machine-readable: "outliers", "slip", "lost-time", "inverted-encoder", …
  Severity severity = Severity::kNote;
  std::string recording = {};  ///< empty: all
  std::string channel = {};    ///< encoder, joint, motor or parameter; empty: none
  /// Interval in the recording [s]; NaN: all of it.
  double from = std::numeric_limits<double>::quiet_NaN();
  double to = std::numeric_limits<double>::quiet_NaN();
  /// Parts of it to mark in plots; not for single readings that are visible themselves.
  std::vector<TimeStretch> stretches = {};
  double size = std::numeric_limits<double>::quiet_NaN();  ///< in `unit`
  std::string unit = {};
  double confidence = 1.0;     ///< probability that it is real, 0 to 1
  std::string what = {};       ///< one sentence: time and size
  std::string advice = {};     ///< recommended action
  std::string treatment = {};  ///< automatic repair; empty: none
};

}  // namespace estimator
