"""Makes a rig file of iCub: 25 joints and its paper's sensors, for `rigcal-study redundant`.

The tree comes from the URDF file in the PyPI package example-robot-data. As in the experiment of
Nori, Kuppuswamy and Traversaro, base, neck and the last two joints of the wrists are fixed.
"""

import argparse
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

FIXED = [name + part for name in ('neck_',) for part in ('pitch', 'roll', 'yaw')] + \
    [side + '_wrist_' + part for side in 'lr' for part in ('pitch', 'yaw')]
INERTIAL = ['l_foot', 'r_foot', 'l_hand', 'r_hand', 'head', 'chest', 'l_upper_arm', 'r_upper_arm']
JOINTS = 25


def find_urdf():
    for folder in sys.path:
        path = pathlib.Path(folder) / 'cmeel.prefix/share/example-robot-data/robots' / \
            'icub_description/robots/icub.urdf'
        if path.exists():
            return path
    raise SystemExit('robot.py: example-robot-data has no icub_description/robots/icub.urdf')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rigcal', required=True, help='program that imports the URDF file')
    parser.add_argument('--out', required=True, help='rig file to write')
    options = parser.parse_args()
    tree = xml.parse(find_urdf())
    moving = 0
    for joint in tree.getroot().findall('joint'):
        if joint.get('name') in FIXED:
            joint.set('type', 'fixed')
        moving += joint.get('type') != 'fixed'
    if moving != JOINTS:
        raise SystemExit(f'robot.py: {moving} joints move, not {JOINTS}')
    out = pathlib.Path(options.out)
    urdf = out.with_suffix('.urdf')
    tree.write(urdf)
    subprocess.run([options.rigcal, 'import', str(urdf), '--no-friction', '--force', '--out', str(out)],
                   check=True, stderr=subprocess.DEVNULL)
    with open(out, 'a', encoding='utf-8') as rig:
        for body in INERTIAL:
            rig.write(f'inertial_sensor {{ name: "imu_{body}" body: "{body}" '
                      'gyroscope {} accelerometer {} }\n')


if __name__ == '__main__':
    main()
