-- The hot tier at size: memories in monthly partitions, what makes them retrievable in narrow side tables, and row
-- security by principal: org, namespace grants and visibility (ADR 0012).
--
-- A transaction is bound by bind_principal(). Roles: cortex_runtime sees what the bound principal may see, cortex_sleep
-- every row of the bound org. The side tables have no privileges at all: only the functions below, which apply the same
-- rules, reach them as their owner. "&&" is not leakproof, so below a policy PostgreSQL would not use their GIN index.

-- Who asks ------------------------------------------------------------------------------------------------------

-- Bind the transaction to a principal. Null lists: every namespace of the org; grants of the subject are added to the
-- others. "owned" is what the credential itself may write: who was merely granted a namespace cannot share it.
CREATE FUNCTION bind_principal(p_org text, p_subject text, p_readable text[], p_writable text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    -- What one may write one may read, a write decision is made against what is there: who may read some namespaces
    -- only writes no others.
    p_writable := coalesce(p_writable, p_readable);
    PERFORM set_config('cortex.org', p_org, true), set_config('cortex.subject', p_subject, true),
        set_config('cortex.owned', coalesce(array_to_string(p_writable, ','), '*'), true);
    IF p_readable IS NULL AND p_writable IS NULL THEN
        PERFORM set_config('cortex.readable', '*', true), set_config('cortex.writable', '*', true);
        RETURN;
    END IF;
    PERFORM set_config('cortex.readable', coalesce((
            SELECT string_agg(DISTINCT namespace, ',') FROM (
                SELECT unnest(p_readable) AS namespace UNION SELECT unnest(p_writable)
                UNION SELECT g.namespace FROM namespace_grants g WHERE g.agent = p_subject AND g.can_read
            ) known WHERE p_readable IS NOT NULL), CASE WHEN p_readable IS NULL THEN '*' ELSE '' END), true),
        set_config('cortex.writable', coalesce((
            SELECT string_agg(DISTINCT namespace, ',') FROM (
                SELECT unnest(p_writable) AS namespace
                UNION SELECT g.namespace FROM namespace_grants g WHERE g.agent = p_subject AND g.can_write
            ) known WHERE p_writable IS NOT NULL), CASE WHEN p_writable IS NULL THEN '*' ELSE '' END), true);
END
$$;

-- Is a namespace in a bound list ("readable", "writable", "owned")? Nothing is when the transaction is not bound.
CREATE FUNCTION bound_to(p_list text, p_namespace text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(current_setting('cortex.' || p_list, true) = '*'
    OR p_namespace = ANY (string_to_array(current_setting('cortex.' || p_list, true), ',')), false);

-- Memories in monthly partitions --------------------------------------------------------------------------------

-- The smallest UUIDv7 of a moment's millisecond: its first 48 bits are milliseconds since 1970 (RFC 9562 section 5.7),
-- and nothing is older.
CREATE FUNCTION uuid_floor(p_moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(greatest(floor(extract(epoch FROM p_moment) * 1000), 0)::bigint), 12, '0') || repeat('0', 20))::uuid;

ALTER TABLE memories RENAME TO memories_unpartitioned;
ALTER INDEX memories_pkey RENAME TO memories_unpartitioned_pkey;
DROP INDEX memories_namespace, memories_created_at, memories_content, memories_embedding;
-- The owner reads every org for the move below; see the policies at the end for what it may do afterwards.
ALTER TABLE memories_unpartitioned NO FORCE ROW LEVEL SECURITY;

CREATE TABLE memories (
    id              uuid PRIMARY KEY,                       -- UUIDv7: its time is created_at
    org             text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace       text NOT NULL,
    owner           text,                                   -- the agent or person it belongs to
    visibility      text NOT NULL CHECK (visibility IN ('private', 'team', 'global')),
    network         text NOT NULL CHECK (network IN ('fact', 'experience', 'observation', 'belief')),
    memory_type     text NOT NULL CHECK (memory_type IN ('episodic', 'semantic', 'procedural', 'working')),
    content         text NOT NULL,
    content_hash    bytea NOT NULL,                         -- SHA-256 of the content
    source_kind     text NOT NULL,
    source_ref      text,
    session         text,
    turn            integer CHECK (turn >= 0),
    speaker         text,
    assertions      jsonb NOT NULL DEFAULT '[]',
    metadata        jsonb NOT NULL DEFAULT '{}',
    importance      real NOT NULL CHECK (importance BETWEEN 0 AND 1),
    valid_at        timestamptz NOT NULL,                   -- when it became true
    invalid_at      timestamptz,                            -- when it stopped being true; the row stays
    superseded_by   uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),     -- when Cortex learned it
    decision        text NOT NULL DEFAULT 'add' CHECK (decision IN ('add', 'update', 'invalidate')),
    decision_reason text NOT NULL DEFAULT '',
    tier            text NOT NULL DEFAULT 'hot' CHECK (tier IN ('hot', 'cold')),
    CHECK (visibility <> 'private' OR owner IS NOT NULL)
) PARTITION BY RANGE (id);
CREATE TABLE memories_default PARTITION OF memories DEFAULT;
ALTER TABLE memories_default ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX memories_namespace ON memories (org, namespace, id);
CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

-- A repeat is not a new memory: it is kept as one more occurrence of the memory it repeats.
CREATE TABLE memory_occurrences (
    id          uuid PRIMARY KEY,                           -- UUIDv7, given by the application
    org         text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    memory      uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    source_kind text NOT NULL,
    source_ref  text,
    session     text,
    turn        integer,
    speaker     text,
    occurred_at timestamptz NOT NULL,
    reason      text NOT NULL
);
CREATE INDEX memory_occurrences_memory ON memory_occurrences (memory, occurred_at);

-- How often and when a memory was recalled. Updating this in memories would cost twenty times more.
CREATE TABLE memory_access (
    memory           uuid PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    org              text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    access_count     integer NOT NULL DEFAULT 0 CHECK (access_count >= 0),
    last_accessed_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- What memories name. "key" is the folded name (cortex_extraction).
CREATE TABLE entities (
    id         uuid PRIMARY KEY,                            -- UUIDv7, given by the application
    org        text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace  text NOT NULL,
    key        text NOT NULL,
    name       text NOT NULL,
    kind       text NOT NULL,
    summary    text,                                        -- what is known about it, written by sleep
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org, namespace, key)
);

CREATE TABLE memory_entities (
    memory uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    entity uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    org    text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    role   text NOT NULL CHECK (role IN ('speaker', 'mention')),
    PRIMARY KEY (memory, entity, role)
);
CREATE INDEX memory_entities_entity ON memory_entities (entity, memory);

-- Side tables: live hot memories only -----------------------------------------------------------------------------

-- A namespace as a small number, with how many live memories it has (folded in behind, see term_changes).
CREATE TABLE namespaces (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org        text NOT NULL CHECK (org <> ''),
    namespace  text NOT NULL,
    memories   integer NOT NULL DEFAULT 0,
    has_global boolean NOT NULL DEFAULT false,              -- some memory of it is readable by the whole org
    UNIQUE (org, namespace)
);

-- Words: "impacts" holds the BM25 impact of each term at the dimension of its hash (cortex_store.lexical), "keys" one
-- key per term, so that -(impacts <#> idfs) is the BM25 score and "keys &&" finds the candidates.
CREATE TABLE memory_terms (
    memory     uuid PRIMARY KEY,
    scope      integer NOT NULL,                            -- namespaces.id
    private_to bigint,                                      -- hash of the owner; null: not private
    is_global  boolean NOT NULL,
    valid_at   timestamptz NOT NULL,
    thread     bigint,                                      -- hash of scope and session
    turn       integer,
    content    bigint NOT NULL,                             -- hash of the folded content: finds exact repeats
    script     smallint NOT NULL,                           -- of most of its letters (cortex_store.terms)
    keys       integer[] NOT NULL,
    impacts    sparsevec(1000000000) NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX memory_terms_keys ON memory_terms USING gin (keys) WITH (gin_pending_list_limit = 512);
CREATE INDEX memory_terms_thread ON memory_terms (thread, turn) INCLUDE (memory) WHERE thread IS NOT NULL;
CREATE INDEX memory_terms_content ON memory_terms (scope, content);

-- Live memories per key of a term: a count per (scope, term, impact bucket). Changes wait in term_changes.
CREATE TABLE term_counts (key integer PRIMARY KEY, df integer NOT NULL) WITH (fillfactor = 80);
CREATE TABLE term_changes (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope integer NOT NULL,
    delta smallint NOT NULL,
    keys  integer[] NOT NULL
);
CREATE INDEX term_changes_scope ON term_changes (scope);

-- What stopped being true keeps its words and its vector here, for "as of".
CREATE TABLE past_terms (LIKE memory_terms INCLUDING DEFAULTS, invalid_at timestamptz NOT NULL, PRIMARY KEY (memory));
CREATE INDEX past_terms_scope ON past_terms (scope, invalid_at);
CREATE INDEX past_terms_thread ON past_terms (thread, turn) WHERE thread IS NOT NULL;

-- What is bound to a dimension, in a function: reindexing makes the tables of another model beside these, in a schema
-- of its own, and puts them here when they are full (ADR 0014).
CREATE FUNCTION create_vector_tables(p_schema text, p_dimension integer) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    name text;
BEGIN
    EXECUTE format('CREATE TABLE %I.memory_vectors (memory uuid PRIMARY KEY, scope integer NOT NULL, '
        'private_to bigint, is_global boolean NOT NULL, valid_at timestamptz NOT NULL, embedding halfvec(%s) NOT NULL) '
        'WITH (autovacuum_vacuum_insert_scale_factor = 0.02)', p_schema, p_dimension);
    EXECUTE format('CREATE TABLE %1$I.past_vectors (LIKE %1$I.memory_vectors INCLUDING DEFAULTS, '
        'invalid_at timestamptz NOT NULL, PRIMARY KEY (memory))', p_schema);
    -- Inline, not TOASTed: fetching a vector out of line costs more than comparing it.
    EXECUTE format('ALTER TABLE %I.memory_vectors ALTER embedding SET STORAGE PLAIN', p_schema);
    EXECUTE format('CREATE INDEX past_vectors_scope ON %I.past_vectors (scope, invalid_at)', p_schema);
    FOREACH name IN ARRAY ARRAY['memory_vectors', 'past_vectors'] LOOP
        EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', p_schema, name);
        EXECUTE format('CREATE POLICY functions ON %I.%I TO cortex_migration USING (true) WITH CHECK (true)',
            p_schema, name);
    END LOOP;
END
$$;
SELECT create_vector_tables('public', value::integer) FROM database_settings WHERE key = 'embedding.dimension';

-- What a memory still lacks: its words (rows from before this migration) or its vector.
CREATE TABLE index_backlog (
    memory       uuid PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    org          text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    subject      text,                                      -- who may read it; null: it is not private
    words        boolean NOT NULL,
    meaning      boolean NOT NULL,
    attempts     integer NOT NULL DEFAULT 0,
    queued_at    timestamptz NOT NULL DEFAULT now(),
    leased_until timestamptz
);
CREATE INDEX index_backlog_order ON index_backlog (queued_at);

-- Tables with rows about memories, by their foreign keys: "columns" hold ids of memories.
CREATE FUNCTION tables_about_memories() RETURNS TABLE (number bigint, name regclass, columns text[])
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT row_number() OVER (ORDER BY c.conrelid), c.conrelid::regclass, array_agg(a.attname::text)
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
    WHERE c.contype = 'f' AND c.confrelid = 'memories'::regclass AND c.conparentid = 0 GROUP BY c.conrelid
$$;

-- Make the partitions of this month and of p_ahead more; rows that the default partition took in the meantime move.
CREATE FUNCTION ensure_memory_partitions(p_from timestamptz, p_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    month timestamptz := date_trunc('month', p_from);
    last timestamptz := date_trunc('month', now()) + make_interval(months => p_ahead);
    name text;
    made integer := 0;
    first uuid;
    after uuid;
    moves boolean;
    follower record;
BEGIN
    WHILE month <= last LOOP
        name := 'memories_' || to_char(month, 'YYYYMM');
        IF to_regclass(name) IS NULL THEN
            -- To the foreign keys a row that moves is deleted, so what refers to it, in whatever table, is put back
            -- behind it. Nothing can be added to it in the meantime: that takes a lock on its row.
            LOCK TABLE memories_default IN ACCESS EXCLUSIVE MODE;
            first := uuid_floor(month);
            after := uuid_floor(month + interval '1 month');
            moves := EXISTS (SELECT FROM memories m WHERE m.tableoid = 'memories_default'::regclass
                AND m.id >= first AND m.id < after);
            FOR follower IN SELECT * FROM tables_about_memories() WHERE moves LOOP
                EXECUTE format('CREATE TEMP TABLE %I ON COMMIT DROP AS SELECT * FROM %s WHERE %s',
                    'moving_' || follower.number, follower.name,
                    (SELECT string_agg(format('%1$I >= %2$L AND %1$I < %3$L', c, first, after), ' OR ')
                        FROM unnest(follower.columns) AS c));
            END LOOP;
            EXECUTE format('CREATE TABLE %I (LIKE memories INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
            EXECUTE format('WITH moved AS (DELETE FROM memories WHERE tableoid = ''memories_default''::regclass '
                'AND id >= %L AND id < %L RETURNING *) INSERT INTO %I SELECT * FROM moved', first, after, name);
            EXECUTE format('ALTER TABLE memories ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first, after);
            FOR follower IN SELECT * FROM tables_about_memories() WHERE moves LOOP
                EXECUTE format('INSERT INTO %s SELECT * FROM %I', follower.name, 'moving_' || follower.number);
                EXECUTE format('DROP TABLE %I', 'moving_' || follower.number);
            END LOOP;
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
            made := made + 1;
        END IF;
        month := month + interval '1 month';
    END LOOP;
    RETURN made;
END
$$;

SELECT ensure_memory_partitions(coalesce((SELECT min(created_at) FROM memories_unpartitioned), now()), 3);

INSERT INTO memories (id, org, namespace, owner, visibility, network, memory_type, content, content_hash, source_kind,
    source_ref, session, turn, speaker, assertions, metadata, importance, valid_at, invalid_at, superseded_by,
    created_at, tier)
SELECT id, org, namespace, owner, visibility, network, memory_type, content, content_hash, source_kind,
    source_ref, session, turn, speaker, assertions, metadata, importance, valid_at, invalid_at, superseded_by,
    created_at, tier
FROM memories_unpartitioned;

INSERT INTO namespaces (org, namespace) SELECT DISTINCT org, namespace FROM memories;
INSERT INTO memory_vectors (memory, scope, private_to, is_global, valid_at, embedding)
SELECT m.id, n.id, CASE WHEN m.visibility = 'private' THEN hashtextextended(m.owner, 0) END, m.visibility = 'global',
    m.valid_at, o.embedding
FROM memories m JOIN memories_unpartitioned o USING (id) JOIN namespaces n ON (n.org, n.namespace) = (m.org, m.namespace)
WHERE m.invalid_at IS NULL AND m.tier = 'hot' AND o.embedding IS NOT NULL;
INSERT INTO index_backlog (memory, org, subject, words, meaning)
SELECT m.id, m.org, CASE WHEN m.visibility = 'private' THEN m.owner END, true, o.embedding IS NULL
FROM memories m JOIN memories_unpartitioned o USING (id) WHERE m.tier = 'hot';
DROP TABLE memories_unpartitioned;

-- The nearest by meaning: HNSW for large scopes (with m = 16 one question in twenty missed its topic at a million), and
-- for small ones an exact scan of a covering index, which a tuple limit of 2,704 bytes allows up to about 1,300
-- dimensions. In a function: an index for another model is built again.
CREATE FUNCTION index_memory_vectors(p_table regclass, p_dimension integer) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    EXECUTE format('CREATE INDEX ON %s USING hnsw (embedding halfvec_cosine_ops) WITH (m = 32, ef_construction = 64)',
        p_table);
    EXECUTE format('CREATE INDEX ON %s (scope) INCLUDE (memory, private_to, is_global, valid_at%s)', p_table,
        CASE WHEN p_dimension <= 1300 THEN ', embedding' ELSE '' END);
END
$$;
SELECT index_memory_vectors('memory_vectors', value::integer) FROM database_settings WHERE key = 'embedding.dimension';

-- Writing the side tables -----------------------------------------------------------------------------------------

-- The number of a namespace of the bound org, made when it is new.
CREATE FUNCTION scope_of(p_namespace text) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    scope integer := (SELECT id FROM namespaces WHERE org = current_setting('cortex.org') AND namespace = p_namespace);
BEGIN
    IF scope IS NULL THEN
        INSERT INTO namespaces (org, namespace) VALUES (current_setting('cortex.org'), p_namespace)
        ON CONFLICT DO NOTHING;
        scope := (SELECT id FROM namespaces WHERE org = current_setting('cortex.org') AND namespace = p_namespace);
    END IF;
    RETURN scope;
END
$$;

-- The key of a term in a scope and an impact bucket (0 to 3): what hash partitions are made of, so it is stable.
CREATE FUNCTION term_key(p_scope integer, p_term integer, p_bucket integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (hashint8extended((p_term::bigint << 2) + p_bucket, p_scope) >> 32)::integer;

-- Make a memory findable: by its words now, by its meaning when the vector is given and comes from the recorded model;
-- otherwise the memory waits in the backlog for one. Says whether the vector was taken. May be repeated.
CREATE FUNCTION index_memory(p_memory uuid, p_content bigint, p_script integer, p_terms integer[], p_buckets integer[],
    p_impacts sparsevec, p_embedding halfvec, p_model text) RETURNS boolean
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
    SELECT * INTO m FROM memories WHERE id = p_memory AND org = current_setting('cortex.org')
        AND bound_to('writable', namespace) AND (visibility <> 'private' OR owner = current_setting('cortex.subject'));
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

-- Give an indexed memory its vector later. False: it comes from another model than the recorded one, nothing was done.
CREATE FUNCTION add_vector(p_memory uuid, p_embedding halfvec, p_model text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    LOCK TABLE memory_terms IN ACCESS SHARE MODE;  -- the model stays the one that is recorded now
    IF p_model IS DISTINCT FROM (SELECT value FROM database_settings WHERE key = 'embedding.model') THEN
        RETURN false;
    END IF;
    PERFORM FROM memories WHERE id = p_memory AND org = current_setting('cortex.org')
        AND bound_to('writable', namespace) AND (visibility <> 'private' OR owner = current_setting('cortex.subject'))
        FOR SHARE;  -- it must not be invalidated between this and the insert
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = 'no such memory to index for the bound principal';
    END IF;
    INSERT INTO memory_vectors (memory, scope, private_to, is_global, valid_at, embedding)
        SELECT memory, scope, private_to, is_global, valid_at, p_embedding FROM memory_terms WHERE memory = p_memory
        ON CONFLICT (memory) DO UPDATE SET embedding = excluded.embedding;
    INSERT INTO past_vectors (memory, scope, private_to, is_global, valid_at, embedding, invalid_at)
        SELECT memory, scope, private_to, is_global, valid_at, p_embedding, invalid_at FROM past_terms
        WHERE memory = p_memory
        ON CONFLICT (memory) DO UPDATE SET embedding = excluded.embedding;
    DELETE FROM index_backlog WHERE memory = p_memory AND NOT words;
    RETURN true;
END
$$;

-- Take a memory out of every side table; its vectors as well if p_vectors.
CREATE FUNCTION unindex_memory(p_memory uuid, p_vectors boolean) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    WITH gone AS (DELETE FROM memory_terms WHERE memory = p_memory RETURNING scope, keys)
    INSERT INTO term_changes (scope, delta, keys) SELECT scope, -1, keys FROM gone;
    DELETE FROM past_terms WHERE memory = p_memory;
    IF p_vectors THEN
        DELETE FROM memory_vectors WHERE memory = p_memory;
        DELETE FROM past_vectors WHERE memory = p_memory;
    END IF;
END
$$;

-- Whoever changes a memory changes its side rows in the same transaction.
CREATE FUNCTION follow_memory() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NEW.tier <> 'hot' THEN
        PERFORM unindex_memory(NEW.id, true);
        DELETE FROM index_backlog WHERE memory = NEW.id;
        RETURN NULL;
    END IF;
    IF NEW.invalid_at IS NOT NULL THEN
        WITH gone AS (DELETE FROM memory_terms WHERE memory = NEW.id RETURNING *),
            counted AS (INSERT INTO term_changes (scope, delta, keys) SELECT scope, -1, keys FROM gone)
        INSERT INTO past_terms SELECT gone.*, NEW.invalid_at FROM gone;
        WITH gone AS (DELETE FROM memory_vectors WHERE memory = NEW.id RETURNING *)
        INSERT INTO past_vectors SELECT gone.*, NEW.invalid_at FROM gone;
        UPDATE past_terms SET invalid_at = NEW.invalid_at WHERE memory = NEW.id AND invalid_at <> NEW.invalid_at;
        UPDATE past_vectors SET invalid_at = NEW.invalid_at WHERE memory = NEW.id AND invalid_at <> NEW.invalid_at;
    ELSE
        WITH back AS (DELETE FROM past_terms WHERE memory = NEW.id RETURNING *),
            counted AS (INSERT INTO term_changes (scope, delta, keys) SELECT scope, 1, keys FROM back)
        INSERT INTO memory_terms SELECT memory, scope, private_to, is_global, valid_at, thread, turn, content, script,
            keys, impacts FROM back;
        WITH back AS (DELETE FROM past_vectors WHERE memory = NEW.id RETURNING *)
        INSERT INTO memory_vectors SELECT memory, scope, private_to, is_global, valid_at, embedding FROM back;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER follow_memory AFTER UPDATE OF invalid_at, tier ON memories FOR EACH ROW
    WHEN (OLD.invalid_at IS DISTINCT FROM NEW.invalid_at OR OLD.tier <> NEW.tier) EXECUTE FUNCTION follow_memory();

-- What a side row repeats of a memory never changes after it was written.
CREATE FUNCTION refuse_memory_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE restrict_violation USING MESSAGE = 'content, scope and time of a memory do not change: supersede it';
END
$$;
CREATE TRIGGER refuse_memory_change BEFORE UPDATE ON memories FOR EACH ROW
    WHEN ((OLD.id, OLD.org, OLD.namespace, OLD.content, OLD.valid_at, OLD.created_at, OLD.visibility)
        IS DISTINCT FROM (NEW.id, NEW.org, NEW.namespace, NEW.content, NEW.valid_at, NEW.created_at, NEW.visibility)
        OR (OLD.owner, OLD.session, OLD.turn) IS DISTINCT FROM (NEW.owner, NEW.session, NEW.turn))
    EXECUTE FUNCTION refuse_memory_change();

-- Fold up to p_limit changes into the counts and say how many there were; 0 as well when another one is at it.
CREATE FUNCTION fold_term_changes(p_limit integer) RETURNS integer
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
        UPDATE namespaces n SET memories = n.memories + c.change
        FROM (SELECT scope, sum(delta) AS change FROM taken GROUP BY scope) c WHERE n.id = c.scope
    )
    SELECT count(*) INTO folded FROM taken;
    RETURN folded;
END
$$;

-- Work that waits: up to p_limit memories, oldest first, for p_lease; who does not finish in time loses them.
CREATE FUNCTION lease_index_backlog(p_limit integer, p_lease interval)
RETURNS TABLE (memory uuid, org text, subject text, words boolean, meaning boolean, attempts integer)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE index_backlog b SET leased_until = now() + p_lease, attempts = b.attempts + 1
    FROM (SELECT memory FROM index_backlog WHERE leased_until IS NULL OR leased_until < now()
        ORDER BY queued_at LIMIT p_limit FOR UPDATE SKIP LOCKED) due
    WHERE b.memory = due.memory
    RETURNING b.memory, b.org, b.subject, b.words, b.meaning, b.attempts
$$;

-- Reading the side tables -----------------------------------------------------------------------------------------

-- The live memory of a namespace that has the same folded content, if the principal may read it.
CREATE FUNCTION find_repeat(p_namespace text, p_content bigint) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT t.memory FROM memory_terms t JOIN namespaces n ON n.id = t.scope
    WHERE n.org = current_setting('cortex.org', true) AND n.namespace = p_namespace AND t.content = p_content
        AND bound_to('readable', n.namespace)
        AND (t.private_to IS NULL OR t.private_to = hashtextextended(current_setting('cortex.subject', true), 0))
    ORDER BY t.memory LIMIT 8
$$;

-- Turns of a session of a namespace from p_from to p_to, in order, that the principal may read: the live ones, or those
-- that were true at p_as_of.
CREATE FUNCTION find_turns(p_namespace text, p_session text, p_from integer, p_to integer,
    p_as_of timestamptz DEFAULT NULL)
RETURNS TABLE (memory uuid, turn integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT t.memory, t.turn FROM namespaces n JOIN (
        SELECT memory, scope, private_to, is_global, valid_at, thread, turn FROM memory_terms UNION ALL
        SELECT memory, scope, private_to, is_global, valid_at, thread, turn FROM past_terms
        WHERE p_as_of IS NOT NULL AND invalid_at > p_as_of
    ) t ON t.thread = hashtextextended(p_session, n.id)
    WHERE n.org = current_setting('cortex.org', true) AND n.namespace = p_namespace AND t.scope = n.id
        AND t.turn BETWEEN p_from AND p_to AND (p_as_of IS NULL OR t.valid_at <= p_as_of)
        AND current_setting('cortex.subject', true) <> '' AND (bound_to('readable', n.namespace) OR t.is_global)
        AND (t.private_to IS NULL OR t.private_to = hashtextextended(current_setting('cortex.subject', true), 0))
    ORDER BY t.turn, t.memory
$$;

-- The scopes that the bound principal searches when it names p_namespaces (null: all).
CREATE FUNCTION searched_scopes(p_namespaces text[])
RETURNS TABLE (scope integer, memories integer, readable boolean)
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT id, memories, bound_to('readable', namespace) FROM namespaces
    WHERE current_setting('cortex.subject', true) <> '' AND org = current_setting('cortex.org', true) AND (p_namespaces IS NULL OR namespace = ANY (p_namespaces))
        AND (has_global OR bound_to('readable', namespace))
$$;

-- How often terms occur in the searched scopes: one row per scope, term and bucket with its key, so far as memories have
-- it; df 0 is "perhaps": changes of the scope wait to be counted, or the past is asked for as well (p_past), which is
-- not counted. One more row without a term carries the number of memories of the scopes in df. Until the transaction
-- ends, the model and the tables stay those of now (ADR 0014): search_memories, which comes next, sees one moment.
CREATE FUNCTION term_statistics(p_namespaces text[], p_terms integer[], p_past boolean)
RETURNS TABLE (term integer, bucket integer, key integer, df integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    LOCK TABLE memory_terms IN ACCESS SHARE MODE;
    RETURN QUERY
    WITH scopes AS MATERIALIZED (
        SELECT s.scope, s.memories, EXISTS (SELECT FROM term_changes c WHERE c.scope = s.scope) AS changes
        FROM searched_scopes(p_namespaces) s
    )
    SELECT NULL::integer, NULL::integer, NULL::integer, coalesce(sum(greatest(memories, 0)), 0)::integer FROM scopes
    UNION ALL
    SELECT counted.term, counted.bucket, counted.key, greatest(counted.df, 0) FROM (
        -- One lookup per key: joined, the whole table would be read.
        SELECT k.term, k.bucket, k.key, k.changes,
            coalesce((SELECT c.df FROM term_counts c WHERE c.key = k.key), 0) AS df
        FROM (SELECT t AS term, b AS bucket, term_key(s.scope, t, b) AS key, s.changes
            FROM scopes s, unnest(p_terms) AS t, generate_series(0, 3) AS b) k OFFSET 0
    ) counted WHERE counted.df > 0 OR counted.changes OR p_past;
END
$$;

-- What a recall may be narrowed to; null fields narrow nothing. Times are half-open: [since, until).
CREATE TYPE memory_filter AS (
    networks text[], types text[], sources text[], entities uuid[],
    since timestamptz, until timestamptz, created_since timestamptz, created_until timestamptz, as_of timestamptz
);

-- Candidates for an answer: the p_limit best by words and the p_limit nearest by meaning, with the turns around them
-- (p_around each side), all with both exact scores. "named": how it is linked to an entity in p_named, by its speaker
-- (2) or its text (1). Below p_exact_below memories the scopes are compared one by one, otherwise by HNSW.
-- The words are looked up in steps: step i has the keys up to p_ends[i], and what only it or a later one would bring
-- scores p_bounds[i] at most (cortex_store.lexical). Stable: all of it sees one moment, or what was added between two of
-- its queries would be missing beside what was ended between them. Call it after term_statistics.
CREATE FUNCTION search_memories(p_namespaces text[], p_keys integer[], p_ends integer[], p_bounds float8[],
    p_idfs sparsevec, p_embedding halfvec, p_model text, p_limit integer, p_around integer, p_exact_below integer,
    p_named uuid[], p_filter memory_filter)
RETURNS TABLE (memory uuid, lexical real, cosine real, thread bigint, turn integer, valid_at timestamptz,
    script smallint, named integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = on SET jit = off AS $$
DECLARE
    v_scopes integer[];
    v_readable integer[];
    v_size bigint;
    v_subject bigint := hashtextextended(current_setting('cortex.subject', true), 0);
    v_terms text := 'memory_terms';
    v_vectors text := 'memory_vectors';
    v_allowed text := 't.scope = ANY ($1) AND (t.private_to IS NULL OR t.private_to = $3)';
    v_order text := '(t.embedding <=> $5)';
    v_by_words uuid[];
    v_scores float8[];  -- of v_by_words, falling
    v_by_meaning uuid[];
BEGIN
    SELECT array_agg(s.scope), array_agg(s.scope) FILTER (WHERE s.readable), sum(s.memories)
        INTO v_scopes, v_readable, v_size FROM searched_scopes(p_namespaces) s;
    IF v_scopes IS NULL OR coalesce(current_setting('cortex.subject', true), '') = '' THEN
        RETURN;
    END IF;
    IF v_readable IS DISTINCT FROM v_scopes THEN
        v_allowed := v_allowed || ' AND (t.scope = ANY ($2) OR t.is_global)';
    END IF;
    IF (p_filter).since IS NOT NULL THEN v_allowed := v_allowed || ' AND t.valid_at >= ($4).since'; END IF;
    IF (p_filter).until IS NOT NULL THEN v_allowed := v_allowed || ' AND t.valid_at < ($4).until'; END IF;
    -- An id knows milliseconds, a bound microseconds: what was made in the millisecond of a bound was made before it.
    IF (p_filter).created_since IS NOT NULL THEN
        v_allowed := v_allowed || ' AND t.memory >= uuid_floor(($4).created_since + interval ''999 us'')';
    END IF;
    IF (p_filter).created_until IS NOT NULL THEN
        v_allowed := v_allowed || ' AND t.memory < uuid_floor(($4).created_until + interval ''999 us'')';
    END IF;
    IF (p_filter).entities IS NOT NULL THEN
        v_allowed := v_allowed || ' AND EXISTS (SELECT FROM memory_entities e WHERE e.memory = t.memory '
            'AND e.entity = ANY (($4).entities))';
    END IF;
    IF (p_filter).networks IS NOT NULL OR (p_filter).types IS NOT NULL OR (p_filter).sources IS NOT NULL THEN
        v_allowed := v_allowed || ' AND EXISTS (SELECT FROM memories m WHERE m.id = t.memory'
            ' AND (($4).networks IS NULL OR m.network = ANY (($4).networks))'
            ' AND (($4).types IS NULL OR m.memory_type = ANY (($4).types))'
            ' AND (($4).sources IS NULL OR m.source_kind = ANY (($4).sources)))';
    END IF;
    IF (p_filter).as_of IS NOT NULL THEN
        v_allowed := v_allowed || ' AND t.valid_at <= ($4).as_of';
        v_terms := '(SELECT memory, scope, private_to, is_global, valid_at, thread, turn, script, keys, impacts '
            'FROM memory_terms UNION ALL SELECT memory, scope, private_to, is_global, valid_at, thread, turn, script, '
            'keys, impacts FROM past_terms WHERE invalid_at > ($4).as_of)';
        v_vectors := '(SELECT memory, scope, private_to, is_global, valid_at, embedding FROM memory_vectors '
            'UNION ALL SELECT memory, scope, private_to, is_global, valid_at, embedding FROM past_vectors '
            'WHERE invalid_at > ($4).as_of)';
    END IF;
    IF v_size <= p_exact_below OR (p_filter).as_of IS NOT NULL THEN
        v_order := v_order || ' + 0';  -- no index has this order: every row of the scopes is compared
    END IF;

    FOR step IN 1 .. coalesce(cardinality(p_ends), 0) LOOP
        EXIT WHEN cardinality(v_by_words) = p_limit AND p_bounds[step] < v_scores[p_limit];
        -- The keys alone are looked up ("+ 0"): an index on the scope would bring an entry for every memory in it. GIN
        -- compares each memory with each key of an array, so that many keys go into several arrays.
        EXECUTE format('SELECT array_agg(memory ORDER BY score DESC, memory), array_agg(score ORDER BY score DESC, memory) '
            'FROM (SELECT memory, score FROM (SELECT t.memory, -(t.impacts <#> $7) AS score FROM %s t WHERE (%s) AND %s '
            'UNION SELECT * FROM unnest($9, $10)) found ORDER BY score DESC, memory LIMIT $8) best',
            v_terms, (SELECT string_agg(format('t.keys && $6[%s:%s]', first, least(first + 31, p_ends[step])), ' OR ')
                FROM generate_series(coalesce(p_ends[step - 1], 0) + 1, p_ends[step], 32) AS first),
            replace(v_allowed, 't.scope =', 't.scope + 0 ='))
            INTO v_by_words, v_scores
            USING v_scopes, v_readable, v_subject, p_filter, p_embedding, p_keys, p_idfs, p_limit, v_by_words, v_scores;
    END LOOP;
    IF p_embedding IS NOT NULL
        AND p_model = (SELECT value FROM database_settings WHERE key = 'embedding.model') THEN
        -- An exact scan reads the covering index alone; a bitmap would visit the heap for every row.
        PERFORM set_config('enable_bitmapscan', 'off', true);
        EXECUTE format('SELECT array_agg(memory) FROM (SELECT t.memory FROM %s t WHERE %s ORDER BY %s LIMIT $6) nearest',
            v_vectors, v_allowed, v_order)
            INTO v_by_meaning USING v_scopes, v_readable, v_subject, p_filter, p_embedding, p_limit;
    ELSE
        p_embedding := NULL;
    END IF;

    RETURN QUERY EXECUTE format('
        WITH found AS (
            SELECT t.memory, t.thread, t.turn FROM (SELECT DISTINCT unnest($6 || $7) AS memory) u
            JOIN %1$s t ON t.memory = u.memory
        ), around AS (
            SELECT memory FROM found UNION
            SELECT near.memory FROM found f, LATERAL (SELECT t.memory FROM %1$s t
                WHERE t.thread = f.thread AND t.turn BETWEEN f.turn - $8 AND f.turn + $8 AND %2$s OFFSET 0) near
            WHERE f.thread IS NOT NULL AND $8 > 0
        )
        SELECT t.memory, (-(t.impacts <#> $9))::real, (1 - (v.embedding <=> $5))::real, t.thread, t.turn, t.valid_at,
            t.script, CASE WHEN $10 IS NULL THEN 0 ELSE coalesce((SELECT max(CASE e.role WHEN ''speaker'' THEN 2 ELSE 1 END)
                FROM memory_entities e WHERE e.memory = t.memory AND e.entity = ANY ($10)), 0) END
        FROM around a JOIN %1$s t ON t.memory = a.memory LEFT JOIN %3$s v ON v.memory = a.memory',
        v_terms, v_allowed, v_vectors)
        USING v_scopes, v_readable, v_subject, p_filter, p_embedding, v_by_words, v_by_meaning, p_around, p_idfs,
            p_named;
END
$$;

-- Row security --------------------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
    readable text := 'org = (SELECT current_setting(''cortex.org'', true)) '
        'AND (visibility <> ''private'' OR owner = (SELECT current_setting(''cortex.subject'', true))) '
        'AND (bound_to(''readable'', namespace) '
        'OR visibility = ''global'' AND (SELECT current_setting(''cortex.subject'', true)) <> '''')';
    writable text := 'org = (SELECT current_setting(''cortex.org'', true)) AND bound_to(''writable'', namespace)';
BEGIN
    FOREACH name IN ARRAY ARRAY['memories', 'memory_occurrences', 'memory_access', 'entities', 'memory_entities',
            'namespaces', 'memory_terms', 'past_terms', 'term_counts', 'term_changes', 'index_backlog'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        -- The owner of the schema serves the functions above, which apply the rules themselves.
        EXECUTE format('CREATE POLICY functions ON %I TO cortex_migration USING (true) WITH CHECK (true)', name);
    END LOOP;
    -- What a chunk says is embedded again for another model.
    CREATE POLICY reindex ON chunks TO cortex_migration USING (true) WITH CHECK (true);
    CREATE POLICY reindex ON pages FOR SELECT TO cortex_migration USING (true);
    FOREACH name IN ARRAY ARRAY['memories', 'memory_occurrences', 'memory_access', 'entities', 'memory_entities',
            'namespaces', 'index_backlog'] LOOP
        EXECUTE format('CREATE POLICY sleep ON %I TO cortex_sleep USING (org = current_setting(''cortex.org'', true)) '
            'WITH CHECK (org = current_setting(''cortex.org'', true))', name);
    END LOOP;

    EXECUTE format('CREATE POLICY read ON memories FOR SELECT TO cortex_runtime USING (%s)', readable);
    EXECUTE format('CREATE POLICY add ON memories FOR INSERT TO cortex_runtime WITH CHECK (%s)', writable);
    EXECUTE format('CREATE POLICY change ON memories FOR UPDATE TO cortex_runtime USING (%s AND %s) WITH CHECK (%s)',
        readable, writable, writable);
    -- Rows about a memory are there for whom the memory is.
    FOREACH name IN ARRAY ARRAY['memory_occurrences', 'memory_access', 'memory_entities', 'index_backlog'] LOOP
        EXECUTE format('CREATE POLICY follow ON %I TO cortex_runtime '
            'USING (org = current_setting(''cortex.org'', true) AND EXISTS (SELECT FROM memories m WHERE m.id = memory)) '
            'WITH CHECK (org = current_setting(''cortex.org'', true) AND EXISTS (SELECT FROM memories m WHERE m.id = memory))',
            name);
    END LOOP;
    EXECUTE format('CREATE POLICY read ON entities FOR SELECT TO cortex_runtime '
        'USING (org = (SELECT current_setting(''cortex.org'', true)) AND bound_to(''readable'', namespace))');
    EXECUTE format('CREATE POLICY add ON entities FOR INSERT TO cortex_runtime WITH CHECK (%s)', writable);
    EXECUTE format('CREATE POLICY change ON entities FOR UPDATE TO cortex_runtime USING (%s) WITH CHECK (%s)', writable,
        writable);
    EXECUTE 'CREATE POLICY read ON namespaces FOR SELECT TO cortex_runtime '
        'USING (org = (SELECT current_setting(''cortex.org'', true)) AND bound_to(''readable'', namespace))';

    -- Grants: the org sees them, only who owns the namespace by its credential changes them.
    DROP POLICY bound_org ON namespace_grants;
    CREATE POLICY read ON namespace_grants FOR SELECT USING (org = current_setting('cortex.org', true));
    CREATE POLICY share ON namespace_grants TO cortex_runtime
        USING (org = current_setting('cortex.org', true) AND bound_to('owned', namespace))
        WITH CHECK (org = current_setting('cortex.org', true) AND bound_to('owned', namespace));
    -- Events of a namespace are there for its readers; whoever writes a memory may record what happened to it.
    DROP POLICY bound_org ON memory_events;
    CREATE POLICY sleep ON memory_events TO cortex_sleep USING (org = current_setting('cortex.org', true))
        WITH CHECK (org = current_setting('cortex.org', true));
    CREATE POLICY read ON memory_events FOR SELECT TO cortex_runtime
        USING (org = current_setting('cortex.org', true) AND bound_to('readable', namespace));
    CREATE POLICY add ON memory_events FOR INSERT TO cortex_runtime
        WITH CHECK (org = current_setting('cortex.org', true));
END
$$;

-- Privileges ----------------------------------------------------------------------------------------------------

GRANT SELECT, INSERT, UPDATE ON memories, memory_access TO cortex_runtime, cortex_sleep;
GRANT SELECT, INSERT ON memory_occurrences TO cortex_runtime, cortex_sleep;
GRANT SELECT, INSERT, UPDATE ON entities TO cortex_runtime, cortex_sleep;
GRANT SELECT, INSERT, DELETE ON memory_entities TO cortex_runtime, cortex_sleep;
GRANT SELECT ON namespaces TO cortex_runtime, cortex_sleep;
GRANT SELECT ON index_backlog TO cortex_runtime, cortex_sleep;

REVOKE ALL ON FUNCTION tables_about_memories, ensure_memory_partitions, create_vector_tables, index_memory_vectors,
    scope_of, index_memory, add_vector, unindex_memory, follow_memory, fold_term_changes, lease_index_backlog, find_repeat, find_turns, searched_scopes,
    term_statistics, search_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION index_memory, add_vector, fold_term_changes, lease_index_backlog, find_repeat, find_turns,
    term_statistics, search_memories TO cortex_runtime, cortex_sleep;
GRANT EXECUTE ON FUNCTION ensure_memory_partitions TO cortex_sleep;
