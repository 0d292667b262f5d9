// SPDX-License-Identifier: BSD-2-Clause
#include "web/web_assets.h"

/* Paths are relative to the folder that make builds in. */
#define INCLUDE(name, path)                                                                        \
	__asm__(".section .rodata\n"                                                               \
		".global web_" #name ", web_" #name "_end\n"                                       \
		"web_" #name ":\n"                                                                 \
		".incbin \"" path "\"\n"                                                           \
		"web_" #name "_end:\n"                                                             \
		".byte 0\n"                                                                        \
		".previous\n")

INCLUDE(list_html, "web/list.html");
INCLUDE(list_css, "web/list.css");
INCLUDE(list_js, "web/list.js");
INCLUDE(live_css, "web/live.css");
INCLUDE(live_js, "web/live.js");
