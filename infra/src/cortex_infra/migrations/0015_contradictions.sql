-- Contradictions that recall found: what somebody said, along with a question, that makes a memory of the answer untrue.
-- Sleep settles them (cortex_sleep.reconsolidate).

-- "statement" is redacted, and one sentence at most; it is gone when the row is settled. The readers of a row are those
-- of its memory who said it.
CREATE TABLE contradictions (
    id          uuid PRIMARY KEY,                           -- UUIDv7, given by the application
    org         text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace   text NOT NULL,
    memory      uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    subject     text NOT NULL DEFAULT current_setting('cortex.subject') CHECK (subject <> ''),  -- who asked
    statement   text NOT NULL,
    said        bigint NOT NULL,                            -- hash of the statement: the same is recorded once
    speaker     text,
    said_at     timestamptz NOT NULL,
    outcome     text CHECK (outcome IN ('corrected', 'repeated', 'kept', 'gone')),  -- null: not settled yet
    CHECK (outcome IS NULL OR statement = ''),
    UNIQUE (memory, subject, said)
);
CREATE INDEX contradictions_open ON contradictions (org, namespace, id) WHERE outcome IS NULL;

ALTER TABLE contradictions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY functions ON contradictions TO cortex_migration USING (true) WITH CHECK (true);
CREATE POLICY sleep ON contradictions TO cortex_sleep USING (org = current_setting('cortex.org', true))
    WITH CHECK (org = current_setting('cortex.org', true));
CREATE POLICY own ON contradictions FOR SELECT TO cortex_runtime
    USING (org = current_setting('cortex.org', true) AND subject = current_setting('cortex.subject', true)
        AND EXISTS (SELECT FROM memories m WHERE m.id = memory));
CREATE POLICY add ON contradictions FOR INSERT TO cortex_runtime
    WITH CHECK (org = current_setting('cortex.org', true) AND subject = current_setting('cortex.subject', true)
        AND bound_to('writable', namespace) AND outcome IS NULL AND EXISTS (SELECT FROM memories m
            WHERE m.id = memory AND m.namespace = contradictions.namespace));
GRANT SELECT, INSERT ON contradictions TO cortex_runtime;
GRANT SELECT, UPDATE ON contradictions TO cortex_sleep;

-- Up to which memory of a namespace the live ones have been compared with each other.
ALTER TABLE sleep_marks ADD COLUMN reconsolidated_to uuid;

-- What a live memory means, and the model that says so, which stays the recorded one until the transaction ends.
CREATE FUNCTION memory_vector(p_memory uuid) RETURNS TABLE (embedding halfvec, model text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    LOCK TABLE memory_terms IN ACCESS SHARE MODE;
    RETURN QUERY SELECT v.embedding, s.value FROM memory_vectors v
        JOIN namespaces n ON n.id = v.scope AND n.org = current_setting('cortex.org', true)
        JOIN database_settings s ON s.key = 'embedding.model' WHERE v.memory = p_memory;
END
$$;
REVOKE ALL ON FUNCTION memory_vector FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_vector TO cortex_sleep;
