// SPDX-License-Identifier: Apache-2.0
// A page with its data: the templates of tools/web/dist have a place for a title and one for JSON.
#pragma once

#include <string>
#include <string_view>

namespace systole::report {

/// `page` with `title` as its title and `json` as the content of its element "data". Neither can break out of
/// its place, whatever names of users are in it. Throws std::invalid_argument for a page without these
/// places.
std::string fill_page(std::string_view page, std::string_view title, std::string_view json);

}  // namespace systole::report
