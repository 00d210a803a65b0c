# A Furuta pendulum with joints "1" and "2": rig file, scenario, recording and result.
cp configs/rig-furuta.textproto rig.textproto
cat > scenario.textproto <<'SCENARIO'
name: "pulse"
duration_s: 6
rate_hz: 250
pulse { motor: "1" command: 5 start_s: 0.2 width_s: 0.3 }
noise { angle_standard_deviation_rad: 5e-4 seed: 1 }
SCENARIO
rigcal simulate --rig rig.textproto --scenario scenario.textproto --out run.csv \
    --start A.J_zz=4.4e-3 --start B.J_yy=3.96e-3 --start B.J_zz=3.9e-3 --start 1.K=0.073
rigcal calibrate run.csv --rig rig.textproto --json run.json --quiet
