#!/usr/bin/env bash
# JAX 0.10.2: jax.scipy.stats.gamma.logpdf(nan, a) is minus infinity.
#
# SciPy returns NaN for the same call, and so do the log densities of JAX's normal and Laplace distributions. JAX tests
# the support by a comparison that is false for NaN, so NaN counts as outside the support. A likelihood over data with a
# NaN is then minus infinity. A sampler or an optimiser rejects the point, although it is the data that are broken.
#
# It needs Python 3 with venv, and pip's registry. It fails if the output differs from the recorded one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'jax[cpu]==0.10.2' 'scipy==1.17.1'
cat >"$folder/try.py" <<'PYTHON'
import jax
import scipy
import scipy.stats

jax.config.update("jax_enable_x64", True)
print("jax", jax.__version__, "scipy", scipy.__version__)
nan = float("nan")
print("gamma, SciPy:", float(scipy.stats.gamma.logpdf(nan, 0.5)))
print("gamma, JAX:", float(jax.scipy.stats.gamma.logpdf(nan, 0.5)))
print("normal, JAX:", float(jax.scipy.stats.norm.logpdf(nan)))
print("Laplace, JAX:", float(jax.scipy.stats.laplace.logpdf(nan)))
PYTHON
JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/try.py" | tee "$folder/found"
diff "$folder/found" - <<'EXPECTED'
jax 0.10.2 scipy 1.17.1
gamma, SciPy: nan
gamma, JAX: -inf
normal, JAX: nan
Laplace, JAX: nan
EXPECTED
printf 'the output is as recorded\n'
