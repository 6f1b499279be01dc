#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results that stand on turns, steps and CTAs taken over (run.reuse), against the same with all of them simulated.

    tests/bench/reuse.py [--program build/systole] [--kind KIND] [--devices a,b,...] [--reuse on|rough] [--cases 60] [--seed N]

- networks: decode and prefill steps of transformers of random sizes, 20 to 40 layers.
- layers: long products, sums, softmaxes, convolutions and one token over a cache.
Each case runs twice, two at a time; those that simulate all of it anyway are counted and no more. Promised are 0.1 % of the time on
systolic devices, and 0.2 % in 19 of 20 cases on GPUs; of networks 1 % with --reuse rough. Each result says to what its time is known
(`reuse.time_known_to`): how many are further off is counted, too. Gates nothing: exit code 0 whatever is found.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys

HOME = pathlib.Path(__file__).resolve().parents[2]
TPUS = ("tpu_v2", "tpu_v3", "tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7")
CHIPS = ("tpu_v2_chip", "tpu_v3_chip", "tpu_v4_chip", "tpu_v5p_chip", "trainium1", "trainium2", "inferentia1", "inferentia2")
GPUS = ("a100", "h100", "h200", "b200", "l4", "l40s", "mi210", "mi300x")
SECONDS = 300  # of a run: longer ones are left out


def power(dice, least, most):
    """As likely to be small as large: 2^least to 2^most."""
    return round(2 ** dice.uniform(least, most))


def network(dice):
    heads = dice.choice((8, 16, 32))
    queries = dice.choice((1, 1, 1, 64, 256))
    sizes = {"layers": dice.choice((20, 24, 32, 40)), "hidden": 128 * heads, "heads": heads, "kv_heads": dice.choice((heads, heads // 4)),
             "ffn": dice.choice((2, 3, 4)) * 128 * heads, "vocabulary": 32000, "batch": dice.choice((1, 1, 2, 8)), "q_len": queries,
             "kv_len": max(queries, dice.choice((512, 2048, 8192, 16384)))}
    return ["run", "llama3_70b", *(word for name, size in sizes.items() for word in ("--set", f"workload.{name}={size}"))]


def layer(dice):
    side = dice.choice((256, 512, 1024, 2048))
    depth = dice.choice((256, 512, 1024, power(dice, 8, 11)))
    kinds = {
        "rows": lambda: ("matmul", f"m={power(dice, 15, 21)}", f"n={side}", f"k={depth}"),
        "columns": lambda: ("matmul", f"m={side}", f"n={power(dice, 14, 18)}", f"k={depth}"),
        "depth": lambda: ("matmul", f"m={side}", f"n={side}", f"k={power(dice, 14, 18)}"),
        "sum": lambda: ("elementwise", "kind=add", f"elements={power(dice, 25, 30)}"),
        "softmax": lambda: ("softmax", f"rows={power(dice, 14, 18)}", f"cols={side}"),
        "convolution": lambda: ("conv2d", f"n={power(dice, 4, 8)}", "h=56", "w=56", "c=64", f"k={dice.choice((64, 128))}", "r=3", "s=3", "pad=1"),
        "cache": lambda: ("attention", "q_len=1", f"kv_len={power(dice, 14, 18)}", f"heads={dice.choice((1, 4, 8, 16, 32))}", "head_dim=128",
                          "cache=true"),
    }
    return ["op", *kinds[dice.choice(tuple(kinds))](), "dtype=bf16", "--set", "placement.trials=1"]


KINDS = {"networks": network, "layers": layer}


def answer(program, device, words, reuse):
    """Cycles, and to what they are known if something was taken over; nothing where the device refuses it, or it takes too long."""
    verb, *rest = words
    if device in GPUS and "--set" in rest and "placement.trials=1" in rest:
        rest = rest[:rest.index("placement.trials=1") - 1]
    try:
        done = subprocess.run([program, verb, device, *rest, "--format", "json", "--set", f"run.reuse={reuse}"],
                              capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    run = json.loads(done.stdout)["devices"][0]
    return run["total"]["cycles"], run["reuse"] and run["reuse"]["time_known_to"]


def compare(program, device, words, reuse):
    """Per cent by which it is off and to which it is known; 0 and nothing if all was simulated; nothing if it did not run."""
    some = answer(program, device, words, reuse)
    if some is None or some[1] is None:
        return None if some is None else (0, None)
    whole = answer(program, device, words, "off")
    return None if whole is None else (100 * (some[0] / whole[0] - 1), 100 * some[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/systole")
    parser.add_argument("--kind", choices=tuple(KINDS), default="networks")
    parser.add_argument("--devices", default=",".join(TPUS), help="'gpus', 'chips' (of several cores), or names with commas")
    parser.add_argument("--reuse", choices=("on", "rough"), default="on")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    asked = parser.parse_args()
    devices = {"gpus": GPUS, "chips": CHIPS}.get(asked.devices) or asked.devices.split(",")
    dice = random.Random(asked.seed)
    cases = [(dice.choice(devices), KINDS[asked.kind](dice)) for _ in range(asked.cases)]
    print(f"{asked.kind}, run.reuse={asked.reuse}, seed {asked.seed}")
    found, whole, failed, deceived = [], 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (device, words), result in zip(cases, pool.map(lambda case: compare(asked.program, *case, asked.reuse), cases)):
            off, known = result or (None, None)
            failed += off is None
            whole += off is not None and known is None
            if known is not None:
                found.append(abs(off))
                deceived += abs(off) > known
                print(f"{off:+.3f} % (known to {known:.3f})  {device} {' '.join(word for word in words if word != '--set')}", flush=True)
    print(f"{len(found)} taken over in part, {whole} simulated whole, {failed} did not run")
    if found:
        found.sort()
        beyond = {limit: sum(off > limit for off in found) for limit in (0.1, 0.2, 1)}
        print(f"off by {sum(found) / len(found):.3f} % on average, {found[-1]:.3f} at worst; "
              + ", ".join(f"{count} by more than {limit}" for limit, count in beyond.items()) + f", {deceived} by more than they say")


if __name__ == "__main__":
    sys.exit(main())
