/* SPDX-License-Identifier: BSD-3-Clause */
/* Ms: made, started, parked, ended; and an M's P. */
#ifndef MODEL_MP_H
#define MODEL_MP_H
#include "runtime2.h"

static int64_t mcount(void);
static struct p *mp_p(struct m *mp);
static void tick(maskword *t);
static struct m *mget(void);
static struct m *mgetSpecific(struct m *mp);
static void wirep(struct p *pp);
static void acquirep(struct p *pp);
static struct p *releasep(void);
static void mPark(void);
static void take_nextp(struct m *mp);
static void stopm(void);
static void startm(struct p *pp, bool spinning, bool lockheld);
static void m_init(struct m *mp, int64_t id, enum mstart_kind kind);
static struct m *allocm(struct p *pp, enum mstart_kind kind, int64_t id);
static void newm(enum mstart_kind kind, struct p *pp, int64_t id);
static bool startTemplateThread(void);
static void mloop(struct m *mp);
static void mstart(struct m *mp);
static void mexit(struct m *mp);
#endif
