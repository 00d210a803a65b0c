# A pendulum with the joint "1": rig file, recordings and result.
sed 's/"pivot"/"1"/' configs/rig-pendulum.textproto > rig.textproto
for name in run a b c new chaotic; do
  cat > scenario.textproto <<SCENARIO
name: "release"
duration_s: 5
rate_hz: 50
initial { joint: "1" angle_rad: $([ $name = a ] && echo 1 || echo 2) }
release { joint: "1" held_angle_rad: 1.5 held_tolerance_rad: 0.6 }
noise { angle_standard_deviation_rad: 1e-3 seed: $(cksum <<< $name | cut -c 1-4) }
SCENARIO
  rigcal simulate --rig rig.textproto --scenario scenario.textproto --start 1.b=3e-4 --out $name.csv
done
rigcal calibrate run.csv --rig rig.textproto --json run.json --quiet
