# SPDX-License-Identifier: Apache-2.0
"""Broken files: each is refused with exit code 2 and the place of the mistake."""

import re
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest

DEVICE_FILE = f"configs/devices/{DEVICE}.yaml"
TRACE_FILE = f"traces/teaching/{TRACE}.yaml"
ROWS = "rows: {value: 4,"
CONV = "{name: conv, op: conv2d, in: image, filters: 4, kernel: 3, activation: relu}"


class BrokenDevices(ProgramTest):
    def refuse(self, old, new, *words):
        name, line = self.variant("device.yaml", DEVICE_FILE, old, new)
        message = self.refusal("run", name, TRACE, "-o", "out")
        self.assertRegex(message, rf"(?m)^device\.yaml:{line + new.count(chr(10))}:\d+: error: ")
        for word in words:
            self.assertIn(word, message)

    def test_an_unknown_key_is_suggested_its_neighbour(self):
        self.refuse("shadow_register:", "shadow_registr:", "did you mean 'mxu.shadow_register'?")

    def test_a_duplicate_key_is_refused(self):
        self.refuse("  " + ROWS, "  rows: 4\n  " + ROWS, "rows")

    def test_a_wrong_unit_is_refused(self):
        self.refuse("value: 1 GHz", "value: 1 GB", "MHz")
        self.refuse("value: 64 KiB", "value: 64 KHz")
        self.refuse("value: 10 ns", "value: 10 lightyears")

    def test_a_bare_number_for_a_dimensioned_key_is_refused(self):
        self.refuse("value: 1 GHz", "value: 1000000000", "unit")

    def test_a_unit_for_a_count_is_refused(self):
        self.refuse(ROWS, "rows: {value: 4 B,")

    def test_negative_and_huge_values_are_refused(self):
        for value in ("-4", "0", "1e9", "99999999999999999999999999", "0x10", "010", "4.5", ".nan"):
            self.refuse(ROWS, f"rows: {{value: {value},", "mxu.rows")
        self.refuse("value: 64 KiB", "value: 99999999999999 GiB", "scratchpad.capacity")

    def test_values_slower_than_any_machine_are_refused(self):
        for setting in ("core.clock=1 Hz", "host.bandwidth=1 B/s", "host.latency=9000000 s",
                        "sequencer.launch_latency=1000000 s"):
            self.assertIn("slower" if "/s" in setting else "the least is 1 MHz" if "Hz" in setting else "longer",
                          self.refusal("run", DEVICE, TRACE, "--set", setting))
        self.assertIn("the least is 1 MHz", self.refusal("run", "tpu_v4", TRACE, "--set", "memory.clock=1 Hz"))

    def test_a_payload_beyond_the_memorys_largest_is_refused_also_when_it_is_ideal(self):
        self.assertIn("largest transaction", self.refusal("run", DEVICE, TRACE, "--set", "dma.payload=1 MiB"))

    def test_a_buffer_too_small_for_biases_is_refused(self):
        message = self.refusal("run", "tpu_v1", "resnet50", "--set", "workload.dtype=int8", "--set",
                               "placement.weight_buffer=128 B")
        self.assertIn("placement.weight_buffer", message)

    def test_a_format_of_rate_zero_is_none_of_the_machines(self):
        operator = ("op", "tpu_v4", "matmul", "m=8", "n=8", "k=8", "dtype=int8")
        message = self.refusal(*operator, "--set", "mxu.rate.int8=0")
        self.assertIn("no matrix unit takes dtype 'int8'; the matrix units have: bf16", message)
        message = self.refusal(*operator, "--set", "mxu.rate.int8=0", "--set", "mxu.rate.bf16=0")
        self.assertIn("at least one number format", message)
        self.assertEqual(len(message.splitlines()), 1)
        for rate in ("17", "1/17", "1/0", "3/2", "-1", "01", "1/", "half", "0.5"):
            message = self.refusal(*operator, "--set", f"mxu.rate.int8={rate}")
            self.assertIn(f"'{rate}' is no rate: expected a whole number up to 16, or 1/N with N up to 16", message)
            self.assertEqual(len(message.splitlines()), 1)

    def test_a_pair_of_formats_that_is_none_is_refused(self):
        operator = ("op", "tpu_v4", "matmul", "m=8", "n=8", "k=8", "dtype=int8")
        for key in ("int8xint8", "int8x", "xint8", "int8xint9", "int8*int16"):
            message = self.refusal(*operator, "--set", f"mxu.rate.{key}=1/2")
            self.assertIn(f"unknown number format '{key}'", message)

    def test_two_formats_that_the_machine_does_not_take_together_are_named(self):
        words = ("op", "tpu_v1", "matmul", "m=8", "n=8", "k=8", "dtype=int16", "dtype_b=int8", "--set", "mxu.rate.int16=0")
        self.assertEqual(self.run_systole(*words).returncode, 0)
        message = self.refusal(*words, "--set", "mxu.rate.int16xint8=0")
        self.assertIn("no matrix unit takes dtype 'int16'; the matrix units have: int8, int8 with int16", message)

    def test_scales_where_nothing_is_stored_are_refused_for_that_and_not_as_unknown(self):
        two = ("op", "tpu_v4", "matmul", "m=8", "n=8", "k=8", "batch=2", "dtype=bf16")
        for key in ("scales=channel", "sparsity=2:4", "fused=false", "group=4", "scale_dtype=bf16"):
            message = self.refusal(*two, key)
            self.assertIn(f"'{key.split('=')[0]}' is of stored weights; with 'batch' above 1 both operands are activations",
                          message)
            self.assertEqual(len(message.splitlines()), 1)

    def test_a_convolution_has_no_groups_of_scales_however_they_are_asked_for(self):
        operator = ("op", "tpu_v4", "conv2d", "n=1", "h=8", "w=8", "c=8", "k=8", "r=3", "s=3", "dtype=bf16", "scales=group")
        self.write("t.yaml", "trace: t\ninputs:\n  x: {shape: [1, 8, 8, 8], dtype: bf16}\nlayers:\n"
                   "  - {name: a, op: conv2d, in: x, filters: 8, kernel: 3, scales: group}\noutputs: [a]\n")
        for words in (operator, (*operator, "group=4"), ("show", "trace", "./t.yaml")):
            message = self.refusal(*words)
            self.assertIn("scales of groups are those of a matmul; of a convolution give 'scales: channel'", message)
            self.assertEqual(len(message.splitlines()), 1)
        self.assertIn("./t.yaml:5:65: error: conv2d 'a'", message)

    def test_operands_of_direct_arrays_come_from_the_scratchpad(self):
        from_dram = ("--set", "mxu.weight_source=dram")
        for setting, word in (("mxu.dataflow=os", "dataflow os"), ("mxu.dataflow=is", "dataflow is"),
                              ("mxu.weight_fifo_tiles=0", "without a weight FIFO")):
            message = self.refusal("run", DEVICE, TRACE, "--set", setting, *from_dram)
            self.assertIn(word, message)
            self.assertIn("write weight_source: scratchpad", message)
        self.assertIn("ws, os, is", self.refusal("run", DEVICE, TRACE, "--set", "mxu.dataflow=ns"))

    def test_a_grid_with_more_accumulators_than_it_can_hold_is_refused(self):
        message = self.refusal("op", "scalesim", "matmul", "m=4", "n=4", "k=4", "--set", "mxu.engine=grid")
        self.assertIn("mxu.accumulator_rows", message)
        self.assertIn("may have 4194304 rows each", message)

    def test_a_fault_that_is_none_is_suggested_its_neighbour(self):
        self.assertIn("did you mean 'faults.os_without_shift_out'?",
                      self.refusal("run", DEVICE, TRACE, "--set", "faults.os_without_shiftout=on"))

    def test_a_trace_given_as_a_device_is_one_mistake(self):
        message = self.refusal("run", str(HOME / TRACE_FILE), DEVICE)
        self.assertIn("this is a trace, not a device", message)
        self.assertEqual(len(message.splitlines()), 1)

    def test_a_second_operand_that_the_array_cannot_hold_is_refused(self):
        self.assertIn("no matrix unit takes dtype 'int32'",
                      self.refusal("op", "tpu_v1", "matmul", "m=8", "n=8", "k=8", "dtype=int8", "dtype_b=int32"))

    def test_a_missing_key_is_named(self):
        name, _ = self.variant("device.yaml", DEVICE_FILE, "  im2col:", "  # im2col:")
        self.assertIn("mxu.im2col: is missing", self.refusal("run", name, TRACE))

    def test_an_unknown_kind_lists_the_kinds(self):
        self.refuse("kind: systolic", "kind: systolyc", "systolic")

    def test_a_name_that_no_file_system_takes_is_no_preset(self):
        name = 300 * "x"
        for words, text in ((("dram", "long.yaml", "--pattern", "stream"), f"memory: long\nextends: {name}\n"),
                            (("run", "long.yaml", TRACE), f"device: long\nextends: {name}\n")):
            self.write("long.yaml", text)
            self.assertRegex(self.refusal(*words), rf"^long\.yaml:2:10: error: there is no preset '{name}'")

    def test_an_unknown_preset_is_suggested_its_neighbour(self):
        self.refuse("preset: ideal", "preset: ideel", "did you mean 'ideal'?")

    def test_every_mistake_of_a_file_is_reported_at_once(self):
        name, _ = self.variant("device.yaml", DEVICE_FILE, "value: 1 GHz", "value: 1 GB")
        text = (self.directory / name).read_text().replace(ROWS, "rows: {value: -4,")
        self.write(name, text)
        self.assertEqual(len(self.refusal("run", name, TRACE).splitlines()), 2)


class BrokenTraces(ProgramTest):
    def refuse(self, old, new, *words):
        name, line = self.variant("trace.yaml", TRACE_FILE, old, new)
        message = self.refusal("run", DEVICE, name, "-o", "out")
        self.assertRegex(message, rf"(?m)^trace\.yaml:{line}:\d+: error: ")
        for word in words:
            self.assertIn(word, message)

    def test_an_unknown_operator_is_suggested_its_neighbour(self):
        self.refuse("op: conv2d", "op: conv2", "did you mean 'conv2d'?")

    def test_an_edge_from_nowhere_is_refused(self):
        self.refuse("in: image", "in: imago", "image")

    def test_a_shape_that_does_not_fit_is_refused(self):
        self.refuse("kernel: 3", "kernel: 9")
        self.refuse("pool, kind: max, window: 2", "transpose, permutation: [0, 2, 1]")
        self.refuse("kernel: 3", "kernel: 3, groups: 2")

    def test_negative_zero_and_huge_sizes_are_refused(self):
        for value in ("-3", "0", "99999999999999999999", '"batch / 0"', '"batch - 5"'):
            self.refuse("filters: 4", f"filters: {value}")

    def test_an_output_that_no_layer_makes_is_refused(self):
        self.refuse("outputs: [classes]", "outputs: [klasses]", "classes")

    def test_an_unknown_key_of_a_layer_is_suggested_its_neighbour(self):
        self.refuse("filters: 4", "filter: 4", "did you mean 'filters'?")

    def test_two_layers_of_one_name_are_refused(self):
        self.refuse("name: pool", "name: conv", "conv")

    def test_an_unknown_dtype_is_refused(self):
        self.refuse("dtype: int8}", "dtype: int7}", "int8")

    def test_a_dtype_that_the_device_lacks_names_those_it_has(self):
        message = self.refusal("run", DEVICE, TRACE, "--set", "workload.dtype=fp16")
        for dtype in ("fp16", "int8", "bf16", "fp32"):
            self.assertIn(dtype, message)

    def test_a_tensor_beyond_any_memory_is_refused(self):
        self.refusal("run", DEVICE, TRACE, "--set", "workload.batch=2147483647")


class NoYamlAtAll(ProgramTest):
    def each(self, content):
        self.write("broken.yaml", content)
        for words in (("run", "broken.yaml", TRACE), ("run", DEVICE, "broken.yaml"),
                      ("show", "device", "broken.yaml"), ("show", "trace", "broken.yaml"),
                      ("lower", DEVICE, "broken.yaml")):
            self.assertTrue(self.refusal(*words).startswith("broken.yaml"), words)

    def test_empty_files_are_refused(self):
        self.each("")
        self.each("# nothing\n")

    def test_binary_garbage_is_refused(self):
        self.each(bytes(range(256)) * 16)
        self.each(b"\x7fELF\x02\x01\x01" + bytes(4096))

    def test_yaml_of_another_shape_is_refused(self):
        for content in ("[1, 2]\n", "text\n", "{a: 1\n", "a: &x 1\nb: *x\n", "a: 1\n---\na: 2\n",
                        "a: !tag 1\n", "a: " + "[" * 5000 + "\n"):
            self.each(content)

    def test_a_huge_file_is_refused_without_reading_it(self):
        path = self.directory / "broken.yaml"
        with open(path, "wb") as file:
            file.truncate(1 << 34)
        self.assertIn("broken.yaml", self.refusal("run", "broken.yaml", TRACE))
        self.assertIn("broken.yaml", self.refusal("op", DEVICE, "--csv", "broken.yaml"))

    def test_missing_files_and_directories_are_refused(self):
        for name in ("nowhere.yaml", "./", "broken.yaml/x"):
            self.assertIn(name, self.refusal("run", name, TRACE))
            self.assertIn(name, self.refusal("run", DEVICE, name))
            self.assertIn(name, self.refusal("run", DEVICE, "--program", name))
            self.assertIn(name, self.refusal("op", DEVICE, "--csv", name))

    def test_a_program_that_is_none_is_refused_with_its_place(self):
        for content in ("", "frobnicate\n", bytes(range(256))):
            self.write("bad.program", content)
            self.assertTrue(self.refusal("run", DEVICE, "--program", "bad.program").startswith("bad.program"))


class BrokenPrograms(ProgramTest):
    """Programs that were lowered, then edited."""

    def edited(self, edit):
        text = self.answer("lower", DEVICE, TRACE)
        self.write("edited.program", edit(text))
        return "edited.program"

    def test_a_program_for_another_dataflow_is_refused(self):
        self.write("ws.program", self.answer("lower", DEVICE, TRACE))
        self.assertIn("this machine's arrays are os",
                      self.refusal("run", DEVICE, "--program", "ws.program", "--set", "mxu.dataflow=os"))

    def test_a_program_without_its_tokens_gives_wrong_sums_and_the_grid_says_so(self):
        name = self.edited(lambda text: re.sub(" after=.*", "", text))
        message = self.refusal("run", DEVICE, "--program", name, "--set", "mxu.engine=grid")
        self.assertIn("the dot product is", message)

    def test_a_program_is_run_with_the_protocol_it_was_lowered_for(self):
        name = self.edited(lambda text: text)
        message = self.refusal("run", DEVICE, "--program", name, "--set", "run.inputs_at=dram")
        self.assertIn("lowered for inputs_at=host", message)

    def test_huge_transfers_and_drains_beyond_the_accumulators_are_refused(self):
        name = self.edited(lambda text: re.sub(r"(?m)^load (.*) rows=\d+ row_bytes=\d+",
                                               r"load \1 rows=4000000 row_bytes=68719476736", text, count=1))
        self.assertIn("2^40", self.refusal("run", DEVICE, "--program", name))
        name = self.edited(lambda text: re.sub(r"(?m)^(vector .*) accumulator=\d+", r"\1 accumulator=63", text, count=1))
        self.assertIn("rows:", self.refusal("run", DEVICE, "--program", name))


if __name__ == "__main__":
    unittest.main()
