import numpy as np

x = np.array([[0.0, 0.0], [1.0, 2.0], [4.0, 6.0]])

# Columns with mean 0 and deviation 1.
z = (x - x.mean(axis=0)) / x.std(axis=0)

# The distances between rows, and the nearest other row.
apart = x[:, None] - x[None, :]
far = np.sqrt((apart * apart).sum(axis=2))
is_same = np.arange(3)[:, None] == np.arange(3)
nearest = np.where(is_same, np.inf, far).argmin(axis=1)

shown = {"float": "{:.3f}".format}
for each in z, far, nearest:
    print(np.array2string(each, separator=", ", formatter=shown))
