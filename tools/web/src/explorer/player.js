// SPDX-License-Identifier: Apache-2.0
// The clock of the page: which position panels show, playing, stepping, and keys.
import { html, number, setText, svg } from "./dom.js";

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32];  // clocks a second
const FASTEST_GLIDE = 8;  // clocks a second, above which nothing slides
const MOST_GLIDING_PES = 100;

const ICONS = {
    first: "M4,3 v14 M16,3 l-10,7 l10,7 z",
    back: "M14,3 l-10,7 l10,7 z",
    on: "M6,3 l10,7 l-10,7 z",
    last: "M16,3 v14 M4,3 l10,7 l-10,7 z",
};
const icon = (name) => svg("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));

export class Player {
    constructor(panels) {
        this.panels = panels;
        this.end = Math.max(...panels.map((panel) => panel.end));
        this.start = Math.min(...panels.map((panel) => panel.start));
        this.t = this.start;
        this.playing = false;
        this.shared = true;
        this.active = panels[0];
        this.still = matchMedia("(prefers-reduced-motion: reduce)");
        this.pes = panels.reduce((sum, panel) => sum + (panel.run.pes ?? 0), 0);
        this.node = this.build();
        document.addEventListener("keydown", (event) => this.key(event));
        for (const panel of panels) panel.node.addEventListener("focusin", () => (this.active = panel));
        this.setShared(true);
    }

    build() {
        const button = (name, label, act) => html("button", { type: "button", "aria-label": label, title: label, onclick: act }, icon(name));
        this.playButton = html("button", { type: "button", class: "play", onclick: () => this.toggle() });
        this.speed = html("select", { id: "speed", onchange: () => this.playing && this.schedule() },
                          ...SPEEDS.map((speed) => html("option", { value: speed, selected: speed === 2 }, `${speed} ${speed === 1 ? "clock" : "clocks"}/s`)));
        this.skip = html("input", { type: "checkbox", id: "skip", checked: true });
        this.share = html("input", { type: "checkbox", id: "share", checked: true, onchange: () => this.setShared(this.share.checked) });
        this.scrub = html("input", { type: "range", id: "scrub", min: this.start, max: this.end, value: this.start, "aria-label": "Clock",
                                     oninput: () => this.seek(this.active, Number(this.scrub.value)) });
        this.place = html("output", { for: "scrub", class: "clock" });
        return html("div", { class: "player", role: "group", "aria-label": "Clock" },
                    html("div", { class: "buttons" },
                         button("first", "To the beginning (Home)", () => this.jump(this.start)),
                         button("back", "A clock back (left arrow)", () => this.step(-1)),
                         this.playButton,
                         button("on", "A clock on (right arrow)", () => this.step(1)),
                         button("last", "To the end (End)", () => this.jump(Infinity))),
                    this.place, this.scrub,
                    html("div", { class: "choices" },
                         html("label", { for: "speed" }, html("span", { class: "hidden" }, "Speed"), this.speed),
                         html("label", { for: "skip" }, this.skip, "pass over still clocks"),
                         this.panels.length > 1 ? html("label", { for: "share" }, this.share, "one clock for all") : null));
    }

    setShared(shared) {
        this.shared = shared;
        document.body.classList.toggle("own-clocks", !shared);
        for (const panel of this.panels) panel.strip.setScale(shared ? this.end : panel.end);
        this.show(0);
    }

    /** Somebody wants `panel` to show position t. */
    seek(panel, t) {
        this.stop();
        this.move(panel, t);
        this.show(0);
    }

    move(panel, t) {
        this.t = Math.max(this.start, Math.min(t, this.end));
        if (!this.shared) panel.t = Math.max(panel.start, Math.min(t, panel.end));
    }

    jump(t) {
        this.stop();
        for (const panel of this.shared ? [this.active] : this.panels) this.move(panel, Math.min(t, this.end));
        this.show(0);
    }

    step(by) {
        this.stop();
        this.move(this.active, (this.shared ? this.t : this.active.t) + by);
        this.show(by > 0 ? this.glide(260) : 0);
    }

    /** How long what moves takes to its place; 0 for those who like no motion, or where it would be a blur. */
    glide(milliseconds) {
        const fits = !this.still.matches && this.pes <= MOST_GLIDING_PES && Number(this.speed.value) <= FASTEST_GLIDE;
        return fits ? milliseconds : 0;
    }

    toggle() {
        if (this.playing) return this.stop(true);
        if (this.finished()) for (const panel of this.panels) this.move(panel, panel.start);
        this.playing = true;
        this.schedule();
        this.show(0);
    }

    stop(show = false) {
        clearTimeout(this.timer);
        const was = this.playing;
        this.playing = false;
        if (was && show) this.show(0);
    }

    finished() {
        return this.shared ? this.t >= this.end : this.panels.every((panel) => panel.t >= panel.end);
    }

    schedule() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.tick(), 1000 / Number(this.speed.value));
    }

    tick() {
        if (this.shared) this.t = this.nextOf(this.panels, this.t);
        else for (const panel of this.panels) panel.t = Math.min(panel.end, this.nextOf([panel], panel.t));
        if (this.finished()) this.playing = false;
        this.show(this.glide(Math.min(420, 700 / Number(this.speed.value))));
        if (this.playing) this.schedule();
    }

    /** The next position; of clocks in which nothing moves in any panel, only the last. */
    nextOf(panels, t) {
        if (!this.skip.checked) return t + 1;
        const next = panels.map((panel) => (t >= panel.end ? Infinity : panel.run.nextMove(t)));
        return Math.min(this.end, ...next);
    }

    key(event) {
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
        const within = event.target instanceof Element ? event.target.tagName : "";
        const own = within === "SELECT" || (within === "INPUT" && event.target.type === "range");
        const press = within === "BUTTON" || within === "SUMMARY" || within === "INPUT" || within === "A";
        if (event.key === " ") {
            if (press || within === "SELECT") return;
            this.toggle();
        } else if (own) {
            return;
        } else if (event.key === "ArrowRight") {
            this.step(1);
        } else if (event.key === "ArrowLeft") {
            this.step(-1);
        } else if (event.key === "Home") {
            this.jump(this.start);
        } else if (event.key === "End") {
            this.jump(Infinity);
        } else {
            return;
        }
        event.preventDefault();
    }

    show(milliseconds) {
        // One panel speaks: the one in use.
        for (const panel of this.panels) panel.show(this.shared ? this.t : panel.t, milliseconds, this.playing || panel !== this.active);
        const t = this.shared ? this.t : this.active.t;
        this.scrub.value = t;
        this.scrub.setAttribute("aria-valuetext", `clock ${t} of ${this.end}`);
        setText(this.place, this.shared ? `clock ${number(t)} of ${number(this.end)}` : "each its own clock");
        this.scrub.disabled = !this.shared;
        setText(this.playButton, this.playing ? "Pause" : "Play");
    }
}
