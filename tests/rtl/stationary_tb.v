// SPDX-License-Identifier: Apache-2.0
// What lies around a weight- or input-stationary unit, and what an observer notes, with its cycle: a tile
// that begins to be shifted in, a pass that starts, a sum that leaves the array, one that is added onto a sum
// too young to be read, and a pass that is done; in the end, every accumulator.
//
// Case file: per tile  arrival cycle, then its R x C values, row by row;
//            per pass  ready cycle, new tile, last use, accumulate, accumulator row, number of vectors,
//                      and per vector the cycles it holds the port and its R values.
`default_nettype none

module stationary_tb;
    parameter INPUT_STATIONARY = 0;
    parameter R = 1;
    parameter C = 1;
    parameter SHADOW = 1;
    parameter LATENCY = 1;
    parameter ROWS = 1;     // of accumulators
    parameter TILES = 1;
    parameter PASSES = 1;
    parameter VECTORS = 1;  // of all passes
    parameter CYCLES = 1;   // observed

    case_file numbers();

    integer arrival [0:TILES-1];
    reg [8*C-1:0] tile_row [0:TILES*R-1];
    integer ready [0:PASSES-1];
    reg [15:0] vectors [0:PASSES-1], first_row [0:PASSES-1];
    reg new_tile [0:PASSES-1], last_use [0:PASSES-1], accumulate [0:PASSES-1];
    integer first_vector [0:PASSES-1];
    reg [15:0] busy [0:VECTORS-1];
    reg [8*R-1:0] operand [0:VECTORS-1];

    // The pass and the tile that come next, or are on their way.
    integer cycle = 0, tile = 0, pass = 0;
    reg clock = 0;

    wire tile_begins, pass_start, pass_done, vector_last;
    wire [15:0] hops, vector;
    wire [C-1:0] sum_valid, too_young;
    wire [16*C-1:0] sum_row;
    wire [32*C-1:0] sum, read_sum;
    reg [15:0] read_row = 0;

    wire tile_waiting = tile < TILES && arrival[tile] <= cycle;
    wire pass_waiting = pass < PASSES && ready[pass] <= cycle;
    wire [8*C-1:0] shifted = hops == 0 ? 0 : tile_row[tile*R + hops - 1];
    wire [15:0] vector_busy = busy[first_vector[pass] + vector];
    wire [8*R-1:0] streamed = operand[first_vector[pass] + vector];

    generate
        if (INPUT_STATIONARY != 0) begin : is
            is_mxu #(.R(R), .C(C), .SHADOW(SHADOW), .LATENCY(LATENCY), .ROWS(ROWS)) unit(.clock(clock),
                .tile_waiting(tile_waiting), .tile_begins(tile_begins),
                .input_hops(hops), .input_row(shifted),
                .pass_waiting(pass_waiting), .pass_new_tile(new_tile[pass]), .pass_last_use(last_use[pass]),
                .pass_accumulate(accumulate[pass]), .pass_row(first_row[pass]), .pass_vectors(vectors[pass]),
                .pass_start(pass_start), .pass_done(pass_done),
                .vector(vector), .vector_last(vector_last), .vector_busy(vector_busy), .weight(streamed),
                .sum_valid(sum_valid), .sum_row(sum_row), .sum(sum), .too_young(too_young),
                .read_row(read_row), .read_sum(read_sum));
        end else begin : ws
            ws_mxu #(.R(R), .C(C), .SHADOW(SHADOW), .LATENCY(LATENCY), .ROWS(ROWS)) unit(.clock(clock),
                .tile_waiting(tile_waiting), .tile_begins(tile_begins),
                .weight_hops(hops), .weight_row(shifted),
                .pass_waiting(pass_waiting), .pass_new_tile(new_tile[pass]), .pass_last_use(last_use[pass]),
                .pass_accumulate(accumulate[pass]), .pass_row(first_row[pass]), .pass_vectors(vectors[pass]),
                .pass_start(pass_start), .pass_done(pass_done),
                .vector(vector), .vector_last(vector_last), .vector_busy(vector_busy), .activation(streamed),
                .sum_valid(sum_valid), .sum_row(sum_row), .sum(sum), .too_young(too_young),
                .read_row(read_row), .read_sum(read_sum));
        end
    endgenerate

    integer t, p, v, n, number, j;

    task read_tile;
        begin
            numbers.next(arrival[t]);
            for (n = 0; n < R * C; n = n + 1) begin
                numbers.next(number);
                tile_row[t*R + n/C][8*(n%C) +: 8] = number;
            end
        end
    endtask

    task read_pass;
        begin
            numbers.next(ready[p]);
            numbers.next(number); new_tile[p] = number;
            numbers.next(number); last_use[p] = number;
            numbers.next(number); accumulate[p] = number;
            numbers.next(number); first_row[p] = number;
            numbers.next(number); vectors[p] = number;
            first_vector[p] = v;
            for (v = v; v < first_vector[p] + vectors[p]; v = v + 1) begin
                numbers.next(number); busy[v] = number;
                for (n = 0; n < R; n = n + 1) begin
                    numbers.next(number); operand[v][8*n +: 8] = number;
                end
            end
        end
    endtask

    task read_case;
        begin
            v = 0;
            for (t = 0; t < TILES; t = t + 1) read_tile;
            for (p = 0; p < PASSES; p = p + 1) read_pass;
        end
    endtask

    task observe_control;
        begin
            if (tile_begins) $display("shift %0d", cycle);
            if (pass_start) $display("start %0d", cycle);
            if (pass_done) $display("done %0d", cycle);
        end
    endtask

`include "observe.vh"

    always @(posedge clock) begin
        cycle <= cycle + 1;
        if (hops == 1) tile <= tile + 1;
        if (vector_last) pass <= pass + 1;
    end
endmodule
