// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/libraries.h"

#include <fmt/core.h>

#include <nlohmann/json_fwd.hpp>

#ifdef HTMTRACE_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#if defined(HTMTRACE_HAVE_LIBDW) || defined(HTMTRACE_HAVE_LIBELF)
#include <elfutils/version.h>
#endif
#ifdef HTMTRACE_HAVE_SNAPPY
#include <snappy-stubs-public.h>
#endif
#ifdef HTMTRACE_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HTMTRACE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace htmtrace {

std::vector<Library> used_libraries() {
  std::vector<Library> libraries;
  libraries.push_back({"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                                          FMT_VERSION % 100)});
#ifdef HTMTRACE_HAVE_LIBDEFLATE
  libraries.push_back({"libdeflate", LIBDEFLATE_VERSION_STRING});
#endif
#ifdef HTMTRACE_HAVE_LIBDW
  libraries.push_back({"libdw", fmt::format("0.{}", _ELFUTILS_VERSION)});
#endif
#ifdef HTMTRACE_HAVE_LIBELF
  libraries.push_back({"libelf", fmt::format("0.{}", _ELFUTILS_VERSION)});
#endif
#ifdef HTMTRACE_LIBOPCODES_VERSION
  libraries.push_back({"libopcodes", HTMTRACE_LIBOPCODES_VERSION});
#endif
  libraries.push_back(
      {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                    NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)});
#ifdef HTMTRACE_HAVE_SNAPPY
  libraries.push_back(
      {"snappy", fmt::format("{}.{}.{}", SNAPPY_MAJOR, SNAPPY_MINOR, SNAPPY_PATCHLEVEL)});
#endif
#ifdef HTMTRACE_HAVE_ZLIB
  libraries.push_back({"zlib", ::zlibVersion()});
#endif
#ifdef HTMTRACE_HAVE_ZSTD
  libraries.push_back({"zstd", ::ZSTD_versionString()});
#endif
  return libraries;
}

std::vector<std::string> absent_libraries() {
  std::vector<std::string> names;
#ifndef HTMTRACE_HAVE_LIBDEFLATE
  names.emplace_back("libdeflate");
#endif
#ifndef HTMTRACE_HAVE_LIBDW
  names.emplace_back("libdw");
#endif
#ifndef HTMTRACE_HAVE_LIBELF
  names.emplace_back("libelf");
#endif
#ifndef HTMTRACE_LIBOPCODES_VERSION
  names.emplace_back("libopcodes");
#endif
#ifndef HTMTRACE_HAVE_SNAPPY
  names.emplace_back("snappy");
#endif
#ifndef HTMTRACE_HAVE_ZLIB
  names.emplace_back("zlib");
#endif
#ifndef HTMTRACE_HAVE_ZSTD
  names.emplace_back("zstd");
#endif
  return names;
}

}  // namespace htmtrace
