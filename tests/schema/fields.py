# SPDX-License-Identifier: BSD-3-Clause
"""What each field of a command's JSON means, and what its values are like: for docs/schema. A name
means the same in every document."""
import re

# NAME: text
TEXT = """
a: of the first run
above: of the answer: nine times of ten the truth is no further above it
actors: goroutines with a turn; at op: threads
actors_before: before shrinking
advice: what follows from the grid
against: whose measured values: threads or go
all_orders_tried: every pair of turns was tried the other way round
answers: how many answers the schedule has
appear_ns: when it is first seen, since the trace's beginning
args: of the statement
as_expected: what the file's expect says holds
b: of the second run
bad: runs that did not end as they should
begin_ns: when it began
below: of the answer: nine times of ten the truth is no further below it
best: a cell's index
block_reasons: how often goroutines began to wait, by reason
blocked: waits, and neither a timer nor a descriptor will wake it
blocks: how often it began to wait
both: pairs that were seen in both orders
breaks: the least load at which the promise did not hold: rate, per second, and the promised point
buckets: from, to, how many: the buckets of /sched/latencies:seconds
by: behind which group in a queue, or ended by which
bytes: of the file
bytes_given_back: by how much the file is smaller
cells: an object per combination of settings
choices: answers that are not the dull one
choices_before: before shrinking
circle: who waits for whom, in words
clock: the moment at which the trace's clocks were read together
command: that was recorded
comparisons: an object per file, GOMAXPROCS and release; of a summary, how many
compiler: that the program was built with
complaints: what does not hold, a line each; of a store, how many
concluded: what was concluded from the trace, by pass: how often, of how many, how sure
confidence: how sure that is
coroutines: how goroutines' stacks are switched
count: how many
counters: what the scheduler counted, by the names of model/counters.def
coverage: an object per strategy that was run
cpu_ns: CPU time of all threads
cpu_permille: how much of the time this program had its CPU; -1: it slept
cpu_samples: of the CPU profile
cpu_stat: of the process' cgroup, as the kernel says it
cpus: of the host; 0: each thread has its own
created: goroutines that began; of a store's run, when it was recorded
created_in_trace: it began while the trace was written
creator: the goroutine that made it
cut: schedules that a limit ended, which say nothing
deadlines: of timers set in vain, to waits
decides: what decides how it ends: orders of two turns, and choices
deep: a recording with locks and channels: whether, or how many operations of it were replayed
deep_after_ns: what long is
differences: what is not equal
distance: of Kolmogorov and Smirnov between virtual time and what was measured, 0 to 1
distances: an object per distribution
disturbed: other programs had the machine, or the samples lie far apart
does: the statement, in a word
duration_ns: how long
early: how often something came before what it waited for in the recording
early_share: of what came before what it waited for
elsewhere_ns: as nobody known
end_ns: when it ended
ended: that ended
entries: an object per cost
episode: one of the times in which a P was idle while a goroutine could run
episodes: how often a P was idle while a goroutine could run
error: of virtual time, relative to what was measured: 0.1 is ten percent too much; null: unknown
events: of the trace
events_by_kind: how many of each kind
every_schedule: there are no others
exact: percentiles are not rounded to bins
example: of its use
exit_status: of the program
fields: its words, an object each
file: its name
files: how many
final_state: at the end of the trace
finding: what was found
findings: what was found, an object each
fingerprint: 64 bits over all events of the run, as hexadecimal digits; null on real threads
fingerprint1: of the first run
fingerprint2: of the second run
first: what came first: of orders a line, of decides a turn
first_generation: of the trace
format: what the file was taken for
found: something was found
freed: of the makespan: saved if nobody kept to the recorded order
from: the turn that it reads from
func: the function that it is in
futex_wake_ns: what the call takes that wakes a thread
g: a goroutine's id
g_transitions: changes of goroutines' states, by from and to
gc: of the collector
gc_ranges: of the collector
generations: of the trace
global_queue: ids of the goroutines in it
gnuplot: it is installed
go: the release of the go command, "" without; of a scenario, the program in Go
goid: a goroutine's id; 0: none
gomaxprocs: at the trace's beginning
goroutine: its id
goroutines: an object each; in a sum, how many
goroutines_left_out: beyond the rows that were asked for
granularity: sync or op
group: of goroutines, its name
groups: sums and distributions by group of goroutines
half: half-width of the 95 % confidence interval of the mean
held_by: who has it
hidden: of what the trace does not show
high: the median is below it with 95 %
high_ps: the median is below it with 97.5 %
holds: of a validation: no makespan is off by too much; of a load: the most at which it did
host: virtual or threads
id: its number
idle: it is idle, or how long
idle_beside_runnable_longest_ns: the longest such time
idle_beside_runnable_ns: in which a P was idle and a goroutine runnable
idle_ns: how long it was idle
idle_ps: Ps that nobody has
in_table: it is a value of the cost table that --out writes
instead: how it ends the other way round; "" for well
involuntary: switches of threads that they did not ask for
itself: how far the odd runs of a source are from its own even ones, as error and distance are
kernel: its name and version
key: the word
kind: which sort
known_bug: of Go, that the scenario shows
leaked: nobody can ever wake it
left_out: channels that were replayed as they were recorded
life: from go statement to end, a distribution
line: of the scenario; 0: not known
locked: of goroutines with a thread of their own
locked_to: the goroutine that is locked to it
log_categories: how many messages of each
logs: messages
longest: waits in run queues, the longest first
longest_waits: waits in run queues, the longest first
looks: at the invariants
low: the median is above it with 95 %
low_ps: the median is above it with 97.5 %
m: an M's number; -1: none
makespan_ns: virtual time at the end; of a grid, its mean
max: the largest, ns
max_error: percent; null: none was given
max_ns: the longest
mean: of all, ns
mean_ns: of all
median: of the runs
median_error: of the comparisons, without its sign
median_ps: of the samples, picoseconds
memory: the memory model
metric: the name of what was measured
metrics: of the trace, by name
min: the smallest, ns
minimal: no single choice can go
mono_ns: the monotonic clock
moved_permille: between the medians of two passes, one after the other
ms: Ms, an object each
n: how many
name: of it
needed: it may not be left out
net: of waits for the network
not_ended: goroutines that had not ended, the first 1000
not_ended_more: how many more there were
not_known: what could not be known, in sentences
notes: what is unusual of the file, in sentences
nr_periods: as in the kernel's cpu.stat
nr_throttled: as in the kernel's cpu.stat
ns: how long
num_goroutines: in the trace
num_procs: in the trace
num_threads: in the trace
object: that it waits on or changes
of: hit or miss of an atomic, or a cost
one: pairs that were seen in one order only
only: these, up to 100
open: begun and not ended
order: of what was kept in the recording's order
orders: by turns, of pairs of places that touch one object in turn
orders_tried: runs that had a pair of turns the other way round
output: what the program printed
outside: of time outside of the program
p: a P's number; -1: none
p50: half are at most so long, ns
p50_ns: half are at most so long
p90: nine of ten are at most so long, ns
p90_ns: nine of ten are at most so long
piles_up: more come than are answered; the point is of those that were
p99: 99 of 100 are at most so long, ns
p99.9: 999 of 1000 are at most so long, ns
p99_ns: 99 of 100 are at most so long
p_cpu_ns: CPU time of each P
p_ns: virtual time of all Ps together, by class
p_transitions: changes of Ps' states, by from and to
part: of a span's time
partial: the last generation is incomplete and left out
parts: where the time went, means in ns
pause_ps: what a pause takes, of which spinning is made
per_second: how many a second
period_us: of the quota
picture: which
pinned: threads stay on their CPUs
point: the percentile that is decided by
points: at which another thread could have run
policy: the word that GOMAXPROCS was asked by
preemption: somebody else goes on although this one could
preemptions: how many
preemptions_before: before shrinking
proc_running_ns: of all Ps together
procs: GOMAXPROCS; of a trace, an object per P
profile: the Go release
profiles: the Go releases
promise: as it was asked for
ps: Ps, an object each
quiet: nothing was disturbed
quota_us: CPU time per period; 0: none
ranges: of the trace, by name
rate: the load, in times of the scenario's own
reason: Go's wait reason; empty: none
reasons: of the range, the parts that it is the sum of
recorded: of a schedule, the verdict that it says; of a trace, what was in it
recorded_procs: GOMAXPROCS of the recording
region_begins: how many of each name
regions: by name
repeat: the line that gives this run again
repeats: the same fingerprint every time
replayed: in the replay
results: an object per file and release
ring: ids of the goroutines in it, the head first
rows: an object per metric and source
run: its number
run1: its number
run2: its number
runnable: it could run
runnable_max: goroutines that are ready and do not run, the most
runnable_mean: goroutines that are ready and do not run, the mean over time
runnable_ns: how long it was runnable
runnable_while_p_idle_ns: runnable while a P was idle
runnext: the goroutine in it; 0: none
running_ns: how long it ran
runq_wait: waits in run queues, a distribution
runs: how many; of a P or M, the goroutine on it
same: the two are equal
samples: how many
scenario: its name, or the document
scenarios: how many
sched: what the scheduler did
sched_latency: waits in run queues
schedule: the file that replay takes
schedules: how many were run
schedules_to_first: in which the finding was
second: what came after it
seconds: of real time
section: of what the difference is
seed: as decimal digits
seeds: how many were searched
self: the error of the replay at the recorded settings
serial: of the makespan: added if what may be hidden came one after the other
series: by span
since: the turn since when
since_ns: since when
skipped: why nothing was compared, "" where it was
sleep_late_ns: by how much a sleep is longer than asked for
sleeps: disturbances that slept
slow: of those from about the 99th percentile on
slowest: an object each, the slowest first
source: virtual, virtual-go (with the costs for Go), threads, or a Go release
span: that is decided by
spans: by name
spinning: it looks for work
spinning_ms: how many Ms look for work
spread_permille: between the quartiles, of the median
sqlite: its version
starts: how often it began to run
starved: runs that say nothing, because other programs had the machine
state: of the object, or of the goroutine
statements: an object each
status: Go's word for it
steal_ns: taken by the hypervisor
steps: points
steps_before: before shrinking
stop_reasons: why goroutines stopped running
stopped_ns: the process was stopped from outside
stops: how often it stopped
strategy: of the search
stuck: who waits for ever, an object each
stw_ranges: stops of the world
sum_ns: all together
summary: an object per metric: errors over all comparisons
switch: another goroutine goes on
switches: of goroutines
syncs: of the trace's clocks
syscall_no_p_ns: in system calls, without a P
syscall_ns: in system calls
syscalls: how many
task: its id
task_begins: how many of each name
task_ends: how many
tasks: by name
text: for people
thread_run_ns: all threads together: on a CPU
thread_wait_ns: all threads together: ready, without a CPU
threads: how many
throttled_ns: as throttled_time in the kernel's cpu.stat
time: when
time_ns: when
timers: the earliest first
told: the granularity of what is shown: sync, also if it was found at op and turns show it too
tokens: how often the order of the recording had to be kept
took: how long, a distribution
total_ns: all together
totals: of all goroutines
trace: the file; empty for go build
trace_end_ns: the trace's clock
trace_ns: the trace's clock
trace_start_ns: the trace's clock
tracer: of the tracer
tries: of operations that would not have waited
trust: how far the replay may be off, and why
turn: its number, from 1
turns: an object each
unblock_latency: from wake to run, a distribution
unblocks: how often it was woken
unit: ns, count or permille
unix_ns: the wall clock's part below a second
unix_s: the wall clock
value: of it
verdict: how it ended, in a word or two
version: of the program or the format
voluntary: switches of threads that they asked for
wait: in run queues, a distribution
wait_p50_ns: of waits in run queues
wait_p90_ns: of waits in run queues
wait_p99_ns: of waits in run queues
wait_sum_ns: of all waits in run queues
waited_ns: how long
waiting_by_reason_ns: how long goroutines waited, by reason
waiting_ns: how long it waited
waits: the longest; of a turn, does it have to wait
wake_deep_ns: so much more after a CPU has been idle for long
wake_latency_ns: until a thread runs that was woken, after the call
warmup_ns: what began before it is not counted
what: the names of what was removed, or the complaints
while_p_idle_ns: while a P was idle
why: in a sentence
wire_events: how many of each, as the file has them
without_go: why there is no Go, "" where there is or none was asked for
word: of the statement
words: what may stand there
work_conservation: times in which a P was idle while a goroutine could run
world: its name
worlds: an object each
worst_error: the largest, without its sign
worst_file: where
worst_procs: where
worthless: the answer says nothing
"""
MEANS = dict(line.split(": ", 1) for line in TEXT.strip().split("\n"))

# Values: by name, what every one of them is like. Holds for the type that it names.
LIKE = (
    (r"fingerprint\d?$", "string", {"pattern": "^[0-9a-f]{16}$"}),
    (r"seed$", "string", {"pattern": "^[0-9]+$"}),
    (r"profile$", "string", {"pattern": r"^go1\.[0-9]+$"}),
    (r"(?!mono_ns|trace_ns|trace_start_ns|trace_end_ns|since_ns|begin_ns|end_ns).*_ns$", "number",
     {"minimum": 0}),
    (r"(count|created|ended|open|nr_\w+|per_second|runnable_\w+|threads|runs|bad|cpus|quota_us|"
     r"period_us|procs|line|rate|half|schedules|cut|points|n|bytes)$", "number", {"minimum": 0}),
    (r"repeat$", "string", {"pattern": "^gmpsim "}),
    (r"host$", "string", {"enum": ["virtual", "threads"]}),
)


def describe(name, schema):
    """The schema with what is known of the name."""
    out = dict(schema)
    kinds = schema["type"] if isinstance(schema.get("type"), list) else [schema.get("type")]
    for pattern, kind, like in LIKE:
        fits = {"number", "integer"} if kind == "number" else {kind}
        if re.match(pattern, name) and fits & set(kinds):
            out.update(like)
    if name in MEANS:
        out["description"] = MEANS[name]
    return out
