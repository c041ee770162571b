-- What the log says of each commit, in the order of commits: position counts
-- them. A row is written once, with the change that it is about.
CREATE TABLE log_entries (
  position INTEGER NOT NULL PRIMARY KEY,
  org      TEXT    NOT NULL,
  activity TEXT    NOT NULL,
  body     BLOB    NOT NULL
);

-- Ids of activities grow with time, so that this grows at its end.
CREATE INDEX log_entries_by_activity ON log_entries (activity, org) WHERE activity <> '';
