-- Consolidation: which statements are about one thing, the fact that was made of them, and what is known of an entity.
--
-- Memories are named without foreign keys: one that goes to the cold tier is still a source of what was made of it.

-- What one speaker said about one thing to the same readers.
CREATE TABLE topics (
    id         uuid PRIMARY KEY,                            -- UUIDv7, given by the application
    org        text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace  text NOT NULL,
    visibility text NOT NULL CHECK (visibility IN ('private', 'team', 'global')),
    owner      text CHECK ((visibility = 'private') = (owner IS NOT NULL)),
    speaker    text NOT NULL,                               -- as a fact names it
    fact       uuid,                                        -- the latest that was made of it
    state      text NOT NULL DEFAULT '',                    -- of its live memories when that was made
    closed     boolean NOT NULL DEFAULT false               -- its fact stays as it is, or stays away
);
CREATE INDEX topics_speaker ON topics (org, namespace, visibility, owner, speaker, id);

-- The memories that have a topic; who has none claims nothing that could be quoted.
CREATE TABLE topic_memories (
    memory uuid PRIMARY KEY,
    topic  uuid NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    org    text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> '')
);
CREATE INDEX topic_memories_topic ON topic_memories (topic, memory);

-- How far the memories of a namespace were read, of each private owner and ('') of all others.
CREATE TABLE consolidation_progress (
    org       text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace text NOT NULL,
    subject   text NOT NULL,
    upto      uuid NOT NULL,
    PRIMARY KEY (org, namespace, subject)
);

-- The memories that the summary of an entity quotes.
CREATE TABLE entity_sources (
    entity uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    source uuid NOT NULL,
    org    text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    PRIMARY KEY (entity, source)
);
CREATE INDEX entity_sources_source ON entity_sources (source);
ALTER TABLE entities ADD COLUMN summary_state text NOT NULL DEFAULT '';  -- of the memories about it when it was summarised

-- The state of some memories: which ones they are.
CREATE FUNCTION state_of(p_memories uuid[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT md5(string_agg(one::text, ',' ORDER BY one)) FROM unnest(p_memories) AS one);

-- What is not true any more is in no summary from that moment on; the next run makes another one.
CREATE FUNCTION forget_summaries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    WITH gone AS (
        DELETE FROM entity_sources s WHERE s.entity IN (SELECT entity FROM entity_sources WHERE source = NEW.id)
        RETURNING s.entity
    )
    UPDATE entities SET summary = NULL, summary_state = '' WHERE id IN (SELECT entity FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER forget_summaries AFTER UPDATE OF invalid_at ON memories FOR EACH ROW
    WHEN (OLD.invalid_at IS NULL AND NEW.invalid_at IS NOT NULL) EXECUTE FUNCTION forget_summaries();

-- The vectors of memories of the bound org, live ones, so far as they have one.
CREATE FUNCTION memory_embeddings(p_memories uuid[]) RETURNS TABLE (memory uuid, embedding halfvec)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT v.memory, v.embedding::halfvec FROM memory_vectors v JOIN namespaces n ON n.id = v.scope
    WHERE v.memory = ANY (p_memories) AND n.org = current_setting('cortex.org', true);
END
$$;

-- Facts repeat the words of memories: they do not count in how common a word is, or what is told often would be found
-- worse for it. What index_memory and follow_memory count of a fact is taken back.
CREATE FUNCTION uncount_fact(p_memory uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO term_changes (scope, delta, keys) SELECT t.scope, -1, t.keys FROM memory_terms t
    JOIN memories m ON m.id = t.memory AND m.org = current_setting('cortex.org') AND m.source_kind = 'sleep'
    WHERE t.memory = p_memory
$$;
CREATE FUNCTION uncount_ended_fact() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NEW.invalid_at IS NULL THEN
        PERFORM uncount_fact(NEW.id);
    ELSE
        INSERT INTO term_changes (scope, delta, keys) SELECT scope, 1, keys FROM past_terms WHERE memory = NEW.id;
    END IF;
    RETURN NULL;
END
$$;
-- After follow_memory: triggers run in the order of their names.
CREATE TRIGGER uncount_ended_fact AFTER UPDATE OF invalid_at ON memories FOR EACH ROW
    WHEN (NEW.source_kind = 'sleep' AND (OLD.invalid_at IS NULL) <> (NEW.invalid_at IS NULL))
    EXECUTE FUNCTION uncount_ended_fact();

DO $$
DECLARE
    name text;
    bound text := 'org = (SELECT current_setting(''cortex.org'', true))';
BEGIN
    FOREACH name IN ARRAY ARRAY['topics', 'topic_memories', 'consolidation_progress', 'entity_sources'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY functions ON %I TO cortex_migration USING (true) WITH CHECK (true)', name);
        EXECUTE format('CREATE POLICY sleep ON %I TO cortex_sleep USING (%s) WITH CHECK (%s)', name, bound, bound);
    END LOOP;
END
$$;

GRANT SELECT, INSERT, UPDATE ON topics, consolidation_progress TO cortex_sleep;
GRANT SELECT, INSERT, DELETE ON topic_memories, entity_sources TO cortex_sleep;
REVOKE ALL ON FUNCTION forget_summaries, memory_embeddings, uncount_fact, uncount_ended_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_embeddings, uncount_fact TO cortex_sleep;
