/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session has, for the loops of the list and of one run. */
#ifndef TOP_SESSION_PARTS_H
#define TOP_SESSION_PARTS_H

#include "top/session.h"
#include "top/top_stream.h"
#include "top/view.h"

struct session {
	struct model model;
	struct view view;
	struct stream stream;
	struct screen screen;
	const char *store; /* of the run that is shown */
	int64_t run;
	char job[512];         /* the one of the agent's that is shown; "": none */
	char live_socket[128]; /* of the run that is shown, which is in no store; "": none */
	char label[256];       /* what to call that */
	char chosen[80];       /* what was last selected in the list */
	char note[1024];       /* for the list: why it could not be shown */
	bool is_running, is_of_list, goes_back;
	int keys_fd, signals_fd;
	int signal; /* that ends it */
	bool is_over, needs_drawing, has_resized, was_read;
	bool is_for_key;                       /* the picture that is to be drawn */
	uint64_t dirty_since_ns;               /* 0: nothing has changed */
	uint64_t version;                      /* of the model that was drawn */
	char name[256], why[STREAM_WHY_BYTES]; /* of an error */
};

/* The screen has the size of the terminal then. -ENOMEM. */
int session_fit_screen(struct session *s);
void session_read_signals(struct session *s);
/* session_list.c: shows the runs that go on, until one is chosen, or it is over. */
int session_choose_run(struct session *s, const struct top_options *o);

#endif
