// SPDX-License-Identifier: BSD-2-Clause
/* Embeds the files of page/assets and third_party/uplot, which page.c declares. */

/* Paths are relative to the folder that make runs in, or to its build folder. */
#define INCLUDE(name, path)                                                                        \
	__asm__(".section .rodata\n"                                                               \
		".global asset_" #name ", asset_" #name "_end\n"                                   \
		"asset_" #name ":\n"                                                               \
		".incbin \"" path "\"\n"                                                           \
		"asset_" #name "_end:\n"                                                           \
		".byte 0\n"                                                                        \
		".previous\n")

INCLUDE(uplot_css, "page/uplot.css");
INCLUDE(uplot_js, "page/uplot.js");
INCLUDE(uplot_licence, "third_party/uplot/LICENSE");
INCLUDE(page_css, "page/page.css");
INCLUDE(tables_css, "page/tables.css");
INCLUDE(timeline_css, "page/timeline.css");
INCLUDE(phases_css, "page/phases.css");
INCLUDE(events_css, "page/events.css");
INCLUDE(times_css, "page/times.css");
INCLUDE(gpus_css, "page/gpus.css");
INCLUDE(body_html, "page/body.html");
INCLUDE(spanlanes_html, "page/spanlanes.html");
INCLUDE(charts_html, "page/charts.html");
INCLUDE(pushed_html, "page/pushed.html");
INCLUDE(phases_html, "page/phases.html");
INCLUDE(spans_html, "page/spans.html");
INCLUDE(holders_html, "page/holders.html");
INCLUDE(instances_html, "page/instances.html");
INCLUDE(timeline_html, "page/timeline.html");
INCLUDE(tables_html, "page/tables.html");
INCLUDE(events_html, "page/events.html");
INCLUDE(facts_html, "page/facts.html");
INCLUDE(base_js, "page/base.js");
INCLUDE(header_js, "page/header.js");
INCLUDE(tiles_js, "page/tiles.js");
INCLUDE(gpus_js, "page/gpus.js");
INCLUDE(times_js, "page/times.js");
INCLUDE(marks_js, "page/marks.js");
INCLUDE(steps_js, "page/steps.js");
INCLUDE(charts_js, "page/charts.js");
INCLUDE(legend_js, "page/legend.js");
INCLUDE(folded_js, "page/folded.js");
INCLUDE(stage_js, "page/stage.js");
INCLUDE(held_js, "page/held.js");
INCLUDE(phases_js, "page/phases.js");
INCLUDE(events_js, "page/events.js");
INCLUDE(holders_js, "page/holders.js");
INCLUDE(instances_js, "page/instances.js");
INCLUDE(overview_js, "page/overview.js");
INCLUDE(pushed_js, "page/pushed.js");
INCLUDE(cells_js, "page/cells.js");
INCLUDE(lanes_js, "page/lanes.js");
INCLUDE(words_js, "page/words.js");
INCLUDE(facts_js, "page/facts.js");
INCLUDE(timeline_js, "page/timeline.js");
INCLUDE(selection_js, "page/selection.js");
INCLUDE(tables_js, "page/tables.js");
INCLUDE(spans_js, "page/spans.js");
INCLUDE(controls_js, "page/controls.js");
INCLUDE(main_js, "page/main.js");
INCLUDE(many_css, "page/many.css");
INCLUDE(overlay_html, "page/overlay.html");
INCLUDE(comparison_js, "page/comparison.js");
INCLUDE(overlay_js, "page/overlay.js");
