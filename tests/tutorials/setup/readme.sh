# A recording of a pendulum, and answers to the questions of rigcal init.
. tests/tutorials/setup/pendulum.sh
rm rig.textproto run.json
ANSWERS=$PWD/answers.txt
printf 'pendulum\n\n0.428\n0.092\n\n' > "$ANSWERS"
