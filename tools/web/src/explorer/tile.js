// SPDX-License-Identifier: Apache-2.0
// A warp's tile on a tensor core, as systole recorded it: which clocks it works in, and what it waits for in the
// others.
import { unpack } from "./recording.js";

/** A clock in which the tensor core works; the others say what the warp waits for. */
export const WORKS = 0;
const WAITS = ["", "sums", "fragments", "both", "barrier", "copies", "issue"];

export class WarpTile {
    constructor(json) {
        Object.assign(this, {
            kind: json.kind, title: json.title, device: json.device, dtype: json.dtype, m: json.m, n: json.n, k: json.k,
            mma: json.mma, fragments: json.fragments, instructions: json.instructions, macsPerCycle: json.macs_per_cycle,
            cyclesOfMma: json.cycles_of_mma, latency: json.latency, cycles: json.cycles, end: json.cycles,
        });
        this.start = 0;
        this.blocks = (this.m / this.mma.m) * (this.n / this.mma.n);
        this.clocks = unpack(json.clocks);
        this.busyBefore = new Int32Array(this.cycles + 1);
        for (let i = 0; i < this.cycles; ++i) this.busyBefore[i + 1] = this.busyBefore[i] + (this.clocks[i] === WORKS);
    }

    /** What the t-th clock goes to: WORKS, or another number; null outside the tile's time. */
    state(t) {
        return t < 1 || t > this.cycles ? null : this.clocks[t - 1];
    }

    /** What the warp waits for in the t-th clock: "sums", "fragments", "both", "barrier", "copies" or "issue". */
    wait(t) {
        return WAITS[this.state(t)];
    }

    /** Products done after t clocks, and those that the tensor core could have done. */
    busy(t) {
        return this.busyBefore[Math.min(t, this.cycles)];
    }

    moves(t) {
        return this.state(t) === WORKS || (t > 1 && t <= this.cycles && this.state(t - 1) === WORKS);
    }

    nextMove(t) {
        let next = t + 1;
        while (next < this.cycles && this.state(next) !== WORKS) ++next;
        return Math.min(next, this.cycles);
    }

    /** Where instruction `index` multiplies: they go along n, then m, then k. */
    place(index) {
        const columns = this.n / this.mma.n;
        const rows = this.m / this.mma.m;
        return {
            number: index,
            n: (index % columns) * this.mma.n,
            m: (Math.floor(index / columns) % rows) * this.mma.m,
            k: Math.floor(index / (columns * rows)) * this.mma.k,
        };
    }

    /** The instruction at work in the t-th clock, and its clock, from 1 on. */
    instructionAt(t) {
        const busy = this.busy(t) - 1;
        return { ...this.place(Math.floor(busy / this.cyclesOfMma)), clock: (busy % this.cyclesOfMma) + 1 };
    }

    /** Instructions begun after t clocks. */
    begun(t) {
        return Math.ceil(this.busy(t) / this.cyclesOfMma);
    }
}
