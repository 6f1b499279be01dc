// SPDX-License-Identifier: Apache-2.0
// An output-stationary matrix unit: pass sequencer, array, a way out for the results of every column, and
// accumulators. Around it lie a queue that shows its next pass and two operand buffers that show the vector
// asked for: one column of the matrix from the left, one row of the matrix from above.
`default_nettype none

module os_mxu #(
    parameter R = 4,
    parameter C = 4,
    parameter SHADOW = 1,
    parameter RESULT_SHIFT = 1,
    parameter LATENCY = 1,
    parameter ROWS = 16
) (
    input  wire            clock,
    // pass queue
    input  wire            pass_waiting,
    input  wire            pass_new_tile,    // starts new sums
    input  wire            pass_last_use,    // ends them: they leave the array
    input  wire            pass_accumulate,
    input  wire [15:0]     pass_row,         // accumulator row of row 0
    input  wire [15:0]     pass_tile_rows,
    input  wire [15:0]     pass_vectors,
    input  wire [15:0]     pass_span,        // cycles from its first vector to its last
    output wire            pass_start,
    // in the cycle before ...
    output wire            pass_added,       // the last product of a pass that keeps its sums was added
    output wire            tile_left,        // the last result of a tile left
    // and in this one
    output wire            shift_begins,     // results begin to move out
    // operand ports
    output wire [15:0]     vector,
    output wire            vector_last,
    input  wire [15:0]     vector_busy,
    input  wire [8*R-1:0]  left,
    input  wire [8*C-1:0]  top,
    // results below the array, each where it stands in the cycle after it left
    output wire [C-1:0]    sum_valid,
    output wire [16*C-1:0] sum_row,
    output wire [32*C-1:0] sum,
    // accumulators
    output wire [C-1:0]    too_young,        // added onto a sum that could not be read yet
    input  wire [15:0]     read_row,
    output wire [32*C-1:0] read_sum
);
    localparam TAG = 35;  // a pass's last vector: kept or not, accumulate, rows of the tile, first row

    wire may_start, feed, first;
    wire tile_last = vector_last & pass_last_use;
    wire [32:0] about_tile = {pass_accumulate, pass_tile_rows, pass_row};
    wire [TAG*C-1:0] column_tag;
    wire [C-1:0] let_go, result_moves;
    wire [32*C-1:0] result;
    wire [32*R*C-1:0] pe_sum;
    wire [R*C-1:0] finished;

    os_interlock #(.R(R), .SHADOW(SHADOW)) interlock(.clock(clock),
        .new_tile(pass_new_tile), .last_use(pass_last_use), .span(pass_span), .start(pass_start),
        .tile_last(tile_last), .tile_left(tile_left), .may_start(may_start));

    pass_sequencer sequencer(.clock(clock), .pass_waiting(pass_waiting), .may_start(may_start),
        .vectors(pass_vectors), .busy(vector_busy), .start(pass_start), .feed(feed), .vector(vector),
        .first(first), .last(vector_last));

    os_array #(.R(R), .C(C), .TAG(TAG)) array(.clock(clock), .left(left), .top(top), .valid(feed),
        .first(first & pass_new_tile), .last(tile_last), .tag({vector_last, pass_last_use, about_tile}),
        .column_tag(column_tag), .let_go(let_go), .result(result), .result_moves(result_moves),
        .sum(pe_sum), .finished(finished));

    genvar j;
    generate
        for (j = 0; j < C; j = j + 1) begin : column
            wire pass_end, leaves, accumulate, valid, add, emptied;
            wire [15:0] rows, first_row, row;
            wire [31:0] value;
            assign {pass_end, leaves, accumulate, rows, first_row} = column_tag[TAG*j +: TAG];

            if (RESULT_SHIFT != 0) begin : way_out
                os_column_shift #(.R(R)) down(.clock(clock), .bottom_finished(pass_end & leaves),
                    .tile_rows(rows), .first_row(first_row), .accumulate(accumulate),
                    .let_go(let_go[j]), .bottom_result(result[32*j +: 32]), .bottom_moves(result_moves[j]),
                    .valid(valid), .row(row), .add(add), .sum(value), .emptied(emptied));
            end else begin : way_out
                wire [32:0] about_column;
                delay_line #(.WIDTH(33), .DEPTH(j)) skew(.clock(clock), .in(about_tile), .out(about_column));
                os_column_bus #(.R(R)) bus(.clock(clock), .finished(finished[R*j +: R]),
                    .sums(pe_sum[32*R*j +: 32*R]), .accumulate(about_column[32]),
                    .tile_rows(about_column[31:16]), .first_row(about_column[15:0]),
                    .valid(valid), .row(row), .add(add), .sum(value));
                assign let_go[j] = 0;
                assign emptied = pass_end & leaves;
            end

            assign sum_valid[j] = valid;
            assign sum_row[16*j +: 16] = row;
            assign sum[32*j +: 32] = value;
            accumulator_bank #(.ROWS(ROWS), .LATENCY(LATENCY)) bank(.clock(clock), .valid(valid),
                .accumulate(add), .row(row), .sum(value), .too_young(too_young[j]), .read_row(read_row),
                .read_sum(read_sum[32*j +: 32]));
        end
    endgenerate

    assign shift_begins = RESULT_SHIFT != 0 & column[0].pass_end & column[0].leaves;
    assign tile_left = column[C-1].emptied;
    assign pass_added = column[C-1].pass_end & ~column[C-1].leaves;
endmodule
