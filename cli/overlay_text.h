/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_OVERLAY_TEXT_H
#define GMPSIM_CLI_OVERLAY_TEXT_H

/* The Go that overlays add to packages, as it stands in overlay_*.txt; made by CMake. In that of
 * the runtime, @WORDS@ stand for what releases write differently (overlay.c). */
extern const char overlay_runtime[], overlay_cycles[], overlay_poll[], overlay_trace[];

#endif
