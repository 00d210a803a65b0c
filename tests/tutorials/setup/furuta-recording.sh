# A recording of a Furuta pendulum without a rig file.
. tests/tutorials/setup/furuta.sh
rm rig.textproto
