-- Maintenance of the hot tier: partitions as of any clock, empty ones that go, what is not findable and does not wait to
-- be, and tables and indexes that shrink again after memories went cold (cortex_sleep.maintain).

-- When work that is there once for all namespaces was done last.
CREATE TABLE upkeep_tasks (task text PRIMARY KEY, done_at timestamptz NOT NULL);

-- How many rows had ever been removed from a table when its indexes were built again.
CREATE TABLE upkeep_tables (name text PRIMARY KEY, removed bigint NOT NULL, rebuilt_at timestamptz NOT NULL);

ALTER TABLE sleep_marks ADD COLUMN checked_on date;         -- when its memories were last looked at for missing entries

-- As in 0002, but the months ahead are counted from p_from when that is later than now, and who cannot have the lock of
-- the default partition within a second leaves the months for another time: readers queue behind whoever waits.
CREATE OR REPLACE FUNCTION ensure_memory_partitions(p_from timestamptz, p_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
    month timestamptz := date_trunc('month', p_from);
    last timestamptz := date_trunc('month', greatest(p_from, now())) + make_interval(months => p_ahead);
    made integer := 0;
BEGIN
    WHILE month <= last LOOP
        IF to_regclass('memories_' || to_char(month, 'YYYYMM')) IS NULL THEN
            BEGIN
                PERFORM create_memory_partition(month);
            EXCEPTION WHEN lock_not_available THEN
                EXIT;
            END;
            made := made + 1;
        END IF;
        month := month + interval '1 month';
    END LOOP;
    RETURN made;
END
$$;

-- Make the partition of a month; rows that the default partition took in the meantime move.
CREATE FUNCTION create_memory_partition(p_month timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    name text := 'memories_' || to_char(p_month, 'YYYYMM');
    first uuid := uuid_floor(p_month);
    after uuid := uuid_floor(p_month + interval '1 month');
    moves boolean;
    follower record;
BEGIN
    -- To the foreign keys a row that moves is deleted, so what refers to it, in whatever table, is put back behind it.
    -- Nothing can be added to it in the meantime: that takes a lock on its row.
    LOCK TABLE memories_default IN ACCESS EXCLUSIVE MODE;
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
END
$$;

-- The monthly partitions that end before p_before and hold nothing, by name. Asked through the table itself: a partition
-- has row security and no policies, so by its own name it looks empty to everybody.
CREATE FUNCTION empty_memory_partitions(p_before timestamptz) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    name text;
    month timestamptz;
BEGIN
    FOR name, month IN SELECT c.relname, to_timestamp(right(c.relname, 6), 'YYYYMM')
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'memories'::regclass AND c.relname ~ '^memories_[0-9]{6}$' ORDER BY 1
    LOOP
        IF month + interval '1 month' <= p_before AND NOT EXISTS (SELECT FROM memories m
            WHERE m.id >= uuid_floor(month) AND m.id < uuid_floor(month + interval '1 month')) THEN
            RETURN NEXT name;
        END IF;
    END LOOP;
END
$$;

-- Drop one of them. False: it is not empty any more, or its locks are not to be had at once: whoever reads would queue
-- behind this.
CREATE FUNCTION drop_memory_partition(p_name text, p_before timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' SET lock_timeout = '200ms' AS $$
DECLARE
    holds boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM empty_memory_partitions(p_before) AS name WHERE name = p_name) THEN
        RETURN false;
    END IF;
    LOCK TABLE ONLY memories IN ACCESS EXCLUSIVE MODE;
    -- Nobody can write any more. Without forced row security its owner sees what there is, whatever the policies are.
    EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', p_name);
    EXECUTE format('SELECT EXISTS (SELECT FROM %I)', p_name) INTO holds;
    IF holds THEN
        RAISE object_in_use;
    END IF;
    EXECUTE format('ALTER TABLE memories DETACH PARTITION %I', p_name);
    EXECUTE format('DROP TABLE %I', p_name);
    RETURN true;
EXCEPTION WHEN lock_not_available OR object_in_use THEN
    RETURN false;
END
$$;

-- Let up to p_limit memories of a namespace wait for what they lack: words or vector, without being in the backlog for
-- it. Not what is younger than an hour: it may still be on its way. How many there were; with p_count_only nothing is
-- done.
CREATE FUNCTION queue_unindexed(p_namespace text, p_limit integer, p_count_only boolean) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
DECLARE
    queued integer;
BEGIN
    WITH lacking AS MATERIALIZED (
        SELECT m.id, m.org, CASE WHEN m.visibility = 'private' THEN m.owner END AS subject,
            NOT EXISTS (SELECT FROM memory_terms t WHERE t.memory = m.id)
                AND NOT EXISTS (SELECT FROM past_terms t WHERE t.memory = m.id) AS words,
            NOT EXISTS (SELECT FROM memory_vectors v WHERE v.memory = m.id)
                AND NOT EXISTS (SELECT FROM past_vectors v WHERE v.memory = m.id) AS meaning
        FROM memories m
        WHERE m.org = current_setting('cortex.org', true) AND m.namespace = p_namespace AND m.tier = 'hot'
            AND m.id < uuid_floor(now() - interval '1 hour')
            AND NOT EXISTS (SELECT FROM index_backlog b WHERE b.memory = m.id)
    ), due AS (
        SELECT * FROM lacking WHERE words OR meaning ORDER BY id LIMIT p_limit
    ), added AS (
        INSERT INTO index_backlog (memory, org, subject, words, meaning)
        SELECT id, org, subject, words, true FROM due WHERE NOT p_count_only ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO queued FROM due;
    RETURN queued;
END
$$;

-- The tables that grow and shrink with memories: partitions, what refers to memories, and the side tables.
CREATE FUNCTION tables_of_memories() RETURNS SETOF regclass
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'memories'::regclass
    UNION SELECT name FROM tables_about_memories()
    UNION SELECT to_regclass(name) FROM unnest(ARRAY['memory_terms', 'memory_vectors', 'past_terms', 'past_vectors',
        'term_counts', 'term_changes']) AS name WHERE to_regclass(name) IS NOT NULL
$$;

-- Sleep may vacuum and index these tables again, also those that were made since: a month's, or another model's.
CREATE FUNCTION allow_upkeep() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    name regclass;
BEGIN
    FOR name IN SELECT t FROM tables_of_memories() AS t WHERE NOT has_table_privilege('cortex_sleep', t, 'MAINTAIN') LOOP
        EXECUTE format('GRANT MAINTAIN ON %s TO cortex_sleep', name);
    END LOOP;
END
$$;

-- Drop what is left of indexes that were being built when their worker died. Only for who holds the lock of upkeep: what
-- is being built now looks the same.
CREATE FUNCTION drop_unfinished_indexes() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    name regclass;
    dropped integer := 0;
BEGIN
    FOR name IN SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relname ~ '_cc(new|old)[0-9]*$'
            AND i.indrelid IN (SELECT known FROM tables_of_memories() AS known)
    LOOP
        EXECUTE format('DROP INDEX %s', name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
END
$$;

GRANT SELECT, INSERT, UPDATE ON upkeep_tasks, upkeep_tables TO cortex_sleep;
REVOKE ALL ON FUNCTION create_memory_partition, empty_memory_partitions, drop_memory_partition, queue_unindexed, tables_of_memories, allow_upkeep,
    drop_unfinished_indexes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION empty_memory_partitions, drop_memory_partition, queue_unindexed, tables_of_memories,
    allow_upkeep, drop_unfinished_indexes TO cortex_sleep;
GRANT EXECUTE ON FUNCTION tables_about_memories TO cortex_sleep;
