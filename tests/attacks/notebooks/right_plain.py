# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
