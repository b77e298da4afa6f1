#!/usr/bin/env bash
# Measures time as a function of size and draws it. Writes sweep.jsonl and the pictures into this folder.
#
#   benches/plots/run.sh          measures for some minutes, then draws
#   benches/plots/run.sh draw     draws the points in sweep.jsonl
#
# PEERS_PASSES  the number of passes (5); the shortest time of each point is drawn
# PEERS_WORK    the folder of builds and the Python environment with matplotlib, numpy and jax (default: target/peers)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${PEERS_WORK:-$root/target/peers}
python=$work/venv/bin/python
mkdir -p "$work"

[[ -x $python ]] || python3 -m venv "$work/venv"
"$python" -c 'import jax, matplotlib' 2>/dev/null || "$work/venv/bin/pip" install -q numpy jax matplotlib

if [[ ${1:-} != draw ]]; then
  target=$work/target/table
  RUSTFLAGS="-C target-cpu=native" CARGO_TARGET_DIR=$target \
    cargo build --release --quiet --manifest-path "$root/benches/table/Cargo.toml" --bin sweep
  : >"$work/sweep.jsonl" >"$work/sweep-jax.jsonl"
  for pass in $(seq "${PEERS_PASSES:-5}"); do
    echo "pass $pass" >&2
    MIND_NUM_THREADS=1 RAYON_NUM_THREADS=1 taskset -c 0 "$target/release/sweep" 2>/dev/null >>"$work/sweep.jsonl"
    taskset -c 0 "$python" "$here/jax_sweep.py" "$work/sweep.jsonl" >>"$work/sweep-jax.jsonl"
  done
  cat "$work/sweep.jsonl" "$work/sweep-jax.jsonl" >"$here/sweep.jsonl"
fi
"$python" "$here/plot.py" "$here/sweep.jsonl" "$here"
