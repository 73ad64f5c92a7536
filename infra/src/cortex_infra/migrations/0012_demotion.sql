-- Demotion: memories leave the hot tier in batches, whole. A hot row goes in the transaction that marks its batch done,
-- after the cold store was read back; until then the hot row is the memory.

-- Batches of memories on their way to the cold store. What the store has of a batch that is not done counts for nothing:
-- its memories are hot. Of one that is written the store gets nothing more.
CREATE TABLE cold_batches (
    id             uuid PRIMARY KEY,                         -- UUIDv7, given by the application
    org            text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace      text NOT NULL,
    state          text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'written', 'done', 'dropped')),
    rows           integer NOT NULL CHECK (rows > 0),
    checksum       bytea CHECK (octet_length(checksum) = 32), -- of its rows (cortex_providers.cold_memory)
    size_bytes     bigint,                                   -- of its files, as they were written
    first_valid_at timestamptz NOT NULL,
    last_valid_at  timestamptz NOT NULL,
    began_at       timestamptz NOT NULL DEFAULT now(),
    ended_at       timestamptz,                              -- dropped: when the store had nothing of it any more
    CHECK ((state = 'done') = (checksum IS NOT NULL)),
    CHECK (CASE state WHEN 'done' THEN ended_at IS NOT NULL WHEN 'dropped' THEN true ELSE ended_at IS NULL END)
);
CREATE INDEX cold_batches_namespace ON cold_batches (org, namespace, id);
CREATE INDEX cold_batches_unfinished ON cold_batches (org, namespace) WHERE state <> 'done';

-- What there is of every org, for who verifies the cold store; ids and numbers only.
CREATE FUNCTION done_cold_batches() RETURNS TABLE (id uuid, org text, namespace text, rows integer, checksum bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT b.id, b.org, b.namespace, b.rows, b.checksum FROM cold_batches b WHERE b.state = 'done' ORDER BY b.id
$$;

-- May the cold store commit a batch now? Until the transaction that asks has ended, it stays so: who takes over from a
-- writer that is given up waits for its commit, and the writer does not commit afterwards.
CREATE FUNCTION hold_cold_batch(p_org text, p_batch uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT coalesce((SELECT true FROM cold_batches WHERE id = p_batch AND org = p_org AND state = 'writing' FOR SHARE),
        false)
$$;

-- What makes memories of the bound org findable, live ones and past ones: impacts and embedding as pgvector sends them,
-- big-endian.
CREATE FUNCTION index_of_memories(p_memories uuid[])
RETURNS TABLE (memory uuid, script smallint, content bigint, impacts bytea, embedding bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT t.memory, t.script, t.content, sparsevec_send(t.impacts), halfvec_send(v.embedding)
    FROM (
        SELECT memory, scope, script, content, impacts FROM memory_terms WHERE memory = ANY (p_memories) UNION ALL
        SELECT memory, scope, script, content, impacts FROM past_terms WHERE memory = ANY (p_memories)
    ) t JOIN namespaces n ON n.id = t.scope AND n.org = current_setting('cortex.org', true)
    LEFT JOIN (
        SELECT memory, embedding FROM memory_vectors WHERE memory = ANY (p_memories) UNION ALL
        SELECT memory, embedding FROM past_vectors WHERE memory = ANY (p_memories)
    ) v ON v.memory = t.memory
$$;

-- Lock memories of a namespace of the bound org with how often they were recalled; those that somebody is about to change
-- are left out. Nothing that refers to a memory can be added while it is locked: that takes a lock on its row.
CREATE FUNCTION hold_memories(p_namespace text, p_memories uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
DECLARE
    v_first uuid := (SELECT id FROM unnest(p_memories) AS id ORDER BY id LIMIT 1);
    v_last uuid := (SELECT id FROM unnest(p_memories) AS id ORDER BY id DESC LIMIT 1);
    v_held uuid[];
BEGIN
    -- Before any row: vectors stay those of the recorded model, and whoever replaces them waits for no row (ADR 0014).
    LOCK TABLE memory_terms IN ROW EXCLUSIVE MODE;
    -- The bounds tell PostgreSQL in which months to look.
    v_held := ARRAY (SELECT m.id FROM memories m WHERE m.id = ANY (p_memories) AND m.id BETWEEN v_first AND v_last
        AND m.org = current_setting('cortex.org') AND m.namespace = p_namespace ORDER BY m.id FOR UPDATE SKIP LOCKED);
    RETURN QUERY
    WITH counted AS MATERIALIZED (SELECT memory FROM memory_access WHERE memory = ANY (v_held) FOR UPDATE SKIP LOCKED)
    SELECT id FROM unnest(v_held) AS id
    EXCEPT SELECT memory FROM memory_access WHERE memory = ANY (v_held) AND memory NOT IN (SELECT memory FROM counted);
END
$$;

-- The memories of a batch that the cold store has: they leave the hot tier, with all that refers to them. Returns how
-- many there were. Who calls this has locked them, and has compared what went with what is here.
CREATE FUNCTION remove_demoted(p_batch uuid, p_memories uuid[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
DECLARE
    v_namespace text;
    v_first uuid := (SELECT id FROM unnest(p_memories) AS id ORDER BY id LIMIT 1);
    v_last uuid := (SELECT id FROM unnest(p_memories) AS id ORDER BY id DESC LIMIT 1);
    v_removed integer;
BEGIN
    SELECT namespace INTO v_namespace FROM cold_batches
        WHERE id = p_batch AND org = current_setting('cortex.org') AND state = 'written' FOR UPDATE;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = 'no such batch of the bound org is on its way';
    END IF;
    -- The bounds tell PostgreSQL in which months to look.
    DELETE FROM memories m WHERE m.id = ANY (p_memories) AND m.id BETWEEN v_first AND v_last
        AND m.org = current_setting('cortex.org') AND m.namespace = v_namespace AND m.document IS NULL;
    GET DIAGNOSTICS v_removed = ROW_COUNT;
    IF v_removed <> cardinality(p_memories) THEN
        RAISE insufficient_privilege USING MESSAGE = 'some of these memories are not of the batch';
    END IF;
    WITH gone AS (DELETE FROM memory_terms WHERE memory = ANY (p_memories) RETURNING scope, keys)
    INSERT INTO term_changes (scope, delta, keys) SELECT scope, -1, keys FROM gone;
    DELETE FROM past_terms WHERE memory = ANY (p_memories);
    DELETE FROM memory_vectors WHERE memory = ANY (p_memories);
    DELETE FROM past_vectors WHERE memory = ANY (p_memories);
    RETURN v_removed;
END
$$;

-- A memory keeps its list of sources when one of them goes cold: it names their ids, which are found in the cold tier.
ALTER TABLE memory_sources DROP CONSTRAINT memory_sources_source_fkey;

-- Without it every memory that goes would read the whole table.
CREATE INDEX announced_endings_successor ON announced_endings (superseded_by);

-- As in 0002, but that the memory is locked: it must not be ended, or leave, between this and the inserts.
CREATE OR REPLACE FUNCTION index_memory(p_memory uuid, p_content bigint, p_script integer, p_terms integer[],
    p_buckets integer[], p_impacts sparsevec, p_embedding halfvec, p_model text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    m memories%ROWTYPE;
    v_scope integer;
    v_keys integer[];
    v_private bigint;
    v_thread bigint;
    v_is_past boolean;
    v_fits boolean;
BEGIN
    -- Before anything else is locked (ADR 0014).
    LOCK TABLE memory_terms IN ACCESS SHARE MODE;
    SELECT * INTO m FROM memories WHERE id = p_memory AND org = current_setting('cortex.org')
        AND bound_to('writable', namespace) AND (visibility <> 'private' OR owner = current_setting('cortex.subject'))
        FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = 'no such memory to index for the bound principal';
    END IF;
    v_scope := scope_of(m.namespace);
    v_is_past := m.invalid_at IS NOT NULL;
    v_private := CASE WHEN m.visibility = 'private' THEN hashtextextended(m.owner, 0) END;
    v_thread := CASE WHEN m.turn IS NOT NULL THEN hashtextextended(m.session, v_scope) END;
    v_keys := ARRAY (SELECT term_key(v_scope, t, b) FROM unnest(p_terms, p_buckets) AS each (t, b));
    IF m.visibility = 'global' THEN
        UPDATE namespaces SET has_global = true WHERE id = v_scope AND NOT has_global;
    END IF;

    PERFORM unindex_memory(p_memory, false);
    -- Asked now: who has touched memory_terms keeps another model's tables from being put in place (ADR 0014).
    v_fits := p_embedding IS NOT NULL
        AND p_model = (SELECT value FROM database_settings WHERE key = 'embedding.model');
    IF v_is_past THEN
        INSERT INTO past_terms VALUES (p_memory, v_scope, v_private, m.visibility = 'global', m.valid_at, v_thread,
            m.turn, p_content, p_script, v_keys, p_impacts, m.invalid_at);
    ELSE
        INSERT INTO memory_terms VALUES (p_memory, v_scope, v_private, m.visibility = 'global', m.valid_at, v_thread,
            m.turn, p_content, p_script, v_keys, p_impacts);
        INSERT INTO term_changes (scope, delta, keys) VALUES (v_scope, 1, v_keys);
    END IF;

    IF v_fits AND v_is_past THEN
        INSERT INTO past_vectors VALUES (p_memory, v_scope, v_private, m.visibility = 'global', m.valid_at,
            p_embedding, m.invalid_at)
        ON CONFLICT (memory) DO UPDATE SET embedding = excluded.embedding;
    ELSIF v_fits THEN
        INSERT INTO memory_vectors VALUES (p_memory, v_scope, v_private, m.visibility = 'global', m.valid_at,
            p_embedding)
        ON CONFLICT (memory) DO UPDATE SET embedding = excluded.embedding;
    END IF;
    IF v_fits THEN
        DELETE FROM index_backlog WHERE memory = p_memory;
    ELSE
        INSERT INTO index_backlog (memory, subject, words, meaning)
        VALUES (p_memory, CASE WHEN m.visibility = 'private' THEN m.owner END, false, true)
        ON CONFLICT (memory) DO UPDATE SET words = false;
    END IF;
    RETURN v_fits;
END
$$;

-- Row security and privileges --------------------------------------------------------------------------------------

ALTER TABLE cold_batches ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY functions ON cold_batches TO cortex_migration USING (true) WITH CHECK (true);
CREATE POLICY sleep ON cold_batches TO cortex_sleep USING (org = current_setting('cortex.org', true))
    WITH CHECK (org = current_setting('cortex.org', true));
GRANT SELECT, INSERT, UPDATE ON cold_batches TO cortex_sleep;

-- Sources are there for whom the memory is that was made of them, wherever they are; they are given for what is seen.
DROP POLICY follow ON memory_sources;
CREATE POLICY follow ON memory_sources TO cortex_runtime
    USING (org = (SELECT current_setting('cortex.org', true)) AND EXISTS (SELECT FROM memories m WHERE m.id = memory))
    WITH CHECK (org = (SELECT current_setting('cortex.org', true))
        AND EXISTS (SELECT FROM memories m WHERE m.id = memory)
        AND EXISTS (SELECT FROM memories m WHERE m.id = source));

REVOKE ALL ON FUNCTION done_cold_batches, hold_cold_batch, index_of_memories, hold_memories, remove_demoted FROM PUBLIC;
GRANT EXECUTE ON FUNCTION done_cold_batches, hold_cold_batch, index_of_memories, hold_memories, remove_demoted
    TO cortex_sleep;
