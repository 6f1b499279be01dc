// SPDX-License-Identifier: Apache-2.0
#include "sim/config/survey.h"

#include <utility>

namespace systole::config {

void Survey::add(Question asked) {
    if (!paths_.insert(asked.path).second) return;
    asked.is_optional = looked_for_.contains(asked.path);
    questions_.push_back(std::move(asked));
}

bool Survey::look(const std::string& path, bool given) {
    const bool answer = (given || assumed_.contains(path)) && !denied_.contains(path);
    looked_for_.emplace(path, answer);
    return answer;
}

}  // namespace systole::config
