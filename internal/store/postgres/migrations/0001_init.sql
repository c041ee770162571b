-- Every key starts with the organization: nothing spans two of them.
-- Text compares as bytes, whatever the database's locale.

CREATE TABLE organizations (
  org     text COLLATE "C" NOT NULL PRIMARY KEY,
  version bigint NOT NULL
);

CREATE TABLE items (
  org  text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id   text COLLATE "C" NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (org, kind, id)
);

-- The fingerprint is unique together with its time, so that its index grows at
-- the end of each organization instead of everywhere.
CREATE TABLE activities (
  org          text COLLATE "C" NOT NULL,
  id           text COLLATE "C" NOT NULL,
  timestamp_ms bigint NOT NULL,
  fingerprint  bytea NOT NULL,
  type         text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL,
  body         bytea NOT NULL,
  PRIMARY KEY (org, id),
  UNIQUE (org, timestamp_ms, fingerprint)
);

CREATE INDEX activities_by_type ON activities (org, type, id);

-- Almost every activity ends completed; the others are what people look for.
CREATE INDEX activities_by_status ON activities (org, status, id)
  WHERE status <> 'ACTIVITY_STATUS_COMPLETED';
