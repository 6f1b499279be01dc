// SPDX-License-Identifier: Apache-2.0
// Results and comparisons as `systole report` reads them, drawn as a page: with all of their layers, and with
// no more than two.
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/base/error.h"
#include "sim/report/page.h"
#include "sim/report/report.h"
#include "sim/report/result_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace systole::fuzz {
namespace {

constexpr std::string_view kPage =
    R"(<html><title></title><script id="data" type="application/json"></script></html>)";

void draw(const std::string& input, std::size_t most_layers) {
    report::ReadResults results = report::read_results(input, "result.json", most_layers);
    report::Report report{std::move(results.program), "systole", std::move(results.runs)};
    report.comparisons = std::move(results.comparisons);
    const std::string json = report::report_json(report);
    if (!nlohmann::json::accept(json)) throw std::logic_error("a report's data are no JSON");
    const std::string page = report::fill_page(kPage, report::title_of(report), json);
    const std::size_t end = page.find("</script>");
    if (end == std::string::npos || page.find("</script>", end + 1) != std::string::npos)
        throw std::logic_error("a report's data leave their place");
}

}  // namespace

void read_input(const std::string& input) {
    for (const std::size_t most : {report::kMostLayers, std::size_t{2}}) {
        try {
            draw(input, most);
        } catch (const UserError&) {
        }
    }
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{"\"devices\": [",
                                                      "\"layers\": [",
                                                      "\"comparisons\": [",
                                                      "\"total\": {",
                                                      "null",
                                                      "true",
                                                      "[]",
                                                      "{}",
                                                      "\"schema\": 1,",
                                                      "\"energy_pj\": null,",
                                                      "\"time_ns\": ",
                                                      "\"name\": \"</script>\",",
                                                      "\"<!--\"",
                                                      "1e308",
                                                      "1e999",
                                                      "-0.0",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "[[[[[[[[",
                                                      ",",
                                                      "\"stats\": [",
                                                      "\"reused\": true,",
                                                      "\"parameters\": {\"batch\": 8},",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
