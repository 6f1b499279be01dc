// SPDX-License-Identifier: Apache-2.0
// How to get the same again: the command, the protocol, and every value of the devices.
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

export function source(data, runs) {
    return [
        data.command
            ? [h("p", {}, "This command makes these figures again:"), copyable("the command", data.command)]
            : h("p", {}, "Each effective configuration below loads again as a device, and the command with it makes the same figures, if the parameters of the trace (--set workload.NAME=VALUE) are those of that run: results do not say them."),
        runs.map((run) => [
            h("h3", {}, run.label),
            h("p", {}, "Protocol: ", Object.entries(run.protocol).map(([key, value]) => `run.${key}=${value}`).join(", "), "."),
            run.choices?.length ? h("ul", {}, run.choices.map(({ key, value, why }) => h("li", {}, `Chosen: ${key}=${value}${why ? ` (${why})` : ""}`))) : null,
            data.command ? null : copyable(`the command of ${run.label}`, commandOf(run)),
            run.config
                ? h("details", { class: "data" }, h("summary", {}, `Effective configuration of ${run.label}`), copyable(`the configuration of ${run.label}`, run.config))
                : null,
        ]),
        h("p", { class: "quiet" }, `Written by ${data.program}.`),
    ];
}
