// SPDX-License-Identifier: BSD-2-Clause
#include "page/colours.h"

const char *const line_colours[NR_COLOURS] = { "#20262b", "#0072b2", "#d55e00", "#009e73",
					       "#aa4499", "#8a6d00", "#56a0c8" };
const char *const fill_colours[NR_COLOURS] = { "#c7cdd2", "#9bcae8", "#f2bd98", "#99d9c5",
					       "#e3bfdd", "#dccf94", "#c3dfee" };
