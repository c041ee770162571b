-- Every key starts with the organization: nothing spans two of them.
-- Text compares as bytes (SQLite's default BINARY collation).

CREATE TABLE organizations (
  org     TEXT    NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE items (
  org  TEXT NOT NULL,
  kind TEXT NOT NULL,
  id   TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (org, kind, id)
) WITHOUT ROWID;

-- A rowid table: bodies are large for a B-tree keyed by text, and a rowid only
-- ever appends. The fingerprint is unique together with its time, so that its
-- index grows at the end of each organization instead of everywhere.
CREATE TABLE activities (
  org          TEXT    NOT NULL,
  id           TEXT    NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  fingerprint  BLOB    NOT NULL,
  type         TEXT    NOT NULL,
  status       TEXT    NOT NULL,
  body         BLOB    NOT NULL,
  PRIMARY KEY (org, id),
  UNIQUE (org, timestamp_ms, fingerprint)
);

CREATE INDEX activities_by_type ON activities (org, type, id);

-- Almost every activity ends completed; the others are what people look for.
CREATE INDEX activities_by_status ON activities (org, status, id)
  WHERE status <> 'ACTIVITY_STATUS_COMPLETED';
