// SPDX-License-Identifier: Apache-2.0
// A recording as systole wrote it (docs/formats.md): what each register held after each clock. Nothing is computed
// here that the engine computed: only looked up, and counted.

const TYPES = { i8: Int8Array, i16: Int16Array, i32: Int32Array };

/** The numbers of {type, data}. */
export function unpack({ type, data }) {
    const text = atob(data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return new TYPES[type](bytes.buffer);
}

/** The last index whose value is at most `wanted`; -1 if none is. */
function lastAtMost(values, wanted) {
    let low = 0;
    let high = values.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] <= wanted) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

/** Sums of all values before each place: one more than there are values. */
function running(values) {
    const sums = new Float64Array(values.length + 1);
    for (let i = 0; i < values.length; ++i) sums[i + 1] = sums[i] + values[i];
    return sums;
}

export const IDLE = 0;
export const PADDING = 1;
export const USEFUL = 2;

/**
 * One array's run. A position t is "after t clocks": 0 is before the run, `end` behind the last clock that is shown.
 * Registers are there for positions from `start` on.
 */
export class Recording {
    constructor(json) {
        Object.assign(this, {
            kind: json.kind, title: json.title, device: json.device, unit: json.unit, units: json.units,
            asked: json.asked, settings: json.settings, cycles: json.cycles, result: json.result,
            layers: json.layers, rows: json.rows, cols: json.cols, first: json.first, end: json.end,
            passes: json.passes, set: json.dataflow,
        });
        // A run may end within its last clock, when its results are where they must be.
        this.account = json.account;
        this.accountEnds = this.account.map((stretch) => stretch.end);
        this.length = (json.result.time_ns * json.clock_hz) / 1e9;
        this.pes = this.rows * this.cols;
        this.start = this.first === 0 ? 0 : this.first + 1;
        this.frames = unpack(json.frames);
        this.registers = Object.fromEntries(
            Object.entries(json.registers).map(([name, values]) => [name, unpack(values)]));
        this.columns = Object.fromEntries(
            Object.entries(json.columns).map(([name, values]) => [name, unpack(values)]));
        this.clocks = Object.fromEntries(
            Object.entries(json.clocks).map(([name, values]) => [name, unpack(values)]));
        this.sums = Object.fromEntries(Object.entries(this.clocks).map(([name, values]) => [name, running(values)]));
        this.accumulators = Object.fromEntries(
            Object.entries(json.accumulators).map(([name, values]) => [name, unpack(values)]));
        this.passVectors = this.passes.map((pass) => pass.vector);
        this.passClocks = this.passes.map((pass) => pass.clock);
        this.countShifts();
        this.countVectors(unpack(json.vectors_before));
    }

    /** The n-th vector that a PE multiplies is the n-th of all passes: says of each frame which it is, from 1 on. */
    countVectors(before) {
        const { work } = this.registers;
        this.vectors = new Int32Array(work.length);
        for (let pe = 0; pe < this.pes; ++pe) {
            let count = before[pe];
            for (let at = pe; at < work.length; at += this.pes) {
                if (work[at] !== IDLE) ++count;
                this.vectors[at] = count;
            }
        }
    }

    /** A tile shifts for as many clocks as the array has rows: says of each frame and column how many there were. */
    countShifts() {
        const { shifting } = this.columns;
        this.shifts = new Int32Array(shifting.length);
        for (let at = 0; at < shifting.length; ++at)
            this.shifts[at] = (at < this.cols ? 0 : this.shifts[at - this.cols]) + shifting[at];
    }

    /** The step, from 0 on, of the shift that column `col` is in; null: in none. */
    shiftStep(t, col) {
        return this.shifting(t, col) ? (this.shifts[this.frameAt(t) * this.cols + col] - 1) % this.rows : null;
    }

    /** The frame that holds after t clocks; -1: registers are as they were built. */
    frameAt(t) {
        return lastAtMost(this.frames, t - 1);
    }

    /** Whether anything was written down in the t-th clock. */
    moves(t) {
        const frame = this.frameAt(t);
        return frame >= 0 && this.frames[frame] === t - 1;
    }

    /** The next position behind t at which something moves; the end where nothing does any more. */
    nextMove(t) {
        const next = lastAtMost(this.frames, t - 1) + 1;
        return next < this.frames.length ? this.frames[next] + 1 : this.end;
    }

    register(name, frame, row, col) {
        const values = this.registers[name];
        return values && frame >= 0 ? values[frame * this.pes + row * this.cols + col] : 0;
    }

    column(name, frame, col) {
        return frame >= 0 ? this.columns[name][frame * this.cols + col] : 0;
    }

    /** What a PE does in the t-th clock: IDLE, PADDING or USEFUL. */
    work(t, row, col) {
        return this.moves(t) ? this.register("work", this.frameAt(t), row, col) : IDLE;
    }

    shifting(t, col) {
        return this.moves(t) && this.column("shifting", this.frameAt(t), col) !== 0;
    }

    /** The sum that leaves column `col` in the t-th clock, or null. */
    leaving(t, col) {
        const frame = this.frameAt(t);
        return this.moves(t) && this.column("leaves", frame, col) ? this.column("leaving", frame, col) : null;
    }

    /** PE-cycles of the t-th clock by what they went to. */
    clock(t) {
        if (t < 1 || t > this.end) return { useful: 0, padding: 0, ramp: 0, waiting: t < 1 ? 0 : this.pes };
        const [useful, padding, ramp] = ["useful", "padding", "ramp"].map((name) => this.clocks[name][t - 1]);
        return { useful, padding, ramp, waiting: this.pes - useful - padding - ramp };
    }

    /** PE-cycles of the first t clocks. */
    total(t) {
        const [useful, padding, ramp] = ["useful", "padding", "ramp"].map((name) => this.sums[name][t]);
        return { useful, padding, ramp, waiting: this.pes * this.elapsed(t) - useful - padding - ramp };
    }

    /** Whose the begin of the t-th clock is in the unit's account: {class, what}; null behind the run's end. */
    owner(t) {
        return this.account[lastAtMost(this.accountEnds, t - 1) + 1] ?? null;
    }

    /** Clocks that have gone by at position t: t, but at the run's end what the run took. */
    elapsed(t) {
        return t === this.cycles ? this.length : t;
    }

    /** The pass that streams or streamed last at position t; null before the first. */
    passAt(t) {
        const index = lastAtMost(this.passClocks, t - 1);
        return index < 0 ? null : { ...this.passes[index], number: index + 1 };
    }

    dataflow(t) {
        const pass = this.passAt(t) ?? this.passes[0];
        return pass?.dataflow ?? (["os", "is"].includes(this.set) ? this.set : "ws");
    }

    /** Whether the arrays of the run have anything to multiply. */
    get multiplies() {
        return this.passes.length > 0 || this.result.classes.useful + this.result.classes.padding > 0;
    }

    /** The pass, and its vector, that a PE multiplies in a frame; null: it multiplies none. */
    operandOf(frame, row, col) {
        if (frame < 0 || this.register("work", frame, row, col) === IDLE) return null;
        const number = this.vectors[frame * this.pes + row * this.cols + col] - 1;
        const index = lastAtMost(this.passVectors, number);
        return index < 0 ? null : { pass: this.passes[index], vector: number - this.passVectors[index] };
    }

    /** Names of what a PE multiplies after t clocks, and of the result it belongs to: "a[2,0]", "w[0,1]", "out[2,1]". */
    names(t, row, col) {
        const operand = this.moves(t) ? this.operandOf(this.frameAt(t), row, col) : null;
        if (!operand) return null;
        const { pass, vector } = operand;
        const { m0, k0, n0 } = pass;
        switch (pass.dataflow) {
            case "os": return names(pass, m0 + row, k0 + vector, n0 + col);
            case "is": return names(pass, m0 + col, k0 + row, n0 + vector);
            default: return names(pass, m0 + vector, k0 + row, n0 + col);
        }
    }

    /** Accumulators after t clocks: {row, col, value, now}, `now` where the t-th clock wrote them. By row, then column. */
    accumulatorsAt(t) {
        const { clock, row, col, value } = this.accumulators;
        const held = new Map();
        for (let i = 0; i < clock.length && clock[i] < t; ++i)
            held.set(row[i] * this.cols + col[i],
                     { row: row[i], col: col[i], value: value[i], now: clock[i] === t - 1 });
        return held;
    }

    /** Rows of the accumulators that the run writes, in order. */
    accumulatorRows() {
        return [...new Set(this.accumulators.row)].sort((a, b) => a - b);
    }
}

/** What the operands and results of a product are called; keys lie in rows, as queries do. */
function names({ product, dataflow }, m, k, n) {
    const [first, second, out] = {
        scores: [`q[${m},${k}]`, `k[${n},${k}]`, `score[${m},${n}]`],
        context: [`share[${m},${k}]`, `v[${k},${n}]`, `out[${m},${n}]`],
    }[product] ?? [`a[${m},${k}]`, `w[${k},${n}]`, `out[${m},${n}]`];
    return dataflow === "is" ? { left: second, other: first, out } : { left: first, other: second, out };
}
