// SPDX-License-Identifier: GPL-2.0-or-later
// Instantiates fmt's library for a build that has only the package's headers (HTMTRACE_OWN_FMT).
// This file compiles the definitions of format-inl.h and the templates that other files expect.
// Without it, each file that formats text would compile them again, which takes 3 s at -O3.
#include <fmt/format-inl.h>

namespace fmt {

template void detail::buffer<char>::append(const char*, const char*);
template void detail::vformat_to(detail::buffer<char>&, string_view, format_args,
                                 detail::locale_ref);
template detail::thousands_sep_result<char> detail::thousands_sep_impl(detail::locale_ref);
template char detail::decimal_point_impl(detail::locale_ref);
template detail::dragonbox::decimal_fp<float> detail::dragonbox::to_decimal(float);
template detail::dragonbox::decimal_fp<double> detail::dragonbox::to_decimal(double);

}  // namespace fmt
