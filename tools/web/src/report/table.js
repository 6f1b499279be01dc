// SPDX-License-Identifier: Apache-2.0
// Tables: what a chart shows as numbers, sortable by any column, and to take away as CSV.
import { h } from "../shared/dom.js";
import { bytes, joules, percent, seconds } from "../shared/format.js";

const BROAD = 12;         // columns, from which on paper is turned
const MANY_COLUMNS = 18;  // of which paper shows only those that tell rows apart
const MOST_ROWS = 500;  // of a table on the page; a file has all of them

const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** What a file's numbers are in: those of results, before anything makes words of them. */
const UNITS = new Map([[seconds, "ns"], [bytes, "B"], [joules, "pJ"], [percent, "fraction"]]);
const headed = (column) => {
    const unit = column.unit ?? UNITS.get(column.text);
    return unit ? `${column.title} (${unit})` : column.title;
};

export const csv = ({ columns, rows, total }) =>
    [columns.map((column) => quoted(headed(column))), ...[...rows, ...(total ? [total] : [])].map((row) => row.map(quoted))]
        .map((cells) => cells.join(","))
        .join("\n") + "\n";

const isMissing = (value) => value === null || value === undefined || value === "";

/** In the order asked for; what is missing comes last in both. */
function compare(a, b, down) {
    if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return down ? -order : order;
}

/**
 * A table of `columns` ({title, text: value → words, number: bool, unit: of the values in a file}) whose headers sort it; `total`
 * is a last row that stays there.
 */
export function sortableTable(name, { columns, rows, total }, { mark } = {}) {
    const body = h("tbody");
    const note = h("p", { class: "note" });
    let order = { column: -1, down: false };
    const isNumber = columns.map(
        (column, i) => column.number ?? rows.some((row) => typeof row[i] === "number"),
    );
    const many = columns.length > MANY_COLUMNS && rows.length > 1;
    const classOf = columns.map((column, i) => {
        const same = many && i > 0 && rows.every((row) => row[i] === rows[0][i]);
        return [isNumber[i] ? "number" : column.prose ? "prose" : "", same ? "same" : ""].filter(Boolean).join(" ") || null;
    });
    const line = (row, marked) =>
        h("tr", { class: marked ? "marked" : null }, row.map((value, i) =>
            h(i === 0 ? "th" : "td", { class: classOf[i], scope: i === 0 ? "row" : null },
                columns[i].text ? columns[i].text(value) : (value ?? "–"))));
    const fill = () => {
        const sorted = order.column < 0 ? rows : [...rows].sort((a, b) => compare(a[order.column], b[order.column], order.down));
        body.replaceChildren(...sorted.slice(0, MOST_ROWS).map((row) => line(row, mark?.(row))));
        note.textContent =
            rows.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${rows.length.toLocaleString("en-US")} rows; the file has all.` : "";
    };
    const headers = columns.map((column, i) =>
        h(
            "th",
            { scope: "col", class: classOf[i], "aria-sort": "none" },
            h(
                "button",
                {
                    type: "button",
                    onclick: () => {
                        order = { column: i, down: order.column === i ? !order.down : isNumber[i] };
                        headers.forEach((header, other) =>
                            header.setAttribute(
                                "aria-sort",
                                other !== i ? "none" : order.down ? "descending" : "ascending",
                            ),
                        );
                        fill();
                    },
                },
                column.title,
            ),
        ),
    );
    fill();
    const file = h("a", {
        class: "file",
        download: `${name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}.csv`,
        href: "#",
        onclick: (event) => {
            event.currentTarget.href = URL.createObjectURL(new Blob([csv({ columns, rows, total })], { type: "text/csv" }));
        },
    }, "as CSV");
    const table = h("table", { class: many ? "broad many" : columns.length > BROAD ? "broad" : null }, h("caption", { class: "unseen" }, name), h("thead", {}, h("tr", {}, headers)), body,
        total ? h("tfoot", {}, line(total, true)) : null);
    return h(
        "div",
        { class: "table" },
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${name}, table` }, table),
        note,
        file,
    );
}

/** The data of a figure, made when somebody opens it. */
export function dataTable(name, table) {
    const details = h("details", { class: "data" }, h("summary", {}, "Data"));
    details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1)
            details.append(sortableTable(name, typeof table === "function" ? table() : table));
    });
    return details;
}
