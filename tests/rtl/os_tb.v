// SPDX-License-Identifier: Apache-2.0
// What lies around an output-stationary unit, and what an observer notes, with its cycle: results that begin
// to be shifted out, a pass that starts, a result that leaves the array, one that is added onto a sum too
// young to be read, and a pass that is done; in the end, every accumulator.
//
// Case file: per pass  ready cycle, new tile, last use, accumulate, accumulator row, rows of its tile, cycles
//                      from the first vector to the last, number of vectors,
//                      and per vector the cycles it holds the ports, R values from the left, C from above.
`default_nettype none

module os_tb;
    parameter R = 1;
    parameter C = 1;
    parameter SHADOW = 1;
    parameter RESULT_SHIFT = 1;
    parameter LATENCY = 1;
    parameter ROWS = 1;     // of accumulators
    parameter PASSES = 1;
    parameter VECTORS = 1;  // of all passes
    parameter CYCLES = 1;   // observed

    case_file numbers();

    integer ready [0:PASSES-1];
    reg [15:0] vectors [0:PASSES-1], first_row [0:PASSES-1], tile_rows [0:PASSES-1], span [0:PASSES-1];
    reg new_tile [0:PASSES-1], last_use [0:PASSES-1], accumulate [0:PASSES-1];
    integer first_vector [0:PASSES-1];
    reg [15:0] busy [0:VECTORS-1];
    reg [8*R-1:0] from_left [0:VECTORS-1];
    reg [8*C-1:0] from_above [0:VECTORS-1];

    integer cycle = 0, pass = 0;  // pass: the one that comes next or is being fed
    reg clock = 0;

    wire pass_start, pass_added, tile_left, shift_begins, vector_last;
    wire [15:0] vector;
    wire [C-1:0] sum_valid, too_young;
    wire [16*C-1:0] sum_row;
    wire [32*C-1:0] sum, read_sum;
    reg [15:0] read_row = 0;

    wire pass_waiting = pass < PASSES && ready[pass] <= cycle;

    os_mxu #(.R(R), .C(C), .SHADOW(SHADOW), .RESULT_SHIFT(RESULT_SHIFT), .LATENCY(LATENCY), .ROWS(ROWS))
        unit(.clock(clock), .pass_waiting(pass_waiting), .pass_new_tile(new_tile[pass]),
            .pass_last_use(last_use[pass]), .pass_accumulate(accumulate[pass]), .pass_row(first_row[pass]),
            .pass_tile_rows(tile_rows[pass]), .pass_vectors(vectors[pass]), .pass_span(span[pass]),
            .pass_start(pass_start), .pass_added(pass_added), .tile_left(tile_left),
            .shift_begins(shift_begins), .vector(vector), .vector_last(vector_last),
            .vector_busy(busy[first_vector[pass] + vector]),
            .left(from_left[first_vector[pass] + vector]), .top(from_above[first_vector[pass] + vector]),
            .sum_valid(sum_valid), .sum_row(sum_row), .sum(sum), .too_young(too_young),
            .read_row(read_row), .read_sum(read_sum));

    integer p, v, n, number, j;

    task read_pass;
        begin
            numbers.next(ready[p]);
            numbers.next(number); new_tile[p] = number;
            numbers.next(number); last_use[p] = number;
            numbers.next(number); accumulate[p] = number;
            numbers.next(number); first_row[p] = number;
            numbers.next(number); tile_rows[p] = number;
            numbers.next(number); span[p] = number;
            numbers.next(number); vectors[p] = number;
            first_vector[p] = v;
            for (v = v; v < first_vector[p] + vectors[p]; v = v + 1) read_vector;
        end
    endtask

    task read_vector;
        begin
            numbers.next(number); busy[v] = number;
            for (n = 0; n < R; n = n + 1) begin
                numbers.next(number); from_left[v][8*n +: 8] = number;
            end
            for (n = 0; n < C; n = n + 1) begin
                numbers.next(number); from_above[v][8*n +: 8] = number;
            end
        end
    endtask

    task read_case;
        begin
            v = 0;
            for (p = 0; p < PASSES; p = p + 1) read_pass;
        end
    endtask

    task observe_control;
        begin
            if (shift_begins) $display("shift %0d", cycle);
            if (pass_start) $display("start %0d", cycle);
            if (pass_added) $display("done %0d", cycle);
            if (tile_left) $display("done %0d", cycle);
        end
    endtask

`include "observe.vh"

    always @(posedge clock) begin
        cycle <= cycle + 1;
        if (vector_last) pass <= pass + 1;
    end
endmodule
