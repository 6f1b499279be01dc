# SPDX-License-Identifier: Apache-2.0
"""What docs/formats.md promises of a timeline, checked over the written file and the result beside it."""

import collections
import decimal
import json

MICROSECOND = 1_000_000  # ps


def picoseconds(value):
    """Times are the next multiple of 2^-20 us: a little less than a picosecond."""
    assert float(value) * 2**20 == int(float(value) * 2**20), value
    return int(decimal.Decimal(value) * MICROSECOND)


class Timeline:
    """A file, read: threads with their spans, flows, counters; times in ps."""

    def __init__(self, text):
        self.text = text
        self.file = json.loads(text, parse_float=decimal.Decimal)
        self.events = self.file["traceEvents"]
        self.runs = {run["pid"]: run for run in self.file["otherData"]["runs"]}
        self.names = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e.get("name") == "thread_name"}
        self.threads = collections.defaultdict(list)
        self.counters = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                begin = picoseconds(event["ts"])
                end = picoseconds(decimal.Decimal(float(event["ts"]) + float(event["dur"])))
                self.threads[event["pid"], event["tid"]].append((begin, end, event))
            if event["ph"] == "C":
                self.counters[event["pid"], event["name"]].append((picoseconds(event["ts"]), event["args"]))

    def accounts(self, pid):
        """Threads that account for all of their time."""
        return {self.names[key]: spans for key, spans in self.threads.items()
                if key[0] == pid and any("slots" in event.get("args", {}) for _, _, event in spans)}

    def slots(self, pid):
        sums = collections.Counter()
        for spans in self.accounts(pid).values():
            for _, _, event in spans:
                sums.update(event.get("args", {}).get("slots", {}))
        return +sums


def check_spans(test, timeline):
    """In the order of time, nested or apart, and within the run."""
    for (pid, tid), spans in timeline.threads.items():
        end_of_run = timeline.runs[pid]["end_ps"]
        name, open_ends, last = timeline.names[pid, tid], [], 0
        for begin, end, event in spans:
            test.assertTrue(last <= begin <= end <= end_of_run, (name, event))
            last = begin
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            test.assertTrue(not open_ends or end <= open_ends[-1], (name, event))
            open_ends.append(end)
        # Readers compute with doubles, some from the first event on.
        zero, sums = float(spans[0][2]["ts"]), {}
        for begin, end, event in spans:
            start = float(event["ts"]) - zero
            test.assertEqual(start + float(event["dur"]), sums.setdefault(end, start + float(event["dur"])), (name, event))
            test.assertEqual(start, sums.get(begin, start), (name, event))


def check_accounts(test, timeline, pid, result):
    """Gapless from 0 to the end, each span with its class; together they have the result's slots."""
    accounts = timeline.accounts(pid)
    test.assertTrue(accounts)
    for name, spans in accounts.items():
        now = 0
        for begin, end, event in spans:
            test.assertEqual(begin, now, (name, event))
            test.assertIn("class", event["args"], name)
            if event["args"].get("spans", 1) > 1:
                test.assertEqual(sum(event["args"]["time_ps"].values()), end - begin, (name, event))
            now = end
        test.assertEqual(now, timeline.runs[pid]["end_ps"], name)
    expected = {key: value for key, value in result["total"]["class_slots"].items() if value}
    test.assertEqual(dict(timeline.slots(pid)), expected)


def check_activity(test, timeline, pid, result):
    """Bins have the result's slots: all together exactly, classes as far as six digits of a fraction tell; and each bin has what
    its units have in its time, as far as whole ticks and slots are."""
    sums, whole = collections.Counter(), 0
    all_slots = sum(result["total"]["class_slots"].values())
    all_units = sum(activity["units"] for activity in timeline.runs[pid]["activity"])
    for activity in timeline.runs[pid]["activity"]:
        samples = timeline.counters[pid, activity["name"]]
        test.assertEqual(len(samples), activity["bins"] + 1)
        test.assertEqual(len(activity["slots"]), activity["bins"])
        capacity = all_slots * activity["units"] / (all_units * activity["bins"])
        for (_, shares), slots in zip(samples, activity["slots"]):
            test.assertAlmostEqual(slots / capacity, 1, delta=0.01, msg=activity["name"])
            whole += slots
            for key, share in shares.items():
                sums[key] += float(share) * slots
    test.assertEqual(whole, all_slots)
    for key, slots in result["total"]["class_slots"].items():
        test.assertAlmostEqual(sums[key], slots, delta=1e-5 * whole, msg=key)


def check_flows(test, timeline):
    """Each has one begin and one end, at existing spans, forwards in time."""
    ends = collections.defaultdict(dict)
    for event in timeline.events:
        if event["ph"] in "sf":
            test.assertNotIn(event["ph"], ends[event["id"]])
            ends[event["id"]][event["ph"]] = event
    begins = {key: {begin for begin, _, _ in spans} for key, spans in timeline.threads.items()}
    for flow in ends.values():
        source, target = picoseconds(flow["s"]["ts"]), picoseconds(flow["f"]["ts"])
        test.assertLessEqual(source, target)
        test.assertEqual(flow["f"]["bp"], "e")
        test.assertIn(target, begins[flow["f"]["pid"], flow["f"]["tid"]])
        spans = timeline.threads[flow["s"]["pid"], flow["s"]["tid"]]
        test.assertTrue(any(begin <= source <= end for begin, end, _ in spans), flow)
    return len(ends)


def check_counters(test, timeline):
    for (pid, name), samples in timeline.counters.items():
        times = [time for time, _ in samples]
        test.assertEqual(times, sorted(set(times)), name)
        test.assertLessEqual(times[-1], timeline.runs[pid]["end_ps"], name)
        for _, args in samples:
            test.assertTrue(all(value >= 0 for value in args.values()), name)


def counted(timeline, pid, name):
    """What passed by a counter in GB/s: bytes."""
    samples = timeline.counters[pid, name]
    return sum(float(next(iter(args.values()))) * (end - begin) / 1000
               for (begin, args), (end, _) in zip(samples, samples[1:]))


def check_timeline(test, timeline, results):
    """`results`: by process, in order."""
    test.assertEqual(timeline.file["displayTimeUnit"], "ns")
    test.assertEqual(timeline.file["otherData"]["schema"], "systole-timeline-1")
    check_spans(test, timeline)
    check_flows(test, timeline)
    check_counters(test, timeline)
    for pid, result in enumerate(results, 1):
        run = timeline.runs[pid]
        test.assertEqual((run["device"], run["trace"]), (result["device"], result["trace"]))
        test.assertEqual(run["end_ps"], round(result["total"]["time_ns"] * 1000))
        test.assertEqual(run["layers"], [layer["name"] for layer in result["layers"]])
        check_accounts(test, timeline, pid, result)
        check_activity(test, timeline, pid, result)
