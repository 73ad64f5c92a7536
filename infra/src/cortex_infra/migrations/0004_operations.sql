-- Operations: work that outlives its request, with its items, in leases that end with their worker.
--
-- An operation is there for the subject that started it. Workers are members of cortex_runtime: they get a lease of any
-- operation by lease_operation() and bind its principal for everything else. The id of a lease is known to its holder
-- only, and every write of a worker names it: who lost its lease changes nothing any more.

CREATE TABLE operations (
    id               uuid PRIMARY KEY,                       -- UUIDv7, given by the application
    org              text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    subject          text NOT NULL DEFAULT current_setting('cortex.subject') CHECK (subject <> ''),
    readable         text[],                                 -- what its credential allowed at the start; null: all
    writable         text[],
    kind             text NOT NULL,
    queue            text,                                   -- those of one queue are worked on one after the other
    request          jsonb NOT NULL,                         -- without its items; redacted
    status           text NOT NULL DEFAULT 'queued'
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    total            integer,                                -- null: not known yet
    done             integer NOT NULL DEFAULT 0,
    failed           integer NOT NULL DEFAULT 0 CHECK (failed BETWEEN 0 AND done),
    cancel_requested boolean NOT NULL DEFAULT false,
    error            jsonb,
    attempts         integer NOT NULL DEFAULT 0,             -- leases since an item was finished
    worker           text,
    lease            uuid,
    leased_until     timestamptz,
    created_at       timestamptz NOT NULL DEFAULT now(),
    started_at       timestamptz,
    finished_at      timestamptz,
    CHECK (done <= total),
    CHECK ((status = 'running') = (lease IS NOT NULL) AND (lease IS NULL) = (leased_until IS NULL)),
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
);
CREATE INDEX operations_subject ON operations (org, subject, id);
CREATE INDEX operations_open ON operations (status, org, subject) WHERE status IN ('queued', 'running');
CREATE INDEX operations_queue ON operations (org, queue, id)
    WHERE queue IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX operations_finished ON operations (finished_at) WHERE finished_at IS NOT NULL;

-- What an operation works through. An item is finished when it has an outcome, which commits with its effect.
CREATE TABLE operation_items (
    operation uuid NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
    item      integer NOT NULL CHECK (item >= 0),
    org       text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    input     jsonb,                                         -- redacted; null: it succeeded and is not needed any more
    outcome   jsonb,
    failed    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (operation, item)
);
CREATE INDEX operation_items_waiting ON operation_items (operation, item) WHERE outcome IS NULL;
CREATE INDEX operation_items_failed ON operation_items (operation, item) WHERE failed;

-- Parts of a long text that wait for the rest of it; the text was redacted before it was cut.
CREATE TABLE staged_parts (
    org       text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    subject   text NOT NULL DEFAULT current_setting('cortex.subject') CHECK (subject <> ''),
    upload    uuid NOT NULL,
    part      integer NOT NULL CHECK (part >= 0),
    text      text NOT NULL,
    staged_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org, subject, upload, part)
);
CREATE INDEX staged_parts_age ON staged_parts (staged_at);

-- The next operation to work on: queued, or left by a worker that died; those of subjects with fewer running ones first,
-- then the oldest. One whose workers died p_attempts times without finishing an item fails.
CREATE FUNCTION lease_operation(p_kinds text[], p_worker text, p_lease uuid, p_for interval, p_attempts integer)
RETURNS TABLE (id uuid, org text, subject text, readable text[], writable text[], kind text, request jsonb,
    cancel_requested boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE operations SET status = 'failed', finished_at = now(), worker = NULL, lease = NULL, leased_until = NULL,
        error = jsonb_build_object('code', 'internal', 'retryable', false, 'message',
            format('its workers died %s times at the same item', p_attempts))
    WHERE operations.id IN (SELECT o.id FROM operations o WHERE o.status = 'running' AND o.leased_until < now()
        AND o.attempts >= p_attempts FOR UPDATE SKIP LOCKED);

    UPDATE operations o SET status = 'running', worker = p_worker, lease = p_lease, leased_until = now() + p_for,
        attempts = o.attempts + 1, started_at = coalesce(o.started_at, now())
    FROM (SELECT w.id FROM operations w
        WHERE w.kind = ANY (p_kinds)
            AND (w.status = 'queued' OR w.status = 'running' AND w.leased_until < now() AND w.attempts < p_attempts)
            AND (w.queue IS NULL OR NOT EXISTS (SELECT FROM operations b WHERE (b.org, b.queue) = (w.org, w.queue)
                AND b.id < w.id AND b.status IN ('queued', 'running')))
        ORDER BY (SELECT count(*) FROM operations r WHERE (r.status, r.org, r.subject) = ('running', w.org, w.subject)),
            w.id
        LIMIT 1 FOR UPDATE SKIP LOCKED) next
    WHERE o.id = next.id
    RETURNING o.id, o.org, o.subject, o.readable, o.writable, o.kind, o.request, o.cancel_requested
$$;

-- Keep leases: from now on for p_for.
CREATE FUNCTION extend_operations(p_leases uuid[], p_for interval) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE operations SET leased_until = now() + p_for WHERE lease = ANY (p_leases) AND status = 'running'
$$;

-- Forget what was finished p_age ago, up to p_limit operations at a time; how many there were.
CREATE FUNCTION purge_operations(p_age interval, p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM operations WHERE id IN (SELECT id FROM operations WHERE finished_at < now() - p_age
            ORDER BY finished_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;

-- Forget the parts of texts that never became whole.
CREATE FUNCTION purge_staged_parts(p_age interval) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DELETE FROM staged_parts WHERE staged_at < now() - p_age
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['operations', 'operation_items', 'staged_parts'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        -- The owner of the schema serves the functions above.
        EXECUTE format('CREATE POLICY functions ON %I TO cortex_migration USING (true) WITH CHECK (true)', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['operations', 'staged_parts'] LOOP
        EXECUTE format('CREATE POLICY own ON %1$I TO cortex_runtime USING (%2$s) WITH CHECK (%2$s)', name,
            'org = (SELECT current_setting(''cortex.org'', true)) '
            'AND subject = (SELECT current_setting(''cortex.subject'', true))');
    END LOOP;
END
$$;
CREATE POLICY follow ON operation_items TO cortex_runtime
    USING (org = (SELECT current_setting('cortex.org', true)) AND EXISTS (SELECT FROM operations o WHERE o.id = operation))
    WITH CHECK (org = (SELECT current_setting('cortex.org', true))
        AND EXISTS (SELECT FROM operations o WHERE o.id = operation));

GRANT SELECT, INSERT, UPDATE ON operations, operation_items TO cortex_runtime;
GRANT DELETE ON operation_items TO cortex_runtime;
GRANT SELECT, INSERT, UPDATE, DELETE ON staged_parts TO cortex_runtime;
REVOKE ALL ON FUNCTION lease_operation, extend_operations, purge_operations, purge_staged_parts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lease_operation, extend_operations, purge_operations, purge_staged_parts TO cortex_runtime;
