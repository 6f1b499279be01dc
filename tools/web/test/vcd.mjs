// SPDX-License-Identifier: Apache-2.0
// What tests need of a value change dump: the value of a signal, by its path, at a time in ps.

export class Vcd {
    constructor(text) {
        this.changes = new Map();
        const scope = [];
        const codes = new Map();
        let time = 0;
        for (const line of text.split("\n")) {
            const words = line.trim().split(/\s+/);
            if (words[0] === "$scope") scope.push(words[2]);
            else if (words[0] === "$upscope") scope.pop();
            else if (words[0] === "$var") this.declare(codes, words, [...scope, words[4]].join("."));
            else if (line.startsWith("#")) time = Number(line.slice(1));
            else if (/^[01z]/.test(line)) codes.get(line.slice(1))?.push([time, Number(line[0])]);
            else if (line.startsWith("b")) {
                const change = codes.get(words[1]);
                if (change) change.push([time, signed(words[0].slice(1), change.width)]);
            }
        }
    }

    declare(codes, words, path) {
        const changes = [];
        changes.width = Number(words[2]);
        codes.set(words[3], changes);
        this.changes.set(path, changes);
    }

    at(path, time) {
        return this.changes.get(path).findLast(([when]) => when <= time)[1];
    }
}

function signed(digits, width) {
    const value = parseInt(digits, 2);
    return digits.length === width && digits[0] === "1" ? value - 2 ** width : value;
}
