#!/usr/bin/env bash
# Installs what is missing, builds the programs, simulates a rig and recovers its parameters.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: scripts/demo.sh [OUTPUT_FOLDER]

Installs missing Debian packages, builds the programs, simulates a Furuta pendulum with known
parameters and encoders of 4096 counts a turn, calibrates it from the recorded angles, and prints
the estimates beside the truth. Where
the evaluation data lies beside the repository (../shared/data, or RIG_DATA), a recording of a real
pendulum follows. Recordings, results and plots go to OUTPUT_FOLDER (default: out/demo).
USAGE
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-out/demo}
data=${RIG_DATA:-../shared/data}

# A tree that is configured already keeps its settings; a fresh one builds no tests.
scripts/install_dependencies.sh demo
if [[ ! -e build/build.ninja ]]; then
  cmake --preset release -DRIG_TESTS=OFF -DRIG_BENCH=OFF --log-level=WARNING
fi
cmake --build --preset release --parallel "${RIG_JOBS:-$(nproc)}" --target rigcal

mkdir -p "$out"
rigcal=build/bin/rigcal
rig=configs/rig-furuta.textproto

# The simulated rig. The rig file starts the estimate elsewhere; only `simulate` sees these.
truth=(A.J_zz=0.0044 B.J_yy=0.00396 B.J_zz=0.0039 1.b=0.001 2.b=0.0001 1.tau_c=0.004
  2.tau_c=0.0009 1.K=0.0729)

echo "== A simulated Furuta pendulum =="
{
  cat configs/scenario-multisine.textproto
  echo 'noise { quantise: true }'
} >"$out/multisine.textproto"
"$rigcal" simulate --rig "$rig" --scenario "$out/multisine.textproto" \
  "${truth[@]/#/--start=}" --out "$out/multisine.csv"
# SPOOK's bias falls with the step: here 1 % of an inertia at 2 ms, 3 % at the default of 5 ms.
"$rigcal" calibrate "$out/multisine.csv" --rig "$rig" --step 0.002 \
  --json "$out/multisine.json" --plot "$out/multisine.html"

echo
echo "Estimates beside the truth:"
# One parameter a line, without the spaces of a pretty-printed file.
parameters=$(tr -d ' \n' <"$out/multisine.json" | sed 's/},{/}\n{/g')
printf '  %-8s %12s %12s %12s %8s\n' parameter truth estimate 'std. dev.' error
for entry in "${truth[@]}"; do
  name=${entry%%=*}
  line=$(grep -F "\"name\":\"$name\"" <<<"$parameters" | head -n 1)
  value=$(sed -n 's/.*"value":"\{0,1\}\([-+0-9.eE]*\).*/\1/p' <<<"$line")
  deviation=$(sed -n 's/.*"standardDeviation":"\{0,1\}\([-+0-9.eE]*\).*/\1/p' <<<"$line")
  awk -v name="$name" -v truth="${entry#*=}" -v value="$value" -v deviation="$deviation" 'BEGIN {
    printf "  %-8s %12.5g %12.5g %12.2g %+7.2f%%\n", name, truth, value, deviation,
           100 * (value - truth) / truth }'
done

if [[ -d $data/real/multiarm_single ]]; then
  echo
  echo "== A pendulum recorded on hardware =="
  "$rigcal" calibrate "$data/real/multiarm_single/single_pendulum_free_swing.csv" \
    --rig configs/rig-multiarm-single.textproto \
    --json "$out/multiarm_single.json" --plot "$out/multiarm_single.html"
fi

echo
echo "Recordings, results and plots are in $out/."
