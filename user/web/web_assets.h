/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of web/assets, embedded in the program. */
#ifndef WEB_WEB_ASSETS_H
#define WEB_WEB_ASSETS_H

#define WEB_ASSET(name) extern const char web_##name[], web_##name##_end[]
#define ASSET_TEXT(name)                                                                           \
	{                                                                                          \
		web_##name, web_##name##_end                                                       \
	}

WEB_ASSET(list_html);
WEB_ASSET(list_css);
WEB_ASSET(list_js);
WEB_ASSET(live_css);
WEB_ASSET(live_js);

#endif
