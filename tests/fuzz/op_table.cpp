// SPDX-License-Identifier: Apache-2.0
// Tables of operators (`op --csv`), answered by a small array and by a GPU.
#include <array>
#include <stdexcept>

#include "sim/app/op_rows.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/small_work.h"

namespace systole::fuzz {
namespace {

constexpr std::size_t kMostRows = 30;

app::LoadedDevice small_device(const char* name) {
    setenv("SYSTOLE_HOME", ".", 1);
    app::LoadedDevice device = app::load_device(app::Library::find(), name, {});
    device.device = std::make_unique<SmallWork>(std::move(device.device));
    return device;
}

}  // namespace

void read_input(const std::string& input) {
    static const std::array devices{small_device("teaching_4x4"), small_device("h100")};
    for (const app::LoadedDevice& device : devices) {
        try {
            const std::vector<CsvRow> rows = parse_csv(input, "f.csv");
            if (rows.size() > kMostRows) return;
            const app::OpTable table = app::answer_rows(device, rows, "f.csv", {}, {Protocol::of_op()});
            // A row for each row, and in each what it asked and all of the answer.
            const std::vector<CsvRow> answers = parse_csv(table.text, "answers.csv");
            if (answers.size() != rows.size()) throw std::logic_error("rows without an answer");
            for (const CsvRow& row : answers)
                if (row.cells.size() != answers.front().cells.size())
                    throw std::logic_error("an answer without all of its columns");
        } catch (const UserError&) {
        }
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{",",
                                                      "\n",
                                                      "\r\n",
                                                      "\"",
                                                      "\"\"",
                                                      "op,dtype,m,n,k\n",
                                                      "matmul,",
                                                      "conv2d,",
                                                      "attention,",
                                                      "softmax,",
                                                      "norm,",
                                                      "elementwise,",
                                                      "activation,",
                                                      "embedding,",
                                                      "collective,",
                                                      "pool,",
                                                      "transpose,",
                                                      "quantize,",
                                                      "conv_transpose,",
                                                      "bf16,",
                                                      "int8,",
                                                      "fp8,",
                                                      "int4,",
                                                      "group",
                                                      "2:4",
                                                      "true",
                                                      "causal",
                                                      "all_reduce",
                                                      "9223372036854775807",
                                                      std::string_view("\0", 1),
                                                      "\xEF\xBB\xBF",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
