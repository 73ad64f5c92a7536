-- Pages at size: row security by vault, and chunks that are found as memories are, by BM25 over stems and by meaning,
-- through functions that apply the same rules (see 0002). A vault is a namespace as far as access goes.

-- Who asks ------------------------------------------------------------------------------------------------------

-- A transaction bound to an org only (the sync) works on every vault of it: it sets cortex.vaults to "*". A setting of
-- a transaction that is over is '' and not null.
CREATE FUNCTION all_vaults(p_list text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(current_setting('cortex.vaults', true) = '*' OR current_setting('cortex.' || p_list, true) = '*',
    false);

CREATE FUNCTION some_vaults(p_list text) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN string_to_array(current_setting('cortex.' || p_list, true), ',');

CREATE FUNCTION bound_to_vault(p_list text, p_vault text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN all_vaults(p_list) OR coalesce(p_vault = ANY (some_vaults(p_list)), false);

DO $$
DECLARE
    name text;
    bound text := 'org = (SELECT current_setting(''cortex.org'', true))';
    -- The lists are read once for a statement and not for every row.
    of_list text := ' AND ((SELECT all_vaults(%1$L)) OR vault = ANY ((SELECT some_vaults(%1$L))::text[]))';
    readable text := bound || format(of_list, 'readable');
    writable text := bound || format(of_list, 'writable');
BEGIN
    DROP POLICY reindex ON chunks;
    DROP POLICY reindex ON pages;
    FOREACH name IN ARRAY ARRAY['vaults', 'pages', 'page_names', 'chunks', 'links'] LOOP
        EXECUTE format('DROP POLICY bound_org ON %I', name);
        EXECUTE format('CREATE POLICY functions ON %I TO cortex_migration USING (true) WITH CHECK (true)', name);
        EXECUTE format('CREATE POLICY sleep ON %I TO cortex_sleep USING (%s) WITH CHECK (%s)', name, bound, bound);
        EXECUTE format('CREATE POLICY read ON %I FOR SELECT TO cortex_runtime USING (%s)', name, readable);
        EXECUTE format('CREATE POLICY add ON %I FOR INSERT TO cortex_runtime WITH CHECK (%s)', name, writable);
        EXECUTE format('CREATE POLICY change ON %I FOR UPDATE TO cortex_runtime USING (%s) WITH CHECK (%s)', name,
            writable, writable);
        EXECUTE format('CREATE POLICY remove ON %I FOR DELETE TO cortex_runtime USING (%s)', name, writable);
    END LOOP;
END
$$;

-- Vaults and pages ----------------------------------------------------------------------------------------------

-- A sync that runs; all null: none does.
ALTER TABLE vaults
    ADD COLUMN progress_commit text,
    ADD COLUMN progress_done integer CHECK (progress_done >= 0),
    ADD COLUMN progress_total integer CHECK (progress_total >= 0),
    ADD COLUMN progress_started_at timestamptz;

-- "labels": what a search is narrowed by, "type:…" and "tag:…" in the folded form (cortex_store.pages). "dated": the
-- day that the page says it is about.
ALTER TABLE pages ADD COLUMN labels text[] NOT NULL DEFAULT '{}', ADD COLUMN dated date;
UPDATE pages SET
    labels = ARRAY (SELECT 'type:' || CASE WHEN type IN ('company', 'person', 'concept', 'meeting', 'deal', 'source')
        THEN type ELSE 'note' END UNION SELECT 'tag:' || left(lower(tag), 200) FROM unnest(tags) AS tag),
    dated = CASE WHEN left(frontmatter ->> 'date', 10) ~ '^\d{4}-\d\d-\d\d$'
        AND pg_input_is_valid(left(frontmatter ->> 'date', 10), 'date') THEN left(frontmatter ->> 'date', 10)::date
        END;
ALTER TABLE pages ADD COLUMN day date NOT NULL
    GENERATED ALWAYS AS (coalesce(dated, (created AT TIME ZONE 'UTC')::date)) STORED;
CREATE INDEX pages_labels ON pages USING gin (labels);
CREATE INDEX pages_slug ON pages (org, slug, vault);
CREATE INDEX pages_day ON pages (org, day DESC, slug);

-- Who links to a page, and how many links lead somewhere.
DROP INDEX links_to_page;
CREATE INDEX links_to_page ON links (org, to_page) INCLUDE (vault);

-- Chunks --------------------------------------------------------------------------------------------------------

-- "indexed" and "embedded": the chunk has its row in chunk_terms, in chunk_vectors; one without a vector is stale.
ALTER TABLE chunks
    ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN indexed boolean NOT NULL DEFAULT false,
    ADD COLUMN embedded boolean NOT NULL DEFAULT false;
CREATE INDEX chunks_without_words ON chunks (org, id) WHERE NOT indexed;
CREATE INDEX chunks_stale ON chunks (org, id) WHERE NOT embedded;
CREATE INDEX chunks_counts ON chunks (org, vault) INCLUDE (embedded);

-- Vaults share the numbers and the counts of terms with the namespaces of memories. What is counted of chunks belongs
-- to the negative number.
ALTER TABLE namespaces ADD COLUMN chunks integer NOT NULL DEFAULT 0;
INSERT INTO namespaces (org, namespace) SELECT DISTINCT org, vault FROM pages ON CONFLICT DO NOTHING;

CREATE TABLE chunk_terms (
    chunk   bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    page    uuid NOT NULL,
    scope   integer NOT NULL,                               -- namespaces.id
    script  smallint NOT NULL,                              -- of most of its letters (cortex_store.terms)
    keys    integer[] NOT NULL,
    impacts sparsevec(1000000000) NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- Indexed at once: every search reads the whole list of what waits to be indexed. While memories were loaded into a store
-- of 100,000 that took 62 of 89 ms of a write with its decision.
CREATE INDEX chunk_terms_keys ON chunk_terms USING gin (keys) WITH (fastupdate = off);
ALTER INDEX memory_terms_keys SET (fastupdate = off);
SELECT gin_clean_pending_list('memory_terms_keys');
ALTER TABLE chunk_terms ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY functions ON chunk_terms TO cortex_migration USING (true) WITH CHECK (true);

CREATE FUNCTION count_chunk_terms() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO term_changes (scope, delta, keys) VALUES (-NEW.scope, 1, NEW.keys);
    ELSE
        INSERT INTO term_changes (scope, delta, keys) VALUES (-OLD.scope, -1, OLD.keys);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_chunk_terms AFTER INSERT OR DELETE ON chunk_terms
    FOR EACH ROW EXECUTE FUNCTION count_chunk_terms();

-- What is bound to a dimension, in functions as for memories: reindexing makes the table of another model beside this
-- one.
CREATE FUNCTION create_chunk_vectors(p_schema text, p_dimension integer) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I.chunk_vectors (chunk bigint PRIMARY KEY REFERENCES public.chunks (id) '
        'ON DELETE CASCADE, page uuid NOT NULL, scope integer NOT NULL, embedding halfvec(%s) NOT NULL) '
        'WITH (autovacuum_vacuum_insert_scale_factor = 0.02)', p_schema, p_dimension);
    EXECUTE format('ALTER TABLE %I.chunk_vectors ALTER embedding SET STORAGE PLAIN', p_schema);
    EXECUTE format('ALTER TABLE %I.chunk_vectors ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', p_schema);
    EXECUTE format('CREATE POLICY functions ON %I.chunk_vectors TO cortex_migration USING (true) WITH CHECK (true)',
        p_schema);
END
$$;
-- HNSW for large vaults, an exact scan of a covering index for small ones and for narrowed searches (see 0002).
CREATE FUNCTION index_chunk_vectors(p_table regclass, p_dimension integer) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    EXECUTE format('CREATE INDEX ON %s USING hnsw (embedding halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)',
        p_table);
    EXECUTE format('CREATE INDEX ON %s (scope) INCLUDE (chunk, page%s)', p_table,
        CASE WHEN p_dimension <= 1300 THEN ', embedding' ELSE '' END);
END
$$;
SELECT create_chunk_vectors('public', value::integer) FROM database_settings WHERE key = 'embedding.dimension';

-- Vectors move; the words of chunks that are there wait for ingest, which knows how to read them.
INSERT INTO chunk_vectors (chunk, page, scope, embedding)
SELECT c.id, c.page, n.id, c.embedding FROM chunks c JOIN namespaces n ON (n.org, n.namespace) = (c.org, c.vault)
WHERE c.embedding IS NOT NULL;
UPDATE chunks SET embedded = embedding IS NOT NULL;
ALTER TABLE chunks DROP COLUMN search, DROP COLUMN embedding;
SELECT index_chunk_vectors('chunk_vectors', value::integer) FROM database_settings WHERE key = 'embedding.dimension';

-- Writing --------------------------------------------------------------------------------------------------------

-- The number of the vault of a page that the bound transaction may write.
CREATE FUNCTION scope_of_page(p_page uuid) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    v_vault text := (SELECT vault FROM pages WHERE org = current_setting('cortex.org') AND id = p_page
        AND bound_to_vault('writable', vault));
BEGIN
    IF v_vault IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'no such page to write for the bound transaction';
    END IF;
    RETURN scope_of(v_vault);
END
$$;

-- Make a chunk findable by its words.
CREATE FUNCTION index_chunk(p_chunk bigint, p_script integer, p_terms integer[], p_buckets integer[],
    p_impacts sparsevec) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_page uuid;
    v_scope integer;
BEGIN
    UPDATE chunks SET indexed = true WHERE id = p_chunk AND org = current_setting('cortex.org') AND NOT indexed
        RETURNING page INTO v_page;
    IF FOUND THEN
        v_scope := scope_of_page(v_page);
        INSERT INTO chunk_terms VALUES (p_chunk, v_page, v_scope, p_script,
            ARRAY (SELECT term_key(-v_scope, t, b) FROM unnest(p_terms, p_buckets) AS each (t, b)), p_impacts);
    END IF;
END
$$;

-- Add a chunk to a page, findable by its words and, where it has a vector, by its meaning. That the vector comes from
-- the recorded model is for the caller to ask after it has touched chunks (ADR 0014).
CREATE FUNCTION add_chunk(p_page uuid, p_ordinal integer, p_headings text[], p_text text, p_script integer,
    p_terms integer[], p_buckets integer[], p_impacts sparsevec, p_embedding halfvec) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_scope integer := scope_of_page(p_page);
    v_chunk bigint;
BEGIN
    INSERT INTO chunks (vault, page, ordinal, heading_path, text, indexed, embedded)
        SELECT namespace, p_page, p_ordinal, p_headings, p_text, true, p_embedding IS NOT NULL
        FROM namespaces WHERE id = v_scope RETURNING id INTO v_chunk;
    INSERT INTO chunk_terms VALUES (v_chunk, p_page, v_scope, p_script,
        ARRAY (SELECT term_key(-v_scope, t, b) FROM unnest(p_terms, p_buckets) AS each (t, b)), p_impacts);
    IF p_embedding IS NOT NULL THEN
        INSERT INTO chunk_vectors VALUES (v_chunk, p_page, v_scope, p_embedding);
    END IF;
END
$$;

-- Give a chunk its vector later; false: it is gone, or has one by now. For the model see add_chunk.
CREATE FUNCTION embed_chunk(p_chunk bigint, p_embedding halfvec) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_page uuid;
BEGIN
    UPDATE chunks SET embedded = true WHERE id = p_chunk AND org = current_setting('cortex.org') AND NOT embedded
        RETURNING page INTO v_page;
    IF FOUND THEN
        INSERT INTO chunk_vectors VALUES (p_chunk, v_page, scope_of_page(v_page), p_embedding);
        RETURN true;
    END IF;
    RETURN false;
END
$$;

-- Orgs with chunks that lack their words, or their vector.
CREATE FUNCTION orgs_with_missing_chunks(p_words boolean) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT org FROM chunks WHERE p_words AND NOT indexed
    UNION SELECT DISTINCT org FROM chunks WHERE NOT p_words AND NOT embedded ORDER BY org
$$;

CREATE OR REPLACE FUNCTION fold_term_changes(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    folded integer;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('cortex.fold_term_changes')) THEN
        RETURN 0;
    END IF;
    WITH taken AS (
        DELETE FROM term_changes WHERE id IN (SELECT id FROM term_changes ORDER BY id LIMIT p_limit)
        RETURNING scope, delta, keys
    ), counted AS (
        INSERT INTO term_counts (key, df)
        SELECT key, sum(delta) FROM taken, unnest(keys) AS key GROUP BY key ORDER BY key
        ON CONFLICT (key) DO UPDATE SET df = term_counts.df + excluded.df
    ), sized AS (
        UPDATE namespaces n SET memories = n.memories + c.memories, chunks = n.chunks + c.chunks
        FROM (SELECT abs(scope) AS scope, coalesce(sum(delta) FILTER (WHERE scope > 0), 0) AS memories,
            coalesce(sum(delta) FILTER (WHERE scope < 0), 0) AS chunks FROM taken GROUP BY 1) c WHERE n.id = c.scope
    )
    SELECT count(*) INTO folded FROM taken;
    RETURN folded;
END
$$;

-- Searching -----------------------------------------------------------------------------------------------------

-- How often terms occur in scopes (of chunks: negative), see term_statistics.
CREATE FUNCTION counted_terms(p_scopes integer[], p_terms integer[], p_all boolean)
RETURNS TABLE (term integer, bucket integer, key integer, df integer)
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT counted.term, counted.bucket, counted.key, greatest(counted.df, 0) FROM (
        -- One lookup per key: joined, the whole table would be read.
        SELECT k.term, k.bucket, k.key, k.changes,
            coalesce((SELECT c.df FROM term_counts c WHERE c.key = k.key), 0) AS df
        FROM (SELECT t AS term, b AS bucket, term_key(s.scope, t, b) AS key, s.changes
            FROM (SELECT scope, EXISTS (SELECT FROM term_changes c WHERE c.scope = p.scope) AS changes
                FROM unnest(p_scopes) AS p (scope)) s, unnest(p_terms) AS t, generate_series(0, 3) AS b) k OFFSET 0
    ) counted WHERE counted.df > 0 OR counted.changes OR p_all
$$;

CREATE OR REPLACE FUNCTION term_statistics(p_namespaces text[], p_terms integer[], p_past boolean)
RETURNS TABLE (term integer, bucket integer, key integer, df integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    LOCK TABLE memory_terms IN ACCESS SHARE MODE;
    RETURN QUERY
    WITH scopes AS MATERIALIZED (SELECT s.scope, s.memories FROM searched_scopes(p_namespaces) s)
    SELECT NULL::integer, NULL::integer, NULL::integer, coalesce(sum(greatest(memories, 0)), 0)::integer FROM scopes
    UNION ALL SELECT * FROM counted_terms(ARRAY (SELECT scope FROM scopes), p_terms, p_past);
END
$$;

-- The vaults that the bound transaction searches when it names p_vaults (null: all), so far as they have chunks.
CREATE FUNCTION searched_vaults(p_vaults text[]) RETURNS TABLE (scope integer, vault text, chunks integer)
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT id, namespace, greatest(chunks, 0) FROM namespaces n
    WHERE org = current_setting('cortex.org', true) AND (p_vaults IS NULL OR namespace = ANY (p_vaults))
        AND bound_to_vault('readable', namespace)
        AND (chunks > 0 OR EXISTS (SELECT FROM term_changes c WHERE c.scope = -n.id))
$$;

-- What term_statistics is for memories. Until the transaction ends, the model and the tables stay those of now.
CREATE FUNCTION chunk_statistics(p_vaults text[], p_terms integer[])
RETURNS TABLE (term integer, bucket integer, key integer, df integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    LOCK TABLE chunks IN ACCESS SHARE MODE;
    RETURN QUERY
    WITH scopes AS MATERIALIZED (SELECT s.scope, s.chunks FROM searched_vaults(p_vaults) s)
    SELECT NULL::integer, NULL::integer, NULL::integer, coalesce(sum(chunks), 0)::integer FROM scopes
    UNION ALL SELECT * FROM counted_terms(ARRAY (SELECT -scope FROM scopes), p_terms, false);
END
$$;

-- Chunks that may answer: of the p_limit pages that are best by words, of the p_limit nearest by meaning, and of those
-- that are called p_name, with both exact scores. Labels (pages.labels) that no searched page has narrow nothing. Call
-- it after chunk_statistics; p_keys, p_ends, p_bounds, p_idfs and p_exact_below are as for search_memories.
CREATE FUNCTION search_chunks(p_vaults text[], p_keys integer[], p_ends integer[], p_bounds float8[], p_idfs sparsevec,
    p_embedding halfvec, p_model text, p_limit integer, p_exact_below integer, p_types text[], p_tags text[],
    p_name text)
RETURNS TABLE (chunk bigint, page uuid, vault text, slug text, lexical real, cosine real, script smallint,
    named boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = on SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_org text := current_setting('cortex.org', true);
    v_scopes integer[];
    v_vaults text[];
    v_size bigint;
    v_pages uuid[];
    v_allowed text := 't.scope = ANY ($1)';
    v_near text := 'SELECT t.chunk, t.page, t.embedding <=> $5 AS distance FROM chunk_vectors t WHERE %s';
    v_by_words bigint[];
    v_scores float8[];  -- of v_by_words, falling
    v_by_meaning bigint[];
    v_by_name bigint[];
BEGIN
    SELECT array_agg(s.scope), array_agg(s.vault), sum(s.chunks) INTO v_scopes, v_vaults, v_size
        FROM searched_vaults(p_vaults) s;
    IF v_scopes IS NULL THEN
        RETURN;
    END IF;
    p_types := ARRAY (SELECT label FROM unnest(p_types) AS label WHERE EXISTS (SELECT FROM pages p
        WHERE p.labels @> ARRAY[label] AND p.org = v_org AND p.vault = ANY (v_vaults)));
    p_tags := ARRAY (SELECT label FROM unnest(p_tags) AS label WHERE EXISTS (SELECT FROM pages p
        WHERE p.labels @> ARRAY[label] AND p.org = v_org AND p.vault = ANY (v_vaults)));
    IF cardinality(p_types) + cardinality(p_tags) > 0 THEN
        v_pages := ARRAY (SELECT p.id FROM pages p WHERE p.org = v_org AND p.vault = ANY (v_vaults)
            AND (p_types = '{}' OR p.labels && p_types) AND (p_tags = '{}' OR p.labels && p_tags));
        v_allowed := v_allowed || ' AND t.page = ANY ($2)';
    END IF;

    FOR step IN 1 .. coalesce(cardinality(p_ends), 0) LOOP
        EXIT WHEN cardinality(v_by_words) = p_limit AND p_bounds[step] < v_scores[p_limit];
        EXECUTE format('SELECT array_agg(chunk ORDER BY score DESC, chunk), '
            'array_agg(score ORDER BY score DESC, chunk) FROM (SELECT chunk, score FROM ('
            'SELECT DISTINCT ON (page) page, chunk, score FROM ('
            'SELECT t.page, t.chunk, -(t.impacts <#> $4) AS score FROM chunk_terms t WHERE (%s) AND %s '
            'UNION SELECT t.page, t.chunk, f.score FROM unnest($7, $8) AS f (chunk, score) '
            'JOIN chunk_terms t ON t.chunk = f.chunk) found ORDER BY page, score DESC, chunk) of_page '
            'ORDER BY score DESC, chunk LIMIT $6) best',
            (SELECT string_agg(format('t.keys && $3[%s:%s]', first, least(first + 31, p_ends[step])), ' OR ')
                FROM generate_series(coalesce(p_ends[step - 1], 0) + 1, p_ends[step], 32) AS first),
            v_allowed)
            INTO v_by_words, v_scores
            USING v_scopes, v_pages, p_keys, p_idfs, p_embedding, p_limit, v_by_words, v_scores;
    END LOOP;
    IF p_embedding IS NOT NULL AND (p_model IS NULL
        OR p_model = (SELECT value FROM database_settings WHERE key = 'embedding.model')) THEN
        IF cardinality(v_pages) <= p_exact_below / 10 THEN
            v_near := 'SELECT t.chunk, t.page, t.embedding <=> $5 AS distance FROM chunks c '
                'JOIN chunk_vectors t ON t.chunk = c.id '
                'WHERE c.org = current_setting(''cortex.org'') AND c.page = ANY ($2) AND %s';
        ELSIF v_size <= p_exact_below OR v_pages IS NOT NULL THEN
            -- An exact scan reads the covering index alone; a bitmap would visit the heap for every row.
            PERFORM set_config('enable_bitmapscan', 'off', true);
        ELSE
            -- Several chunks of one page may be near: more of them than pages are wanted.
            v_near := v_near || ' ORDER BY t.embedding <=> $5 LIMIT 4 * $6';
        END IF;
        EXECUTE format('SELECT array_agg(chunk) FROM (SELECT chunk FROM ('
            'SELECT DISTINCT ON (page) page, chunk, distance FROM (' || v_near || ') near '
            'ORDER BY page, distance, chunk) of_page ORDER BY distance, chunk LIMIT $6) best', v_allowed)
            INTO v_by_meaning USING v_scopes, v_pages, p_keys, p_idfs, p_embedding, p_limit;
        PERFORM set_config('enable_bitmapscan', 'on', true);
    ELSE
        p_embedding := NULL;
    END IF;
    v_by_name := ARRAY (SELECT c.id FROM page_names n
        JOIN chunks c ON c.org = n.org AND c.page = n.page AND c.ordinal = 0
        WHERE n.org = v_org AND n.vault = ANY (v_vaults) AND n.name = p_name
            AND (v_pages IS NULL OR n.page = ANY (v_pages)) ORDER BY n.kind, c.id LIMIT p_limit);

    RETURN QUERY
    SELECT t.chunk, t.page, p.vault, p.slug, (-(t.impacts <#> p_idfs))::real, (1 - (v.embedding <=> p_embedding))::real,
        t.script, EXISTS (SELECT FROM page_names n WHERE n.org = v_org AND n.page = t.page AND n.name = p_name)
    FROM (SELECT DISTINCT unnest(v_by_words || v_by_meaning || v_by_name) AS chunk) found
    JOIN chunk_terms t ON t.chunk = found.chunk
    JOIN pages p ON p.org = v_org AND p.id = t.page
    LEFT JOIN chunk_vectors v ON v.chunk = found.chunk;
END
$$;

-- Privileges ----------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION count_chunk_terms, create_chunk_vectors, index_chunk_vectors, scope_of_page, index_chunk,
    add_chunk, embed_chunk, orgs_with_missing_chunks, counted_terms, searched_vaults, chunk_statistics, search_chunks
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION index_chunk, add_chunk, embed_chunk, orgs_with_missing_chunks, chunk_statistics, search_chunks
    TO cortex_runtime;
