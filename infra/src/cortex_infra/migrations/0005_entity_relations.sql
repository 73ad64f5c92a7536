-- What memories say of how the things that they name stand to each other, and the hop over names and relations from
-- the memories that answer to those that go with them (cortex_recall.entity_hop).

-- A relation belongs to the memory that says so: it is there for whom the memory is, as long as the memory is true.
CREATE TABLE entity_relations (
    memory    uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    subject   uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    predicate text NOT NULL CHECK (predicate ~ '^[a-z][a-z0-9_]{1,39}$'),
    object    uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    org       text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    PRIMARY KEY (memory, subject, predicate, object),
    CHECK (subject <> object)
);
CREATE INDEX entity_relations_subject ON entity_relations (subject, memory);
CREATE INDEX entity_relations_object ON entity_relations (object, memory);

-- Those of p_memories that the bound principal finds in p_namespaces (null: all) with p_filter: the rules of
-- search_memories for memories that are already known by their ids.
CREATE FUNCTION found_memories(p_memories uuid[], p_namespaces text[], p_filter memory_filter) RETURNS TABLE (memory uuid)
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT t.memory
    FROM (
        SELECT memory, scope, private_to, is_global, valid_at FROM memory_terms WHERE memory = ANY (p_memories)
        UNION ALL
        SELECT memory, scope, private_to, is_global, valid_at FROM past_terms
        WHERE memory = ANY (p_memories) AND invalid_at > (p_filter).as_of
    ) t JOIN searched_scopes(p_namespaces) s ON s.scope = t.scope
    WHERE (s.readable OR t.is_global)
        AND (t.private_to IS NULL OR t.private_to = hashtextextended(current_setting('cortex.subject', true), 0))
        AND ((p_filter).as_of IS NULL OR t.valid_at <= (p_filter).as_of)
        AND ((p_filter).since IS NULL OR t.valid_at >= (p_filter).since)
        AND ((p_filter).until IS NULL OR t.valid_at < (p_filter).until)
        AND ((p_filter).created_since IS NULL
            OR t.memory >= uuid_floor((p_filter).created_since + interval '999 us'))
        AND ((p_filter).created_until IS NULL
            OR t.memory < uuid_floor((p_filter).created_until + interval '999 us'))
        AND ((p_filter).entities IS NULL OR EXISTS (SELECT FROM memory_entities e
            WHERE e.memory = t.memory AND e.entity = ANY ((p_filter).entities)))
        AND ((p_filter).networks IS NULL AND (p_filter).types IS NULL AND (p_filter).sources IS NULL
            OR EXISTS (SELECT FROM memories m WHERE m.id = t.memory
                AND ((p_filter).networks IS NULL OR m.network = ANY ((p_filter).networks))
                AND ((p_filter).types IS NULL OR m.memory_type = ANY ((p_filter).types))
                AND ((p_filter).sources IS NULL OR m.source_kind = ANY ((p_filter).sources))))
$$;

-- The memories that are about each of p_names, folded names of the searched namespaces that the principal may read: by
-- what their text names, or by an end of a relation that they state; not by who speaks. Filtered by time alone, so that
-- how many share a name does not depend on the question. A name that more than p_common memories are linked to, spoken
-- ones and past ones included, has none: no more than these are read.
CREATE FUNCTION memories_about(p_names text[], p_namespaces text[], p_common integer, p_as_of timestamptz)
RETURNS TABLE (name text, memory uuid)
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp SET enable_bitmapscan = off AS $$
DECLARE
    v_names text[];
    v_memories uuid[];
    v_seen uuid[];
BEGIN
    SELECT array_agg(l.key), array_agg(l.memory) INTO v_names, v_memories
    FROM (
        SELECT known.key, linked.memory, linked.is_about, count(*) OVER (PARTITION BY known.key) AS links
        FROM (
            SELECT e.key, e.id FROM entities e
            WHERE e.org = current_setting('cortex.org', true) AND e.key = ANY (p_names)
                AND (p_namespaces IS NULL OR e.namespace = ANY (p_namespaces)) AND bound_to('readable', e.namespace)
        ) known, LATERAL (
            SELECT link.memory, bool_or(link.is_about) AS is_about FROM (
                (SELECT m.memory, m.role = 'mention' AS is_about FROM memory_entities m WHERE m.entity = known.id
                    LIMIT p_common + 1)
                UNION ALL
                (SELECT r.memory, true FROM entity_relations r WHERE r.subject = known.id LIMIT p_common + 1)
                UNION ALL
                (SELECT r.memory, true FROM entity_relations r WHERE r.object = known.id LIMIT p_common + 1)
            ) link GROUP BY link.memory
        ) linked
    ) l WHERE l.links <= p_common AND l.is_about;
    v_seen := ARRAY (SELECT f.memory FROM found_memories(v_memories, p_namespaces,
        ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, p_as_of)::memory_filter) f);
    RETURN QUERY SELECT about.n, about.m FROM unnest(v_names, v_memories) AS about (n, m) WHERE about.m = ANY (v_seen);
END
$$;

-- One hop from p_hits, memories that answer: paths over a name that a hit and another memory share, or over a relation
-- from a name of the hit to one of the other memory. "name" is the hit's, "shared" how many memories are about it;
-- "other" and "other_shared" the same for the far end of a relation, null without one. "memories" is how many memories
-- the searched namespaces have. Memories of p_known are left out. The rarest names first, at most p_limit paths.
CREATE FUNCTION hop_memories(p_hits uuid[], p_known uuid[], p_namespaces text[], p_common integer, p_limit integer,
    p_filter memory_filter)
RETURNS TABLE (memory uuid, hit uuid, name text, shared integer, predicate text, other text, other_shared integer,
    memories integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    -- What is asked for is narrowed; what leads there only has to be true.
    WITH open AS MATERIALIZED (
        SELECT ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, (p_filter).as_of)::memory_filter AS filter
    ), hits AS MATERIALIZED (
        SELECT f.memory FROM open, found_memories(p_hits, p_namespaces, open.filter) f
    ), near AS MATERIALIZED (
        SELECT DISTINCT named.memory AS hit, e.key AS name
        FROM (
            SELECT m.memory, m.entity FROM hits JOIN memory_entities m USING (memory) WHERE m.role = 'mention'
            UNION ALL SELECT r.memory, r.subject FROM hits JOIN entity_relations r USING (memory)
            UNION ALL SELECT r.memory, r.object FROM hits JOIN entity_relations r USING (memory)
        ) named JOIN entities e ON e.id = named.entity
        WHERE bound_to('readable', e.namespace)
    ), about_near AS MATERIALIZED (
        SELECT a.name, a.memory, count(*) OVER (PARTITION BY a.name) AS shared
        FROM memories_about(ARRAY (SELECT DISTINCT name FROM near), p_namespaces, p_common, (p_filter).as_of) a
    ), related AS MATERIALIZED (
        SELECT DISTINCT a.name, r.predicate, CASE a.name WHEN s.key THEN o.key ELSE s.key END AS other
        FROM about_near a JOIN entity_relations r USING (memory)
            JOIN entities s ON s.id = r.subject JOIN entities o ON o.id = r.object
        WHERE a.name IN (s.key, o.key)
    ), about_other AS MATERIALIZED (
        SELECT a.name, a.memory, count(*) OVER (PARTITION BY a.name) AS shared
        FROM memories_about(ARRAY (SELECT DISTINCT other FROM related), p_namespaces, p_common, (p_filter).as_of) a
    ), paths AS MATERIALIZED (
        SELECT a.memory, n.hit, n.name, a.shared, NULL AS predicate, NULL AS other, NULL::bigint AS other_shared
        FROM near n JOIN about_near a USING (name)
        UNION ALL
        SELECT o.memory, n.hit, n.name, own.shared, r.predicate, r.other, o.shared
        FROM near n JOIN related r USING (name) JOIN about_other o ON o.name = r.other
            JOIN (SELECT DISTINCT name, shared FROM about_near) own ON own.name = n.name
    ), reached AS MATERIALIZED (
        SELECT f.memory FROM found_memories(ARRAY (
            SELECT DISTINCT memory FROM paths WHERE memory <> ALL (p_known) AND memory <> ALL (p_hits)
        ), p_namespaces, p_filter) f
    )
    SELECT p.memory, p.hit, p.name, p.shared::integer, p.predicate, p.other, p.other_shared::integer,
        (SELECT sum(greatest(s.memories, 0))::integer FROM searched_scopes(p_namespaces) s)
    FROM paths p JOIN reached USING (memory)
    ORDER BY greatest(p.shared, p.other_shared), p.other COLLATE "C" NULLS FIRST, p.memory, p.hit, p.name COLLATE "C",
        p.predicate COLLATE "C"
    LIMIT p_limit
$$;

-- Row security and privileges: as memory_entities.
ALTER TABLE entity_relations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY functions ON entity_relations TO cortex_migration USING (true) WITH CHECK (true);
CREATE POLICY sleep ON entity_relations TO cortex_sleep USING (org = current_setting('cortex.org', true))
    WITH CHECK (org = current_setting('cortex.org', true));
CREATE POLICY follow ON entity_relations TO cortex_runtime
    USING (org = current_setting('cortex.org', true) AND EXISTS (SELECT FROM memories m WHERE m.id = memory))
    WITH CHECK (org = current_setting('cortex.org', true) AND EXISTS (SELECT FROM memories m WHERE m.id = memory));
GRANT SELECT, INSERT, DELETE ON entity_relations TO cortex_runtime, cortex_sleep;
REVOKE ALL ON FUNCTION found_memories, memories_about, hop_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hop_memories TO cortex_runtime, cortex_sleep;
