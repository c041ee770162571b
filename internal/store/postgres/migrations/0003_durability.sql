-- What was found or set last: local, or replica if commits wait for a standby.
ALTER TABLE primary_server ADD COLUMN durability text COLLATE "C" NOT NULL DEFAULT 'local';
