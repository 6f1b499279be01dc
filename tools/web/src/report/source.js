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

export function source(data, runs) {
    return [
        data.command
            ? [h("p", {}, "This command makes these figures again:"), copyable("the command", data.command)]
            : h("p", {}, "Who wrote these results did not say by which command. The effective configurations below load again, as devices."),
        runs.map((run) => [
            h("h3", {}, run.label),
            h("p", {}, "Protocol: ", Object.entries(run.protocol).map(([key, value]) => `run.${key}=${value}`).join(", "), "."),
            run.choices?.length ? h("ul", {}, run.choices.map(({ key, value, why }) => h("li", {}, `Chosen: ${key}=${value}${why ? ` (${why})` : ""}`))) : null,
            run.config
                ? h("details", { class: "data" }, h("summary", {}, `Effective configuration of ${run.label}`), copyable("the configuration", run.config))
                : null,
        ]),
        h("p", { class: "quiet" }, `Written by ${data.program}.`),
    ];
}
