-- The schema may have been made by the database's owner for a role that may not.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'pr_review') THEN
    CREATE SCHEMA pr_review;
  END IF;
END $$;

CREATE TABLE pr_review.migration (
  version int PRIMARY KEY,
  applied timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE pr_review.thread (
  number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id       text NOT NULL UNIQUE,
  snapshot bytea NOT NULL,
  saved    timestamptz NOT NULL DEFAULT now()
);

-- A thread's journal, in the order of seq.
CREATE TABLE pr_review.record (
  thread bigint NOT NULL REFERENCES pr_review.thread ON DELETE CASCADE,
  seq    bigint GENERATED ALWAYS AS IDENTITY,
  data   bytea NOT NULL,
  PRIMARY KEY (thread, seq)
);

-- Refuses a statement of a lock's holder that does not run in the session that
-- took the lock last, as behind a pooler that shares sessions. '' is nobody's.
CREATE FUNCTION pr_review.held(token text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF token <> '' AND token IS DISTINCT FROM current_setting('pr_review.holder', true) THEN
    RAISE EXCEPTION 'the lock is not held in this session' USING ERRCODE = 'PRL01';
  END IF;
  RETURN true;
END $$;
