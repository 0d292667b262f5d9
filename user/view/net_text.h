/* SPDX-License-Identifier: BSD-2-Clause */
/* What sockets moved, as lines of the summary. */
#ifndef VIEW_NET_TEXT_H
#define VIEW_NET_TEXT_H

#include "model/summary.h"

#include <stdio.h>

/* Nothing of what was not counted, or did not happen. */
void summary_put_net(FILE *f, const struct summary *s);

#endif
