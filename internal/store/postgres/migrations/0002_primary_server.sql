-- One row about the server, which every node writes to make certain that what
-- was committed before is where synchronous replication wants it
-- (docs/decisions/0023).
CREATE TABLE primary_server (
  id         smallint NOT NULL PRIMARY KEY CHECK (id = 1),
  passed_at  timestamptz NOT NULL,
  -- What was found or set last: local, or replica if commits wait for a standby.
  durability text COLLATE "C" NOT NULL DEFAULT 'local',
  -- The newest timeline of the database cluster that was seen, and which cluster
  -- that is. A dump that is restored elsewhere belongs to another cluster.
  system     text COLLATE "C" NOT NULL DEFAULT '',
  timeline   bigint NOT NULL DEFAULT 0
);
INSERT INTO primary_server (id, passed_at) VALUES (1, now());
