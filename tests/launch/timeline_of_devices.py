"""Kernels of one stream run one after the other, and copies of it do not overlap them."""
import json
import sys

events = [one for one in json.load(open(sys.argv[1]))["traceEvents"] if one["ph"] == "X"]
kernels = [one for one in events if one["cat"] == "kernel"]
assert [one["name"] for one in kernels] == ["fill", "twice", "fill", "twice", "twice"], kernels
assert all(one["ts"] >= 0 and one["dur"] >= 0 for one in events), events
for one, other in zip(kernels, kernels[1:]):
    assert other["ts"] >= one["ts"], (one, other)
backs = [one for one in events if one["name"] == "from device"]
assert backs and backs[0]["ts"] >= kernels[1]["ts"], (backs, kernels)
