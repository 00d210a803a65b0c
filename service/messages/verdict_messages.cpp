#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr MessageRow kVerdictRows[] = {
    {kModelAccepted, "accepted", "the model fits: {reasons}"},
    {kModelDoubtful, "doubtful", "the model is doubtful: {reasons}"},
    {kModelApproximate, "approximate", "the model fits to {error}, but not exactly: {reasons}"},
    {kModelRejected, "rejected", "the model is rejected[, with an error of {error}]: {reasons}"},
    {kNoFit, "no-fit", "no fit: {reasons}"},
    {kMotionError, "motion-error", "{percent:2} % of the motion over {duration:2}"},
    {kPredictedMotionError, "predicted-motion-error",
     "{percent:2} % of the motion {duration:2} ahead"},
    {kTorqueError, "torque-error", "{percent:2} % of a torque"},
    {kTorqueNoise, "torque-noise", "the noise of the torques"},
    {kReadingNoise, "reading-noise", "the noise of the readings"},
    {kAccelerationError, "acceleration-error", "{percent:2} % of the accelerations"},
    {kResidualsMatchNoise, "residuals-match-noise",
     "residuals match the sensor noise (ratio {ratio:2}){is_alone|; "
     "there are no segments to compare|}[, and the segments agree (Cochran's Q = {statistic}, "
     "{degrees} degrees of freedom)]"},
    {kUnexplainedShare, "unexplained-share",
     "the model leaves {share} unexplained (encoder {encoder:?})"},
    {kPredictionsMatchNoise, "predictions-match-noise",
     "torques are predicted to {percent:2} %, "
     "and no prediction error is above {ratio:2} times the size that noise explains"
     "[; the segments agree (Cochran's Q = {statistic}, {degrees} degrees of freedom)]"},
    {kUnexplainedTorque, "unexplained-torque",
     "the model leaves {percent:2} % of a torque unexplained (joint {joint:?})"},
    {kExcessTorqueErrors, "excess-torque-errors",
     "torques are predicted to {percent:2} %, "
     "{ratio:2} times the error that noise explains (joint {joint:?})"},
    {kExcessPredictionErrors, "excess-prediction-errors",
     "motions are predicted {horizon:2} ahead with an error of {error:2}, "
     "{ratio:2} times the error that noise explains (encoder {encoder:?})"},
    {kSegmentsDisagree, "segments-disagree",
     "the segments disagree (Cochran's Q = {statistic}, {degrees} degrees of freedom)"},
    {kExcessResiduals, "excess-residuals",
     "residuals are {ratio:2} times the sensor noise (encoder {encoder:?})"},
    {kCorrelatedResiduals, "correlated-residuals",
     "residuals are correlated in time (encoder {encoder:?})"},
    {kUnexplainedAccelerations, "unexplained-accelerations",
     "some accelerations are unexplained (joint {joint:?})"},
    {kTraceOfAccelerations, "unexplained-accelerations",
     "a small part of the accelerations is unexplained (joint {joint:?})"},
    {kCrossAxisSensitivity, "cross-axis-sensitivity",
     "the {instrument} axes of sensor {sensor:?} have cross-axis sensitivity"},
    {kContradictedValue, "contradicted-value",
     "the recordings contradict the rig file ({parameter} is fixed at {fixed:4}, "
     "but the readings fit {estimate})"},
};

}  // namespace

std::span<const MessageRow> verdict_message_rows() { return kVerdictRows; }

}  // namespace service
