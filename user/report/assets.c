// SPDX-License-Identifier: BSD-2-Clause
#include "report/assets.h"

/* Paths are relative to the folder that make runs in. */
#define INCLUDE(name, path)                                                                        \
	__asm__(".section .rodata\n"                                                               \
		".global asset_" #name ", asset_" #name "_end\n"                                   \
		"asset_" #name ":\n"                                                               \
		".incbin \"" path "\"\n"                                                           \
		"asset_" #name "_end:\n"                                                           \
		".byte 0\n"                                                                        \
		".previous\n")

INCLUDE(uplot_css, "third_party/uplot/uPlot.min.css");
INCLUDE(uplot_js, "third_party/uplot/uPlot.iife.min.js");
INCLUDE(uplot_licence, "third_party/uplot/LICENSE");
INCLUDE(page_css, "user/report/page/page.css");
INCLUDE(body_html, "user/report/page/body.html");
INCLUDE(base_js, "user/report/page/base.js");
INCLUDE(header_js, "user/report/page/header.js");
INCLUDE(marks_js, "user/report/page/marks.js");
INCLUDE(charts_js, "user/report/page/charts.js");
INCLUDE(pushed_js, "user/report/page/pushed.js");
INCLUDE(timeline_js, "user/report/page/timeline.js");
INCLUDE(tables_js, "user/report/page/tables.js");
INCLUDE(spans_js, "user/report/page/spans.js");
INCLUDE(controls_js, "user/report/page/controls.js");
INCLUDE(main_js, "user/report/page/main.js");
INCLUDE(overlay_html, "user/report/page/overlay.html");
INCLUDE(overlay_js, "user/report/page/overlay.js");
