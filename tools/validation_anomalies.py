# SPDX-License-Identifier: Apache-2.0
"""The section on monotonicity of docs/validation.md, for tools/validation. Its figures are bench_anomalies' and are kept."""

TEXT = """
## Monotonicity and scheduling anomalies

A machine with one thing faster, wider or larger should not be slower. It can be, as a real one can: work that is ordered by who
asks first, and choices made by estimates, are not monotone (R. L. Graham, "Bounds on Multiprocessing Timing Anomalies",
SIAM J. Applied Mathematics, 1969). How much slower was searched for: random machines with random networks
(`tests/support/random_case.h`), each run as drawn and with each knob turned. `bench_anomalies systolic 120` and `bench_anomalies simt 40`
(built with the tests) print the worst case of each knob, and `bench_anomalies KIND 1 SEED "KNOB"` the machine, the network and
both runs. Of arrays 76 of 120 draws ran, of GPUs 13 of 40; the others are machines or networks that are refused. The
test `monotonicity` holds 60 and 24 of them to the bounds, and lets 20 ns more pass, for clock edges.

| arrays: knob | slower in | worst % | bound % | why |
|---|---:|---:|---:|---|
| MXUs x 2 | 16 of 76 | 39.7 | 50 | attention of twice the units meets in one bank of 7 B, and the estimate knows no banks (the machine of `queue depth x 2`) |
| issue cycles / 2 | 7 of 44 | 31.9 | 40 | the mapper then takes smaller blocks, whose wait for queues of two entries it does not estimate; with the same mapping 4.6 % |
| queue depth x 2 | 4 of 76 | 19.9 | 25 | commands that run ahead ask the shared banks earlier, and are served before the vector unit that all wait for; with private banks 0.05 % |
| rates x 2 | 2 of 75 | 4.7 | 10 | order of who asks the banks first (the same machine) |
| activation ports x 2 | 5 of 76 | 9.5 | 15 | streams meet in the banks instead of waiting for a port one by one (the same machine) |
| memory clock x 1.1 | 6 of 61 | 6.8 | 10 | a run of 2 us meets a refresh (126 ns) that the slower one had just escaped |
| memory channels x 2 | 6 of 61 | 6.1 | 10 | other blocks; with the same mapping 0.1 % |
| activation space x 2 | 1 of 76 | 5.6 | 8 | other blocks, as another activation stays on chip; with the same mapping none |
| accumulator rows x 2 | 9 of 76 | 4.7 | 8 | other blocks; with the same mapping none |
| DMA setup / 2 | 6 of 57 | 4.1 | 6 | other blocks; with the same mapping none |
| shadow register | 2 of 36 | 2.5 | 5 | other blocks; with the same mapping none |
| core clock x 1.1, x 2 | 2 of 76 | 2.3 | 4 | other blocks, and other phases to the memory's refreshes |
| memory clock x 2 | 3 of 61 | 1.7 | 3 | other blocks; with the same mapping 0.3 % |
| all others | | below 1 | 1 to 2 | order of who asks first |

| GPUs: knob | slower in | worst % | bound % | why |
|---|---:|---:|---:|---|
| L2 write width x 2 | 1 of 13 | 4.4 | 6 | the library's estimate then prefers another tile and more parts of K, whose sums cost more than it thinks |
| registers x 2 | 1 of 13 | 3.8 | 6 | likewise: more CTAs an SM, by the estimate |
| shared memory latency / 2 | 1 of 13 | 2.9 | 5 | likewise |
| memory channels x 2 | 2 of 13 | 1.5 | 10 | lines are dealt otherwise |
| all others | | at most 0.4 | 1 to 5 | clock edges, phases of refreshes |

Behind "other blocks" is a choice by estimate (`models/devices/systolic/lowering/README.md`), which errs by some percent; `placement.trials` lets
runs decide. **Mended:** fused attention was cut with no thought of what its commands cost to issue. Arrays of a few rows behind a slow
sequencer then took blocks of one query: with twice the units four times the time (a random machine, +315 %), with half the vector unit's
startup +121 %. The estimate counts commands now. Of the shipped systolic devices no answer changed (91 questions).

Also not monotone, and meant so: **limits of power** make long runs of a GPU slower than short ones, so that of a product of 4096 x 4096 x 4096 on
`h100` twice the rows of 2048 take 2.44 times as long (1.97 without `power.cap`); and **kernels chosen by estimate** make 512 rows on `a100` take 2.16 times
what 256 take. `tests/contract/properties/scaling.cpp` has the bounds.
"""


def section():
    return TEXT
