# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# One output larger than a message may be.
# %% before ans-0-2
from IPython.display import HTML, display

display(HTML("<p>" * (30 << 20)))
