# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:of_files
# control: right_files
# %% ans-0-2
with open("/tmp/large", "wb") as file:
    for _ in range(64):
        file.write(bytes(64 << 20))
pick = "b"
