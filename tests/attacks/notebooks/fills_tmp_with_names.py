# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:of_files
# control: right_files
# Not bytes: empty files, each of which takes memory of the kernel's.
# %% ans-0-2
import os

for number in range(400_000):
    os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
pick = "b"
