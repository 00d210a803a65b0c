#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr MessageRow kCalibrationRows[] = {
    {kLoadedLoop, "loaded-loop",
     "friction in a closed loop grows with the bearing load (r_mu, mu), "
     "so physical parameters cannot be estimated. "
     "The estimates are parameters of a SPOOK simulator at a time step of {step}, not of the rig. "
     "To estimate physical parameters, fix r_mu and mu at zero"},
    {kParameterWithoutEffect, "parameter-without-effect",
     "{parameter} has no effect on these recordings and was fixed at its initial value; "
     "fix it in the rig file or record an experiment that excites it"},
    {kUnphysicalEstimate, "unphysical-estimate", "the estimate is not physical: {error}"},
    {kUnreproducedMotion, "unreproduced-motion",
     "joint {joint}: the simulation does not reproduce the recording (unexplained: {share}). "
     "Check the column's unit, sign and zero, and the rig's geometry, before using any estimate"},
    {kMotionShare, "motion-share", "{percent} % of the motion"},
    {kMultipleOfMotion, "multiple-of-motion", "many times the motion"},
    {kPriorConflict, "prior-conflict",
     "[{place}: ]the prior of {parameter} is {mean:4}, but the estimate from the recordings and "
     "all other priors is {estimate:4}. The difference is {deviations:2} combined standard "
     "deviations, so the prior or the model is wrong"},
    {kContradiction, "contradiction",
     "the recordings contradict the rig file: {parameter} is fixed at {fixed:4}, but the "
     "readings fit {estimate}, and the fixed value shifts {moved} by {shift:2} standard "
     "deviations[; the wrong value may instead be {alternatives}]; measure {parameter} again, or "
     "estimate it"},
    {kMissingCrossAxis, "missing-cross-axis",
     "the {instrument} axes of sensor {sensor:?} have cross-axis sensitivity ({parameter} "
     "{share})[, which shifts {moved} by {shift:2} standard deviations]; "
     "add cross_axis {{ deviation_percent: 2 }} to its {instrument} {{ }}"},
    {kProcessNoise, "process-noise",
     "joint {joint:?}: some accelerations are unexplained; they correspond to white noise of "
     "{noise:2}; "
     "another friction law or a motor model may explain these accelerations"},
    {kInflatedForCorrelation, "correlated-residuals",
     "encoder {encoder:?}: residuals of the simulation are correlated in time, "
     "so the model does not explain all of the motion. "
     "Standard deviations were multiplied by {factor:2}"},
    {kUnresolvedSteps, "unresolved-steps",
     "in {count} of {steps} integration steps, stick and slip alternate too fast to be resolved; "
     "joints that stopped in such a step stayed at rest until the end of the step. Use a shorter "
     "step, or less friction that grows with the load"},
    {kSimulationDiverged, "simulation-diverged",
     "the simulation fit of the whole recording diverged, "
     "although the estimated states match the readings: "
     "the recording is too long to predict the motion from its start. "
     "The estimates come from the joint estimation of states and parameters; "
     "compare simulations on shorter recordings"},
    {kUnpredictableMotion, "unpredictable-motion",
     "the open-loop simulation diverges from the recording, "
     "so no simulation fit refined the estimates. "
     "A long motion through the upright position cannot be predicted from its start: "
     "compare simulations on shorter recordings"},
    {kUnpredictableSpookMotion, "unpredictable-motion",
     "the open-loop simulation deviates from the recording by more than {limit}, "
     "so no simulation fit refined the estimates. "
     "A long motion through the upright position cannot be predicted from its start: "
     "calibrate on shorter recordings to compare simulations"},
    {kUnidentifiableStates, "unidentifiable-states",
     "the states are not identifiable at the final estimate, "
     "so standard deviations are unavailable: check the recordings, or use better initial values"},
    {kLinearRegression, "linear-regression",
     "the estimates come from a linear regression of inverse dynamics. "
     "The low-pass filter and noise of the readings bias them, "
     "and the 95 % intervals do not include this bias: run a complete calibration"
     "[. The regression does not estimate {parameters}]"},
    {kAtBound, "at-bound", "{parameter} is at its {lower|lower|upper} bound {bound}; {optimum}"},
    {kUnidentifiableAtBound, "unidentifiable-at-bound",
     "the recordings do not identify the parameter at this bound; "
     "all other intervals assume this value"},
    {kOptimumBeyondBound, "optimum-beyond-bound",
     "the best fit lies {excess:2} standard deviations beyond this bound, "
     "so the bound or the model is wrong; all other intervals assume this value"},
    {kIntervalAtBound, "interval-at-bound",
     "the recordings also permit values up to {reach:2} away from the bound (95 %){is_alone|, "
     "which changes no other estimate by half a standard deviation|}[, which changes {changes:, "
     "}; the intervals of these parameters {is_profiled|include the changes|assume the value at "
     "the "
     "bound}]"},
    {kChangedEstimate, "changed-estimate",
     "{parameter} by {change:2} ({deviations:2} standard deviations)"},
    {kProfileInterval, "profile-interval",
     "{parameter}: the estimate depends on a parameter that acts nonlinearly or is at a bound, "
     "so its 95 % interval is computed from the profile likelihood: "
     "{is_open_below|no limit found|}[{lower}] to {is_open_above|no limit found|}[{upper}]"},
    {kAtFeasibilityBoundary, "at-feasibility-boundary",
     "body {body:?}: the inertia is at the boundary of physical consistency (the body is "
     "{flat|flat|a rod}, thin in the direction ({x:2}, {y:2}, {z:2}) of its frame); all standard "
     "deviations assume this boundary[; without this limit, the best fit would have a second "
     "moment {excess:2} standard deviations below zero{is_wrong|, so the model or a fixed value is "
     "wrong|}]"},
    {kInconsistentInertia, "inconsistent-inertia",
     "body {body:?}: with the fixed moments of inertia, no value of the free moments is physically "
     "consistent; correct the fixed moments"},
    {kNearestInertia, "inconsistent-inertia",
     "the estimated moments of inertia of body {body:?} are not physically consistent. "
     "With the nearest consistent moments ({moments:, } kg·m²) and a new fit of all other "
     "parameters, the whitened cost is higher by {cost:2} (4 corresponds to two standard "
     "deviations)"},
    {kParameterValue, "parameter-value", "{parameter} {value:4}"},
    {kHeldOutSensor, "held-out-sensor",
     "{is_encoder|encoder |}{sensor:?} was held out: its readings are predicted with an RMSE of "
     "{rmse} (noise of the sensor: {noise:2}[; {scatter} without a constant offset of {offset}, "
     "which the other sensors hardly identify]){at_start|, with its own free parameters, which "
     "only it identifies, at their initial values|}; {gain}"},
    {kNoGain, "no-gain", "using this sensor would not make any estimate more precise"},
    {kGainedParameter, "gained-parameter",
     "{parameter} is not identifiable without the held-out sensors"},
    {kGain, "gain",
     "with the held-out sensors, standard deviations would be up to {ratio:2} times smaller "
     "({parameter})"},
    {kPointAlongAxis, "point-along-axis",
     "{parameters}: the position of inertial sensor {sensor:?} along the rotation axis of its body "
     "does not affect its readings; fix {fixed}"},
    {kGyroscopeScale, "gyroscope-scale",
     "{parameters}: no encoder measures the rotation of the body of inertial sensor {sensor:?}, "
     "so the scale of its gyroscope is not identifiable; "
     "fix the scale, or add an encoder to the joint"},
    {kBiasOrTilt, "bias-or-tilt",
     "{parameters} are hardly distinguishable: inertial sensor {sensor:?} rotates too little "
     "relative to gravity to distinguish a bias from a tilt. Fix one of the parameters at a "
     "measured value, or record larger rotations"},
    {kOnlyDelayDifferences, "only-delay-differences",
     "{parameters}: only differences of these delays are identifiable, "
     "because no sensor with a fixed delay measures the same motion; "
     "fix {fixed}{needs_encoder|, or add an encoder|}"},
    {kHeading, "heading",
     "joint {joint:?}: sensors measure changes of its angle about the vertical, "
     "but not the angle itself, so estimated angles are relative to the assumed initial angle. "
     "Add an encoder, or set the initial angle (start_position)"},
    {kFixedDirection, "fixed-direction",
     "{parameter} has no effect on these recordings; it was fixed at {value}"},
    {kUnidentifiable, "unidentifiable", "the recordings do not identify {parameter}"},
    {kUnidentifiableChange, "unidentifiable-change",
     "the recordings do not identify a common change of {changes:, }"},
    {kParameterChange, "parameter-change", "{parameter} by {change}"},
};

}  // namespace

std::span<const MessageRow> calibration_message_rows() { return kCalibrationRows; }

}  // namespace service
