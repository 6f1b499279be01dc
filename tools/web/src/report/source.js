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

/** Of a run whose own command is not known: with its effective configuration as a file. */
function commandOf(run) {
    const settings = Object.entries(run.protocol).map(([key, value]) => `--set 'run.${key}=${value}'`);
    return ["systole", "run", `./${run.device}.yaml`, run.trace, ...settings].join(" ");
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
        run.choices?.length ? h("ul", {}, run.choices.map(({ key, value, why }) => h("li", {}, `Chosen: ${key}=${value}${why ? ` (${why})` : ""}`))) : null,
        data.command ? null : copyable(`the command of ${run.label}`, commandOf(run)),
        run.config
            ? h("details", { class: "data" }, h("summary", {}, `Effective configuration of ${run.label}`), copyable(`the configuration of ${run.label}`, run.config))
            : null,
    ];
}

function intro(data) {
    if (data.command) return [h("p", {}, "This command makes these figures again:"), copyable("the command", data.command)];
    return h("p", {}, "Each effective configuration below loads again as a device, and the command with it makes the same figures, if the parameters of the trace (--set workload.NAME=VALUE) are those of that run: results do not say them.");
}

export function source(data, runs) {
    return [
        runs.length ? intro(data) : null,
        data.sweep ? sweepSource(data.sweep) : null,
        runs.map((run) => runSource(data, run)),
        h("p", { class: "quiet" }, `Written by ${data.program}.`),
    ];
}
