-- Memories that stop being true at a moment that is still to come, because something was announced for then. Until then
-- they are true; ingest ends them when it has come.

CREATE TABLE announced_endings (
    memory        uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    superseded_by uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    at            timestamptz NOT NULL,
    org           text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    PRIMARY KEY (memory, superseded_by)
);
CREATE INDEX announced_endings_order ON announced_endings (at);

-- What is due in any org, with whom it may be ended for: the owner of what is private.
CREATE FUNCTION due_endings(p_limit integer)
RETURNS TABLE (memory uuid, superseded_by uuid, at timestamptz, org text, subject text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT e.memory, e.superseded_by, e.at, e.org, coalesce(CASE WHEN m.visibility = 'private' THEN m.owner END,
        CASE WHEN s.visibility = 'private' THEN s.owner END)
    FROM announced_endings e JOIN memories m ON m.id = e.memory JOIN memories s ON s.id = e.superseded_by
    WHERE e.at <= now() ORDER BY e.at LIMIT p_limit
$$;

-- Row security and privileges: there for whom both memories are.
ALTER TABLE announced_endings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY functions ON announced_endings TO cortex_migration USING (true) WITH CHECK (true);
CREATE POLICY sleep ON announced_endings TO cortex_sleep USING (org = current_setting('cortex.org', true))
    WITH CHECK (org = current_setting('cortex.org', true));
CREATE POLICY follow ON announced_endings TO cortex_runtime
    USING (org = current_setting('cortex.org', true) AND EXISTS (SELECT FROM memories m WHERE m.id = memory)
        AND EXISTS (SELECT FROM memories m WHERE m.id = announced_endings.superseded_by))
    WITH CHECK (org = current_setting('cortex.org', true) AND EXISTS (SELECT FROM memories m WHERE m.id = memory)
        AND EXISTS (SELECT FROM memories m WHERE m.id = announced_endings.superseded_by));
GRANT SELECT, INSERT, DELETE ON announced_endings TO cortex_runtime, cortex_sleep;
REVOKE ALL ON FUNCTION due_endings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_endings TO cortex_runtime, cortex_sleep;
