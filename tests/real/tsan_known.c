/* SPDX-License-Identifier: BSD-3-Clause */
/* Races of the model that are known, for ThreadSanitizer. Each line names the innermost function of
 * one side, so that nothing else hides behind it. Everything not listed fails the test. */

/* Seen by the sanitizer's library, while all else of the project is hidden. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return
        /* The next of a worker that another M pops meanwhile: the counter beside the head makes
         * the exchange fail, and what was read is thrown away. */
        "race:^workers_pop$\n"
        "race:^workers_push$\n"
        /* mp->locks of another M, as in Go 1.14 and 1.15. */
        "race:^shouldStealTimers$\n"
        /* The number of the G that another M has begun to run just now, for the record. Go's
         * preemptone takes mp.curg without order, too, and writes to that G. */
        "race:^preemptone$\n"
        /* gc.phase of a sysmon that asks whether a cycle is due, as in Go. */
        "race:^trigger_test$\n";
}
