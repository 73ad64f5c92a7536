-- What the cold tier needs beside its batches: a catalog, and what became of verifications.

-- The catalog: which metadata file of the Iceberg table is the current one (docs/cold.md). Sleep alone
-- reads and changes it. The tables are those of Iceberg's SQL catalogs (pyiceberg 0.12; Java's JDBC catalog in its schema
-- V1 has the same), so that any of them can be pointed at it. They hold locations, never contents or credentials.

CREATE SCHEMA cold_catalog;

CREATE TABLE cold_catalog.iceberg_tables (
    catalog_name               varchar(255) NOT NULL,
    table_namespace            varchar(255) NOT NULL,
    table_name                 varchar(255) NOT NULL,
    metadata_location          varchar(1000),
    previous_metadata_location varchar(1000),
    iceberg_type               varchar(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE cold_catalog.iceberg_namespace_properties (
    catalog_name   varchar(255) NOT NULL,
    namespace      varchar(255) NOT NULL,
    property_key   varchar(255) NOT NULL,
    property_value varchar(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
);

GRANT USAGE ON SCHEMA cold_catalog TO cortex_sleep;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cold_catalog TO cortex_sleep;

-- Times that everything an org has in the cold tier was read again and compared with what went in. One that runs says so
-- again and again (beat_at); one that is silent for long has died with its process.
CREATE TABLE cold_verifications (
    id          uuid PRIMARY KEY,                           -- UUIDv7, given by the application
    org         text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    state       text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
    files_done  integer NOT NULL DEFAULT 0,
    files       integer,
    rows        bigint NOT NULL DEFAULT 0,
    batches     integer NOT NULL DEFAULT 0,
    damaged     integer NOT NULL DEFAULT 0,
    damages     jsonb NOT NULL DEFAULT '[]',                -- the first ones: what, where, rows, ids; never contents
    reason      text,
    began_at    timestamptz NOT NULL DEFAULT now(),
    beat_at     timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    CHECK ((state = 'running') = (finished_at IS NULL))
);
-- One at a time.
CREATE UNIQUE INDEX cold_verifications_running ON cold_verifications (org) WHERE state = 'running';
CREATE INDEX cold_verifications_latest ON cold_verifications (org, id);

ALTER TABLE cold_verifications ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY sleep ON cold_verifications TO cortex_sleep USING (org = (SELECT current_setting('cortex.org', true)))
    WITH CHECK (org = (SELECT current_setting('cortex.org', true)));
GRANT SELECT, INSERT, UPDATE ON cold_verifications TO cortex_sleep;
