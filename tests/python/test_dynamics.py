"""Accelerations, linear models and simulations of rigs agree with each other."""

import pickle
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import rigcal
from conftest import RIG, ROOT, TRUTH

# Pendulums, a sliding joint, loops, gears (mimic joints), smoothed friction.
RIGS = ["pendulum", "furuta", "cartpole", "chain3", "fourbar", "fivebar", "leg", "leg-ratio"]
PERIOD = 2e-3  # [s]


def moving(name):
    """A rig without delays, the joints of its state, and a point at which these joints move."""
    rig = rigcal.Rig(ROOT / "configs" / f"rig-{name}.textproto")
    delays = rig.parameters["value"].filter(like=".delay")
    if (delays != 0.0).any():
        rig = rig.with_parameters(0.0 * delays[delays != 0.0])
    rest = rig.assemble()
    joints = rig.linearize(rest).joints
    q = {joint: rest[rig.joints.index(joint)] + 0.1 + 0.05 * k for k, joint in enumerate(joints)}
    joints = rig.linearize(q).joints
    position = rig.assemble(q)
    q = {joint: position[rig.joints.index(joint)] for joint in joints}
    v = {joint: 1.5 - 0.4 * k for k, joint in enumerate(joints)}
    u = {motor: 0.2 + 0.1 * k for k, motor in enumerate(rig.motors)}
    return rig, joints, q, v, u


def columns(rig, joints, values):
    return values[..., [rig.joints.index(joint) for joint in joints]]


def changed(numbers, name, by):
    return {**numbers, name: numbers[name] + by}


@pytest.mark.parametrize("name", RIGS)
def test_continuous_model_has_the_differences_of_dynamics(name):
    rig, joints, q, v, u = moving(name)
    model = rig.linearize(q, v, u)
    A, B = model
    c = len(joints)
    assert model.joints == joints and model.frictionless == [] and model.period is None
    assert A.shape == (2 * c, 2 * c) and B.shape == (2 * c, len(rig.motors))
    np.testing.assert_allclose(model.f[:c], [v[joint] for joint in joints])
    np.testing.assert_allclose(model.f[c:], columns(rig, joints, rig.dynamics(q, v, u)), rtol=1e-9)
    np.testing.assert_allclose(A[:c], np.eye(2 * c)[c:], atol=1e-12)
    step = 1e-5

    def difference(move):
        ahead, behind = (columns(rig, joints, rig.dynamics(*move(sign * step))) for sign in (1, -1))
        return (ahead - behind) / (2 * step)

    scale = 1e-5 * (1.0 + np.abs(A).max())
    for k, joint in enumerate(joints):
        along_q = difference(lambda by: (changed(q, joint, by), v, u))
        along_v = difference(lambda by: (q, changed(v, joint, by), u))
        np.testing.assert_allclose(A[c:, k], along_q, atol=scale)
        np.testing.assert_allclose(A[c:, c + k], along_v, atol=scale)
    for k, motor in enumerate(rig.motors):
        along_u = difference(lambda by: (q, v, changed(u, motor, by)))
        np.testing.assert_allclose(B[c:, k], along_u, atol=1e-6 * (1.0 + np.abs(B).max()))


@pytest.mark.parametrize("name", RIGS)
def test_discrete_model_has_the_differences_of_simulate(name):
    rig, joints, q, v, u = moving(name)
    model = rig.linearize(q, v, u, period=PERIOD)
    commands = [[u[motor] for motor in rig.motors]]

    def after(q_=q, v_=v, rows=commands):
        motion = rig.simulate(np.reshape(rows, (1, len(rig.motors))), PERIOD, q_, v_, step=1e-4)
        return np.hstack([columns(rig, joints, motion.q[-1]), columns(rig, joints, motion.v[-1])])

    np.testing.assert_allclose(model.f, after(), atol=1e-7)
    step, c = 1e-4, len(joints)
    for k, joint in enumerate(joints):
        along_q = (after(changed(q, joint, step)) - after(changed(q, joint, -step))) / (2 * step)
        along_v = (after(v_=changed(v, joint, step)) - after(v_=changed(v, joint, -step))) / (2 * step)
        np.testing.assert_allclose(model.A[:, k], along_q, atol=1e-4 * (1 + np.abs(model.A).max()))
        np.testing.assert_allclose(model.A[:, c + k], along_v,
                                   atol=1e-4 * (1 + np.abs(model.A).max()))
    for k in range(len(rig.motors)):
        rows = np.tile(commands, (2, 1))
        rows[:, k] += [step, -step]
        along_u = (after(rows=rows[:1]) - after(rows=rows[1:])) / (2 * step)
        np.testing.assert_allclose(model.B[:, k], along_u, atol=1e-4 * (1 + np.abs(model.B).max()))


@pytest.mark.parametrize("name", RIGS)
def test_dynamics_has_the_differences_of_simulated_speeds(name):
    rig, joints, q, v, u = moving(name)
    rows = np.tile([u[motor] for motor in rig.motors], (2, 1)).reshape(2, len(rig.motors))
    motion = rig.simulate(rows, 1e-4, q, v)
    rates = (motion.v[2] - motion.v[0]) / 2e-4
    expected = rig.dynamics(motion.q[1], motion.v[1], rows[0])
    np.testing.assert_allclose(rates, expected, rtol=1e-2, atol=1e-2 * np.abs(expected).max())
    slopes = (motion.q[2] - motion.q[0]) / 2e-4
    np.testing.assert_allclose(slopes, motion.v[1], rtol=1e-2, atol=1e-2)


# A joint at rest with Coulomb friction stays there up to the friction's torque. Its motion has no
# derivative there, so the linear model leaves the friction out.
def test_coulomb_friction_at_rest():
    free = rigcal.Rig(RIG).with_parameters({**TRUTH, "pivot.tau_c": 0.0})
    q = [0.3]
    torque = abs(free.mass_matrix(q).loc["pivot", "pivot"] * free.dynamics(q)[0])
    assert torque > 0.0
    for share in (1.01, 0.99):
        rig = free.with_parameters({"pivot.tau_c": share * torque})
        assert (rig.dynamics(q)[0] == 0.0) == (share > 1.0)
        model = rig.linearize(q)
        assert model.frictionless == ["pivot"] and "Coulomb friction of pivot" in repr(model)
        np.testing.assert_allclose(model.A, free.linearize(q).A)
        np.testing.assert_allclose(model.f[1], free.dynamics(q)[0])
        moved = rig.simulate(np.zeros((50, 0)), 1e-2, q)
        assert (moved.v == 0.0).all() == (share > 1.0)
    assert free.linearize(q).frictionless == []
    assert free.with_parameters({"pivot.tau_c": 1.0}).linearize(q, [1.0]).frictionless == []


def test_simulation_gives_states_for_commands():
    rig, _, q, _, _ = moving("furuta")
    motion = rig.simulate(np.zeros(100), timedelta(milliseconds=1), q)
    assert motion.q.shape == motion.v.shape == (101, 2) and motion.u.shape == (100, 1)
    np.testing.assert_allclose(motion.q[0], rig.assemble(q))
    assert motion.time[-1] == pytest.approx(0.1)
    frame = motion.to_frame()
    assert list(frame.columns[:2]) == ["time", f"q of {rig.joints[0]}"] and len(frame) == 101
    named = rig.simulate(pd.DataFrame({rig.motors[0]: np.zeros(100)}), 1e-3, q)
    np.testing.assert_array_equal(named.q, motion.q)


def test_calibrated_rig_has_the_estimates(result, tmp_path):
    rig = result.rig()
    for name in result.parameters.index:
        assert rig.parameters.loc[name, "value"] == result.parameters.loc[name, "value"]
    same = rigcal.Rig(RIG).with_parameters(result)
    np.testing.assert_allclose(same.dynamics([0.4], [1.0]), rig.dynamics([0.4], [1.0]), rtol=1e-12)
    result.to_json(tmp_path / "result.json")
    stored = rigcal.Rig(RIG).with_parameters(tmp_path / "result.json")
    assert stored.text == same.text
    again = pickle.loads(pickle.dumps(same))
    np.testing.assert_array_equal(again.dynamics([0.4]), same.dynamics([0.4]))


@pytest.mark.parametrize("call, words", [
    (lambda rig: rig.dynamics([0.1]), ["q has the shape (1,)", "one number for each joint (1, 2)"]),
    (lambda rig: rig.dynamics(np.zeros((3, 2))), ["q has the shape (3, 2)"]),
    (lambda rig: rig.dynamics([0.1, np.nan]), ["q is nan for joint '2'; give a finite number"]),
    (lambda rig: rig.dynamics([0.1, 0.2], [np.inf, 0]), ["v is inf for joint '1'"]),
    (lambda rig: rig.dynamics({"3": 1.0}), ["q: the rig has no joint '3'"]),
    (lambda rig: rig.dynamics({"2": [1.0, 2.0]}), ["q['2'] has the shape (2,); give one number"]),
    (lambda rig: rig.dynamics("up"), ["q is 'up'; give an array of numbers"]),
    (lambda rig: rig.dynamics([0, 0], None, [1.0, 2.0]), ["u has the shape (2,)", "each motor (1)"]),
    (lambda rig: rig.dynamics([0, 0], None, {"2": 1.0}), ["u: the rig has no motor '2'"]),
    (lambda rig: rig.linearize([0, 0], period=0), ["period is 0; give a number > 0 [s]"]),
    (lambda rig: rig.linearize([0, 0], period=pd.Timestamp("2026-01-01")), ["period is a date"]),
    (lambda rig: rig.simulate(np.zeros((9, 2)), 1e-3), ["commands has the shape (9, 2)",
                                                           "one column for each motor (1)"]),
    (lambda rig: rig.simulate([], 1e-3), ["commands has the shape"]),
    (lambda rig: rig.simulate([0.0, np.nan], 1e-3), ["nan in row 1 for motor '1'"]),
    (lambda rig: rig.simulate(pd.DataFrame({"x": [1.0]}), 1e-3), ["commands: the rig has no motor 'x'"]),
    (lambda rig: rig.with_parameters({"nobody": 1.0}), ["nobody", "no such parameter"]),
])
def test_bad_arguments_are_refused_in_one_sentence(call, words):
    rig = rigcal.Rig(ROOT / "configs" / "rig-furuta.textproto")
    with pytest.raises(rigcal.InputError) as refused:
        call(rig)
    assert "\n" not in str(refused.value)
    for word in words:
        assert word in str(refused.value)


def test_open_loops_are_refused():
    rig, joints, q, _, _ = moving("fivebar")
    open_ = rig.assemble(q)
    rig.dynamics(open_)
    open_[[name not in joints for name in rig.joints].index(True)] += 0.01
    with pytest.raises(rigcal.InputError, match="q leaves the loops open"):
        rig.dynamics(open_)
    with pytest.raises(rigcal.InputError, match="v contradicts the loops"):
        rig.dynamics(rig.assemble(q), np.linspace(1.0, 2.0, len(rig.joints)) ** 3)


def test_parameters_by_name(result):
    name = "pendulum.J_zz"
    estimate = result[name]
    assert estimate == result.parameters.loc[name, "value"] and 2 * estimate > estimate
    assert estimate.standard_deviation == result.parameters.loc[name, "standard_deviation"]
    assert repr(estimate).startswith(f"{name} = ") and "±" in repr(estimate)
    assert pickle.loads(pickle.dumps(estimate)).unit == estimate.unit == "kg·m²"
    assert name in result and "nobody" not in result
    assert dict(result)[name] == estimate
    with pytest.raises(rigcal.InputError, match="no parameter 'pendulum.Jzz'; did you mean "
                                                "'pendulum.J_zz'"):
        result["pendulum.Jzz"]


def test_samples_have_the_covariance(result):
    samples = result.sample(20000, seed=1)
    assert list(samples.columns) == list(result.parameters.index)
    deviations = result.parameters["standard_deviation"]
    np.testing.assert_allclose(samples.std(), deviations, rtol=0.03)
    np.testing.assert_allclose(samples.mean(), result.parameters["value"],
                               atol=0.03 * deviations.max(), rtol=0.03)
    np.testing.assert_allclose(samples.corr(), result.correlation, atol=0.03)
    pd.testing.assert_frame_equal(samples.head(9), result.sample(20000, seed=1).head(9))
    rig = result.rig().with_parameters(samples.iloc[0])
    assert rig.parameters.loc["pivot.b", "value"] == samples.loc[0, "pivot.b"]
    with pytest.raises(rigcal.InputError, match="count is 0; give a whole number > 0"):
        result.sample(0)


def with_parameter(result, **fields):
    """The result with other fields of its first parameter."""
    document = {**result.document, "parameters": [dict(entry)
                                                  for entry in result.document["parameters"]]}
    document["parameters"][0].update(fields)
    return rigcal.Result(document)


def test_samples_keep_bounds_and_unidentifiable_parameters(result):
    value = result.parameters["value"].iloc[0]
    bounded = with_parameter(result, lower=value).sample(500, seed=2)
    assert (bounded.iloc[:, 0] >= value).all() and bounded.iloc[:, 0].std() > 0.0
    with pytest.warns(UserWarning, match="not identifiable and therefore kept: "):
        kept = with_parameter(result, standardDeviation="Infinity").sample(10)
    assert (kept.iloc[:, 0] == value).all()
    beyond = with_parameter(result, lower=value + 1e3 * result.parameters.iloc[0, 1])
    with pytest.raises(rigcal.InputError, match="fewer than one in a thousand samples"):
        beyond.sample(10)
