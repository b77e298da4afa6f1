#!/usr/bin/env bash
# JAX 0.10.2: the gradient of logaddexp by one operand is wrong if the other operand is infinity.
#
# logaddexp(a, b) = log(e^a + e^b), and its derivative by a is e^a / (e^a + e^b), a number between 0 and 1. If b is
# infinity, the derivative is 0, and logaddexp correctly returns infinity. `jax.grad` returns e^a instead: 7.389… at a =
# 2, and 22026.5 at a = 10. Masks are written as scores of minus or plus infinity. So a model that adds log
# probabilities gets a large gradient from an element that does not affect the result, and no NaN shows it.
#
# It needs Python 3 with venv, and pip's registry. It fails if the output differs from the recorded one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'jax[cpu]==0.10.2'
cat >"$folder/try.py" <<'PYTHON'
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
print("jax", jax.__version__)
for a in [2.0, 10.0]:
    print(a, float(jnp.logaddexp(a, jnp.inf)), round(float(jax.grad(jnp.logaddexp)(a, jnp.inf)), 4))
PYTHON
JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/try.py" | tee "$folder/found"
diff "$folder/found" - <<'EXPECTED'
jax 0.10.2
2.0 inf 7.3891
10.0 inf 22026.4658
EXPECTED
printf 'the output is as recorded\n'
