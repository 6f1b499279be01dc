// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/folder.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/unit/sweep/support.h"

using namespace systole;
using namespace systole::sweep;
using test::complaint;
using test::read_text;
using test::write_text;

namespace fs = std::filesystem;

namespace {

const std::string kId = "0123456789abcdef", kOther = "0123456789abcdee";

Manifest manifest() {
    Manifest made({"chip.rows"});
    made.add({kId, "alpha", "net", {"1"}});
    made.add({kOther, "alpha", "net", {"2"}});
    return made;
}

FolderIdentity identity(const fs::path& directory, const std::string& experiment = "device: alpha\n") {
    return {"fake 1.0", "0123", experiment, directory, 10};
}

void replace(const fs::path& file, const std::string& before, const std::string& after) {
    std::string text = read_text(file);
    const std::size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    write_text(file, text.replace(at, before.size(), after));
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a folder opens as what it was made for", "[folder]") {
    const test::TemporaryFolder place;
    fs::create_directories(place / "files");
    Folder::create(place / "a/b/sweep", identity(place / "files"), manifest());
    const Folder folder = Folder::open(place / "a/b/sweep");
    CHECK(folder.identity().program == "fake 1.0");
    CHECK(folder.identity().experiment == "device: alpha\n");
    CHECK(folder.identity().chunk_points == 10);
    CHECK(fs::equivalent(folder.identity().directory, place / "files"));
    CHECK(folder.manifest().text() == manifest().text());
    CHECK(folder.finished().empty());
    CHECK(folder.failures().empty());
}

TEST_CASE("a folder that was moved with its files still finds them", "[folder]") {
    const test::TemporaryFolder place;
    fs::create_directories(place / "one/files");
    Folder::create(place / "one/sweep", identity(place / "one/files"), manifest());
    fs::rename(place / "one", place / "two");
    CHECK(fs::equivalent(Folder::open(place / "two/sweep").identity().directory, place / "two/files"));
}

TEST_CASE("a folder is made once for one sweep", "[folder]") {
    const test::TemporaryFolder place;
    const fs::path path = place / "sweep";
    const auto make = [&](const FolderIdentity& of, const Manifest& points) {
        return complaint([&] { Folder::create(path, of, points); });
    };
    CHECK(make(identity(place / "."), manifest()) == "fine");
    CHECK(make(identity(place / "."), manifest()) == "fine");
    CHECK(
        contains(make(identity(place / ".", "device: beta\n"), manifest()), "belongs to another experiment"));
    CHECK(contains(make(identity(place / "."), Manifest({"chip.rows"})), "belongs to another experiment"));
    FolderIdentity newer = identity(place / ".");
    newer.program = "fake 2.0";
    CHECK(contains(make(newer, manifest()), "was planned by fake 1.0, and this is fake 2.0"));
}

TEST_CASE("a folder of other files is left alone", "[folder]") {
    const test::TemporaryFolder place;
    write_text(place / "thesis.tex", "x");
    const std::string said =
        complaint([&] { Folder::create(place / "", identity(place / "."), manifest()); });
    CHECK(contains(said, "holds other files ('thesis.tex'); a sweep wants a folder of its own"));
    CHECK_FALSE(fs::exists(place / "manifest.csv"));
    CHECK(
        contains(complaint([&] { Folder::create(place / "thesis.tex", identity(place / "."), manifest()); }),
                 "cannot make the folder"));
}

TEST_CASE("what an interrupted plan left is taken over", "[folder]") {
    const test::TemporaryFolder place;
    write_text(place / "experiment.yaml", "device: alpha\n");
    write_text(place / ".manifest.csv.17.tmp", "half");
    Folder::create(place / "", identity(place / "."), manifest());
    CHECK(Folder::open(place / "").manifest().text() == manifest().text());
}

TEST_CASE("an experiment of somebody else is not written over", "[folder]") {
    const test::TemporaryFolder place;
    write_text(place / "experiment.yaml", "device: beta\n");
    CHECK(contains(complaint([&] { Folder::create(place / "", identity(place / "."), manifest()); }),
                   "holds other files ('experiment.yaml')"));
    CHECK(read_text(place / "experiment.yaml") == "device: beta\n");
}

TEST_CASE("a folder that is not as it was written is refused", "[folder]") {
    const auto broken = [](const auto& breaks) {
        const test::TemporaryFolder place;
        Folder::create(place / "sweep", identity(place / "."), manifest());
        breaks(place / "sweep");
        return complaint([&] { Folder::open(place / "sweep"); });
    };
    CHECK(contains(broken([](const fs::path& at) { fs::remove(at / "sweep.json"); }),
                   "is no folder of a sweep"));
    for (const char* text :
         {"", "{}", "[]", "{\"schema\": 1", "null", "\xFF", "{\"schema\": 1.5}", "{\"schema\": 5.5e+113}"}) {
        INFO(text);
        CHECK(contains(broken([&](const fs::path& at) { write_text(at / "sweep.json", text); }),
                       "this is not what 'systole sweep' writes"));
    }
    CHECK(contains(broken([](const fs::path& at) { replace(at / "sweep.json", "\"directory\"", "\"dir\""); }),
                   "this is not what 'systole sweep' writes"));
    CHECK(contains(broken([](const fs::path& at) { fs::remove(at / "manifest.csv"); }), "cannot be read"));
    CHECK(contains(broken([](const fs::path& at) { replace(at / "manifest.csv", ",1\n", ",3\n"); }),
                   "manifest.csv: error: it is not as it was planned"));
}

TEST_CASE("a folder of a newer systole says so, whatever else it has", "[folder]") {
    const test::TemporaryFolder place;
    Folder::create(place / "sweep", identity(place / "."), manifest());
    write_text(place / "sweep/sweep.json", "{\"schema\": 2}");
    CHECK(contains(
        complaint([&] { Folder::open(place / "sweep"); }),
        "sweep.json: error: sweep/2 was written by or for a newer systole; this one reads sweep/1: take a "
        "newer one, or begin another folder with this one"));
}

TEST_CASE("a sweep.json of other types is refused as any other", "[folder]") {
    const test::TemporaryFolder place;
    Folder::create(place / "sweep", identity(place / "."), manifest());
    replace(place / "sweep/sweep.json", "\"fake 1.0\"", "17");
    CHECK(contains(complaint([&] { Folder::open(place / "sweep"); }),
                   "this is not what 'systole sweep' writes"));
    replace(place / "sweep/sweep.json", "\"schema\": 1", "\"schema\": \"1\"");
    CHECK(contains(complaint([&] { Folder::open(place / "sweep"); }),
                   "this is not what 'systole sweep' writes"));
}

TEST_CASE("an experiment that was changed in its folder is noticed", "[folder]") {
    const test::TemporaryFolder place;
    Folder::create(place / "sweep", identity(place / "."), manifest());
    write_text(place / "sweep/experiment.yaml", "device: beta\n");
    CHECK(contains(complaint([&] { Folder::open(place / "sweep"); }),
                   "experiment.yaml: error: it is not as it was planned"));
}

TEST_CASE("results come back as they were written", "[folder]") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::create(place / "sweep", identity(place / "."), manifest());
    CHECK_FALSE(folder.result(kId));
    folder.write({kId, false, "", {{"time_ns", "12"}, {"bound", "a \"word\", größer\n"}, {"none", ""}}, 1.5});
    folder.write({kOther, true, "no\n\"thanks\"", {}, 0});
    CHECK(folder.finished() == std::vector<std::string>{kOther, kId});
    const auto result = folder.result(kId);
    REQUIRE(result);
    CHECK(result->id == kId);
    CHECK_FALSE(result->refused);
    REQUIRE(result->figures.size() == 3);
    CHECK(result->figures[0].name == "time_ns");
    CHECK(result->figures[0].value == "12");
    CHECK(result->figures[1].value == "a \"word\", größer\n");
    CHECK(result->figures[2].value.empty());
    CHECK(result->wall_s == 1.5);
    const auto refused = folder.result(kOther);
    REQUIRE(refused);
    CHECK(refused->refused);
    CHECK(refused->error == "no\n\"thanks\"");
    CHECK(fs::exists(place / "sweep/points/01/0123456789abcdef.json"));
}

TEST_CASE("a broken result is removed so that its point runs again", "[folder]") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::create(place / "sweep", identity(place / "."), manifest());
    const fs::path file = place / "sweep/points/01/0123456789abcdef.json";
    folder.write({kId, false, "", {{"time_ns", "12"}}, 1.5});
    const std::string good = read_text(file);
    std::vector<std::string> broken{"", "{}", "[]", "null", std::string(200, '\0'), good + "x"};
    for (std::size_t size = 1; size + 2 < good.size(); size += 5) broken.push_back(good.substr(0, size));
    for (std::string text : {good, good, good, good}) broken.push_back(std::move(text));
    const std::size_t last = broken.size();
    const auto change = [&](std::size_t at, const std::string& before, const std::string& after) {
        broken[at].replace(broken[at].find(before), before.size(), after);
    };
    change(last - 4, kId, kOther);
    change(last - 3, "\"12\"", "12");
    change(last - 2, "1.5", "\"1.5\"");
    change(last - 1, "\"status\"", "\"state\"");
    for (const std::string& text : broken) {
        INFO(text);
        write_text(file, text);
        CHECK_FALSE(folder.result(kId));
        CHECK_FALSE(fs::exists(file));
    }
}

TEST_CASE("a result that was written after a time is told from those before", "[folder]") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::create(place / "sweep", identity(place / "."), manifest());
    const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
    CHECK_FALSE(folder.results_after(time));
    for (const std::string& id : {kId, kOther}) {
        folder.write({id, false, "", {}, 0});
        fs::last_write_time(place / "sweep/points" / id.substr(0, 2) / (id + ".json"), time);
    }
    CHECK_FALSE(folder.results_after(time));
    CHECK(folder.results_after(time - std::chrono::nanoseconds(1'000'000)));
    fs::last_write_time(place / "sweep/points/01/0123456789abcdef.json", time + std::chrono::seconds(1));
    CHECK(folder.results_after(time));
}

TEST_CASE("only results are finished points", "[folder]") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::create(place / "sweep", identity(place / "."), manifest());
    folder.write({kId, false, "", {}, 0});
    for (const char* name : {".0123456789abcdef.json.7.tmp", "0123.json", "0123456789ABCDEF.json",
                             "notes.txt", "0123456789abcdef.txt"})
        write_text(place / fmt::format("sweep/points/01/{}", name), "{}");
    CHECK(folder.finished() == std::vector<std::string>{kId});
}

TEST_CASE("failures are kept with their reasons until they are no more", "[folder]") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::create(place / "sweep", identity(place / "."), manifest());
    folder.write_failure(kId, "crashed, \"badly\"\xFF");
    folder.write_failure(kOther, "hung");
    write_text(place / "sweep/failed/notes.json", "{}");
    write_text(place / "sweep/failed/aaaaaaaaaaaaaaaa.json", "{\"reason\": 3}");
    CHECK(folder.failures() ==
          std::map<std::string, std::string>{{kId, "crashed, \"badly\"\xEF\xBF\xBD"},
                                             {kOther, "hung"},
                                             {"aaaaaaaaaaaaaaaa", "failed; why was not recorded"}});
    folder.write_failure(kId, "");
    folder.write_failure(kId, "");
    CHECK(folder.failures().size() == 2);
}

TEST_CASE("temporary files of long ago are swept up, and no others", "[folder]") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::create(place / "sweep", identity(place / "."), manifest());
    folder.write({kId, false, "", {}, 0});
    const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(11);
    for (const char* name : {"points/01/.x.json.7.tmp", ".points.csv.7.tmp", "x.tmp", ".keep"}) {
        write_text(place / fmt::format("sweep/{}", name), "");
        fs::last_write_time(place / fmt::format("sweep/{}", name), old);
    }
    fs::last_write_time(place / "sweep/manifest.csv", old);
    write_text(place / "sweep/.new.7.tmp", "");
    folder.sweep_up();
    CHECK_FALSE(fs::exists(place / "sweep/points/01/.x.json.7.tmp"));
    CHECK_FALSE(fs::exists(place / "sweep/.points.csv.7.tmp"));
    for (const char* name : {"x.tmp", ".keep", ".new.7.tmp", "manifest.csv"})
        CHECK(fs::exists(place / fmt::format("sweep/{}", name)));
    CHECK(folder.finished().size() == 1);
}
