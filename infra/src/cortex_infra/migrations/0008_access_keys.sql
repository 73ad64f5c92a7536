-- Keys of agents: one row for each, with the SHA-256 of the key and never the key.
--
-- A key is looked up before anybody is bound: resolve_access_key() sees the keys of every org and tells of the one whose
-- digest it was given only what a principal is made of. No role reads the digests.

CREATE TABLE access_keys (
    id           text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{12}$'),
    org          text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    digest       bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    subject      text NOT NULL CHECK (subject <> ''),
    role         text NOT NULL CHECK (role IN ('owner', 'member')),
    readable     text[],                                     -- namespaces; null: all of the org
    writable     text[],
    created_by   text NOT NULL DEFAULT current_setting('cortex.subject') CHECK (created_by <> ''),
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz
);
CREATE INDEX access_keys_org ON access_keys (org, created_at);

CREATE FUNCTION resolve_access_key(p_digest bytea)
RETURNS TABLE (id text, org text, subject text, role text, readable text[], writable text[], expires_at timestamptz,
    works boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT k.id, k.org, k.subject, k.role, k.readable, k.writable, k.expires_at,
        k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    FROM access_keys k WHERE k.digest = p_digest
$$;

-- Keys of any org were used at these times; an earlier time than the known one changes nothing.
CREATE FUNCTION touch_access_keys(p_ids text[], p_times timestamptz[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE access_keys k SET last_used_at = greatest(k.last_used_at, used.at)
    FROM unnest(p_ids, p_times) AS used (id, at) WHERE k.id = used.id
$$;

ALTER TABLE access_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- The owner of the schema serves the functions above.
CREATE POLICY functions ON access_keys TO cortex_migration USING (true) WITH CHECK (true);
CREATE POLICY own ON access_keys TO cortex_runtime
    USING (org = (SELECT current_setting('cortex.org', true)) AND (SELECT current_setting('cortex.subject', true)) <> '')
    WITH CHECK (org = (SELECT current_setting('cortex.org', true)) AND (SELECT current_setting('cortex.subject', true)) <> '');

GRANT SELECT (id, org, subject, role, readable, writable, created_by, created_at, expires_at, revoked_at, last_used_at),
    INSERT, UPDATE (revoked_at) ON access_keys TO cortex_runtime;
REVOKE ALL ON FUNCTION resolve_access_key, touch_access_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION resolve_access_key, touch_access_keys TO cortex_runtime;
