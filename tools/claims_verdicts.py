# SPDX-License-Identifier: Apache-2.0
"""The verdict of each claim, by the criterion in its experiment's head: a function from {experiment: rows} to the verdict, a
sentence of figures and the picture."""

import statistics

import claims_pictures as pictures
from claims_rows import (graded, in_order, is_tpu, known, mean, number, one, table)


def percent(row):
    value = number(row, "utilization")
    return None if value is None else 100 * value


def median(values):
    return statistics.median(known(values))


def split(found):
    """All figures of TPUs, and all of GPUs."""
    both = {True: [], False: []}
    for row in found.values():
        for device, value in row.items():
            both[is_tpu(device)].append(value)
    return both[True], both[False]


def utilization(sweeps):
    found = table(sweeps["utilization"], percent)
    tpus, gpus = (median(values) for values in split(found))
    verdict = graded(tpus >= 85 and 55 <= gpus <= 75, tpus >= gpus + 10)
    each = "; ".join(f"{trace}: TPUs {median(v for d, v in row.items() if is_tpu(d)):.0f} %, GPUs "
                     f"{median(v for d, v in row.items() if not is_tpu(d)):.0f} %" for trace, row in found.items())
    words = f"Median utilization of the TPUs is {tpus:.0f} %, of the GPUs {gpus:.0f} %. By network ({each})."
    return verdict, words, pictures.bars("Utilization at batch 32", found, unit="%")


def precision(sweeps):
    time = table(sweeps["precision"], lambda row: number(row, "time_ns"))
    cnn = sweeps["precision_cnn"]
    gains = {}
    for name, (phase, bits) in {"prefill int8": ("prefill", "int8"), "prefill fp8": ("prefill", "fp8"), "decode int8": ("decode", "int8"),
                                "decode fp8": ("decode", "fp8"), "decode int4": ("decode", "int4")}.items():
        wide, narrow = time[f"{phase}_bf16"], time[f"{phase}_{bits}"]
        gains[name] = {device: wide[device] / narrow[device] if narrow[device] and wide[device] else None for device in wide}
    gains["resnet50 int8"] = {}
    for device in in_order(cnn, "device"):
        wide, narrow = (number(one(cnn, device=device, workload__dtype=bits), "time_ns") for bits in ("bf16", "int8"))
        gains["resnet50 int8"][device] = wide / narrow if wide and narrow else None
    halves = known(value for name, row in gains.items() if "int4" not in name for value in row.values())
    inside = sum(1.6 <= value <= 2.4 for value in halves)
    middle = statistics.median(halves)
    words = (f"From 16 to 8 bits the median speed-up of {len(halves)} pairs is {middle:.2f} (from {min(halves):.2f} to "
             f"{max(halves):.2f}); {inside} are from 1.6 to 2.4. ")
    words += "By case, medians: " + ", ".join(f"{name} {median(row.values()):.2f}" for name, row in gains.items() if known(row.values())) + "."
    return (graded(1.6 <= middle <= 2.4 and 4 * inside >= 3 * len(halves), middle >= 1.3), words,
            pictures.bars("Speed-up against 16 bits", gains, "{:.2f}"))


def bound(sweeps):
    rows = sweeps["bound"] + sweeps["bound_training"]
    by = {name: {d: w for d, w in row.items() if w} for name, row in table(rows, lambda row: row["roofline_bound"]).items()}
    decode, prefill, train = by["decode_bf16"], by["prefill_bf16"], by["train"]
    memory = [bool(phase) and all(word == "memory" for word in phase.values()) for phase in (decode, prefill)]
    compute = [word == "compute" for word in train.values()]
    verdict = graded(all(memory) and compute and all(compute), memory[0] and any(compute))
    words = "What the roofline says bounds each: " + "; ".join(
        f"{name} " + (", ".join(f"{device} {word}" for device, word in row.items()) or "did not run") for name, row in by.items()) + "."
    return verdict, words, pictures.bars("Utilization of decode, prefill and training", table(rows, percent), "{:.1f}", "%")


def batch(sweeps):
    rows = sweeps["batch"]
    panels, gains = {}, {True: [], False: []}
    for trace in in_order(rows, "trace"):
        for device in in_order(rows, "device"):
            rates = [(row["workload.batch"], float(row["workload.batch"]) / number(row, "time_ns"))
                     for row in rows if row["trace"] == trace and row["device"] == device and number(row, "time_ns")]
            if len(rates) < 2:
                continue
            rates = [(label, rate / rates[0][1]) for label, rate in rates]
            panels.setdefault(trace, {})[device] = rates
            gains[is_tpu(device)].append(rates[-1][1])
    tpus, gpus = mean(gains[True]), mean(gains[False])
    words = f"From batch 1 to 64 throughput grows {tpus:.1f}-fold on the TPUs and {gpus:.1f}-fold on the GPUs (geometric means). "
    words += "Utilization at 1 and at 64: " + "; ".join(
        f"{device} {trace} {percent(one(rows, device=device, trace=trace, workload__batch='1')):.0f} and "
        f"{percent(one(rows, device=device, trace=trace, workload__batch='64')):.0f} %" for trace in panels for device in panels[trace]) + "."
    return (graded(tpus >= 1.25 * gpus, tpus >= 2), words,
            pictures.lines("Throughput against batch 1", panels, axis="batch"))


def bandwidth(sweeps):
    rows = sweeps["bandwidth"] + sweeps["bandwidth_cnn"]
    panels, falls = {}, {}
    for trace in in_order(rows, "trace"):
        for device in in_order(rows, "device"):
            points = [percent(row) for row in rows if row["trace"] == trace and row["device"] == device]  # a quarter, half, all
            panels.setdefault(trace, {})[device] = list(zip(("1/4", "1/2", "1"), (value / points[-1] for value in points)))
            falls.setdefault(trace, {})[device] = 1 - points[0] / points[-1]
    deep = {trace: all(fall >= 1 / 3 for fall in row.values()) for trace, row in falls.items()}
    words = "With a quarter of the memory's clock utilization falls by " + "; ".join(
        f"{trace} " + ", ".join(f"{100 * fall:.0f} % on {device}" for device, fall in row.items()) for trace, row in falls.items()) + "."
    return (graded(all(deep.values()), deep["decode_bf16"]), words,
            pictures.lines("Utilization against the whole clock of the memory", panels, "{:.2f}", axis="clock"))


def power(sweeps):
    rows = sweeps["power"]
    found = table(rows, lambda row: number(row, "gops_per_w"))
    ratios = {trace: mean(v for d, v in row.items() if is_tpu(d)) / mean(v for d, v in row.items() if not is_tpu(d))
              for trace, row in found.items()}
    words = "Operations a joule of the TPUs against the GPUs (geometric means): " + ", ".join(
        f"{trace} {ratio:.2f}" for trace, ratio in ratios.items()) + "."
    words += " Mean power: " + ", ".join(f"{row['device']} {row['trace']} {number(row, 'power_w'):.0f} W" for row in rows
                                         if number(row, "power_w")) + "."
    return (graded(all(r >= 1.5 for r in ratios.values()), any(r >= 1.5 for r in ratios.values())), words,
            pictures.bars("Operations a joule", found, unit="GOPS/W"))


def capacity(sweeps):
    rows = sweeps["capacity"]
    fit, refused = {}, [row for row in rows if row["status"] == "refused"]
    for row in rows:
        fit.setdefault(row["device"], 0)
        if row["status"] == "done":
            fit[row["device"]] = max(fit[row["device"]], int(row["workload.batch"]))
    largest = max(int(row["workload.batch"]) for row in rows)
    named = all("of memory" in row["error"] for row in refused)
    holds = bool(refused) and named and any(value == largest for value in fit.values())
    words = "Largest batch that ran: " + ", ".join(f"{device} {value or 'none'}" for device, value in fit.items()) + \
        f" (of {', '.join(in_order(rows, 'workload.batch'))}). {len(refused)} of {len(rows)} points were refused"
    words += ", each for want of memory." if named else ", not all of them for memory."
    return graded(holds, bool(refused)), words, pictures.bars("Largest batch of Llama 3 8B with 8192 tokens that fits", {"batch": fit})


def specialists(sweeps):
    found = table(sweeps["specialists"], percent)
    bert, cnns = found.pop("bert_base"), found
    each = [all(row[device] < bert[device] / 2 for row in cnns.values()) for device in bert]
    middle = {device: mean(row[device] for row in cnns.values()) / bert[device] for device in bert}
    low = [value < 0.5 for value in middle.values()]
    words = "CNNs against BERT, geometric means: " + ", ".join(f"{device} {value:.2f}" for device, value in middle.items()) + ". "
    words += "; ".join(f"{trace} alone {mean(row[device] / bert[device] for device in bert):.2f}" for trace, row in cnns.items()) + "."
    return (graded(4 * sum(each) >= 3 * len(each), 4 * sum(low) >= 3 * len(low)), words,
            pictures.bars("Utilization at batch 8", {"bert_base": bert, **cnns}, "{:.0f}", "%"))


def software(sweeps):
    tpu, gpu = sweeps["software"], sweeps["software_gpu"]
    bars, verdicts, words = {}, [], []
    for rows, old, new, work in ((tpu, "tpu_v3", "tpu_v4", "ResNet-50"), (gpu, "a100", "h100", "the prefill")):
        time = {device: known(number(row, "time_ns") for row in rows if row["device"] == device) for device in (old, new)}
        spread = {device: max(times) / min(times) for device, times in time.items()}
        generation = min(time[old]) / min(time[new])
        verdicts.append(max(spread.values()) > generation)
        bars[work] = {f"choices on {old}": spread[old], f"choices on {new}": spread[new], f"{old} to {new}": generation}
        words.append(f"On {work} the worst choice costs {spread[old]:.2f} times the best on {old}, {spread[new]:.2f} on {new}; "
                     f"the generation, each at its best, gains {generation:.2f}.")
    both = {work: {name: value for name, value in zip(("older", "newer", "generation"), row.values())} for work, row in bars.items()}
    return (graded(all(verdicts), any(verdicts)), " ".join(words),
            pictures.bars("Worst choice against the best on the older and the newer chip, and what the generation gains", both, "{:.2f}"))


def latency(sweeps):
    spread = {}
    for rows in sweeps.values():
        for device in in_order(rows, "device"):
            times = known(number(row, "time_ns") for row in rows if row["device"] == device)
            what = "caches" if rows is sweeps["latency_caches"] else "refresh"
            spread.setdefault(what, {})[device] = 100 * (max(times) / min(times) - 1)
    worst = {device: max(row.get(device, 0) for row in spread.values()) for device in spread["refresh"]}
    tpus, gpus = [v for d, v in worst.items() if is_tpu(d)], [v for d, v in worst.items() if not is_tpu(d)]
    words = "Slowest run behind the fastest: " + "; ".join(
        f"{what} " + ", ".join(f"{device} {value:.2f} %" for device, value in row.items()) for what, row in spread.items()) + "."
    return (graded(max(tpus) <= 1 and min(gpus) > 5, min(gpus) > max(tpus)), words,
            pictures.bars("Slowest run behind the fastest", spread, "{:.2f}", "%"))


JUDGES = {"utilization": utilization, "precision": precision, "bound": bound, "batch": batch, "bandwidth": bandwidth, "power": power,
          "capacity": capacity, "specialists": specialists, "software": software, "latency": latency}
