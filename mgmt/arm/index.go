package arm

import (
	"encoding/json"
	"slices"
	"strings"

	"minibus/emulator"
)

// index finds documents by what they say. What has no lock of its own is guarded by [Manager.mu].
type index struct {
	grants     *grants
	identities map[string]string              // ids of resources by both ids of the identity that they are or have
	namespaces map[string][]namespaceDocument // by name in lower case; nobody changes what a document points to
	size       int                            // of all documents, in bytes
}

func newIndex() index {
	return index{
		grants: newGrants(), identities: make(map[string]string), namespaces: make(map[string][]namespaceDocument),
	}
}

// maxDocuments bounds all documents together, in bytes: they are in memory too.
const maxDocuments = 64 << 20

// checkRoom fails if there is no room for another document of so many bytes.
func (m *Manager) checkRoom(id ID, bytes int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size := m.size - len(m.known[id.key()]) + bytes; size > maxDocuments {
		return conflict("QuotaExceeded", "There is no room for '%s': the resources of this Minibus would have %d "+
			"bytes together, and may have %d. Delete some.", id, size, maxDocuments)
	}
	return nil
}

// note follows a change of a document. Nil is none.
func (x *index) note(key string, before, after []byte) {
	x.size += len(after) - len(before)
	id := mustOrZero(key)
	switch strings.ToLower(id.Type()) {
	case strings.ToLower(roleAssignmentsType):
		var a assignment
		if after == nil || json.Unmarshal(after, &a) != nil {
			x.grants.remove(guidOf(key))
			return
		}
		x.grants.put(a.grant())
	case strings.ToLower(roleDefinitionsType):
		var r role
		if after == nil || json.Unmarshal(after, &r) != nil {
			x.grants.undefine(guidOf(key))
			return
		}
		x.grants.define(guidOf(key), claimsOf(r.Permissions))
	case strings.ToLower(userAssignedIdentities):
		x.identify(key, after != nil)
	case strings.ToLower(serviceBus + "/namespaces"):
		name := strings.ToLower(id.Name())
		all := slices.DeleteFunc(x.namespaces[name], func(s namespaceDocument) bool {
			return strings.ToLower(s.ID) == key
		})
		var s namespaceDocument
		if after != nil && json.Unmarshal(after, &s) == nil {
			all = append(all, s)
		}
		if x.namespaces[name] = all; len(all) == 0 {
			delete(x.namespaces, name)
		}
		x.identify(key, hasIdentity(after))
	default:
		x.identify(key, hasIdentity(after))
	}
}

// hasIdentity reports whether a document is that of a resource with an identity of its own.
func hasIdentity(text []byte) bool {
	if !strings.Contains(string(text), `"SystemAssigned`) { // spares most the reading
		return false
	}
	var o struct {
		Identity identity `json:"identity"`
	}
	return json.Unmarshal(text, &o) == nil && o.Identity.PrincipalID != ""
}

func (x *index) identify(key string, has bool) {
	for _, guid := range []string{principalOf(key), clientOf(key)} {
		if has {
			x.identities[guid] = key
		} else {
			delete(x.identities, guid)
		}
	}
}

// Deleted follows the end of entities of a namespace, or of the namespace itself, whoever deleted them: what hangs on
// them goes with them, so that a later entity of the name begins without role assignments. What was made anew in their
// place keeps them.
func (m *Manager) Deleted(ns *emulator.Namespace) {
	m.mu.Lock()
	open := m.documents != nil
	m.mu.Unlock()
	if !open {
		return
	}
	if err := m.forget(m.orphans(m.namespaceID(ns))...); err != nil {
		m.log.Error("what hangs on a deleted entity is still stored", "namespace", ns.Name(), "error", err)
	}
}

// orphans returns the keys of what hangs on namespaces, or on entities in them, that do not exist.
func (m *Manager) orphans(above ID) (gone []string) {
	there := make(map[string]bool)
	for _, key := range m.keys(above) {
		owner := mustOrZero(key)
		for owner.Provider != "" && owner.Provider != serviceBus {
			owner = owner.Parent()
		}
		if owner.Provider == "" {
			continue
		}
		owner = owner.owner()
		exists, known := there[owner.key()]
		if !known {
			exists = m.checkExists(owner) == nil
			there[owner.key()] = exists
		}
		if !exists {
			gone = append(gone, key)
		}
	}
	return gone
}

// owner returns the entity that an id in a namespace names, or in which it names something, else the namespace. The id
// of the provider alone has neither, and stays as it is.
func (id ID) owner() ID {
	n := min(1, len(id.Names))
	if len(id.Names) > 1 && (id.Types[1] == "queues" || id.Types[1] == "topics") {
		n = 2
	}
	if n == 2 && len(id.Names) > 2 && id.Types[2] == "subscriptions" {
		n = 3
	}
	id.Types, id.Names = id.Types[:n:n], id.Names[:n:n]
	return id
}
