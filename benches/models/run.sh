#!/usr/bin/env bash
# Times the training of the example `addition` and of the same network in PyTorch and candle, in turns. Prints a table:
# steps per second, the peak memory of the process, the final loss.
#
#   benches/models/run.sh
#
# MODELS_WORK     the folder of builds and the Python environment (default: target/models of the project)
# MODELS_PYTHON   a Python with torch, in place of the environment that this script creates
# MODELS          the models to run, of `mind candle torch torch.compile`
# MODELS_STEPS    the steps of a run (150, which ends before the example's first test)
# MODELS_PASSES   the number of passes (3); the table takes the fastest of each
# MODELS_THREADS  the number of threads (2)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${MODELS_WORK:-$root/target/models}
export MODELS_STEPS=${MODELS_STEPS:-150} MODELS_PASSES=${MODELS_PASSES:-3} MODELS_THREADS=${MODELS_THREADS:-2}
models=${MODELS:-mind candle torch torch.compile}
mkdir -p "$work"
python=${MODELS_PYTHON:-$work/venv/bin/python}
if [[ ! -x $python ]]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q torch
fi
export TORCHINDUCTOR_CACHE_DIR=$work/inductor

commands=()
for model in $models; do
  case $model in
    mind)
      (cd "$root" && CARGO_TARGET_DIR=$work/mind cargo build --release -q --example addition) >&2
      commands+=("$model=$work/mind/release/examples/addition $MODELS_STEPS")
      ;;
    candle)
      (cd "$here/candle" && RUSTFLAGS="-C target-cpu=native" CARGO_TARGET_DIR=$work/candle cargo build --release -q) >&2
      commands+=("$model=$work/candle/release/addition-candle $MODELS_STEPS")
      ;;
    torch) commands+=("$model=$python $here/addition.py $MODELS_STEPS") ;;
    torch.compile) commands+=("$model=$python $here/addition.py $MODELS_STEPS compile") ;;
    *) echo "there is no model $model" >&2 && exit 1 ;;
  esac
done
python3 "$here/turns.py" "${commands[@]}"
