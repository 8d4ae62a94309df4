# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# Processes of one's own are allowed in a notebook.
# %% before ans-0-1
import multiprocessing
import subprocess

assert subprocess.run(["echo", "well"], capture_output=True, text=True).stdout == "well\n"
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
