"""Writes the distances of each point in points.csv to its five nearest neighbours."""

import bpfmon
import numpy

bpfmon.mark("load")
points = numpy.loadtxt("points.csv")

bpfmon.mark("distances")
differences = points[:, None, :] - points[None, :, :]
squares = (differences**2).sum(axis=2)

bpfmon.mark("sort")
nearest = numpy.sqrt(numpy.sort(squares, axis=1)[:, 1:6])

bpfmon.mark("save")
numpy.savetxt("nearest.csv", nearest)
