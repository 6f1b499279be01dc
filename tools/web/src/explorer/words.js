// SPDX-License-Identifier: Apache-2.0
// What happens in a clock, in words.
import { IDLE, PADDING } from "./recording.js";
import { number } from "./dom.js";
import { WORKS } from "./tile.js";

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** "3 × −2" with brackets where a minus would stand beside a sign. */
export const factor = (value) => (value < 0 ? `(${number(value)})` : number(value));

/** What PE (row, col) does in the t-th clock: "7 + 3 × (−2) = 1", or in words why there is nothing. */
export function equation(recording, t, row, col) {
    const frame = recording.frameAt(t);
    if (recording.work(t, row, col) === IDLE) return null;
    const left = recording.register("moving", frame, row, col);
    const other = recording.register("stationary", frame, row, col);
    const sum = recording.register("sum", frame, row, col);
    const before = sum - left * other;
    return `${number(before)} + ${factor(left)} × ${factor(other)} = ${number(sum)}`;
}

/** One PE after t clocks. */
export function describePe(recording, t, row, col) {
    const place = `PE row ${row}, column ${col}`;
    const calculation = equation(recording, t, row, col);
    if (!calculation) return `${place}: no product in this clock`;
    const names = recording.names(t, row, col);
    if (recording.work(t, row, col) === PADDING) return `${place}: ${calculation}, padding: it lies outside the tile`;
    return `${place}: ${calculation}, that is ${names.left} × ${names.other} for ${names.out}`;
}

/** What a product's first and second operand are called. */
const OPERANDS = { scores: ["queries", "keys"], context: ["shares", "values"] };
const operands = (pass) => OPERANDS[pass?.product] ?? ["activations", "weights"];
const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** What the tile of a pass holds; null where outputs stay. */
function tileOf(pass) {
    if (pass.product) return { ws: operands(pass)[1], is: operands(pass)[0] }[pass.dataflow] ?? null;
    return { ws: "weights", is: "inputs" }[pass.dataflow] ?? null;
}

function entering(recording, t) {
    const operand = recording.moves(t) ? recording.operandOf(recording.frameAt(t), 0, 0) : null;
    if (!operand) return "";
    const { pass, vector } = operand;
    const length = { ws: pass.m, is: pass.n, os: pass.k }[pass.dataflow];
    const [a, w] = { scores: ["q", "kᵀ"], context: ["the shares", "v"] }[pass.product] ?? ["a", "w"];
    const which = {
        ws: `row ${pass.m0 + vector} of ${a}`,
        is: `column ${pass.n0 + vector} of ${w}`,
        os: `step k = ${pass.k0 + vector}`,
    }[pass.dataflow];
    return `Vector ${vector + 1} of ${length} (${which}) enters at the top left.`;
}

function shifting(recording, t, dataflow) {
    let columns = 0;
    for (let col = 0; col < recording.cols; ++col) columns += recording.shifting(t, col);
    if (columns === 0) return "";
    if (dataflow === "os") return `Finished outputs move down in ${plural(columns, "column")} and leave.`;
    // They may be of another product than the pass that streams.
    const next = recording.passes.find((pass) => pass.clock >= t && pass.new_tile) ?? recording.passes.at(-1);
    return `The next ${next ? tileOf(next) ?? "operands" : "operands"} move down into ${plural(columns, "column")}.`;
}

function leavingSums(recording, t) {
    const sums = [];
    for (let col = 0; col < recording.cols; ++col) {
        const value = recording.leaving(t, col);
        if (value !== null) sums.push(`${number(value)} from column ${col}`);
    }
    if (sums.length === 0) return "";
    if (sums.length > 2) return `${sums.length} sums leave for the accumulators.`;
    const list = sums.length > 1 ? `${sums.slice(0, -1).join(", ")} and ${sums.at(-1)}` : sums[0];
    return `${list} ${sums.length > 1 ? "leave" : "leaves"} for the accumulators.`;
}

/** Whether the wave of a pass is still spreading over the array, or is running out of it. */
function phase(recording, t) {
    const at = (position) => {
        const { useful, padding } = recording.clock(position);
        return useful + padding;
    };
    const now = at(t);
    if (now === recording.pes) return "The array is full.";
    if (recording.work(t, 0, 0) === IDLE) return "Drain: no new vector comes, the last ones move to the bottom right.";
    return now > at(t - 1) ? "Fill: the wave spreads by a diagonal a clock." : "";
}

const CAUSES = {
    launch: "the sequencer has its commands still to issue",
    host: "it waits for the host's link",
    memory: "it waits for memory",
    on_chip: "it waits for the way to or from the scratchpad",
    dependency: "it waits for an earlier pass",
    vector: "it waits for the vector unit",
    ramp: "it waits for a tile to shift in, or for sums to come out",
};

/** What goes on behind an array's last sum, which it does not wait for. */
const ENDINGS = {
    launch: "commands are still issued",
    host: "results move over the host's link",
    memory: "results move to or from memory",
    on_chip: "results move to or from the scratchpad",
    dependency: "other units work",
    vector: "the vector unit works",
};

/** The array has done all of the run's products; the run is not over. */
function ending(recording, t) {
    const owner = recording.owner(t);
    if (!owner) return "The run is over.";
    const goes = owner.class in ENDINGS ? `${ENDINGS[owner.class]} (${owner.what})` : "other units finish their work";
    return recording.multiplies ? `The array has no more to do; until the run ends, ${goes}.` : `The array has nothing to do; ${goes}.`;
}

/** Why nothing moves: the account's cause. */
function cause(recording, t) {
    const owner = recording.owner(t);
    if (!owner) return "the run is over";
    if (owner.class === "tail") return "no work is left for it";
    return owner.class in CAUSES ? `${CAUSES[owner.class]} (${owner.what})` : "results are on their way";
}

/** The t-th clock of a recording of an array, in a few sentences. */
export function describeClock(recording, t) {
    if (t === 0) return "Before the first clock: every register is 0.";
    const { useful, padding } = recording.clock(t);
    const dataflow = recording.dataflow(t);
    const moved = shifting(recording, t, dataflow);
    if (useful + padding === 0) {
        const leaves = leavingSums(recording, t);
        if (moved || leaves) return [moved, "No PE multiplies.", leaves].filter(Boolean).join(" ");
        if (!recording.moves(t) || recording.frameAt(t) === 0) {
            const next = recording.nextMove(t);
            if (next >= recording.end && recording.end === recording.cycles && (recording.passAt(t) || !recording.multiplies)) return ending(recording, t);
            const until = next >= recording.end ? "to the end" : `until clock ${number(next)}`;
            return `The array stands still ${until}: ${cause(recording, t)}.`;
        }
        return `No PE multiplies: ${cause(recording, t)}.`;
    }
    const all = useful + padding;
    const beyond = padding === 0 ? "" : padding === all ? ": padding only" : `, ${number(padding)} of them padding`;
    const busy = `${plural(all, "PE")} of ${recording.pes} ${all === 1 ? "multiplies" : "multiply"}${beyond}.`;
    return [busy, phase(recording, t), entering(recording, t), moved, leavingSums(recording, t)].filter(Boolean).join(" ");
}

/** What stays where and what moves, for the head of a panel. */
export function describeDataflow(recording, t) {
    if (!recording.multiplies) return "Nothing is multiplied on the arrays in this run: other units do its work.";
    const pass = recording.passAt(t) ?? recording.passes[0];
    const [first, second] = operands(pass);
    return {
        ws: `${capital(second)} stay in the PEs. ${capital(first)} come from the left, sums fall and grow.`,
        os: `Outputs stay and grow. ${capital(first)} come from the left, ${second} fall.`,
        is: `${pass?.product ? capital(first) : "Inputs"} stay in the PEs. ${capital(second)} come from the left, sums fall and grow.`,
    }[recording.dataflow(t)];
}

const range = (first, extent) => (extent === 1 ? number(first) : `${number(first)}…${number(first + extent - 1)}`);

/** Which part of the product the array was given last. */
export function describePass(recording, t) {
    const all = recording.passes.length;
    const pass = recording.passAt(t);
    if (!pass && all === 0) return recording.multiplies ? "No pass begins before the window's end." : "No pass: nothing is multiplied on this array.";
    if (!pass) return `${plural(all, "pass", "passes")} to come${tilesToCome(recording)}.`;
    const layer = recording.layers.length > 1 ? `, ${recording.layers[pass.layer].name}` : "";
    const same = !pass.new_tile && tileOf(pass) ? `, same ${tileOf(pass)}` : "";
    return `Pass ${number(pass.number)} of ${number(all)}${layer}${productOf(pass)}${same}: m ${range(pass.m0, pass.m)}, ` +
        `n ${range(pass.n0, pass.n)}, k ${range(pass.k0, pass.k)}.`;
}

/** Of how many tiles, where passes share some. */
function tilesToCome({ passes }) {
    const held = tileOf(passes[0]);
    const tiles = passes.filter((pass) => pass.new_tile).length;
    if (!held || tiles === passes.length || passes.some((pass) => tileOf(pass) !== held)) return "";
    return `, with ${plural(tiles, "tile")} of ${held}`;
}

/** Which of several products a pass is of. */
function productOf(pass) {
    const item = pass.batch > 0 ? `, batch ${number(pass.batch)}` : "";
    if (!pass.product) return item;
    const head = pass.head > 0 ? `, head ${number(pass.head)}` : "";
    const block = pass.block > 0 ? `, block ${number(pass.block)} of the keys` : "";
    return `, ${pass.product === "scores" ? "scores (q × kᵀ)" : "context (shares × v)"}${item}${head}${block}`;
}

/** Why the tensor core does not work in the t-th clock: what the warp, which issues in order, waits for. */
function describeWait(tile, t) {
    const next = tile.begun(t) + 1;
    const sums = `the sums of instruction ${number(next - tile.blocks)}, to which it adds`;
    const fragments = "its fragments, on their way out of shared memory";
    return {
        sums: `Instruction ${number(next)} waits for ${sums}: the latency.`,
        fragments: `Instruction ${number(next)} waits for ${fragments}.`,
        both: `Instruction ${number(next)} waits for ${sums}, and for ${fragments}, which come last.`,
        barrier: "The warp is at a barrier: behind it the data of the next step are in shared memory.",
        copies: "The warp waits for its copies into shared memory.",
        issue: `The warp issues what stands before instruction ${number(next)}: copies, and loads of fragments.`,
    }[tile.wait(t)];
}

/** The t-th clock of a warp's tile. */
export function describeTileClock(tile, t) {
    if (t === 0)
        return `Before the first instruction: ${tile.fragments === "registers" ? "all of the warp's operands" : "the first fragments"} are in its registers.`;
    if (tile.state(t) !== WORKS) return describeWait(tile, t);
    const at = tile.instructionAt(t);
    return `Instruction ${at.number + 1} of ${tile.instructions}, clock ${at.clock} of ${tile.cyclesOfMma}: ` +
        `${number(tile.macsPerCycle)} products for out[${at.m}…${at.m + tile.mma.m - 1}, ${at.n}…${at.n + tile.mma.n - 1}], ` +
        `k = ${at.k}…${at.k + tile.mma.k - 1}.`;
}
