// SPDX-License-Identifier: Apache-2.0
// Feeds the vectors of one pass after another into the array. Each vector holds the operand port for as many
// cycles as its operands take to be read; the next one follows when the port is free.
`default_nettype none

module pass_sequencer (
    input  wire        clock,
    input  wire        pass_waiting,
    input  wire        may_start,  // as far as the array is concerned
    input  wire [15:0] vectors,    // of the pass that waits or streams
    input  wire [15:0] busy,       // cycles for which the vector fed now holds the port, >= 1
    output wire        start,
    output wire        feed,
    output wire [15:0] vector,     // number of the vector fed now
    output wire        first,
    output wire        last
);
    reg streaming = 0;
    reg [15:0] next_vector = 0;
    reg [15:0] port_busy = 0;

    wire port_free = port_busy == 0;
    assign start = pass_waiting & may_start & port_free & ~streaming;
    assign feed = start | (streaming & port_free);
    assign vector = start ? 16'd0 : next_vector;
    assign first = start;
    assign last = feed & vector + 16'd1 == vectors;

    always @(posedge clock) begin
        if (feed) begin
            streaming <= ~last;
            next_vector <= vector + 16'd1;
            port_busy <= busy - 16'd1;
        end else if (!port_free) begin
            port_busy <= port_busy - 16'd1;
        end
    end
endmodule
