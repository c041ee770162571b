-- The newest timeline of the database cluster that was seen, and which cluster
-- that is. A dump that is restored elsewhere belongs to another cluster.
ALTER TABLE primary_server ADD COLUMN system text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE primary_server ADD COLUMN timeline bigint NOT NULL DEFAULT 0;
