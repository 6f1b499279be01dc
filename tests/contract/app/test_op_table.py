# SPDX-License-Identifier: Apache-2.0
"""systole op: single operators and tables of them, as docs/formats.md says."""

import csv
import io
import json
import re
import unittest

from program import DEVICE, ProgramTest

ANSWERS = ["cycles", "compute_cycles", "time_ns", "utilization", "utilization_pct", "bound_by", "fidelity", "error"]
MATMUL = ("matmul", "m=8", "n=8", "k=8", "dtype=int8")


class OneOperator(ProgramTest):
    def test_the_register_accurate_engine_gives_the_same_bytes(self):
        # With it every drained sum was compared with its dot product, or the run would have been refused.
        for words in (("matmul", "m=9", "n=6", "k=10"), ("conv2d", "n=1", "h=6", "w=6", "c=3", "k=5", "r=3", "s=3", "pad=1")):
            tile, grid = (self.answer("op", DEVICE, *words, "dtype=int8", "--set", f"mxu.engine={engine}")
                          for engine in ("tile", "grid"))
            self.assertEqual(tile, grid)

    def test_every_format_tells_the_same_run(self):
        row = next(csv.DictReader(io.StringIO(self.answer("op", DEVICE, *MATMUL, "--format", "csv"))))
        total = json.loads(self.answer("op", DEVICE, *MATMUL, "--format", "json"))["devices"][0]["total"]
        self.assertEqual(list(row), ["op", "m", "n", "k", "dtype"] + ANSWERS)
        self.assertEqual(int(row["cycles"]), total["cycles"])
        for key in ("compute_cycles", "time_ns", "utilization"):
            self.assertEqual(float(row[key]), total[key])
        self.assertAlmostEqual(float(row["utilization_pct"]), 100 * total["utilization"])
        self.assertEqual((row["bound_by"], row["error"]), (total["bound_by"], ""))
        self.assertEqual(total["macs"], 8 * 8 * 8)

    def test_data_lie_in_device_memory_unless_told_otherwise(self):
        (run,) = json.loads(self.answer("op", DEVICE, *MATMUL, "--format", "json"))["devices"]
        protocol = run["protocol"]
        self.assertEqual((protocol["inputs_at"], protocol["outputs_to"]), ("dram", "dram"))

    def test_the_dtype_is_bf16_where_the_device_has_it(self):
        words = ("op", DEVICE, "matmul", "m=8", "n=8", "k=8")
        self.assertEqual(self.answer(*words), self.answer(*words, "dtype=bf16"))
        message = self.refusal("op", "tpu_v1", *words[2:])
        self.assertIn("dtype is missing", message)
        self.assertIn("int8", message)

    def test_counters_become_columns(self):
        words = ("op", DEVICE, *MATMUL, "--format", "csv")
        (row,) = csv.DictReader(io.StringIO(self.answer(*words, "--counters", "macs,passes")))
        self.assertEqual(list(row), ["op", "m", "n", "k", "dtype"] + ANSWERS[:-1] + ["macs", "passes", "error"])
        (run,) = json.loads(self.answer("op", DEVICE, *MATMUL, "--format", "json"))["devices"]
        for name in ("macs", "passes"):
            total = sum(stat["value"] for stat in run["stats"] if stat["name"] == name)
            self.assertEqual(row[name], str(total))
        self.assertEqual(row["macs"], "512")
        self.assertIn("did you mean 'passes'?", self.refusal(*words, "--counters", "pases"))
        self.assertIn("twice", self.refusal(*words, "--counters", "macs,macs"))
        self.assertIn("--format csv", self.refusal("op", DEVICE, *MATMUL, "--counters", "macs"))
        self.write("q.csv", "op,m,n,k\nmatmul,8,8,8\n")
        done = self.run_systole("op", DEVICE, "--csv", "q.csv", "--counters", "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no component has a counter 'nothing'", done.stdout)

    def test_wrong_keys_are_refused(self):
        for words, word in ((("matmul", "m=8", "n=8"), "'k' is missing"),
                            (("matmull", *MATMUL[1:]), "'matmul'"),
                            ((*MATMUL, "kk=3"), "did you mean 'k'?"), ((*MATMUL, "m=9"), "twice"),
                            ((*MATMUL, "batch"), "key=value"), ((*MATMUL, "batch=-1"), "batch"),
                            ((*MATMUL, "batch=99999999999999999999"), "batch"),
                            (("m=8",), "missing OPERATOR"),
                            (("matmul", "m=8", "n=8", "k=8", "dtype=fp16"), "fp32"),
                            ((*MATMUL, "--csv", "x.csv"), "exclude each other"),
                            ((*MATMUL, "-o", "x"), "--csv")):
            self.assertIn(word, self.refusal("op", DEVICE, *words))


class Tables(ProgramTest):
    def table(self, text, code=0, *options):
        self.write("ops.csv", text)
        done = self.run_systole("op", DEVICE, "--csv", "ops.csv", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout, newline="")))

    def test_the_answer_is_the_question_and_seven_columns(self):
        text = "dtype,op,k,n,m\nint8,matmul,8,4,2\nbf16,matmul,5,6,7\n"
        rows = self.table(text)
        self.assertEqual(list(rows[0]), ["dtype", "op", "k", "n", "m"] + ANSWERS)
        for row, line in zip(rows, text.splitlines()[1:]):
            self.assertEqual(list(row.values())[:5], line.split(","))
            self.assertGreater(int(row["cycles"]), 0)
            self.assertEqual(row["error"], "")

    def test_operators_mix_and_keys_of_others_stay_empty(self):
        rows = self.table("op,dtype,m,n,k,h,w,c,r,s,pad\n"
                          "matmul,int8,8,8,8,,,,,,\nconv2d,int8,,1,4,6,6,3,3,3,1\n")
        self.assertEqual([row["error"] for row in rows], ["", ""])

    def test_a_bias_and_a_function_are_those_of_a_layer_of_a_trace(self):
        self.write("rows.csv", "op,m,n,k,bias,activation\n" + "".join(
            f"matmul,96,80,64,{bias},{function}\n" for bias, function in
            (("", ""), ("false", "none"), ("true", ""), ("", "gelu"), ("true", "relu"))))
        for device in ("tpu_v4", "h100"):
            rows = list(csv.DictReader(io.StringIO(self.answer("op", device, "--csv", "rows.csv"))))
            self.assertEqual(rows[0]["time_ns"], rows[1]["time_ns"])
            self.assertGreater(len({row["time_ns"] for row in rows}), 2)
            for row in rows:
                words = ("matmul", "m=96", "n=80", "k=64", f"bias={row['bias'] or 'false'}",
                         f"activation={row['activation'] or 'none'}")
                alone = json.loads(self.answer("op", device, *words, "--format", "json"))["devices"][0]["total"]
                self.assertEqual(int(row["cycles"]), alone["cycles"])
                self.write("one.yaml", f"""trace: one
inputs: {{x: {{shape: [96, 64], dtype: bf16}}}}
layers:
  - {{name: up, op: matmul, in: x, n: 80, bias: {row['bias'] or 'false'}, activation: {row['activation'] or 'none'}}}
outputs: [up]
""")
                places = [word for path in ("inputs_at=dram", "outputs_to=dram") for word in ("--set", "run." + path)]
                net = json.loads(self.answer("run", device, "one.yaml", "--format", "json", *places))["devices"][0]["total"]
                self.assertEqual(int(row["cycles"]), net["cycles"])
                self.assertEqual(alone["bytes"], net["bytes"])

    def test_every_row_runs_on_a_fresh_machine(self):
        rows = self.table("op,dtype,m,n,k\n" + "matmul,int8,8,8,8\nmatmul,int8,16,4,4\n" * 3)
        self.assertEqual(rows[0:2], rows[2:4])
        self.assertEqual(rows[0:2], rows[4:6])

    def test_a_bad_row_fills_error_and_the_others_are_answered(self):
        rows = self.table("op,dtype,m,n,k\nmatmul,int8,8,8,8\nmatmul,int8,-8,8,8\nmatmul,fp16,8,8,8\n"
                          "matmull,int8,8,8,8\nmatmul,int8,8,8\nmatmul,int8,8,8,\n,,,,\nmatmul,int8,8,8,8\n",
                          code=2)
        self.assertEqual([bool(row["error"]) for row in rows], [False] + 6 * [True] + [False])
        for row in rows[1:-1]:
            self.assertEqual([row[key] for key in ANSWERS[:-1]], [""] * 7)
        self.assertIn("fp32", rows[2]["error"])
        self.assertEqual(rows[0], rows[-1])

    def test_a_bad_row_says_which_cells_are_wrong_and_what_was_expected(self):
        rows = self.table('op,dtype,m,n,k,batch,bias,activation,bais\n'
                          'matmul,int8,8,8,8,,yes,,\n'
                          'matmul,int8,8,8,8,,true,gleu,\n'
                          'matmul,int8,8,8,8,,,,true\n'
                          'matmul,int8,8,8,8,2,true,relu,\n'
                          'softmax,int8,,,,,true,,\n'
                          'matmul,int8,8,8,8,2,false,none,\n'
                          'matmul,int8,8,8,0,,"\n\n",yes,\n', 2)
        self.assertEqual(len(rows), 7)
        for row, places, words in zip(rows, (["2:20"], ["3:25"], ["4:22"], ["5:21", "5:26"]), (
                "'bias' must be true or false", "did you mean 'gelu'?", "did you mean 'bias'?", "'bias' goes with stored weights")):
            self.assertIn(words, row["error"])
            self.assertEqual(re.findall(r"(?:^|; )ops\.csv:(\d+:\d+): error: matmul: ", row["error"]), places)
        self.assertIn("ops.csv:6:18: error: softmax: unknown key 'bias'", rows[4]["error"])
        self.assertIn("ops.csv:6:1: error: softmax: 'rows' is missing", rows[4]["error"])
        self.assertEqual(rows[5]["error"], "")
        # The second cell of two lines puts the third on another line.
        for place in ("8:17: error: matmul: 'k'", "8:20: error: matmul: 'bias'", "10:3: error: matmul: 'activation'"):
            self.assertIn(f"ops.csv:{place}", rows[6]["error"])
        self.write("ops.csv", "op,m,n,k\nmatmul,8,8,8\n")
        self.assertIn(",ops.csv:2:1: error: dtype is missing",
                      self.run_systole("op", "tpu_v1", "--csv", "ops.csv").stdout.replace('"', ""))

    def test_windows_however_far_apart_leave_the_other_rows_answered(self):
        rows = self.table("op,dtype,n,h,w,c,k,r,s,stride,round_up\n" +
                          "".join(f"conv2d,int8,1,5,5,4,4,3,3,{stride},true\n" for stride in (1, 2147483647, 1)))
        self.assertEqual([row["error"] for row in rows], ["", "", ""])
        self.assertEqual(rows[0], rows[2])

    def test_cells_are_quoted_as_rfc_4180_says(self):
        rows = self.table('op,dtype,m,n,k\r\n"mat,""mul""\n",int8,8,8,8\r\n"matmul","int8","8","8","8"',
                          code=2)
        self.assertEqual(rows[0]["op"], 'mat,"mul"\n')
        self.assertEqual((rows[1]["m"], rows[1]["error"]), ("8", ""))

    def test_the_answer_goes_to_a_file(self):
        self.write("ops.csv", "op,dtype,m,n,k\nmatmul,int8,8,8,8\n")
        stdout = self.answer("op", DEVICE, "--csv", "ops.csv")
        self.assertEqual(self.answer("op", DEVICE, "--csv", "ops.csv", "-o", "answers.csv"), "")
        self.assertEqual((self.directory / "answers.csv").read_text(), stdout)

    def test_a_table_that_is_none_is_refused_with_its_place(self):
        for text, place in (("", "ops.csv: "), ("m,n,k\n8,8,8\n", "ops.csv:1:1: "),
                            ("op,m,m\n", "ops.csv:1:6: "),
                            ("op,cycles\n", "ops.csv:1:4: "), ('op,m\nmatmul,"8\n', "ops.csv:2:8: "),
                            ('op,m\nmat"mul,8\n', "ops.csv:2:4: "), ('op,m\n"mat"mul,8\n', "ops.csv:2:6: "),
                            (b"op,m\nmatmul,\x00\n", "ops.csv:2:8: "), (bytes(range(256)), "ops.csv:1:1: ")):
            self.write("ops.csv", text)
            message = self.refusal("op", DEVICE, "--csv", "ops.csv")
            self.assertTrue(message.startswith(place + "error: "), message)


if __name__ == "__main__":
    unittest.main()
