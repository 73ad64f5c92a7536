-- What time does to importance, and which memories say the same: how far sleep is with each (cortex_sleep.decay,
-- cortex_sleep.duplicates).

-- What a memory was worth when it was written, once decay has changed "importance"; null: it has not yet.
ALTER TABLE memories ADD COLUMN base_importance real CHECK (base_importance BETWEEN 0 AND 1);

-- How far sleep is with a namespace. Memories up to an id are done: a run of the same day, or one that goes on after a
-- crash, continues behind it.
CREATE TABLE sleep_marks (
    org             text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace       text NOT NULL,
    decayed_on      date,                                   -- the UTC day for which importances are being computed
    decayed_to      uuid,
    deduplicated_to uuid,
    PRIMARY KEY (org, namespace)
);

-- The wording of memories: a hash that those have in common which may say the same (cortex_sleep.duplicates).
CREATE TABLE memory_wordings (
    memory  uuid PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    org     text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    wording bigint NOT NULL                                 -- hash of the namespace, the readers and the words
);
CREATE INDEX memory_wordings_wording ON memory_wordings (wording);

-- How near memories are to each other by meaning; pairs of which one has no vector yet are missing.
CREATE FUNCTION memory_cosines(p_ones uuid[], p_others uuid[]) RETURNS TABLE (one uuid, other uuid, cosine real)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT a.memory, b.memory, (1 - (a.embedding <=> b.embedding))::real
    FROM unnest(p_ones, p_others) AS pair (one, other)
    JOIN memory_vectors a ON a.memory = pair.one JOIN memory_vectors b ON b.memory = pair.other
    JOIN namespaces n ON n.id = a.scope AND n.org = current_setting('cortex.org', true)
    WHERE b.scope = a.scope
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['sleep_marks', 'memory_wordings'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY functions ON %I TO cortex_migration USING (true) WITH CHECK (true)', name);
        EXECUTE format('CREATE POLICY sleep ON %I TO cortex_sleep USING (org = current_setting(''cortex.org'', true)) '
            'WITH CHECK (org = current_setting(''cortex.org'', true))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO cortex_sleep', name);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION memory_cosines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_cosines TO cortex_sleep;
