# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:of_files
# control: right_files
# %% ans-0-2
for number in range(200):
    with open(f"/dev/shm/fill-{number}", "wb") as file:
        file.write(bytes(16 << 20))
pick = "b"
