package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// thought is a reasoning item that a server of the Responses interface put
// before a call, and wants back before it.
type thought struct {
	id, sealed string
	stored     bool // the request let the server keep it
}

// identify is an id for what an answer holds: the same for the same request.
func (r Request) identify(prefix string, salt string) string {
	sum := sha256.Sum256([]byte(prefix + salt + "\x00" + r.prompt()))
	return prefix + hex.EncodeToString(sum[:12])
}

// reason makes the reasoning item of an answer, and remembers it for its calls.
func (s *Server) reason(r Request, calls []Call) thought {
	var include []string
	store := true
	_ = body(r.Fields).into("include", &include)
	_ = body(r.Fields).into("store", &store) // both were read before
	t := thought{id: r.identify("rs_", ""), stored: store}
	if slices.Contains(include, encrypted) {
		t.sealed = r.identify("gAAAA", "sealed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range calls {
		s.thoughts[c.ID] = t
	}
	return t
}

// reasoned checks that the reasoning behind a call came back, whole.
func (s *Server) reasoned(call item, before []item) *refusal {
	s.mu.Lock()
	want, known := s.thoughts[call.CallID]
	s.mu.Unlock()
	if !known {
		return nil
	}
	at := slices.IndexFunc(before, func(it item) bool { return it.Type == "reasoning" && it.ID == want.id })
	switch {
	case at < 0:
		return invalid("Item '%s' of type 'function_call' was provided without its required 'reasoning' item: '%s'.",
			call.ID, want.id)
	case before[at].Encrypted == nil || *before[at].Encrypted == "":
		if !want.stored {
			return invalid("Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
				"Try again with `store` set to true, or remove this item from your input.", want.id)
		}
	case *before[at].Encrypted != want.sealed:
		return invalid("The encrypted content %s could not be verified.",
			*before[at].Encrypted).coded("invalid_encrypted_content")
	}
	return nil
}
