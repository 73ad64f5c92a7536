-- What a person was told of, so that nothing is told twice (cortex_sleep.wake).

CREATE TABLE wakes (
    org          text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    namespace    text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('contradiction', 'stale', 'pattern')),
    key          text NOT NULL,                             -- what was told, among those of its kind: ids and dates
    event_id     uuid NOT NULL,                             -- the event on the bus
    announced_at timestamptz NOT NULL,
    PRIMARY KEY (org, namespace, kind, key)
);
CREATE INDEX wakes_announced ON wakes (org, namespace, announced_at);

ALTER TABLE wakes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY sleep ON wakes TO cortex_sleep USING (org = current_setting('cortex.org', true))
    WITH CHECK (org = current_setting('cortex.org', true));
GRANT SELECT, INSERT ON wakes TO cortex_sleep;
