#pragma once

namespace estimator {

enum class Severity {
  kNote,     ///< for information only; the estimates are unaffected
  kWarning,  ///< estimates may be inaccurate
  kFault,    ///< estimates would be meaningless
};

/// What a finding, a note or a verdict reports. The sentences are in service/messages.
enum class MessageCode {
  kText,  ///< a sentence of the caller, as argument "text"

  kInRecording,  ///< "{recording}: {note}"

  // Signals, found before or after a fit.
  kOutliers,
  kNoiseTail,     ///< few outliers, within the tail of the noise
  kManyOutliers,  ///< too many to be isolated
  kEncoderSlip,
  kPossibleSlip,
  kLostTime,
  kInsertedRows,
  kBreak,
  kJump,

  // Descriptions and motors.

  // Causes of a misfit.

  // Notes of a calibration.

  // Verdicts.
};

/// Returns the severity of a message.
Severity severity_of(MessageCode code);

}  // namespace estimator
