/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EVENT_SEQ_H
#define GMPSIM_SIM_BASE_EVENT_SEQ_H

/* How events.def is read: its lists are sequences, "(A, ns, waited_ns) (C, flag, found)", and a
 * macro pair that names each other walks one. EV_EACH(EV_X, seq) is EV_X_1 and EV_X_2 by turns on
 * every tuple; who defines a walk defines both, and EV_X_1_END and EV_X_2_END as nothing. */

#define EV_EACH(WALK, seq) EV_END(WALK##_1 seq)
#define EV_END(...)        EV_END_(__VA_ARGS__)
#define EV_END_(...)       __VA_ARGS__##_END

#endif
