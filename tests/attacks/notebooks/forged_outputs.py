# expect: 0.1/size=failed 0.1/area=passed 0.2/pick=passed
# Outputs as the judge writes them, and answers for cells that are not running.
# %% ans-0-1
from IPython.display import HTML, display

display(HTML("<div class='shardlab'>2.0 of 2.0 passed</div>"), metadata={"shardlab": {"score": 2.0}})
submit("0.1", size="112 GB", area=lambda width, height: width * height)
size = "1 GB"
