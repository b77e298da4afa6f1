#!/usr/bin/env bash
# Times the project and its peers in the same passes, writes one line of JSON per case, and prints the table.
#
#   PEERS_DIR=../shared/bench/peers benches/peers/run.sh          the project, hand-written code, JAX, PyTorch, …
#   PEERS="limits mind hand-gemm" PEERS_ONLY=mlp_ …/run.sh        some peers, some cases
#
# PEERS_DIR     the folder of the peers: python/gen.py makes the cases, python/peers.py and the crates of rust/ run them
# PEERS_WORK    the folder of builds, the Python environment and the cases (default: target/peers of the project)
# PEERS         the peers to run; `mind` is the project as cargo builds it, `mind-native` with -C target-cpu=native
# PEERS_PASSES  the number of passes over all peers (3); the table takes the shortest time of each cell
# PEERS_BUILD   `no` uses existing builds of the peers; the project is always built
# PEERS_THREADS_LIST, PEERS_OUT, PEERS_ONLY, PEERS_REPEATS, PEERS_BATCH_MS: as in the peers' own run.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
peers_dir=$(cd "${PEERS_DIR:-$root/../shared/bench/peers}" && pwd)
work=${PEERS_WORK:-$root/target/peers}
out=${PEERS_OUT:-$work/results.jsonl}
threads=${PEERS_THREADS_LIST:-1 2}
peers=${PEERS:-limits mind hand-gemm hand-ndarray candle burn dfdx numpy jax torch torch.compile}
python=$work/venv/bin/python
export PEERS_DATA=${PEERS_DATA:-$work/data} TORCHINDUCTOR_CACHE_DIR=$work/inductor
mkdir -p "$work"

if [[ ! -x $python ]]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q numpy jax torch
fi
[[ -f $PEERS_DATA/cases.txt ]] || "$python" "$peers_dir/python/gen.py" "$PEERS_DATA"

# build FOLDER PACKAGE TARGET [FLAG...]: builds a package and sets `built` to the folder of its programs. It builds one
# package per call, so that no package gets the features that another requests.
build() {
  local folder=$1 package=$2 target=$work/target/$3
  shift 3
  built=$target/release
  [[ ${PEERS_BUILD:-} == no && $folder != "$here" ]] ||
    (cd "$folder" && CARGO_TARGET_DIR=$target cargo build --release -q -p "$package" "$@") >&2
}

# command_of PEER: builds the peer and sets `cmd` to the command that runs it.
command_of() {
  local native="-C target-cpu=native"
  case $1 in
    mind) RUSTFLAGS="" build "$here" peers mind; cmd=("$built/mind") ;;
    mind-native) RUSTFLAGS=$native build "$here" peers mind-native; cmd=("$built/mind") ;;
    limits | hand-*) RUSTFLAGS=$native build "$peers_dir/rust" peer-hand best; cmd=("$built/$1") ;;
    candle | burn)
      RUSTFLAGS=$native build "$peers_dir/rust" "peer-$1" best --features avx512
      cmd=("$built/peer-$1")
      ;;
    dfdx | luminal) RUSTFLAGS=$native build "$peers_dir/rust" "peer-$1" best; cmd=("$built/peer-$1") ;;
    *) cmd=("$python" "$peers_dir/python/peers.py" "$1") ;;
  esac
}

declare -A commands
for peer in $peers; do
  command_of "$peer"
  commands[$peer]=$(printf '%q ' "${cmd[@]}")
done

: >"$out"
for pass in $(seq "${PEERS_PASSES:-3}"); do
  for t in $threads; do
    for peer in $peers; do
      [[ $peer == luminal && $t -gt 1 ]] && continue # it has no threads
      read -ra cmd <<<"${commands[$peer]}"
      [[ ${cmd[0]} == "$python" ]] && cmd+=("$t")
      suffix=
      [[ $peer == mind-* ]] && suffix=${peer#mind}
      echo "pass $pass, $t thread(s): $peer" >&2
      env PEERS_THREADS="$t" PEERS_SUFFIX="$suffix" MIND_NUM_THREADS="$t" RAYON_NUM_THREADS="$t" \
        MATMUL_NUM_THREADS="$t" CANDLE_NUM_THREADS="$t" OMP_NUM_THREADS="$t" \
        taskset -c "0-$((t - 1))" "${cmd[@]}" >>"$out" 2>>"$work/stderr.log" ||
        echo "$peer failed: see $work/stderr.log" >&2
    done
  done
done
"$python" "$here/table.py" "$out"
