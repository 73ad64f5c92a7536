-- The hot tier, the pages of the vaults, and the inbox and outbox of the services.
--
-- Every table with an org has forced row security: a transaction sees and writes the org it is bound to by
-- set_config('cortex.org', <org>, true), and nothing at all when it is not bound. Writers never pass an org: the
-- column's default is the bound one, so that a row cannot land elsewhere by mistake.
--
-- There is no GIN index over the tsvectors: "@@" is not leakproof, so PostgreSQL never uses an index for it below a
-- row security policy. The lexical side tables of the next migration bring an index that it can use.

-- Memories ------------------------------------------------------------------------------------------------------

CREATE TABLE memories (
    id            uuid PRIMARY KEY,                         -- UUIDv7, given by the application
    org           text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace     text NOT NULL,
    owner         text,                                     -- the agent or person it belongs to
    visibility    text NOT NULL CHECK (visibility IN ('private', 'team', 'global')),
    network       text NOT NULL CHECK (network IN ('fact', 'experience', 'observation', 'belief')),
    memory_type   text NOT NULL CHECK (memory_type IN ('episodic', 'semantic', 'procedural', 'working')),
    content       text NOT NULL,
    content_hash  bytea NOT NULL,                           -- SHA-256 of the content
    source_kind   text NOT NULL,
    source_ref    text,
    session       text,
    turn          integer CHECK (turn >= 0),
    speaker       text,
    assertions    jsonb NOT NULL DEFAULT '[]',
    metadata      jsonb NOT NULL DEFAULT '{}',
    search        tsvector NOT NULL,                        -- the terms of the content, made by cortex_store.terms
    importance    real NOT NULL CHECK (importance BETWEEN 0 AND 1),
    valid_at      timestamptz NOT NULL,                     -- when it became true
    invalid_at    timestamptz,                              -- when it stopped being true; the row stays
    superseded_by uuid,                                     -- no foreign key: a partitioned table cannot have one on id
    created_at    timestamptz NOT NULL DEFAULT now(),       -- when Cortex learned it
    tier          text NOT NULL DEFAULT 'hot' CHECK (tier IN ('hot', 'cold')),
    CHECK (visibility <> 'private' OR owner IS NOT NULL)
);
CREATE INDEX memories_namespace ON memories (org, namespace, created_at) WHERE invalid_at IS NULL AND tier = 'hot';
CREATE INDEX memories_created_at ON memories (org, created_at);
CREATE INDEX memories_content ON memories (org, namespace, content_hash);

-- What happened to memories: append-only, nobody but the owner of the schema may change or delete a row.
CREATE TABLE memory_events (
    id          uuid PRIMARY KEY,                           -- UUIDv7, given by the application
    org         text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace   text NOT NULL,
    op          text NOT NULL,
    memory_id   uuid,                                       -- null: about the namespace
    agent       text,
    occurred_at timestamptz NOT NULL,
    metadata    jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX memory_events_namespace ON memory_events (org, namespace, occurred_at);
CREATE INDEX memory_events_memory ON memory_events (memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE namespace_grants (
    org        text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    agent      text NOT NULL,
    namespace  text NOT NULL,
    can_read   boolean NOT NULL DEFAULT true,
    can_write  boolean NOT NULL DEFAULT false,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org, agent, namespace)
);

-- Memory events that sleep has taken in, per namespace.
CREATE TABLE sleep_progress (
    org           text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace     text NOT NULL,
    events_seen   bigint NOT NULL CHECK (events_seen >= 0),
    last_event_at timestamptz NOT NULL,
    PRIMARY KEY (org, namespace)
);

-- Pages ---------------------------------------------------------------------------------------------------------

-- How far the sync of each vault is: its pages equal synced_commit.
CREATE TABLE vaults (
    org           text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    vault         text NOT NULL,
    synced_commit text,
    last_sync     timestamptz,
    last_result   text CHECK (last_result IN ('ok', 'partial', 'failed')),
    pages_changed integer NOT NULL DEFAULT 0 CHECK (pages_changed >= 0),
    errors        jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (org, vault)
);

-- The foreign keys below carry the org, so that no row can point into another one.
CREATE TABLE pages (
    id           uuid NOT NULL,                             -- UUIDv7, given by the application
    org          text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    vault        text NOT NULL,
    slug         text NOT NULL CHECK (slug <> ''),
    path         text,                                      -- file in the vault; null: written over REST only
    title        text NOT NULL,
    type         text NOT NULL,
    tags         text[] NOT NULL DEFAULT '{}',
    aliases      text[] NOT NULL DEFAULT '{}',
    frontmatter  jsonb NOT NULL DEFAULT '{}',
    body         text NOT NULL,
    commit       text,                                      -- commit it was last read from
    created      timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    content_hash bytea NOT NULL,                            -- of the file as it was read: what a sync compares
    PRIMARY KEY (org, id),
    UNIQUE (org, vault, slug),
    UNIQUE (org, vault, path)
);

-- Every name that a link may call a page by, folded (cortex_store.names); kind 0 slug, 1 path, 2 title, 3 alias.
CREATE TABLE page_names (
    org   text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    vault text NOT NULL,
    name  text NOT NULL,
    kind  smallint NOT NULL,
    page  uuid NOT NULL,
    PRIMARY KEY (org, vault, name, kind, page),
    FOREIGN KEY (org, page) REFERENCES pages (org, id) ON DELETE CASCADE
);
CREATE INDEX page_names_page ON page_names (org, page);

CREATE TABLE chunks (
    org          text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    vault        text NOT NULL,
    page         uuid NOT NULL,
    ordinal      integer NOT NULL CHECK (ordinal >= 0),
    heading_path text[] NOT NULL DEFAULT '{}',
    text         text NOT NULL,
    search       tsvector NOT NULL,                         -- terms of title, headings and text
    PRIMARY KEY (org, page, ordinal),
    FOREIGN KEY (org, page) REFERENCES pages (org, id) ON DELETE CASCADE
);

CREATE TABLE links (
    org       text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    vault     text NOT NULL,
    from_page uuid NOT NULL,
    target    text NOT NULL,                                -- as it was written
    name      text NOT NULL,                                -- the target, folded like page_names.name
    to_page   uuid,                                         -- null: no page has this name yet
    PRIMARY KEY (org, from_page, name),
    FOREIGN KEY (org, from_page) REFERENCES pages (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, to_page) REFERENCES pages (org, id) ON DELETE SET NULL (to_page)
);
CREATE INDEX links_name ON links (org, vault, name);
CREATE INDEX links_to_page ON links (org, to_page);

-- Delivery (ADR 0003): no org, no row security; bodies are on their way to the bus, which has its own permissions ----

CREATE TABLE inbox (
    consumer     text NOT NULL,
    message_id   text NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, message_id)
);
CREATE INDEX inbox_processed_at ON inbox (processed_at);

CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject    text NOT NULL,
    message_id text NOT NULL UNIQUE,
    headers    jsonb NOT NULL DEFAULT '{}',
    body       bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    writer     name NOT NULL DEFAULT current_user           -- the role that wrote it: a relay publishes what its role may
);

-- Embeddings ----------------------------------------------------------------------------------------------------

-- Facts about the database as a whole, written once.
CREATE TABLE database_settings (
    key   text PRIMARY KEY,
    value text NOT NULL
);

-- The dimension is fixed here: that of the bundled model unless whoever migrates sets cortex.embedding_dimension.
-- Null embeddings are rows that wait to be embedded again; they are still found by their words.
DO $$
DECLARE
    dimension integer := coalesce(nullif(current_setting('cortex.embedding_dimension', true), ''), '384')::integer;
BEGIN
    INSERT INTO database_settings VALUES ('embedding.dimension', dimension::text);
    EXECUTE format('ALTER TABLE memories ADD COLUMN embedding halfvec(%s)', dimension);
    EXECUTE format('ALTER TABLE chunks ADD COLUMN embedding halfvec(%s)', dimension);
END
$$;
CREATE INDEX memories_embedding ON memories USING hnsw (embedding halfvec_cosine_ops)
    WHERE invalid_at IS NULL AND tier = 'hot';
CREATE INDEX chunks_embedding ON chunks USING hnsw (embedding halfvec_cosine_ops);

-- Row security --------------------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memories', 'memory_events', 'namespace_grants', 'sleep_progress', 'vaults', 'pages',
                                'page_names', 'chunks', 'links'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY bound_org ON %I USING (org = current_setting(''cortex.org'', true)) '
                       'WITH CHECK (org = current_setting(''cortex.org'', true))', name);
    END LOOP;
END
$$;

-- A role relays what it wrote itself, and cannot write in the name of another: each has a NATS user of its own.
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON outbox USING (writer = current_user) WITH CHECK (writer = current_user);

-- Privileges ----------------------------------------------------------------------------------------------------

-- Memories are never deleted and events never change: the services lack the privilege, not only the code.
GRANT SELECT, INSERT, UPDATE ON memories TO cortex_runtime, cortex_sleep;
GRANT SELECT, INSERT ON memory_events TO cortex_runtime, cortex_sleep;
GRANT SELECT, INSERT, UPDATE, DELETE ON namespace_grants, vaults, pages, page_names, chunks, links TO cortex_runtime;
GRANT SELECT ON namespace_grants, vaults, pages, page_names, links TO cortex_sleep;
GRANT SELECT, UPDATE ON chunks TO cortex_sleep;
GRANT SELECT, INSERT, UPDATE ON sleep_progress TO cortex_sleep;
GRANT SELECT ON sleep_progress TO cortex_runtime;
GRANT SELECT, INSERT, DELETE ON inbox TO cortex_runtime, cortex_sleep;
-- UPDATE: the relay locks rows with FOR UPDATE.
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO cortex_runtime, cortex_sleep;
GRANT SELECT, INSERT ON database_settings TO cortex_runtime, cortex_sleep;
