-- Memories that come back from the cold tier, and which of those that are there replaced which.

-- What the cold store has of a memory that came back counts for nothing, from the transaction on that made it hot again.
-- Demotion takes the rows out of the store; whoever began to read before that may still see them for a while.
CREATE TABLE cold_thaws (
    memory     uuid NOT NULL,
    batch      uuid NOT NULL REFERENCES cold_batches (id),
    org        text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace  text NOT NULL,
    thawed_at  timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,                                 -- when the store had it no more
    PRIMARY KEY (memory, batch)                             -- it may have gone cold more than once
);
CREATE INDEX cold_thaws_namespace ON cold_thaws (org, namespace);

-- A batch is what is cold of it: all of it may have come back.
ALTER TABLE cold_batches DROP CONSTRAINT cold_batches_rows_check,
    ADD CONSTRAINT cold_batches_rows_check CHECK (rows > 0 OR rows = 0 AND state = 'done');

-- A hot memory may have replaced cold ones: `get` shows the whole chain.
CREATE TABLE cold_successions (
    memory        uuid PRIMARY KEY,
    superseded_by uuid NOT NULL,
    org           text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace     text NOT NULL
);
CREATE INDEX cold_successions_successor ON cold_successions (superseded_by);

-- Does the bound org have anything in the cold tier? Who finds no hot memory need not ask there otherwise.
CREATE FUNCTION has_cold_memories() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM cold_batches
        WHERE org = current_setting('cortex.org', true) AND state = 'done' AND rows > 0)
$$;

-- Row security and privileges --------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
    bound text := 'org = (SELECT current_setting(''cortex.org'', true))';
BEGIN
    FOREACH name IN ARRAY ARRAY['cold_thaws', 'cold_successions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY functions ON %I TO cortex_migration USING (true) WITH CHECK (true)', name);
        EXECUTE format('CREATE POLICY sleep ON %I TO cortex_sleep USING (%s) WITH CHECK (%s)', name, bound, bound);
    END LOOP;
    -- Ids and no more; what they are of, sleep shows to whom it is for.
    EXECUTE format('CREATE POLICY read ON cold_successions FOR SELECT TO cortex_runtime '
        'USING (%s AND bound_to(''readable'', namespace))', bound);
END
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON cold_thaws TO cortex_sleep;
GRANT SELECT, INSERT, DELETE ON cold_successions TO cortex_sleep;
GRANT SELECT ON cold_successions TO cortex_runtime;
REVOKE ALL ON FUNCTION has_cold_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_cold_memories TO cortex_runtime, cortex_sleep;
