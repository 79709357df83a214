"""Kernels of one stream run one after the other, and copies of it do not overlap them. A rank, whose number is given, fetches what
each kernel wrote before the next one runs."""
import json
import sys

events = [one for one in json.load(open(sys.argv[1]))["traceEvents"] if one["ph"] == "X"]
ranks = [int(one) for one in sys.argv[2:]]
assert all(one["pid"] == (ranks or [0])[0] for one in events), events
kernels = [one for one in events if one["cat"] == "kernel"]
assert [one["name"] for one in kernels] == ["fill", "twice", "fill", "twice", "twice"], kernels
assert all(one["ts"] >= 0 and one["dur"] >= 0 for one in events), events
for one, other in zip(kernels, kernels[1:]):
    assert other["ts"] >= one["ts"], (one, other)
backs = [one for one in events if one["name"] == "from device"]
if ranks:
    order = sorted(kernels + backs, key=lambda one: one["ts"])
    assert [one["cat"] for one in order] == ["kernel", "data"] * 5, order
else:
    assert backs and backs[0]["ts"] >= kernels[1]["ts"], (backs, kernels)
