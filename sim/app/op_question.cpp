// SPDX-License-Identifier: Apache-2.0
#include "sim/app/op_question.h"

#include <fmt/format.h>

namespace systole::app {

OpQuestion read_op_question(const Arguments& arguments, std::size_t first) {
    OpQuestion question;
    question.op = arguments.at(first);
    if (question.op.find('=') != std::string::npos)
        arguments.misused(
            fmt::format("missing OPERATOR before '{}', such as matmul m=512 n=512 k=512", question.op));
    for (const std::string& word : arguments.from(first + 1)) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            arguments.misused(fmt::format("'{}' is not of the form key=value, such as m=512", word));
        question.names.push_back(word.substr(0, equals));
        question.values.push_back(word.substr(equals + 1));
        if (!question.keys.emplace(question.names.back(), question.values.back()).second)
            arguments.misused(fmt::format("'{}' is given twice", question.names.back()));
    }
    return question;
}

}  // namespace systole::app
