"""iDynTree's BERDY on the draws of `rigcal-study redundant`: same sensors, same priors.

BERDY estimates accelerations, torques and forces at one instant for a given state. Without encoders
the state is the prior's mean; to show the influence of the state, the truth and rigcal's estimate
are also used. Errors of both programs are norms over the same numbers: iDynTree's dynamic
variables, all computed by iDynTree.
"""

import argparse
import json
import math
import statistics
import time

import idyntree.bindings as idyn
import numpy as np

GRAVITY_m_s2 = 9.82  # of rigcal's mechanisms
# BERDY treats the equations of motion and zero external forces as readings of this variance.
EXACT_VARIANCE = 1e-8


def urdf_of(links):
    """The chain as in rigcal: x points along a link, axes are z, angle 0 hangs along -y."""
    text = ['<robot name="chain"><link name="base"/>']
    for i, link in enumerate(links):
        origin = 'xyz="0 0 0" rpy="0 0 %.17g"' % (-math.pi / 2) if i == 0 else \
            'xyz="%.17g 0 0" rpy="0 0 0"' % links[i - 1]['length']
        parent = 'base' if i == 0 else f'link{i - 1}'
        text.append(
            f'<link name="link{i}"><inertial><origin xyz="{link["center"]:.17g} 0 0" rpy="0 0 0"/>'
            f'<mass value="{link["mass"]:.17g}"/><inertia ixx="{1e-3 * link["inertia"]:.17g}" ixy="0" '
            f'ixz="0" iyy="{link["inertia"]:.17g}" iyz="0" izz="{link["inertia"]:.17g}"/></inertial>'
            f'</link><joint name="joint{i}" type="continuous"><parent link="{parent}"/>'
            f'<child link="link{i}"/><origin {origin}/><axis xyz="0 0 1"/></joint>')
    return ''.join(text) + '</robot>'


def vector(values):
    result = idyn.VectorDynSize(len(values))
    for i, value in enumerate(values):
        result.setVal(i, float(value))
    return result


def diagonal(values):
    matrix = idyn.SparseMatrixColMajor(len(values), len(values))
    for i, value in enumerate(values):
        matrix.setValue(i, i, float(value))
    return matrix


class Berdy:
    """One chain with the sensors of one draw. Gyroscopes are left out, as d does not affect them."""

    def __init__(self, draw):
        self.draw = draw
        self.count = len(draw['links'])
        loader = idyn.ModelLoader()
        if not loader.loadModelFromString(urdf_of(draw['links']), 'urdf'):
            raise SystemExit('iDynTree cannot read the chain')
        model = loader.model()
        # (link, sensor) of the accelerometers; iDynTree's have three axes each.
        self.places = sorted({(axis['link'], axis['sensor']) for axis in draw['axes']
                              if axis['reads'].startswith('specific')})
        for link, place in self.places:
            sensor = idyn.AccelerometerSensor()
            sensor.setName(f'acc{link}_{place}')
            sensor.setParentLink(f'link{link}')
            sensor.setParentLinkIndex(model.getLinkIndex(f'link{link}'))
            at = draw['links'][link]['sensors'][place]
            sensor.setLinkSensorTransform(
                idyn.Transform(idyn.Rotation.Identity(), idyn.Position(at, 0.0, 0.0)))
            model.sensors().addSensor(sensor)
        self.wrenches = sorted({axis['link'] for axis in draw['axes']
                                if axis['reads'].startswith('force')})
        options = idyn.BerdyOptions()
        options.includeAllNetExternalWrenchesAsDynamicVariables = True
        options.includeAllNetExternalWrenchesAsSensors = True
        options.includeAllJointTorquesAsSensors = True
        options.includeAllJointAccelerationsAsSensors = False
        options.includeFixedBaseExternalWrench = False
        options.baseLink = 'base'
        names = idyn.StringVector()
        for link in self.wrenches:
            names.push_back(f'joint{link}')
        options.jointOnWhichTheInternalWrenchIsMeasured = names
        self.helper = idyn.BerdyHelper()
        if not self.helper.init(model, options):
            raise SystemExit('BERDY cannot be set up')
        self.model = self.helper.model()
        self.order = [self.model.getJointIndex(f'joint{i}') for i in range(self.count)]
        self.gravity = idyn.Vector3()
        for i, value in enumerate((0.0, -GRAVITY_m_s2, 0.0)):
            self.gravity.setVal(i, value)
        self.base = self.model.getFrameIndex('base')
        self.measure()

    def joints(self, values):
        result = idyn.JointPosDoubleArray(self.model)
        for at, value in zip(self.order, values):
            result.setVal(at, float(value))
        return result

    def rates(self, values):
        result = idyn.JointDOFsDoubleArray(self.model)
        for at, value in zip(self.order, values):
            result.setVal(at, float(value))
        return result

    def measure(self):
        """Sets readings and information (1/variance) in BERDY's order; 0 without a reading."""
        size = self.helper.getNrOfSensorsMeasurements()
        self.readings = np.zeros(size)
        self.information = np.zeros(size)
        place = {}  # (kind, link or sensor) -> first row
        wrench = iter(self.wrenches)  # BERDY names the rows of joint wrenches after other joints
        for sensor in self.helper.getSensorsOrdering():
            begin, kind = sensor.range.offset, sensor.type
            if kind == idyn.ACCELEROMETER_SENSOR:
                place['accelerometer', sensor.id] = begin
            elif kind == idyn.DOF_TORQUE_SENSOR:
                place['torque', sensor.id] = begin
            elif kind == idyn.JOINT_WRENCH_SENSOR:
                place['wrench', f'joint{next(wrench)}'] = begin
            elif kind == idyn.NET_EXT_WRENCH_SENSOR:
                self.information[begin:begin + 6] = 1.0 / EXACT_VARIANCE
        self.used = []
        for axis, reading in zip(self.draw['axes'], self.draw['readings']):
            row = None
            if axis['reads'].startswith('specific'):
                own = place['accelerometer', f'acc{axis["link"]}_{axis["sensor"]}']
                row = own + (0 if axis['reads'] == 'specific_x' else 1)
            elif axis['reads'] == 'moment_z':
                row = place['torque', f'joint{axis["link"]}']
            elif axis['reads'].startswith('force'):
                row = place['wrench', f'joint{axis["link"]}'] + \
                    (0 if axis['reads'] == 'force_x' else 1)
            if row is None:
                continue
            self.readings[row] = reading
            self.information[row] = axis['deviation'] ** -2
            self.used.append(row)

    def kinematics(self, angle, rate):
        self.helper.updateKinematicsFromFixedBase(self.joints(angle), self.rates(rate), self.base,
                                                  self.gravity)

    def dynamics(self, motion):
        """d of a motion, from the Newton-Euler recursion."""
        n = self.count
        self.kinematics(motion[:n], motion[n:2 * n])
        result = idyn.VectorDynSize(self.helper.getNrOfDynamicVariables())
        self.helper.serializeDynamicVariablesComputedFromFixedBaseRNEA(
            self.rates(motion[2 * n:]), idyn.LinkWrenches(self.model), result)
        return result.toNumPy().copy()

    def agreement(self):
        """Mean of iDynTree's squared residuals at the true motion over their variances; about 1 if
        both programs model the same chain."""
        d = self.dynamics(self.draw['truth'])
        matrices = [idyn.MatrixDynSize(), idyn.VectorDynSize(), idyn.MatrixDynSize(),
                    idyn.VectorDynSize()]
        self.helper.resizeAndZeroBerdyMatrices(*matrices)
        self.helper.getBerdyMatrices(*matrices)
        expected = matrices[2].toNumPy() @ d + matrices[3].toNumPy()
        rows = self.used
        return float(np.mean((expected - self.readings)[rows] ** 2 * self.information[rows]))

    def estimate(self, state, mean, deviation):
        """Returns d at a given state, and the time of one solve [s]."""
        n = self.count
        solver = idyn.BerdySparseMAPSolver(self.helper)
        solver.initialize()
        size = self.helper.getNrOfDynamicVariables()
        solver.setDynamicsRegularizationPriorExpectedValue(vector(mean))
        solver.setDynamicsRegularizationPriorCovariance(diagonal([deviation ** 2] * size))
        solver.setDynamicsConstraintsPriorCovariance(
            diagonal([EXACT_VARIANCE] * self.helper.getNrOfDynamicEquations()))
        variance = [1.0 / each if each > 0.0 else 1e12 for each in self.information]
        solver.setMeasurementsPriorCovariance(diagonal(variance))
        start = time.process_time()
        solver.updateEstimateInformationFixedBase(
            self.joints(state[:n]), self.rates(state[n:2 * n]), self.base, self.gravity,
            vector(self.readings))
        if not solver.doEstimate():
            return None, math.nan
        seconds = time.process_time() - start
        result = idyn.VectorDynSize(size)
        solver.getLastEstimate(result)
        return result.toNumPy().copy(), seconds


def compare(path, dynamics_error):
    random = np.random.default_rng(1)
    rows = {name: [] for name in ('prior', 'truth', 'estimate')}
    seconds, own, own_seconds, again, agreement = [], [], [], [], []
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            draw = json.loads(line)
            berdy = Berdy(draw)
            truth = berdy.dynamics(draw['truth'])
            agreement.append(berdy.agreement())
            mean = truth + random.uniform(0.0, dynamics_error, truth.size)
            for name in rows:
                d, took = berdy.estimate(draw[name], mean, dynamics_error / math.sqrt(3.0))
                if d is None:
                    raise SystemExit('BERDY gave no estimate')
                rows[name].append(float(np.linalg.norm(d - truth)))
                seconds.append(took)
            own.append(float(np.linalg.norm(berdy.dynamics(draw['estimate']) - truth)))
            own_seconds.append(draw['seconds'])
            again.append(draw['again_seconds'])
    return rows, seconds, own, own_seconds, again, agreement


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('draws', help='draws.jsonl of rigcal-study redundant')
    parser.add_argument('--dynamics-error', type=float, default=100.0,
                        help="as in the study's file")
    parser.add_argument('--out', required=True, help='table to write')
    options = parser.parse_args()
    rows, seconds, own, own_seconds, again, agreement = compare(options.draws,
                                                                options.dynamics_error)
    def line(name, state, errors, times):
        return (f'| {name} | {state} | {statistics.mean(errors):.3g} | '
                f'{statistics.median(errors):.3g} | {1e3 * statistics.mean(times):.3g} |')
    text = '\n'.join([
        f'{len(own)} draws, the same sensors and priors; errors over all dynamic variables of '
        'iDynTree, in SI units.',
        f"iDynTree's readings at the truth differ from the recorded ones by "
        f'{math.sqrt(statistics.mean(agreement)):.3f} of their deviations (the noise alone: 1).',
        '',
        '| program | state | mean of norm of e_d | median | processor time [ms] |',
        '|:--|:--|--:|--:|--:|',
        line('BERDY', "the prior's mean", rows['prior'], seconds),
        line('BERDY', "rigcal's estimate", rows['estimate'], seconds),
        line('BERDY', 'the truth', rows['truth'], seconds),
        line('rigcal', 'estimated too, searched for', own, own_seconds),
        line('rigcal', 'estimated too, from a start near it', own, again),
    ]) + '\n'
    with open(options.out, 'w', encoding='utf-8') as out:
        out.write(text)
    print(text, end='')


if __name__ == '__main__':
    main()
