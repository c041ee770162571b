package ops

import (
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/store"
)

// This file holds what tags of users and of private keys have in common.

// requireTag refuses an id that is not a tag of the type.
func requireTag(tx *store.Tx, id string, t domain.TagType) error {
	tag, err := tx.Tags().Get(id)
	if err == nil && tag.Type != t {
		err = fault.Missing("no tag with id %s in this organization that is of type %s", id, t)
	}
	return err
}

// newTag makes a tag.
func newTag(e activity.Env, t domain.TagType, name string) (*domain.Tag, error) {
	tags, err := e.Tx.Tags().List("", 0)
	if err != nil {
		return nil, err
	}
	org, err := e.Tx.Organization()
	if err != nil {
		return nil, err
	}
	limit := e.Limits.Tags
	if org.ParentID != "" {
		limit = e.Limits.ChildTags
	}
	if limit > 0 && len(tags) >= limit {
		return nil, fault.Exhausted("the organization has reached its maximum of %d tags", limit)
	}
	tag := &domain.Tag{ID: e.NewID(), Name: name, Type: t, CreatedAt: e.Now, UpdatedAt: e.Now}
	return tag, e.Tx.Tags().Insert(tag)
}

// renameTag gives a tag a new name, if there is one.
func renameTag(e activity.Env, id string, t domain.TagType, name string) error {
	if err := requireTag(e.Tx, id, t); err != nil {
		return err
	}
	return e.Tx.Tags().Edit(id, func(tag *domain.Tag) error {
		if name != "" {
			tag.Name = name
		}
		tag.UpdatedAt = e.Now
		return nil
	})
}

// tagsOf lists the tags of a type.
func tagsOf(r activity.Reader, t domain.TagType) ([]record.Tag, error) {
	all, err := r.Tx.Tags().List("", 0)
	var tags []record.Tag
	for _, tag := range all {
		if tag.Type == t {
			tags = append(tags, record.OfTag(tag))
		}
	}
	return tags, err
}

// setTag puts a tag among the ids or takes it out, and reports whether that
// changed anything: it is no error if it did not.
func setTag(ids *[]string, tagID string, on bool) (changed bool) {
	if slices.Contains(*ids, tagID) == on {
		return false
	}
	if on {
		*ids = append(*ids, tagID)
	} else {
		*ids = slices.DeleteFunc(*ids, func(id string) bool { return id == tagID })
	}
	return true
}

// tagUsers puts a tag on users or takes it off.
func tagUsers(e activity.Env, userIDs []string, tagID string, on bool) error {
	for _, id := range userIDs {
		if err := e.Tx.Users().Edit(id, func(u *domain.User) error {
			if setTag(&u.TagIDs, tagID, on) {
				u.UpdatedAt = e.Now
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// tagKeys puts a tag on private keys or takes it off.
func tagKeys(e activity.Env, keyIDs []string, tagID string, on bool) error {
	for _, id := range keyIDs {
		if err := e.Tx.PrivateKeys().Edit(id, func(k *domain.PrivateKey) error {
			if setTag(&k.TagIDs, tagID, on) {
				k.UpdatedAt = e.Now
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// tagFacts sets which tags are given and taken.
func tagFacts(f activity.Facts, given, taken []string) error {
	f.Activity.Params.TagsGiven, f.Activity.Params.TagsTaken = append([]string{}, given...), append([]string{}, taken...)
	return nil
}

// movedTagFacts are those of a tag that some get and others lose.
func movedTagFacts(f activity.Facts, tagID string, add, remove []string) error {
	var given, taken []string
	if len(add) > 0 {
		given = []string{tagID}
	}
	if len(remove) > 0 {
		taken = []string{tagID}
	}
	return tagFacts(f, given, taken)
}

// newTagFacts are those of a tag that is made: it has no id yet by which a
// policy could name it.
func newTagFacts[P any](f activity.Facts, _ *P) error { return tagFacts(f, nil, nil) }

// without are the ids that are not among others.
func without(ids, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(others, id) })
}
