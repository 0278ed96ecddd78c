-- SPDX-License-Identifier: BSD-3-Clause
-- A store of schema version 1, as its program wrote it, with fewer quantiles and reasons.
BEGIN TRANSACTION;
CREATE TABLE blocked(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, g INTEGER NOT
    NULL, name TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, since_ns INTEGER NOT
    NULL, line INTEGER, blocked INTEGER NOT NULL, PRIMARY KEY(run, g)) STRICT, WITHOUT ROWID;
INSERT INTO "blocked" VALUES(1,1,'main','running','',0,1,0);
CREATE TABLE counters(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, name TEXT NOT
    NULL, value INTEGER NOT NULL, PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;
INSERT INTO "counters" VALUES(1,'assists',0);
INSERT INTO "counters" VALUES(1,'fair_hits',0);
INSERT INTO "counters" VALUES(1,'fair_looks',0);
INSERT INTO "counters" VALUES(1,'futexsleeps',0);
INSERT INTO "counters" VALUES(1,'futexwakes',0);
INSERT INTO "counters" VALUES(1,'gcs',0);
INSERT INTO "counters" VALUES(1,'gocreated',6);
INSERT INTO "counters" VALUES(1,'goexited',1);
INSERT INTO "counters" VALUES(1,'grq_puts',0);
INSERT INTO "counters" VALUES(1,'grq_takes',0);
INSERT INTO "counters" VALUES(1,'handoffs',0);
INSERT INTO "counters" VALUES(1,'inherit',6);
INSERT INTO "counters" VALUES(1,'lock_contended',0);
INSERT INTO "counters" VALUES(1,'locked_handoffs',0);
INSERT INTO "counters" VALUES(1,'mparks',0);
INSERT INTO "counters" VALUES(1,'netpoll_blocks',0);
INSERT INTO "counters" VALUES(1,'netpolls',0);
INSERT INTO "counters" VALUES(1,'overflows',0);
INSERT INTO "counters" VALUES(1,'parks',6);
INSERT INTO "counters" VALUES(1,'preempt_requests',0);
INSERT INTO "counters" VALUES(1,'preempt_signals',0);
INSERT INTO "counters" VALUES(1,'preempted',0);
INSERT INTO "counters" VALUES(1,'readies',3);
INSERT INTO "counters" VALUES(1,'retakes',0);
INSERT INTO "counters" VALUES(1,'schedules',9);
INSERT INTO "counters" VALUES(1,'spins',0);
INSERT INTO "counters" VALUES(1,'steals_tried',4);
INSERT INTO "counters" VALUES(1,'steals_won',0);
INSERT INTO "counters" VALUES(1,'stolen',0);
INSERT INTO "counters" VALUES(1,'stolen_runnext',0);
INSERT INTO "counters" VALUES(1,'stws',0);
INSERT INTO "counters" VALUES(1,'switches',8);
INSERT INTO "counters" VALUES(1,'syscall_slow',0);
INSERT INTO "counters" VALUES(1,'syscalls',0);
INSERT INTO "counters" VALUES(1,'sysmon_ticks',0);
INSERT INTO "counters" VALUES(1,'threads',2);
INSERT INTO "counters" VALUES(1,'timers_run',0);
INSERT INTO "counters" VALUES(1,'wakeps',8);
INSERT INTO "counters" VALUES(1,'wakeps_started',1);
CREATE TABLE findings(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, kind TEXT NOT
    NULL, text TEXT NOT NULL, time_ns INTEGER NOT NULL) STRICT;
CREATE TABLE goroutines(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, g INTEGER NOT
    NULL, name TEXT NOT NULL, parent INTEGER, create_time_ns INTEGER NOT NULL, end_time_ns
    INTEGER) STRICT;
INSERT INTO "goroutines" VALUES(1,6,'f',1,42461,44611);
INSERT INTO "goroutines" VALUES(1,1,'main',NULL,5787,NULL);
INSERT INTO "goroutines" VALUES(1,2,'runtime',NULL,23306,NULL);
INSERT INTO "goroutines" VALUES(1,3,'runtime',NULL,40780,NULL);
INSERT INTO "goroutines" VALUES(1,4,'runtime',NULL,41217,NULL);
INSERT INTO "goroutines" VALUES(1,5,'runtime',NULL,42039,NULL);
CREATE TABLE groups(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, name TEXT NOT
    NULL, created INTEGER NOT NULL, ended INTEGER NOT NULL, running_ns INTEGER NOT NULL,
    runnable_ns INTEGER NOT NULL, waiting_ns INTEGER NOT NULL, syscall_ns INTEGER NOT NULL,
    PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;
INSERT INTO "groups" VALUES(1,'f',1,1,2049,101,0,0);
INSERT INTO "groups" VALUES(1,'main',1,0,36319,298,2315,0);
INSERT INTO "groups" VALUES(1,'runtime',4,0,109,21641,9789,0);
CREATE TABLE histograms(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, kind TEXT NOT
    NULL, name TEXT NOT NULL, low_ns INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(run,
    kind, name, low_ns)) STRICT, WITHOUT ROWID;
INSERT INTO "histograms" VALUES(1,'life','f',2048,1);
INSERT INTO "histograms" VALUES(1,'runq_wait','all',0,1);
INSERT INTO "histograms" VALUES(1,'runq_wait','all',64,4);
INSERT INTO "histograms" VALUES(1,'span','say',1792,1);
INSERT INTO "histograms" VALUES(1,'wait','f',64,1);
INSERT INTO "histograms" VALUES(1,'wait','main',0,1);
INSERT INTO "histograms" VALUES(1,'wait','main',64,3);
INSERT INTO "histograms" VALUES(1,'wait','runtime',64,1);
INSERT INTO "histograms" VALUES(1,'wait','runtime',640,1);
INSERT INTO "histograms" VALUES(1,'wait','runtime',16384,1);
CREATE TABLE latencies(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, kind TEXT NOT
    NULL, name TEXT NOT NULL, count INTEGER NOT NULL, exact INTEGER NOT NULL, min_ns INTEGER,
    mean_ns INTEGER, p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, max_ns
    INTEGER, PRIMARY KEY(run, kind, name)) STRICT, WITHOUT ROWID;
INSERT INTO "latencies" VALUES(1,'life','f',1,1,2150,2150,2150,2150,2150,2150,2150);
INSERT INTO "latencies" VALUES(1,'runq_wait','all',5,1,53,79,64,116,116,116,116);
INSERT INTO "latencies" VALUES(1,'span','say',1,1,2003,2003,2003,2003,2003,2003,2003);
INSERT INTO "latencies" VALUES(1,'wait','f',1,1,102,102,102,102,102,102,102);
INSERT INTO "latencies" VALUES(1,'wait','main',4,1,53,74,64,116,116,116,116);
INSERT INTO "latencies" VALUES(1,'wait','runtime',3,1,87,6325,747,18142,18142,18142,18142);
CREATE TABLE p_samples(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, time_ns INTEGER
    NOT NULL, p INTEGER NOT NULL, ring INTEGER NOT NULL) STRICT;
INSERT INTO "p_samples" VALUES(1,44721,0,1);
INSERT INTO "p_samples" VALUES(1,44721,1,0);
INSERT INTO "p_samples" VALUES(1,44721,2,0);
INSERT INTO "p_samples" VALUES(1,44721,3,0);
INSERT INTO "p_samples" VALUES(1,44721,4,0);
INSERT INTO "p_samples" VALUES(1,44721,5,0);
INSERT INTO "p_samples" VALUES(1,44721,6,0);
INSERT INTO "p_samples" VALUES(1,44721,7,0);
CREATE TABLE quantiles(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, kind TEXT NOT
    NULL, name TEXT NOT NULL, ppm INTEGER NOT NULL, ns INTEGER NOT NULL, PRIMARY KEY(run, kind,
    name, ppm)) STRICT, WITHOUT ROWID;
INSERT INTO "quantiles" VALUES(1,'life','f',0,2150);
INSERT INTO "quantiles" VALUES(1,'life','f',10000,2150);
INSERT INTO "quantiles" VALUES(1,'life','f',20000,2150);
INSERT INTO "quantiles" VALUES(1,'life','f',30000,2150);
INSERT INTO "quantiles" VALUES(1,'life','f',40000,2150);
INSERT INTO "quantiles" VALUES(1,'life','f',50000,2150);
CREATE TABLE raw_g_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE, g INTEGER, how
    INTEGER, duration_ns INTEGER, end_time_ns INTEGER, src INTEGER) STRICT;
INSERT INTO "raw_g_transitions" VALUES(1,1,16,0,5787,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,33,64,5851,0);
INSERT INTO "raw_g_transitions" VALUES(1,2,16,0,23306,0);
INSERT INTO "raw_g_transitions" VALUES(1,3,16,0,40780,0);
INSERT INTO "raw_g_transitions" VALUES(1,4,16,0,41217,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,3634,35390,41242,0);
INSERT INTO "raw_g_transitions" VALUES(1,4,33,81,41299,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,19,79,41322,17179869184);
INSERT INTO "raw_g_transitions" VALUES(1,4,3378,34,41334,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,33,53,41375,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,3634,17,41392,0);
INSERT INTO "raw_g_transitions" VALUES(1,2,33,18136,41442,0);
INSERT INTO "raw_g_transitions" VALUES(1,2,4402,31,41473,0);
INSERT INTO "raw_g_transitions" VALUES(1,3,33,741,41522,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,19,153,41545,12884901888);
INSERT INTO "raw_g_transitions" VALUES(1,3,3122,43,41565,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,33,64,41609,0);
INSERT INTO "raw_g_transitions" VALUES(1,5,16,0,42039,0);
INSERT INTO "raw_g_transitions" VALUES(1,6,16,0,42461,4294967296);
INSERT INTO "raw_g_transitions" VALUES(1,1,3634,904,42514,0);
INSERT INTO "raw_g_transitions" VALUES(1,6,33,101,42562,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,19,2083,44598,25769803776);
INSERT INTO "raw_g_transitions" VALUES(1,6,2,2049,44611,0);
INSERT INTO "raw_g_transitions" VALUES(1,1,33,116,44714,0);
CREATE TABLE raw_p_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE, how INTEGER,
    duration_ns INTEGER, end_time_ns INTEGER, src INTEGER) STRICT;
INSERT INTO "raw_p_transitions" VALUES(1,1048576,5161,5161,0);
INSERT INTO "raw_p_transitions" VALUES(1,1048583,38371,38371,131079);
CREATE TABLE reasons(code INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
INSERT INTO "reasons" VALUES(1,'GC assist marking');
INSERT INTO "reasons" VALUES(2,'IO wait');
INSERT INTO "reasons" VALUES(3,'chan receive (nil chan)');
INSERT INTO "reasons" VALUES(4,'chan send (nil chan)');
INSERT INTO "reasons" VALUES(5,'dumping heap');
INSERT INTO "reasons" VALUES(6,'garbage collection');
INSERT INTO "reasons" VALUES(7,'garbage collection scan');
INSERT INTO "reasons" VALUES(8,'panicwait');
INSERT INTO "reasons" VALUES(9,'select');
INSERT INTO "reasons" VALUES(10,'select (no cases)');
INSERT INTO "reasons" VALUES(11,'GC assist wait');
INSERT INTO "reasons" VALUES(12,'GC sweep wait');
INSERT INTO "reasons" VALUES(13,'GC scavenge wait');
INSERT INTO "reasons" VALUES(14,'chan receive');
INSERT INTO "reasons" VALUES(15,'chan send');
INSERT INTO "reasons" VALUES(16,'finalizer wait');
INSERT INTO "reasons" VALUES(17,'force gc (idle)');
INSERT INTO "reasons" VALUES(18,'GOMAXPROCS updater (idle)');
INSERT INTO "reasons" VALUES(19,'semacquire');
INSERT INTO "reasons" VALUES(20,'sleep');
INSERT INTO "reasons" VALUES(21,'sync.Cond.Wait');
INSERT INTO "reasons" VALUES(22,'sync.Mutex.Lock');
INSERT INTO "reasons" VALUES(23,'sync.RWMutex.RLock');
INSERT INTO "reasons" VALUES(24,'sync.RWMutex.Lock');
INSERT INTO "reasons" VALUES(25,'sync.WaitGroup.Wait');
INSERT INTO "reasons" VALUES(26,'trace reader (blocked)');
INSERT INTO "reasons" VALUES(27,'wait for GC cycle');
INSERT INTO "reasons" VALUES(28,'GC worker (idle)');
INSERT INTO "reasons" VALUES(29,'GC worker (active)');
INSERT INTO "reasons" VALUES(30,'preempted');
INSERT INTO "reasons" VALUES(31,'debug call');
INSERT INTO "reasons" VALUES(32,'GC mark termination');
INSERT INTO "reasons" VALUES(33,'stopping the world');
INSERT INTO "reasons" VALUES(34,'forEachP');
INSERT INTO "reasons" VALUES(35,'cleanup wait');
INSERT INTO "reasons" VALUES(36,'timer goroutine (idle)');
INSERT INTO "reasons" VALUES(37,'coroutine');
INSERT INTO "reasons" VALUES(38,'gosched');
INSERT INTO "reasons" VALUES(39,'preempted');
CREATE TABLE runs( id INTEGER PRIMARY KEY, created TEXT NOT NULL, version TEXT NOT NULL, scenario
    TEXT NOT NULL, file TEXT NOT NULL, profile TEXT NOT NULL, rules TEXT NOT NULL, procs INTEGER
    NOT NULL, cpus INTEGER NOT NULL, quota_us INTEGER NOT NULL, period_us INTEGER NOT NULL, seed
    TEXT NOT NULL, repeat TEXT NOT NULL, complete INTEGER NOT NULL DEFAULT 0, verdict TEXT, text
    TEXT, complaints TEXT, makespan_ns INTEGER, fingerprint TEXT, threads INTEGER, runnable_max
    INTEGER, nr_periods INTEGER, nr_throttled INTEGER, throttled_ns INTEGER) STRICT;
INSERT INTO "runs"
    VALUES(1,'2026-01-01T00:00:00Z','0.1.0','hello','hello.json','go1.27','',8,0,0,100000,'1','gmpsim
    run hello.json --profile go1.27 --seed
    1',1,'finished','','',44721,'bf643e8b33a77b74',3,3,0,0,0);
CREATE TABLE samples(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, time_ns INTEGER
    NOT NULL, interval_ns INTEGER NOT NULL, runnable INTEGER NOT NULL, runnable_max INTEGER NOT
    NULL, runnable_area INTEGER NOT NULL, globrunq INTEGER NOT NULL, ring INTEGER NOT NULL,
    idle_ps INTEGER NOT NULL, spinning_ms INTEGER NOT NULL, ms INTEGER NOT NULL, user_ns INTEGER
    NOT NULL, scheduler_ns INTEGER NOT NULL, spinning_ns INTEGER NOT NULL, gc_ns INTEGER NOT NULL,
    syscall_ns INTEGER NOT NULL, idle_ns INTEGER NOT NULL, throttled_ns INTEGER NOT NULL,
    no_cpu_ns INTEGER NOT NULL, PRIMARY KEY(run, time_ns)) STRICT, WITHOUT ROWID;
INSERT INTO "samples" VALUES(1,44721,1000000,1,3,22031,0,1,6,1,3,38368,7431,0,109,0,271619,0,0);
CREATE TABLE schedules(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, seed TEXT NOT
    NULL, strategy TEXT NOT NULL, choices BLOB NOT NULL) STRICT;
CREATE TABLE spans(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, name TEXT NOT NULL,
    key INTEGER NOT NULL, g INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL)
    STRICT;
INSERT INTO "spans" VALUES(1,'say',6,6,42570,44573);
CREATE TABLE whatif(grid INTEGER NOT NULL, scenario TEXT NOT NULL, file TEXT NOT NULL, profile
    TEXT NOT NULL, procs INTEGER NOT NULL, cpus INTEGER NOT NULL, quota_us INTEGER NOT NULL, seed
    TEXT NOT NULL, verdict TEXT NOT NULL, as_expected INTEGER NOT NULL, makespan_ns INTEGER NOT
    NULL, user_ns INTEGER NOT NULL, throttled_ns INTEGER NOT NULL, fingerprint TEXT NOT NULL, name
    TEXT NOT NULL, count INTEGER NOT NULL, p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns
    INTEGER, max_ns INTEGER) STRICT;
CREATE VIEW g_transitions AS SELECT t.run, t.g, CASE t.how & 15 WHEN 0 THEN 'notexist' WHEN 1 THEN
    'runnable' WHEN 2 THEN 'running' WHEN 3 THEN 'waiting' ELSE 'syscall' END AS from_state, CASE
    t.how >> 4 & 15 WHEN 0 THEN 'notexist' WHEN 1 THEN 'runnable' WHEN 2 THEN 'running' WHEN 3
    THEN 'waiting' ELSE 'syscall' END AS to_state, r.text AS reason, t.duration_ns, t.end_time_ns,
    NULL AS stack_id, NULL AS src_stack_id, nullif(t.src >> 32 & 4294967295, 0) AS src_g,
    nullif(t.src >> 16 & 65535, 65535) AS src_m, nullif(t.src & 65535, 65535) AS src_p, t.rowid AS
    id FROM raw_g_transitions t LEFT JOIN reasons r ON r.code = t.how >> 8;
CREATE VIEW p_transitions AS SELECT run, how & 65535 AS p, CASE how >> 16 & 15 WHEN 0 THEN 'idle'
    WHEN 1 THEN 'running' ELSE 'syscall' END AS from_state, CASE how >> 20 WHEN 0 THEN 'idle' WHEN
    1 THEN 'running' ELSE 'syscall' END AS to_state, duration_ns, end_time_ns, how & 65535 AS
    src_p, nullif(src >> 32 & 4294967295, 0) AS src_g, nullif(src >> 16 & 65535, 65535) AS src_m,
    rowid AS id FROM raw_p_transitions;
CREATE VIEW procs AS SELECT run, p, min(end_time_ns - duration_ns) AS start_time_ns,
    max(end_time_ns) AS end_time_ns, sum(duration_ns) FILTER (WHERE from_state = 'running') AS
    running_ns, sum(duration_ns) FILTER (WHERE from_state = 'idle') AS idle_ns FROM p_transitions
    GROUP BY run, p;
PRAGMA user_version = 1;
COMMIT;
