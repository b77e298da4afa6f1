import jax
import jax.numpy as jnp

def loss(p, x, y):
    h = jnp.tanh(x @ p["w1"] + p["b1"])
    return jnp.mean((h @ p["w2"] - y) ** 2)

@jax.jit
def step(p, x, y, rate):
    l, g = jax.value_and_grad(loss)(p, x, y)
    p = jax.tree.map(lambda p, g: p - rate * g, p, g)
    return p, l

x = jnp.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
y = jnp.array([0.0, 1.0, 1.0])
p = {
    "w1": jnp.array([[0.5, -0.5, 1.0], [0.25, 1.0, -1.0]]),
    "b1": jnp.zeros(3),
    "w2": jnp.array([1.0, 0.5, -0.5]),
}
for _ in range(3):
    p, l = step(p, x, y, 0.2)
    print(f"{l:.4f}")
