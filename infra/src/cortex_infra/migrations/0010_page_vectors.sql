-- Vectors of passages that pages of a vault have already: a sync does not embed again what did not change or only moved.
-- Only for who may write the vault.
CREATE FUNCTION page_vectors(p_vault text, p_slugs text[], p_limit integer)
RETURNS TABLE (title text, heading_path text[], passage text, embedding halfvec)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF bound_to_vault('writable', p_vault) THEN
        RETURN QUERY
        SELECT p.title, c.heading_path, c.text, v.embedding::halfvec FROM pages p
        JOIN chunks c ON c.org = p.org AND c.page = p.id
        JOIN chunk_vectors v ON v.chunk = c.id
        WHERE p.org = current_setting('cortex.org', true) AND p.vault = p_vault AND p.slug = ANY (p_slugs)
        LIMIT p_limit;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION page_vectors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION page_vectors TO cortex_runtime;
