// SPDX-License-Identifier: Apache-2.0
// The accumulators below one column: read, add, write, through a pipeline. A sum that enters is readable, by
// the next sum or by the read port, LATENCY cycles later; `too_young` tells that one was added onto before.
`default_nettype none

module accumulator_bank #(
    parameter ROWS = 16,
    parameter LATENCY = 1
) (
    input  wire               clock,
    input  wire               valid,
    input  wire               accumulate,  // add to the row instead of overwriting it
    input  wire        [15:0] row,
    input  wire signed [31:0] sum,
    output wire               too_young,
    input  wire        [15:0] read_row,
    output wire signed [31:0] read_sum
);
    reg signed [31:0] sums [0:ROWS-1];
    reg [15:0] young [0:ROWS-1];  // cycles until the last sum for the row is readable
    wire signed [31:0] total = sum + (accumulate ? sums[row] : 32'sd0);
    wire write;
    wire [15:0] write_row;
    wire signed [31:0] write_sum;

    delay_line #(.WIDTH(49), .DEPTH(LATENCY - 1)) pipeline(.clock(clock), .in({valid, row, total}),
        .out({write, write_row, write_sum}));

    assign too_young = valid & accumulate & young[row] != 0;
    assign read_sum = sums[read_row];
    always @(posedge clock) if (write) sums[write_row] <= write_sum;

    integer n;
    initial for (n = 0; n < ROWS; n = n + 1) {sums[n], young[n]} = 0;

    always @(posedge clock)
        for (n = 0; n < ROWS; n = n + 1)
            if (valid && row == n) young[n] <= LATENCY - 1;
            else if (young[n] != 0) young[n] <= young[n] - 16'd1;
endmodule
