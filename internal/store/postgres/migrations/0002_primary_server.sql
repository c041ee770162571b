-- One row, which every node writes to make certain that what was committed
-- before is where synchronous replication wants it (docs/decisions/0023).
CREATE TABLE primary_server (
  id        smallint NOT NULL PRIMARY KEY CHECK (id = 1),
  passed_at timestamptz NOT NULL
);
INSERT INTO primary_server VALUES (1, now());
