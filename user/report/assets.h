/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of report/page and third_party/uplot, embedded in the program. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#define ASSET(name) extern const char asset_##name[], asset_##name##_end[]

ASSET(uplot_css);
ASSET(uplot_js);
ASSET(uplot_licence);
ASSET(page_css);
ASSET(body_html);
ASSET(base_js);
ASSET(header_js);
ASSET(marks_js);
ASSET(charts_js);
ASSET(pushed_js);
ASSET(timeline_js);
ASSET(tables_js);
ASSET(spans_js);
ASSET(controls_js);
ASSET(main_js);
ASSET(overlay_html);
ASSET(overlay_js);

#endif
