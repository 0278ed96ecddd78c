/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_REASON_H
#define GMPSIM_REPLAY_REASON_H

/* The model's wait reasons by name, as numbers that EVWAIT takes. */
enum {
#define WAITREASON(name, text) REASON_##name,
#include "model/waitreason.def"
#undef WAITREASON
    REASONS
};

#endif
