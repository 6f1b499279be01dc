// SPDX-License-Identifier: Apache-2.0
// How to get the same again: the command, the protocol, and every value of the devices; of a sweep its experiment.
import { h } from "../shared/dom.js";

function copyable(label, text) {
    const said = h("span", { role: "status", class: "quiet" });
    return h("div", {},
        h("div", { class: "controls" },
            h("button", {
                type: "button",
                onclick: async () => {
                    try {
                        await navigator.clipboard.writeText(text);
                        said.textContent = "copied";
                    } catch {
                        said.textContent = "select the text and copy it";
                    }
                },
            }, `Copy ${label}`), said),
        h("pre", { tabindex: "0", role: "region", "aria-label": label }, text));
}

/** As a shell takes it for one word. */
const word = (text) => (/^[\w./=,:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The trace's parameters; nothing of results that do not say them. */
const parametersOf = (run) => Object.entries(run.parameters ?? {}).map(([name, value]) => `workload.${name}=${value}`);

/** Of a run whose own command is not known: with its effective configuration as a file. */
function commandOf(run) {
    const settings = [...Object.entries(run.protocol).map(([key, value]) => `run.${key}=${value}`), ...parametersOf(run)];
    return ["systole run", word(`./${run.device}.yaml`), word(run.trace), ...settings.map((setting) => `--set ${word(setting)}`)].join(" ");
}

function sweepSource({ experiment, build, objectives }) {
    if (!experiment) return [];
    return [
        h("p", {}, "Put the experiment below into a file, beside the files that it names, if any (the sweep's folder has a copy). This command runs its points again:"),
        copyable("the command", "systole sweep ./experiment.yaml -o sweep --report sweep.html"),
        copyable("the experiment", experiment),
        objectives.length ? h("p", {}, "Objectives: ", objectives.map(({ name, more_is_better: more }) => `${more ? "most" : "least"} ${name}`).join(", "), ".") : null,
        h("p", {}, `Planned by the build ${build}.`),
    ];
}

function runSource(data, run) {
    return [
        h("h3", {}, run.label),
        h("p", {}, "Protocol: ", Object.entries(run.protocol).map(([key, value]) => `run.${key}=${value}`).join(", "), "."),
        run.parameters && Object.keys(run.parameters).length ? h("p", {}, `Parameters of ${run.trace}: `, parametersOf(run).join(", "), ".") : null,
        run.choices?.length ? h("ul", {}, run.choices.map(({ key, value, why }) => h("li", {}, `Chosen: ${key}=${value}${why ? ` (${why})` : ""}`))) : null,
        data.command ? null : copyable(`the command of ${run.label}`, commandOf(run)),
        run.config
            ? h("details", { class: "data" }, h("summary", {}, `Effective configuration of ${run.label}`), copyable(`the configuration of ${run.label}`, run.config))
            : null,
    ];
}

function intro(data, runs) {
    if (data.command) return [h("p", {}, "This command makes these figures again:"), copyable("the command", data.command)];
    const unknown = runs.some((run) => !run.parameters);
    return h("p", {}, `Each effective configuration below loads again as a device, and the command with it makes the same figures${unknown
        ? ", if the parameters of the trace (--set workload.NAME=VALUE) are those of that run: some of these results do not say them." : "."}`);
}

export function source(data, runs) {
    return [
        runs.length ? intro(data, runs) : null,
        data.sweep ? sweepSource(data.sweep) : null,
        runs.map((run) => runSource(data, run)),
        h("p", { class: "quiet" }, `Written by ${data.program}.`),
    ];
}
