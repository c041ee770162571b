-- An activity is written to one place of its organization, and else only at the
-- end: its row, its id (ids grow with time) and its request (so do timestamps).
-- Before, three indexes began with the organization, so that activities of many
-- organizations each changed three pages that no other had just changed.

ALTER TABLE activities RENAME TO activities_before;
DROP INDEX activities_by_type;
DROP INDEX activities_by_status;

CREATE TABLE activities (
  org          TEXT    NOT NULL,
  id           TEXT    NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  fingerprint  BLOB    NOT NULL,
  type         TEXT    NOT NULL,
  status       TEXT    NOT NULL,
  body         BLOB    NOT NULL
);

INSERT INTO activities (org, id, timestamp_ms, fingerprint, type, status, body)
  SELECT org, id, timestamp_ms, fingerprint, type, status, body FROM activities_before ORDER BY rowid;

DROP TABLE activities_before;

CREATE UNIQUE INDEX activities_by_id ON activities (id, org);

CREATE UNIQUE INDEX activities_by_request ON activities (timestamp_ms, fingerprint, org);

-- It also lists the activities of all types: there are few of them.
CREATE INDEX activities_by_type ON activities (org, type, id);

-- Almost every activity ends completed; the others are what people look for.
CREATE INDEX activities_by_status ON activities (org, status, id)
  WHERE status <> 'ACTIVITY_STATUS_COMPLETED';
