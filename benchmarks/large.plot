# SPDX-License-Identifier: GPL-2.0-or-later
# large.plot DATA SVG GIB JOBS LIMIT_MIB: draws the plot of benchmarks/large with gnuplot -c. The columns of DATA are
# GiB, job, wall seconds, CPU seconds and peak KiB.
set terminal svg size 1000,480 background rgb "white"
set output ARG2
set multiplot layout 1,2 title "htmtrace: core traces of 1 to ".ARG3." GiB"
set logscale x 2
set logscale y 10
set grid
set key below
set xlabel "length of the trace, GiB" offset 0,0.5
set xrange [0.8:ARG3 * 1.25]
rows(job) = sprintf("<awk '$2 == \"%s\"' '%s'", job, ARG1)

set ylabel "CPU seconds, in steps of 0.01"
plot for [job in ARG4] rows(job) using 1:4 with linespoints title job, \
    x with lines dashtype 2 linecolor "black" title "1 s per GiB"

set ylabel "peak memory, MiB"
set yrange [1:1024]
plot for [job in ARG4] rows(job) using 1:($5 / 1024) with linespoints title job, \
    ARG5 + 0 with lines dashtype 2 linecolor "black" title "limit"
