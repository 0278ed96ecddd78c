/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EVENT_GET_H
#define GMPSIM_SIM_BASE_EVENT_GET_H

/* The fields of a record by name: struct got_g_ready x = get_g_ready(rec); x.by, x.place. What
 * every record has (time, m, p, g) is read from the record itself. */

#include <assert.h>

#include "sim/base/event.h"

#define EV_MEMBER_1(slot, type, name) \
    ev_##type name;                   \
    EV_MEMBER_2
#define EV_MEMBER_2(slot, type, name) \
    ev_##type name;                   \
    EV_MEMBER_1
#define EV_MEMBER_1_END
#define EV_MEMBER_2_END

#define EV_MASK(slot) (~UINT64_C(0) >> (64 - EV_WIDTH_##slot))
#define EV_FIELD_OF(slot, type, name) \
    got.name = ev_from_##type((uint64_t)r->EV_WORD_##slot >> EV_AT_##slot & EV_MASK(slot));
#define EV_GET_1(slot, type, name) EV_FIELD_OF(slot, type, name) EV_GET_2
#define EV_GET_2(slot, type, name) EV_FIELD_OF(slot, type, name) EV_GET_1
#define EV_GET_1_END
#define EV_GET_2_END

#define ENUM(type, what, values)
#define EVENT(NAME, name, what, fields)                                   \
    struct got_##name {                                                   \
        uint16_t type;                                                    \
        EV_EACH(EV_MEMBER, fields)                                        \
    };                                                                    \
    static inline struct got_##name get_##name(const struct event_rec *r) \
    {                                                                     \
        struct got_##name got = {.type = r->type};                        \
        assert(r->type == EV_##NAME);                                     \
        EV_EACH(EV_GET, fields)                                           \
        return got;                                                       \
    }
#define EVENT_G(NAME, name, what, fields) EVENT(NAME, name, what, fields)
#include "sim/base/events.def"
#undef EVENT_G
#undef EVENT
#undef ENUM

#endif
