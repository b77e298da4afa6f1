"""Makes the files of this folder, with numpy and safetensors: python make.py"""

import os

import numpy as np
from safetensors.numpy import save_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))
w = np.arange(6, dtype=np.float32).reshape(2, 3) / 2
arrays = {
    "w": w,
    "columns": np.asfortranarray(w),
    "big": w.astype(">f8"),
    "count": np.int64(-7),
    "ids": np.array([1, -2], dtype=np.int32),
    "mask": np.array([True, False, True]),
}
np.save("columns.npy", arrays["columns"])
np.save("big.npy", arrays["big"])
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)
save_file(
    {name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")) for name, array in arrays.items() if name != "count"}
    | {"count": np.array(-7, dtype=np.int64)},
    "arrays.safetensors",
    metadata={"steps": "7"},
)
