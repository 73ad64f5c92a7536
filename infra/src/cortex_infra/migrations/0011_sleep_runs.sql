-- Runs of the background work: what is asked for, what goes on, how it ended.
--
-- Whoever works on a namespace holds the session lock sleep_lock(org, namespace) on the connection that all of its work
-- goes over. A run that is 'running' while its lock is free was left by a worker that died: it is taken up again with
-- the cursor that committed last. No lease needs to end first.

CREATE TABLE sleep_runs (
    id             uuid PRIMARY KEY,                        -- UUIDv7
    org            text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace      text NOT NULL,
    cause          text NOT NULL CHECK (cause IN ('schedule', 'pressure', 'retry', 'command', 'contradiction')),
    phases         text[] NOT NULL CHECK (cardinality(phases) > 0),
    dry_run        boolean NOT NULL DEFAULT false,
    state          text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'stopped')),
    phase          text,                                    -- the one that is worked on
    cursor         jsonb NOT NULL DEFAULT '{}',             -- how far it is
    reports        jsonb NOT NULL DEFAULT '{}',             -- by phase: state, done, total, counts, seconds, reason
    stop_requested boolean NOT NULL DEFAULT false,
    attempts       integer NOT NULL DEFAULT 0,              -- how often it was taken up since it last got on
    reason         text,                                    -- why it failed
    events_seen    bigint NOT NULL DEFAULT 0,               -- of the namespace, when it began
    requested_at   timestamptz NOT NULL DEFAULT now(),
    began_at       timestamptz,                             -- what is old is old as of then
    finished_at    timestamptz,
    CHECK ((state IN ('queued', 'running')) = (finished_at IS NULL)),
    CHECK (state = 'queued' OR state = 'stopped' OR began_at IS NOT NULL)
);
CREATE INDEX sleep_runs_open ON sleep_runs (org, namespace, id) WHERE state IN ('queued', 'running');
CREATE INDEX sleep_runs_namespace ON sleep_runs (org, namespace, id);
CREATE INDEX sleep_runs_finished ON sleep_runs (finished_at) WHERE finished_at IS NOT NULL;

-- The key of the lock of a namespace. Two namespaces that share one by chance wait for each other.
CREATE FUNCTION sleep_lock(p_org text, p_namespace text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended('cortex.sleep ' || p_org || ' ' || p_namespace, 0);

-- The oldest open run of every namespace of every org that nobody works on now, those that were begun first.
-- p_urgent: only the runs that contradictions asked for, which must not wait until other namespaces have been worked
-- through.
CREATE FUNCTION open_sleep_runs(p_limit integer, p_urgent boolean) RETURNS TABLE (id uuid, org text, namespace text)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH open AS MATERIALIZED (
        SELECT DISTINCT ON (r.org, r.namespace) r.id, r.org, r.namespace, r.state FROM sleep_runs r
        WHERE r.state IN ('queued', 'running') AND (r.cause = 'contradiction' OR NOT p_urgent)
        ORDER BY r.org, r.namespace, r.state = 'queued', r.id
    ), free AS MATERIALIZED (
        SELECT * FROM open o WHERE NOT EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (l.classid::bigint << 32 | l.objid::bigint) = sleep_lock(o.org, o.namespace))
    )
    SELECT free.id, free.org, free.namespace FROM free ORDER BY free.state = 'queued', free.id LIMIT p_limit
$$;

-- Ask for runs of the phases that are due, in every namespace of every org; how many there were. Due is a namespace
-- - whose last whole run began before p_since and that had memories by then (null: no schedule),
-- - where p_pressure events came in since its last whole run began, which ended p_pause ago,
-- - whose last run failed p_pause ago: then the phases that failed.
-- One whose run is open already waits for it.
CREATE FUNCTION schedule_sleep_runs(p_phases text[], p_since timestamptz, p_pressure bigint, p_pause interval)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    asked integer;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('cortex.schedule_sleep_runs')) THEN
        RETURN 0;
    END IF;
    INSERT INTO sleep_runs (id, org, namespace, cause, phases)
    SELECT uuidv7(), due.org, due.namespace, due.cause, due.phases FROM (
        SELECT n.org, n.namespace,
            CASE WHEN coalesce(whole.began_at < p_since, EXISTS (SELECT FROM memories m
                    WHERE (m.org, m.namespace) = (n.org, n.namespace) AND m.id < uuid_floor(p_since))) THEN 'schedule'
                WHEN coalesce(p.events_seen, 0) - coalesce(whole.events_seen, 0) >= p_pressure
                    AND coalesce(whole.finished_at < now() - p_pause, true) THEN 'pressure'
                WHEN last.state = 'failed' AND last.finished_at < now() - p_pause THEN 'retry' END AS cause,
            p_phases AS phases, last.reports
        FROM namespaces n
        LEFT JOIN sleep_progress p ON (p.org, p.namespace) = (n.org, n.namespace)
        LEFT JOIN LATERAL (SELECT r.state, r.reports, r.finished_at FROM sleep_runs r
            WHERE (r.org, r.namespace) = (n.org, n.namespace) AND NOT r.dry_run ORDER BY r.id DESC LIMIT 1
        ) last ON true
        LEFT JOIN LATERAL (SELECT r.began_at, r.finished_at, r.events_seen FROM sleep_runs r
            WHERE (r.org, r.namespace) = (n.org, n.namespace) AND NOT r.dry_run AND r.phases @> p_phases
                AND r.began_at IS NOT NULL ORDER BY r.id DESC LIMIT 1
        ) whole ON true
        WHERE NOT EXISTS (SELECT FROM sleep_runs r WHERE (r.org, r.namespace) = (n.org, n.namespace)
            AND r.state IN ('queued', 'running') AND NOT r.dry_run)
    ) found, LATERAL (
        SELECT found.org, found.namespace, found.cause, CASE WHEN found.cause <> 'retry' THEN found.phases ELSE ARRAY (
            SELECT key FROM jsonb_each(found.reports) WHERE value ->> 'state' = 'failed' AND key = ANY (p_phases)) END
            AS phases
    ) due
    WHERE due.cause IS NOT NULL AND cardinality(due.phases) > 0;
    GET DIAGNOSTICS asked = ROW_COUNT;
    RETURN asked;
END
$$;

-- Forget runs that ended p_age ago, but not the last one of a namespace, which says when it slept; how many there were.
CREATE FUNCTION purge_sleep_runs(p_age interval, p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM sleep_runs WHERE id IN (
            SELECT r.id FROM sleep_runs r WHERE r.finished_at < now() - p_age AND EXISTS (
                SELECT FROM sleep_runs l WHERE (l.org, l.namespace) = (r.org, r.namespace) AND l.id > r.id
                    AND l.phases @> r.phases AND l.began_at IS NOT NULL AND (r.dry_run OR NOT l.dry_run))
            ORDER BY r.finished_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;

ALTER TABLE sleep_runs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY functions ON sleep_runs TO cortex_migration USING (true) WITH CHECK (true);
CREATE POLICY functions ON sleep_progress FOR SELECT TO cortex_migration USING (true);
-- Bound to an org and a subject that may read everything, sleep sees all runs; bound to what a principal may read,
-- those of its namespaces.
CREATE POLICY sleep ON sleep_runs TO cortex_sleep
    USING (org = (SELECT current_setting('cortex.org', true)) AND bound_to('readable', namespace))
    WITH CHECK (org = (SELECT current_setting('cortex.org', true)) AND bound_to('writable', namespace));

GRANT SELECT, INSERT, UPDATE ON sleep_runs TO cortex_sleep;
REVOKE ALL ON FUNCTION open_sleep_runs, schedule_sleep_runs, purge_sleep_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_sleep_runs, schedule_sleep_runs, purge_sleep_runs TO cortex_sleep;
