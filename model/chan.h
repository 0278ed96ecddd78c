/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels for the rest of the model: select works on their queues, timers send on them, a context
 * closes one. */
#ifndef MODEL_CHAN_H
#define MODEL_CHAN_H
#include "objs.h"

static struct hchan *makechan(int64_t size);
/* c.timer = t, before anybody uses c. */
static void chan_set_timer(struct hchan *c, struct timer *t);
static inline void waitq_enqueue(struct waitq *q, struct sudog *s);
static inline struct sudog *waitq_dequeue(struct waitq *q);
static void waitq_remove(struct waitq *q, struct sudog *s);
static void buf_put(struct hchan *c, int64_t v);
static int64_t buf_get(struct hchan *c);
static bool buf_room(struct hchan *c);
static void wake_peer(struct sudog *s);
static void send_direct(struct sudog *s, int64_t v);
static int64_t recv_direct(struct hchan *c, struct sudog *s);
static inline enum opres chansend(struct g *gp, struct hchan *c, int64_t ep);
static bool chansend_nb(struct hchan *c, int64_t ep, bool *closed); /* closed: the send panics */
/* Non-blocking send, on g0 or on a G; true: sent. */
static bool selectnbsend(struct hchan *c, int64_t ep);
static inline enum opres chanrecv(struct g *gp, struct hchan *c, const struct insn *in);
static bool chanrecv_nb(struct hchan *c, int64_t *ep, bool *received);
static void closechan_open(struct hchan *c); /* known to be open and not nil */
static enum opres closechan(struct g *gp, struct hchan *c);
static bool timerchandrain(struct hchan *c); /* empties the buffer; true: something was in it */
static int64_t chanlen(struct hchan *c);
static int64_t chancap(struct hchan *c);
#endif
