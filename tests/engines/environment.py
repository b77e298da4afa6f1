"""The Python that the scripts of this folder run in."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def enter(python):
    """Goes on in a Python that has the packages: this one, or where it is None one that is made with the versions of
    requirements.txt."""
    if python is None:
        folder = os.path.join(HERE, "venv")
        python = os.path.join(folder, "bin", "python")
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", os.path.join(HERE, "requirements.txt")], check=True)
    if os.environ.get("MIND_ENGINES") != "here":
        os.environ["MIND_ENGINES"] = "here"
        os.execv(python, [python, *sys.argv])
