package postgres

import (
	"fmt"

	"latchkey/internal/store"
)

// Why nothing is ever half-applied.
//
// A statement that changes an organization has these parts, which all see the
// same snapshot S, taken when the statement began, and none of which sees what
// another part writes:
//
//	locked   the organization's row, at the writer's version, FOR UPDATE, or FOR
//	         SHARE if the commit does not raise it; none if what the commit follows
//	         is not there, or what must be new is
//	gate     the activity, inserted or replaced if locked has a row
//	raised   the version, raised if gate has a row and the commit raises it
//	created  the new organizations, inserted if gate has a row
//	claimed  the items that must be new, inserted if gate has a row
//	logged   the entries of the log, inserted if gate has a row
//	the rest the items, written and deleted if gate has a row
//
// The order is forced by data: gate reads locked and the others read gate, so
// the row is locked before anything is written.
//
// 1. Another node raises the version while we wait for its row. When the lock
// is granted, READ COMMITTED looks at the newest row and checks the condition
// again: the version differs, locked is empty, and so is everything after it.
// (Under REPEATABLE READ or SERIALIZABLE the wait ends in error 40001 and the
// group runs again.)
//
// 2. locked has a row, but the UPDATE does not find it, for its scan uses S.
// It cannot be: the row that was locked is the newest; the scan that led to it
// found, in S, a row of this organization with the same version; every update
// of a row raises its version; so both are the same row, S shows it to the
// UPDATE too, and as we hold its lock no other transaction has changed it since.
//
// 3. Items changed between S and the lock. A commit that changes items raises the
// version in the same transaction, so 1 applies. Items of other organizations
// are either of one that is being created, whose id no one else knows, or have
// ids that only one organization writes, or must be new (6). The same holds for
// an activity that is replaced.
//
// 4. The activity is already there: ON CONFLICT DO NOTHING waits for a
// transaction that is inserting the same one, then inserts nothing, gate is
// empty and the organization stays as it is. An activity of an earlier
// statement of the same transaction counts too.
//
// 5. Creation: the INSERT into organizations takes the place of the lock. Two
// that create the same one meet in its primary key; the second waits and inserts
// nothing. An organization that did not exist has no activities, so gate has a
// row when locked has.
//
// 6. An item that must be new is there already: ON CONFLICT DO NOTHING waits for
// a transaction that is inserting the same one, then inserts nothing, claimed
// has a row too few, and the last column divides by zero, which rolls the whole
// transaction back. The group is then sent commit by commit, and the one that
// fails in this way alone is refused as a conflict. The writer has looked before,
// and so has locked, so this happens only to commits that race.
//
// 7. An item that the commit follows is not there, or has another body: locked is
// empty. Such items never change or go, so that what S shows of them still holds;
// but for the head of the organization, which changes with the version alone, and 1
// looks at that. What an earlier statement of the same transaction wrote is in S.
//
// A database that treats 2 or 5 otherwise must not commit what it did: the
// last column divides by zero when an activity was inserted without the
// version being raised, or an organization created without its activity, or
// when an organization that should be new is there already, and the error
// rolls the whole transaction back.
//
// A commit that leaves its organization's own items alone shares the lock with
// others like it, and keeps out those that raise the version: what it read of
// the organization still holds when it writes items elsewhere.
//
// Commits that only append need no lock: they and a change of the same
// version may commit in either order, the statement sees a version of the time
// it ran, and a caller that is told that a change is done starts after that.

// Rows are looked up by subqueries that return one value, which the planner does not
// turn into joins. A plan is made once for many executions, mostly when there is
// little in the tables; as a join it then reads all items of an organization to find
// one of them, and goes on to when there are a million.

const activityColumns = `id, timestamp_ms, fingerprint, type, status, body`

// appendSQL records the activities of many commits. It returns a row for each
// commit whose organization is at the expected version: its number, and
// whether the activity was inserted.
const appendSQL = `
WITH c AS (
	SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bytea[], $6::text[], $7::text[], $8::bytea[], $9::bytea[])
		WITH ORDINALITY AS c (org, version, id, timestamp_ms, fingerprint, type, status, body, entry, n)
), at AS MATERIALIZED (
	SELECT c.* FROM c WHERE c.version = (SELECT o.version FROM organizations o WHERE o.org = c.org)
), inserted AS (
	INSERT INTO activities (org, ` + activityColumns + `)
	SELECT org, ` + activityColumns + ` FROM at ORDER BY n
	ON CONFLICT DO NOTHING RETURNING org, id
), logged AS (
	INSERT INTO log_entries (org, activity, body)
	SELECT at.org, at.id, at.entry FROM at JOIN inserted i ON i.org = at.org AND i.id = at.id
	WHERE at.entry IS NOT NULL ORDER BY at.n
)
SELECT at.n, i.id IS NOT NULL
FROM at LEFT JOIN inserted i ON i.org = at.org AND i.id = at.id`

// chainSQL records the activities of a chain with their items, all or none, by the
// rules of changeSQL: locked is the organization's row, shared, if everything fits;
// none is written if an activity of them is recorded. What another transaction inserts
// in the meantime makes a row too few, and the last column divides by zero. It
// returns how many organizations it wrote to, the numbers of those that are
// recorded if nothing else is in the way, and the guard.
const chainSQL = `
WITH c AS (
	SELECT * FROM unnest($3::text[], $4::bigint[], $5::bytea[], $6::text[], $7::text[], $8::bytea[], $9::bytea[])
		WITH ORDINALITY AS c (id, timestamp_ms, fingerprint, type, status, body, entry, n)
), claims AS (
	SELECT * FROM unnest($10::text[], $11::text[], $12::bytea[]) AS i (kind, id, body)
), locked AS MATERIALIZED (
	SELECT org FROM organizations WHERE org = $1 AND version = $2
		AND NOT EXISTS (SELECT 1 FROM claims
			WHERE (SELECT true FROM items i WHERE i.org = $1 AND i.kind = claims.kind AND i.id = claims.id))
		AND NOT EXISTS (SELECT 1 FROM unnest($13::text[], $14::text[], $15::bytea[]) AS f (kind, id, body)
			WHERE (SELECT i.body FROM items i WHERE i.org = $1 AND i.kind = f.kind AND i.id = f.id) IS DISTINCT FROM f.body)
	FOR SHARE
), recorded AS MATERIALIZED (
	SELECT c.n FROM locked CROSS JOIN c
	WHERE (SELECT true FROM activities a WHERE a.org = $1 AND a.id = c.id)
		OR (SELECT true FROM activities a
			WHERE a.org = $1 AND a.timestamp_ms = c.timestamp_ms AND a.fingerprint = c.fingerprint)
), gate AS MATERIALIZED (
	SELECT org FROM locked WHERE NOT EXISTS (SELECT 1 FROM recorded)
), inserted AS (
	INSERT INTO activities (org, ` + activityColumns + `)
	SELECT org, ` + activityColumns + ` FROM gate CROSS JOIN c ORDER BY n
	ON CONFLICT DO NOTHING RETURNING id
), claimed AS (
	INSERT INTO items (org, kind, id, body)
	SELECT org, kind, id, body FROM gate CROSS JOIN claims
	ON CONFLICT DO NOTHING RETURNING id
), logged AS (
	INSERT INTO log_entries (org, activity, body)
	SELECT org, id, entry FROM gate CROSS JOIN c WHERE entry IS NOT NULL ORDER BY n
)
SELECT (SELECT count(*) FROM gate), ARRAY(SELECT n FROM recorded), 1 / (CASE
	WHEN (SELECT count(*) FROM inserted) = (SELECT count(*) FROM gate) * cardinality($3::text[])
	AND (SELECT count(*) FROM claimed) = (SELECT count(*) FROM gate) * cardinality($10::text[])
	THEN 1 ELSE 0 END)`

// changeSQL returns the statement of a commit that changes an organization.
// Its arguments are the organization, the version, the organizations, kinds,
// ids and bodies to write, the organizations, kinds and ids to delete, the
// organizations to create, the organizations, activities and bodies of entries
// of the log, the activity's columns, if any, and the
// organizations, kinds, ids and bodies to claim, if any, and the kinds, ids and
// bodies of what it follows, if anything. It returns how many rows locked and gate
// have, and the guard.
func changeSQL(c *store.Commit) string {
	lock := ` FOR UPDATE`
	raised := `UPDATE organizations SET version = version + 1
		WHERE org = $1 AND version = $2 AND EXISTS (SELECT 1 FROM gate) RETURNING org`
	agree := `(SELECT count(*) FROM gate) = (SELECT count(*) FROM raised)`
	if c.Version > 0 && !c.Raises() {
		lock = ` FOR SHARE`
		raised = `SELECT org FROM gate`
	}
	first := 14 // number of the first argument to claim
	if c.Activity != nil {
		first = 20
	}
	locked := `SELECT org FROM organizations WHERE org = $1 AND version = $2` + stillFits(c, first) + lock
	if c.Version == 0 {
		locked = `INSERT INTO organizations (org, version) VALUES ($1, $2::bigint + 1) ON CONFLICT DO NOTHING RETURNING org`
		raised = `SELECT org FROM locked`
		agree = `(SELECT count(*) FROM gate) = (SELECT count(*) FROM locked)`
	}
	gate := `SELECT org FROM locked`
	switch {
	case c.Replaces: // all columns are given, so that the numbers are the same
		gate = `UPDATE activities SET status = $18::text, body = $19::bytea FROM locked
			WHERE activities.org = locked.org AND activities.id = $14::text AND $15::bigint = timestamp_ms
				AND $16::bytea = fingerprint AND $17::text = type RETURNING activities.org`
	case c.Activity != nil:
		gate = `INSERT INTO activities (org, ` + activityColumns + `)
			SELECT org, $14::text, $15::bigint, $16::bytea, $17::text, $18::text, $19::bytea FROM locked
			ON CONFLICT DO NOTHING RETURNING org`
	}
	claimed := ""
	if c.Claims() {
		claimed = fmt.Sprintf(`claimed AS (
	INSERT INTO items (org, kind, id, body)
	SELECT i.org, i.kind, i.id, i.body
	FROM gate CROSS JOIN unnest($%d::text[], $%d::text[], $%d::text[], $%d::bytea[]) AS i (org, kind, id, body)
	ON CONFLICT DO NOTHING RETURNING id
),`, first, first+1, first+2, first+3)
		agree += fmt.Sprintf(` AND (SELECT count(*) FROM claimed) = (SELECT count(*) FROM gate) * cardinality($%d::text[])`, first)
	}
	return `
WITH locked AS (` + locked + `),
gate AS (` + gate + `),
raised AS (` + raised + `),
created AS (
	INSERT INTO organizations (org, version)
	SELECT f.org, 1 FROM gate CROSS JOIN unnest($10::text[]) AS f (org)
	ON CONFLICT DO NOTHING RETURNING org
),
` + claimed + `
written AS (
	INSERT INTO items (org, kind, id, body)
	SELECT i.org, i.kind, i.id, i.body
	FROM gate CROSS JOIN unnest($3::text[], $4::text[], $5::text[], $6::bytea[]) AS i (org, kind, id, body)
	ON CONFLICT (org, kind, id) DO UPDATE SET body = excluded.body
), logged AS (
	INSERT INTO log_entries (org, activity, body)
	SELECT e.org, e.activity, e.body
	FROM gate CROSS JOIN unnest($11::text[], $12::text[], $13::bytea[]) WITH ORDINALITY AS e (org, activity, body, n)
	ORDER BY e.n
), deleted AS (
	DELETE FROM items USING unnest($7::text[], $8::text[], $9::text[]) AS d (org, kind, id)
	WHERE items.org = d.org AND items.kind = d.kind AND items.id = d.id AND EXISTS (SELECT 1 FROM gate)
)
SELECT (SELECT count(*) FROM locked), (SELECT count(*) FROM gate), 1 / (CASE WHEN ` + agree + `
	AND (SELECT count(*) FROM created) = (SELECT count(*) FROM gate) * coalesce(cardinality($10::text[]), 0)
	THEN 1 ELSE 0 END)`
}

// stillFits are conditions on what a commit claims and follows. They find most
// conflicts without an error; the others meet in the primary key.
func stillFits(c *store.Commit, first int) (conditions string) {
	if c.Claims() {
		conditions = fmt.Sprintf(`
		AND NOT EXISTS (SELECT 1 FROM unnest($%d::text[], $%d::text[], $%d::text[]) AS n (org, kind, id)
			WHERE (SELECT true FROM items i WHERE i.org = n.org AND i.kind = n.kind AND i.id = n.id))`, first, first+1, first+2)
		first += 4
	}
	if len(c.Follows) > 0 {
		conditions += fmt.Sprintf(`
		AND NOT EXISTS (SELECT 1 FROM unnest($%d::text[], $%d::text[], $%d::bytea[]) AS f (kind, id, body)
			WHERE (SELECT i.body FROM items i WHERE i.org = $1 AND i.kind = f.kind AND i.id = f.id) IS DISTINCT FROM f.body)`, first, first+1, first+2)
	}
	return conditions
}
