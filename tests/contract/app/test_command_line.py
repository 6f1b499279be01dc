# SPDX-License-Identifier: Apache-2.0
"""Commands, options, names and settings: what is understood, and what is refused with which words."""

import json
import os
import shutil
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest

COMMANDS = ("run", "op", "lower", "list", "show")


class Help(ProgramTest):
    def test_the_overview_names_every_command(self):
        text = self.answer("--help")
        self.assertEqual(text, self.answer("help"))
        self.assertEqual(text, self.answer("-h"))
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command}\s")

    def test_every_command_teaches_by_three_to_five_examples(self):
        for command in COMMANDS:
            text = self.answer("help", command)
            self.assertEqual(text, self.answer(command, "--help"))
            examples = text.split("Examples\n")[1].split("\nOptions")[0].splitlines()
            self.assertIn(len(examples), range(6, 11), command)
            for line, what in zip(examples[::2], examples[1::2]):
                self.assertTrue(line.startswith(f"  systole {command} "), line)
                self.assertTrue(what.startswith("      "), what)

    def test_help_fits_a_terminal(self):
        for command in COMMANDS:
            for line in self.answer("help", command).splitlines():
                self.assertLessEqual(len(line), 110, line)

    def test_the_version_is_one_line_and_names_the_commit(self):
        self.assertRegex(self.answer("--version"),
                         r"^systole \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}(-dirty)?|unknown)\)\n$")


class WrongWords(ProgramTest):
    def test_an_unknown_command_is_refused_with_a_suggestion(self):
        self.assertIn("did you mean 'show'?", self.refusal("shw", "device"))
        self.assertIn("run, compare, op, explain, explore, wave, dram, lower, list, show", self.refusal("frobnicate"))
        self.assertIn("did you mean 'lower'?", self.refusal("help", "lowr"))
        self.assertIn("did you mean '--version'?", self.refusal("--verson"))

    def test_an_unknown_option_is_refused_with_a_suggestion(self):
        self.assertIn("did you mean '--format'?", self.refusal("run", DEVICE, TRACE, "--fromat", "json"))
        self.assertIn("--frobnicate", self.refusal("run", DEVICE, TRACE, "--frobnicate"))

    def test_options_are_never_abbreviated(self):
        self.assertIn("--form", self.refusal("run", DEVICE, TRACE, "--form", "json"))

    def test_an_option_twice_or_without_its_value_is_refused(self):
        self.refusal("run", DEVICE, TRACE, "--format", "json", "--format", "csv")
        self.refusal("run", DEVICE, TRACE, "--format")

    def test_a_missing_argument_is_named_with_an_example(self):
        self.assertIn("missing the command; for example: systole run", self.refusal())
        for words, name in ((["run"], "DEVICE"), (["run", DEVICE], "TRACE"), (["lower", DEVICE], "TRACE"),
                            (["op", DEVICE], "OPERATOR"), (["show", "device"], "NAME")):
            message = self.refusal(*words)
            self.assertIn(f"missing {name}", message)
            self.assertIn(f"for example: systole {words[0]}", message)

    def test_list_alone_lists_everything(self):
        everything = self.answer("list")
        for word in ("tpu_v4", "resnet50", "hbm2_tpu_v4"):
            self.assertIn(word, everything)

    def test_an_argument_too_many_is_named(self):
        self.assertIn("'third'", self.refusal("run", DEVICE, TRACE, "third"))
        self.assertIn("'more'", self.refusal("list", "devices", "more"))

    def test_an_unknown_choice_is_refused_with_a_suggestion(self):
        self.assertIn("did you mean 'json'?", self.refusal("run", DEVICE, TRACE, "--format", "jsn"))
        self.assertIn("did you mean 'devices'?", self.refusal("list", "device"))
        self.assertIn("did you mean 'trace'?", self.refusal("show", "traces", TRACE))


class Names(ProgramTest):
    def test_an_unknown_name_is_refused_with_a_suggestion(self):
        self.assertIn(f"did you mean '{DEVICE}'?", self.refusal("run", "teaching_4x5", TRACE))
        self.assertIn(f"did you mean '{TRACE}'?", self.refusal("run", DEVICE, "three_layer"))
        self.assertIn(f"did you mean '{TRACE}'?", self.refusal("show", "trace", "tree_layers"))

    def test_names_are_listed_with_what_they_are(self):
        shelves = {"devices": "configs/devices", "memories": "configs/memory", "traces": "traces"}
        for what, folder in shelves.items():
            listed = [line.split()[0] for line in self.answer("list", what).splitlines()[2:]]
            there = sorted(path.stem for path in (HOME / folder).rglob("*.yaml"))
            self.assertEqual(listed, there)
            self.assertEqual(len(set(there)), len(there), "names are unique")
        listed = [line.split()[0] for line in self.answer("list", "models").splitlines()[2:]]
        self.assertEqual(listed, sorted(path.stem for path in (HOME / "configs/models").glob("*.json")))

    def test_a_path_and_a_name_mean_the_same_machine(self):
        shutil.copy(HOME / f"configs/devices/{DEVICE}.yaml", self.directory)
        by_name = self.answer("run", DEVICE, TRACE, "--format", "json")
        for path in (f"{DEVICE}.yaml", f"./{DEVICE}.yaml", str(self.directory / f"{DEVICE}.yaml")):
            self.assertEqual(self.answer("run", path, TRACE, "--format", "json"), by_name)

    def test_a_circle_of_documents_is_one_however_they_are_written(self):
        (self.directory / "round").mkdir()
        self.write("round/a.yaml", "device: A\nextends: ./b.yaml\n")
        for again in ("./././a.yaml", "../round/a.yaml"):
            self.write("round/b.yaml", f"device: B\nextends: {again}\n")
            self.assertIn(f"round/b.yaml:2:10: error: 'extends: {again}' leads in a circle: round/a.yaml -> round/b.yaml -> round/a.yaml",
                          self.refusal("show", "device", "round/a.yaml"))

    def test_a_relative_extends_starts_at_the_document(self):
        (self.directory / "base").mkdir()
        shutil.copy(HOME / f"configs/devices/{DEVICE}.yaml", self.directory / "base" / "machine.yaml")
        self.write("base/derived.yaml", "device: Derived\nextends: ./machine.yaml\nmxu: {rows: 2}\n")
        self.assertRegex(self.answer("show", "device", "base/derived.yaml"), r"mxu\.rows +2 ")
        self.write("bad.yaml", "device: Bad\nextends: teaching_5x5\n")
        message = self.refusal("show", "device", "bad.yaml")
        self.assertRegex(message, rf"bad.yaml:2:10: .*did you mean '{DEVICE}'")

    def test_the_data_directory_is_where_systole_home_says(self):
        home = self.directory / "home"
        (home / "configs/devices").mkdir(parents=True)
        shutil.copy(HOME / f"configs/devices/{DEVICE}.yaml", home / "configs/devices/mine.yaml")
        environment = dict(os.environ, SYSTOLE_HOME=str(home))
        self.assertIn("mine", self.answer("list", "devices", env=environment))
        environment["SYSTOLE_HOME"] = str(self.directory)
        self.assertIn("SYSTOLE_HOME", self.refusal("list", "devices", env=environment))


class Settings(ProgramTest):
    def test_a_setting_changes_device_trace_and_protocol(self):
        shown = self.answer("show", "device", DEVICE, "--set", "mxu.rows=2")
        self.assertRegex(shown, r"mxu\.rows +2 .*command line")
        self.assertIn("[2, 6, 6, 1]", self.answer("show", "trace", TRACE, "--set", "workload.batch=2"))
        ran = self.answer("run", DEVICE, TRACE, "--set", "run.inputs_at=dram", "--format", "json")
        self.assertIn('"inputs_at": "dram"', ran)

    def test_a_trace_is_shown_with_who_reads_whom(self):
        text = self.answer("show", "trace", "resnet50")
        # Of torchvision's 25,557,032 parameters, biases stand for the batch norms' scales and shifts.
        self.assertIn("4,089,184,256 MACs, 25,530,472 stored numbers", text)
        self.assertIn("outputs  fc [1, 1000] bf16", text)
        self.assertIn(" stage2_expand + stage2_shortcut ", text)
        shown = json.loads(self.answer("show", "trace", "llama3_8b", "--format", "json"))
        layers = {layer["name"]: layer for layer in shown["layers"]}
        makers = [tensor["from"] for tensor in layers["decoder.1.attention"]["inputs"]]
        self.assertEqual(makers, ["decoder.1.projection", "decoder.0.out"])
        self.assertEqual([tensor["from"] for tensor in layers["decoder.1.key_turned"]["inputs"]], ["decoder.1.key"])

    def test_a_setting_for_one_device_is_one_for_all_when_there_is_one(self):
        self.assertEqual(self.answer("run", DEVICE, TRACE, "--set", f"{DEVICE}:mxu.rows=2"),
                         self.answer("run", DEVICE, TRACE, "--set", "mxu.rows=2"))

    def test_unknown_paths_are_refused_with_a_suggestion(self):
        for path, meant in (("mxu.rowz", "mxu.rows"), ("workload.bach", "batch"),
                            ("run.input_at", "run.inputs_at")):
            message = self.refusal("run", DEVICE, TRACE, "-o", "out", "--set", f"{path}=1")
            self.assertIn(f"did you mean '{meant}'?", message)
            self.assertTrue(message.startswith(f"--set {path}"), message)

    def test_malformed_settings_are_refused(self):
        for setting in ("mxu.rows", "=4", "mxu.rows=", "nosuch:mxu.rows=4", f"{DEVICE}:workload.batch=2",
                        "mxu..rows=4", "mxu=4", "run.launch=grap", "run.refresh_phase=3", "workload.batch=x"):
            self.assertIn("--set", self.refusal("run", DEVICE, TRACE, "--set", setting))
        twice = ("--set", "mxu.rows=4", "--set", "mxu.rows=2")
        self.assertIn("twice", self.refusal("run", DEVICE, TRACE, *twice))

    def test_a_device_that_runs_networks_once_refuses_replays(self):
        question = ("op", DEVICE, "matmul", "m=4", "n=4", "k=4", "dtype=int8")
        once = ("--set", "run.repeat=1", "--set", "run.weight_copies=1")
        self.assertEqual(self.answer(*question, *once), self.answer(*question))
        for key, values in (("run.repeat", ("2", "1000")), ("run.weight_copies", ("5", "auto"))):
            for value in values:
                for command in (question, ("run", DEVICE, TRACE), ("lower", DEVICE, TRACE), ("explain", *question[1:])):
                    message = self.refusal(*command, "--set", f"{key}={value}")
                    self.assertEqual(message, f"--set {key}: error: {DEVICE} runs every network once, from the start; "
                                              f"expected {key}=1\n")
        for setting, said in (("run.timed_turns=3", "the network runs once; expected run.repeat"),
                              ("run.warm_turns=3", "turns before none that are timed"),
                              ("run.repeat=0", "the least is 1"), ("run.repeat=1001", "the most is 1000"),
                              ("run.weight_copies=0", "expected auto or a number"),
                              ("run.weight_copies=1001", "expected auto or a number"),
                              ("run.weight_copies=aut", "expected auto or a number")):
            message = self.refusal(*question, "--set", setting)
            self.assertIn(said, message)
            self.assertTrue(message.startswith(f"--set {setting.split('=')[0]}: error: "), message)

    def test_workload_settings_need_a_trace(self):
        self.refusal("op", DEVICE, "matmul", "m=4", "n=4", "k=4", "--set", "workload.batch=2")
        self.refusal("show", "device", DEVICE, "--set", "workload.batch=2")

    def test_more_runs_of_a_network_than_memory_has_room_for_are_refused(self):
        message = self.refusal("run", "h100", TRACE, "--set", "workload.dtype=bf16", "--set", "run.repeat=1000", "--set",
                               "run.weight_copies=1000")
        self.assertIn("1,000,000 times a network of 3 layers: at most 250,000 layers are simulated in all", message)


if __name__ == "__main__":
    unittest.main()
