/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EMIT_H
#define GMPSIM_SIM_BASE_EMIT_H

/* Emitters for each event of events.def: ev_g_ready(g, by, place), its subject and then its fields
 * in the order of the list, and ev_g_ready_at(now, ...) for a record that record_begin began. A
 * <host.h> includes this after its verb emit(type, g, a, b, c), in which they end, and emit_at(now,
 * ...), if it is another one. */

#include "sim/base/event.h"

struct ev_args {
    uint64_t a;
    uint32_t b;
    uint16_t c;
};

#ifndef emit_at
#define emit_at(now, type, g, a, b, c) ((void)(now), emit(type, g, a, b, c))
#endif

#define EV_PARAM_1(slot, type, name) , ev_##type name EV_PARAM_2
#define EV_PARAM_2(slot, type, name) , ev_##type name EV_PARAM_1
#define EV_PARAM_1_END
#define EV_PARAM_2_END
/* Without a subject the first field has no comma before it. */
#define EV_FIRST_1(slot, type, name) ev_##type name EV_PARAM_1
#define EV_FIRST_1_END               void

#define EV_FIELD_BITS(slot, type, name)                                             \
    args_.EV_WORD_##slot |= (__typeof__(args_.EV_WORD_##slot))(ev_bits_##type(name) \
                                                               << EV_AT_##slot);
#define EV_PUT_1(slot, type, name) EV_FIELD_BITS(slot, type, name) EV_PUT_2
#define EV_PUT_2(slot, type, name) EV_FIELD_BITS(slot, type, name) EV_PUT_1
#define EV_PUT_1_END
#define EV_PUT_2_END

#define ENUM(type, what, values)
#define EVENT_G(NAME, name, what, fields)                                              \
    static inline void ev_##name(ev_g g_ EV_EACH(EV_PARAM, fields))                    \
    {                                                                                  \
        struct ev_args args_ = {0};                                                    \
        EV_EACH(EV_PUT, fields)                                                        \
        emit(EV_##NAME, g_.id, args_.a, args_.b, args_.c);                             \
    }                                                                                  \
    static inline void ev_##name##_at(int64_t now_, ev_g g_ EV_EACH(EV_PARAM, fields)) \
    {                                                                                  \
        struct ev_args args_ = {0};                                                    \
        EV_EACH(EV_PUT, fields)                                                        \
        emit_at(now_, EV_##NAME, g_.id, args_.a, args_.b, args_.c);                    \
    }
#define EVENT(NAME, name, what, fields)                         \
    static inline void ev_##name(EV_EACH(EV_FIRST, fields))     \
    {                                                           \
        struct ev_args args_ = {0};                             \
        EV_EACH(EV_PUT, fields)                                 \
        emit(EV_##NAME, EVENT_NO_G, args_.a, args_.b, args_.c); \
    }
#include "sim/base/events.def"
#undef EVENT
#undef EVENT_G
#undef ENUM

#endif
