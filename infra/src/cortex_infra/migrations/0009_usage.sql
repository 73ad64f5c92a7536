-- Usage: how often a subject used what on which day (UTC), and what of a language model that took: tokens and time.

CREATE TABLE usage (
    org           text NOT NULL DEFAULT current_setting('cortex.org') CHECK (org <> ''),
    day           date NOT NULL,
    subject       text NOT NULL CHECK (subject <> ''),
    purpose       text NOT NULL,
    requests      bigint NOT NULL DEFAULT 0 CHECK (requests >= 0),
    input_tokens  bigint NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens bigint NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    model_ms      bigint NOT NULL DEFAULT 0 CHECK (model_ms >= 0),
    PRIMARY KEY (org, day, subject, purpose)
);

-- Row security: who may read all of the org sees everybody's, who may read some namespaces only sees its own. An org
-- without a principal sees none.
ALTER TABLE usage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON usage TO cortex_runtime
    USING (org = (SELECT current_setting('cortex.org', true))
        AND (subject = (SELECT current_setting('cortex.subject', true))
            OR (SELECT current_setting('cortex.readable', true)) = '*'))
    WITH CHECK (org = (SELECT current_setting('cortex.org', true))
        AND (subject = (SELECT current_setting('cortex.subject', true))
            OR (SELECT current_setting('cortex.readable', true)) = '*'));
GRANT SELECT, INSERT, UPDATE ON usage TO cortex_runtime;
