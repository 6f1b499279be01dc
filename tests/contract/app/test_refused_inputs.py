# SPDX-License-Identifier: Apache-2.0
"""Every command that writes, with every kind of file that it reads broken in turn: exit code 2, a message, and the file
system as it was. No file is made, none of an earlier run is touched, nothing temporary is left."""

import gzip
import json
import os
import pathlib
import re
import resource
import tempfile
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest

DEVICE_TEXT = (HOME / f"configs/devices/{DEVICE}.yaml").read_text()
TRACE_TEXT = (HOME / f"traces/teaching/{TRACE}.yaml").read_text()
MEMORY_TEXT = (HOME / "configs/memory/teaching.yaml").read_text()
REQUESTS = "".join(f"{7 * i} {'RRW'[i % 3]} 0x{32 * i:x}\n" for i in range(5000))
NETWORK = "Layer, IH, IW, FH, FW, C, N, S,\nconv1, 8, 8, 3, 3, 3, 4, 1,\n"
MODEL = json.dumps({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
                    "num_hidden_layers": 2, "vocab_size": 512, "max_position_embeddings": 256, "hidden_act": "silu"})
MODULE = """module @net {
  func.func public @main(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
"""
EXPERIMENT = "experiment: two\ndevice: {device}\ntrace: {trace}\naxes:\n  workload.batch: [1, 2]\n"
LESSON = """lesson: L
summary: s
look_at: l
question: q
answer: a
runs:
  - {title: t, device: teaching_4x4, operator: {op: matmul, m: 4, n: 4, k: 4, dtype: int8}}
"""
YAML_MISTAKES = {"empty": "", "no YAML": "{a: [\n", "bytes": bytes(range(256)), "a list": "- 1\n- 2\n"}


def changed(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


# Of each kind of file: its name, what it holds, and what may be wrong with it.
KINDS = {
    "device": ("d.yaml", DEVICE_TEXT, YAML_MISTAKES | {
        "an unknown key": changed(DEVICE_TEXT, "im2col:", "im2coll:"),
        "an unknown preset": changed(DEVICE_TEXT, "preset: ideal", "preset: ideel"),
        # Known when the network is lowered, and not before.
        "too small for the network": DEVICE_TEXT.replace("value: 24 KiB", "value: 8 B").replace("value: 16 KiB", "value: 8 B"),
        "without the network's format": re.sub(r"(?m)^    (int8|bf16): .*\n", "", DEVICE_TEXT)}),
    "trace": ("t.yaml", TRACE_TEXT, YAML_MISTAKES | {
        "an unknown operator": changed(TRACE_TEXT, "op: pool", "op: pol"),
        "a shape that does not fit": changed(TRACE_TEXT, "kernel: 3", "kernel: 9"),
        "a format that the machine lacks": changed(TRACE_TEXT, "dtype: int8", "dtype: fp8"),
        "tensors beyond any memory": changed(TRACE_TEXT, "batch: 1", "batch: 2147483647")}),
    "memory": ("m.yaml", MEMORY_TEXT, YAML_MISTAKES | {
        "an unknown key": changed(MEMORY_TEXT, "patience:", "patients:"),
        "times that no DRAM has": changed(MEMORY_TEXT, "RC: {value: 48", "RC: {value: 4")}),
    "requests": ("r.trace", REQUESTS, {
        "empty": "", "bytes": bytes(range(256)),
        "a mistake in its last line": REQUESTS + "9 X 0\n",
        "cut off": REQUESTS + "70000 R 0x",
        "beyond the memory": REQUESTS + "70000 R 0x80000000\n",
        "a gzip file that ends early": gzip.compress(REQUESTS.encode())[:-9]}),
    "mapping": ("map.yaml", "mapping: by hand\nlayers:\n  classes: {rows: 1, columns: 3, depth: 16}\n", YAML_MISTAKES | {
        "a layer that is none": "mapping: x\nlayers:\n  clases: {rows: 1, columns: 3, depth: 16}\n",
        "a block beyond the accumulators": "mapping: x\nlayers:\n  classes: {rows: 1, columns: 3000000, depth: 16}\n"}),
    "program": ("p.program", None, {
        "empty": "", "no program": "frobnicate\n", "bytes": bytes(range(256))}),
    "table": ("q.csv", "op,dtype,m,n,k\nmatmul,int8,4,4,4\n", {
        "empty": "", "no operators": "a,b\n1,2\n", "a column twice": "op,m,m\nmatmul,4,4\n",
        "a quote that never ends": "op,m\n\"matmul,4\n", "zero bytes": b"op,m\n\0,4\n"}),
    "network.csv": ("n.csv", NETWORK, {"empty": "", "words for numbers": NETWORK.replace("8, 8", "8, eight"),
                                       "a kernel beyond its input": NETWORK.replace("3, 3, 3", "30, 30, 3")}),
    "network.json": ("n.json", MODEL, {"empty": "", "no JSON": MODEL[:-1], "an unknown model": MODEL.replace("llama", "lama"),
                                       "sizes beyond any memory": MODEL.replace("512", "2000000000").replace(
                                           '"hidden_size": 64', '"hidden_size": 2000000000')}),
    "network.mlir": ("n.mlir", MODULE, {"empty": "", "cut off": MODULE[:200], "shapes that do not fit": MODULE.replace(
        "%arg1: tensor<4x4xf32>", "%arg1: tensor<5x4xf32>")}),
    "network.onnx": ("n.onnx", None, {"empty": b"", "bytes": bytes(range(256)), "text": b"no model at all\n"}),
    "model": ("c.json", MODEL, {"empty": "", "no JSON": MODEL[:-1], "an unknown model": MODEL.replace("llama", "lama"),
                                "heads that the chips do not divide": MODEL.replace('"num_attention_heads": 4',
                                                                                    '"num_attention_heads": 5')}),
    "experiment": ("e.yaml", EXPERIMENT.format(device=DEVICE, trace=TRACE), YAML_MISTAKES | {
        "an unknown device": EXPERIMENT.format(device="teaching_5x5", trace=TRACE),
        "an unknown trace": EXPERIMENT.format(device=DEVICE, trace="four_layers"),
        "a value that is none": EXPERIMENT.format(device=DEVICE, trace=TRACE).replace("2]", "two]"),
        "no point at all": EXPERIMENT.format(device=DEVICE, trace=TRACE) + "where: workload.batch > 9\n"}),
    "lesson": ("l.yaml", LESSON, YAML_MISTAKES | {
        "an unknown key": LESSON.replace("answer:", "anser:"), "an unknown device": LESSON.replace("4x4,", "5x5,"),
        "an operator that is none": LESSON.replace("op: matmul", "op: matmull"),
        # Known when it is run.
        "a run that is too long for a page": LESSON.replace("m: 4,", "m: 100000,")}),
    "result": ("result.json", None, {"empty": "", "no JSON": "{\"schema\": 1,", "of a later version": "{\"schema\": 99}",
                                     "without devices": "{\"schema\": 1, \"program\": \"systole\", \"devices\": []}"}),
}

TOO_LITTLE = "systole: error: not enough memory; a smaller workload or a larger limit is needed\n"

# Commands with all that they can write: "{kind}" stands for a file, and all of the outputs lie in "out".
RUN_OUTPUTS = ("-o", "out/run", "--report", "out/r.html", "--timeline", "out/t.json")
COMMANDS = [
    ("run", "{device}", "{trace}", "--mapping", "{mapping}", *RUN_OUTPUTS),
    ("run", "{device}", "--program", "{program}", *RUN_OUTPUTS),
    ("run", "{device}", "{network.csv}", "-o", "out/run"),
    ("run", "{device}", "{network.mlir}", "--input", "arg0", "-o", "out/run"),
    ("compare", "{trace}", "--device", "{device}", "--device", DEVICE, *RUN_OUTPUTS),
    ("op", "{device}", "--csv", "{table}", "-o", "out/rows.csv"),
    ("op", "{device}", "matmul", "m=1", "n=3", "k=16", "dtype=int8", "--timeline", "out/t.json"),
    ("explore", "{device}", "{trace}", "-o", "out/e.html"),
    ("explore", "--lesson", "{lesson}", "-o", "out/l.html"),
    ("wave", "{device}", "{trace}", "-o", "out/w.vcd"),
    ("wave", "{device}", "{trace}", "-o", "out/w.json", "--signals", "*.clock", "--cycles", "0:20"),
    ("dram", "{memory}", "{requests}", "-o", "out/a.txt", "--latencies", "out/l.csv"),
    ("dram", "{memory}", "--pattern", "stream", "--requests", "500", "-o", "out/a.txt", "--save-trace", "out/s.trace.gz"),
    ("lower", "{device}", "{trace}", "--mapping", "{mapping}", "-o", "out/p.program"),
    *(("import", f"{{network.{kind}}}", "-o", "out/n.yaml") for kind in ("csv", "json", "onnx")),
    ("import", "{network.mlir}", "--input", "arg0", "-o", "out/n.yaml"),
    ("trace", "llm", "{model}", "--tensor-parallel", "2", "-o", "out/step.yaml"),
    ("sweep", "{experiment}", "-o", "out/sweep", "--report", "out/s.html"),
    ("report", "{result}", "-o", "out/r.html"),
]
NETWORKS_DO_NOT_FIT = {"too small for the network", "without the network's format"}
OUTPUT_OPTIONS = {"-o", "--output", "--report", "--timeline", "--latencies", "--save-trace"}


class RefusedInputs(ProgramTest):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.environment = os.environ | {"TMPDIR": scratch.name, "HOME": scratch.name}
        self.write_inputs()

    def write_inputs(self):
        for name, text, _ in KINDS.values():
            if text is not None:
                self.write(name, text)
        self.answer("lower", DEVICE, TRACE, "-o", "p.program")
        self.answer("run", DEVICE, TRACE, "-o", "good")
        self.write("result.json", self.read("good/result.json"))
        self.write("n.onnx", (HOME / "tests/fuzz/corpus/onnx/shapes.onnx").read_bytes())

    def words(self, command):
        return [KINDS[word[1:-1]][0] if word.startswith("{") else word for word in command]

    def kinds(self, command):
        return [word[1:-1] for word in command if word.startswith("{")]

    def outputs(self, command):
        return [command[i + 1] for i, word in enumerate(command) if word in OUTPUT_OPTIONS]

    def refuse(self, words):
        self.refusal(*words, env=self.environment)
        self.assertEqual(list(self.scratch.iterdir()), [], words)

    def each_mistake(self, check):
        """check(words) with every command and each of its files broken in every way."""
        for command in COMMANDS:
            for kind in self.kinds(command):
                name, _, mistakes = KINDS[kind]
                good = self.read(name)
                for what, content in mistakes.items():
                    if "--csv" in command and what in NETWORKS_DO_NOT_FIT:
                        continue  # that is a row's error then
                    self.write(name, content)
                    with self.subTest(command=command[0], kind=kind, mistake=what):
                        check(self.words(command))
                self.write(name, good)

    def test_no_mistake_of_any_file_leaves_a_trace(self):
        (self.directory / "out").mkdir()
        self.each_mistake(self.refuse)

    def test_no_mistake_of_any_file_touches_what_an_earlier_run_wrote(self):
        (self.directory / "out").mkdir()
        for command in COMMANDS:
            self.answer(*self.words(command))
        self.each_mistake(self.refuse)

    def test_no_wrong_use_leaves_a_trace(self):
        (self.directory / "out").mkdir()
        for command in COMMANDS:
            words = self.words(command)
            first = self.words([word for word in command if word.startswith("{")][:1])[0]
            wrong = [words + ["--no-such-option"], words + ["one", "word", "too", "many=4"],
                     ["nowhere.yaml" if word == first else word for word in words],
                     ["no_such_name" if word == first else word for word in words]]
            if command[0] in ("run", "compare", "op", "explore", "wave", "dram", "lower") and "--lesson" not in command:
                wrong += [words + ["--set", setting] for setting in ("no.such=key", "core.clock=fast", "run.launch=soon", "=", "x")]
            for each in wrong:
                with self.subTest(words=each):
                    self.refuse(each)

    def test_no_place_that_cannot_be_written_lets_the_others_be(self):
        (self.directory / "out").mkdir()
        (self.directory / "folder").mkdir()
        for command in COMMANDS:
            for output in self.outputs(command):
                places = ["d.yaml/below", "/proc/nowhere/x", "/dev/full", 256 * "x" + pathlib.Path(output).suffix, f"out/{256 * 'x'}/x.html"]
                if not (command[0] in ("run", "compare", "sweep") and "." not in output):
                    places += ["folder", "missing/x" + pathlib.Path(output).suffix]
                for place in places:
                    words = [place if word == output else word for word in self.words(command)]
                    with self.subTest(words=words):
                        self.refuse(words)

    def test_a_name_that_is_too_long_is_refused_before_the_run(self):
        for name in (256 * "x", f"new/{256 * 'x'}"):
            with self.subTest(name=name):
                message = self.refusal("run", DEVICE, TRACE, "-o", name)
                self.assertEqual(message, f"systole: error: cannot write '{name}': a name has at most 255 bytes there\n")

    def test_a_link_that_leads_nowhere_or_round_is_refused_before_the_run(self):
        for link, to in (("nowhere", "missing"), ("round", "round")):
            (self.directory / link).symlink_to(to)
            for name in (link, f"{link}/x"):
                with self.subTest(name=name):
                    self.assertRegex(self.refusal("run", DEVICE, TRACE, "-o", name), f"cannot write '{name}': '.*/{link}' is not a directory")
                    self.assertTrue((self.directory / link).is_symlink())

    def test_a_window_beyond_the_run_leaves_no_waveform_and_no_page(self):
        (self.directory / "out").mkdir()
        for words in (("explore", DEVICE, TRACE, "-o", "out/e.html", "--cycles", "100000:200000"),
                      ("wave", DEVICE, TRACE, "-o", "out/w.vcd", "--cycles", "100000:200000"),
                      ("wave", DEVICE, TRACE, "-o", "out/w.vcd", "--signals", "*.no_such_signal"),
                      ("wave", DEVICE, TRACE, "-o", "out/w.json"),
                      ("wave", DEVICE, TRACE, "-o", "out/w.txt")):
            with self.subTest(words=words):
                self.refuse(words)

    def test_a_standstill_leaves_no_trace(self):
        (self.directory / "out").mkdir()
        self.write("p.program", re.sub(rb" after=load:\d+", b" after=load:99999", self.read("p.program"), count=1))
        before = self.snapshot()
        done = self.run_systole("run", DEVICE, "--program", "p.program", *RUN_OUTPUTS)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertEqual(self.snapshot(), before)

    def test_too_little_memory_is_told_and_leaves_no_trace(self):
        (self.directory / "out").mkdir()

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        message = self.refusal("op", "tpu_v4", "matmul", "m=50000", "n=50000", "k=50000", "--timeline", "out/t.json",
                               preexec_fn=limit)
        self.assertEqual(message, TOO_LITTLE)

    def test_memory_that_ends_anywhere_in_a_run_is_told(self):
        """While files are read, modules are built, processes get their stacks, the simulation goes on, or all is taken down."""
        ends = set()
        for kilobytes in range(10_000, 26_000, 500):
            with self.subTest(kilobytes=kilobytes):
                done = self.run_systole("run", "tpu_v4", "bert_base", preexec_fn=lambda most=kilobytes << 10: resource.setrlimit(
                    resource.RLIMIT_DATA, (most, most)))
                ends.add(done.returncode)
                if done.returncode:
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", TOO_LITTLE))
        self.assertEqual(ends, {0, 2})

    def test_every_option_that_writes_is_among_those_tried(self):
        tried = {}
        for command in COMMANDS:
            tried.setdefault(command[0], set()).update(word for word in command if word in OUTPUT_OPTIONS)
        for line in self.answer("--help").split("Commands\n")[1].split("\n\n")[0].splitlines():
            name = line.split()[0]
            if name == "help":
                continue
            page = self.answer("help", name)
            options = set(re.findall(r"(?m)^  (-o|--[a-z-]+)(?: \[ --output \])? (?:FILE|DIR) +", page))
            reads = {"--mapping", "--program", "--csv"}
            self.assertEqual(options - reads, tried.get(name, set()), name)


if __name__ == "__main__":
    unittest.main()
