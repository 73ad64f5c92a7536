-- What must not wait until other namespaces have been worked through: the runs that contradictions asked for, of each
-- namespace that nobody works on now the oldest (see open_sleep_runs in 0011).
CREATE FUNCTION urgent_sleep_runs(p_limit integer) RETURNS TABLE (id uuid, org text, namespace text)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH open AS MATERIALIZED (
        SELECT DISTINCT ON (r.org, r.namespace) r.id, r.org, r.namespace FROM sleep_runs r
        WHERE r.state IN ('queued', 'running') AND r.cause = 'contradiction' ORDER BY r.org, r.namespace, r.id
    )
    SELECT o.id, o.org, o.namespace FROM open o WHERE NOT EXISTS (
        SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (l.classid::bigint << 32 | l.objid::bigint) = sleep_lock(o.org, o.namespace))
    ORDER BY o.id LIMIT p_limit
$$;
REVOKE ALL ON FUNCTION urgent_sleep_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION urgent_sleep_runs TO cortex_sleep;
