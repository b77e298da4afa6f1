"""The Python environment in which the scripts of this folder run."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def enter(python):
    """Restarts the script in the Python at this path. For None, the Python is that of a virtual environment, which is created
    with the versions of requirements.txt if it does not exist."""
    if python is None:
        folder = os.path.join(HERE, "venv")
        python = os.path.join(folder, "bin", "python")
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", os.path.join(HERE, "requirements.txt")], check=True)
    if os.environ.get("MIND_ENGINES") != "here":
        os.environ["MIND_ENGINES"] = "here"
        os.execv(python, [python, *sys.argv])


def write_cases(folder, *arguments):
    """Writes the cases of the example `engine_cases` to a folder."""
    cargo = ["cargo", "run", "--quiet", "-p", "mind-tests", "--example", "engine_cases", "--", folder]
    subprocess.run([*cargo, *map(str, arguments)], cwd=ROOT, check=True)
