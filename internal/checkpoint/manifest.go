package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/pattern"
)

// Format is the number of the checkpoint format that this version writes, and the
// only one it reads.
const Format = 3

// Manifest describes a checkpoint. It never names its own zip's digest or code.
// For local input the run's fields are empty. It contains no text of a pull
// request or a model.
type Manifest struct {
	Seal          string  `json:"seal,omitempty"` // over everything after it: hmac-sha256: and 64 hex digits
	Format        int     `json:"format"`
	Trust         string  `json:"trust,omitempty"`
	Partial       int     `json:"partial,omitempty"` // number of a partial checkpoint, 0 for a draft
	Outcome       string  `json:"outcome,omitempty"` // PAUSED or KEPT; empty for a partial checkpoint
	Findings      int     `json:"findings,omitempty"`
	Blockers      int     `json:"blockers,omitempty"`
	Majors        int     `json:"majors,omitempty"`
	Environment   string  `json:"environment,omitempty"`    // the environment whose approval the draft waits for
	AllowDispatch bool    `json:"allow_dispatch,omitempty"` // its reviewers may also decide by dispatch
	Thread        string  `json:"thread"`
	Subject       Subject `json:"subject"`
	RunID         int64   `json:"run_id,omitempty"`
	RunAttempt    int     `json:"run_attempt,omitempty"`
	WorkflowRef   string  `json:"workflow_ref,omitempty"`
	// given before the draft was parked; the keys are defined by the caller
	Approvals         []string  `json:"approvals"`
	CreatedAt         time.Time `json:"created_at"` // UTC, whole seconds
	ExpiresAt         time.Time `json:"expires_at"` // UTC, whole seconds
	ToolVersion       string    `json:"tool_version"`
	Graph             Graph     `json:"graph"`
	ConfigFingerprint string    `json:"config_fingerprint"`
	PromptFingerprint string    `json:"prompt_fingerprint"`
	SnapshotSHA256    string    `json:"checkpoint_sha256"` // of checkpoint.json as stored
	ReviewSHA256      string    `json:"review_sha256,omitempty"`
	PatchSHA256       string    `json:"patch_sha256,omitempty"` // only if the draft proposes a change
	GateID            string    `json:"gate_id,omitempty"`      // empty for a partial checkpoint
}

// Subject is what a draft is about. Local input has no repository and no number.
type Subject struct {
	Kind         string `json:"kind,omitempty"`       // name shown to people: pull request
	Repository   string `json:"repository,omitempty"` // owner/name
	RepositoryID int64  `json:"repository_id,omitempty"`
	Number       int    `json:"number,omitempty"` // in the repository
	Key          string `json:"key,omitempty"`    // key of a ticket without a number, such as PAY-88
	Instance     string `json:"instance,omitempty"`
	Base         string `json:"base_sha,omitempty"`
	Head         string `json:"head_sha,omitempty"`
	Digest       string `json:"digest"` // SHA-256 of what was read of the subject
}

// Graph identifies the graph that made the snapshot.
type Graph struct {
	Name        string `json:"name"`
	Version     int    `json:"version"`
	Fingerprint string `json:"fingerprint"`
}

// Waits reports whether the draft waits for its environment's approval. No job waits
// for a draft that needs no decision, so that one is decided by its code.
func (m Manifest) Waits() bool { return m.Environment != "" && m.Outcome != "KEPT" }

// showsReview reports whether review.md belongs to the checkpoint.
func (m Manifest) showsReview() bool { return m.Trust != TrustEncrypt && m.Partial == 0 }

func (m Manifest) encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(m, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

// decodeManifest decodes a manifest strictly. A manifest of another format may
// have other members, so the error is then about its format.
func decodeManifest(text []byte) (Manifest, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Manifest{}, err
	}
	if head.Format != Format {
		return Manifest{}, refuseFormat(head.Format)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m, json.RejectUnknownMembers(true)); err != nil {
		return Manifest{}, err
	}
	return m, m.check()
}

var (
	keyPattern     = pattern.Lazy(`^[A-Za-z][A-Za-z0-9_]{0,49}-[0-9a-f]{1,9}$`)
	commitPattern  = pattern.Lazy(`^([0-9a-f]{40}|[0-9a-f]{64})?$`)
	digestPattern  = pattern.Lazy(`^[0-9a-f]{64}$`)
	outcomePattern = pattern.Lazy(`^[A-Z]{0,16}$`)
	codePattern    = pattern.Lazy(`^[0-9a-f]{16}$`)
)

// check verifies the invariants of every manifest, whatever it is compared with later.
func (m Manifest) check() error {
	switch {
	case m.Thread == "" || m.Graph.Name == "" || m.GateID == "" && m.Partial == 0:
		return errors.New("thread, graph or gate_id is missing")
	case !digestPattern().MatchString(m.SnapshotSHA256):
		return errors.New("checkpoint_sha256 is not a digest")
	case !m.ExpiresAt.After(m.CreatedAt):
		return errors.New("expires_at is not after created_at")
	}
	return cmp.Or(m.Subject.check(), m.checkProtected())
}

func (s Subject) check() error {
	switch {
	case !commitPattern().MatchString(s.Base) || !commitPattern().MatchString(s.Head):
		return errors.New("base_sha or head_sha is not a commit")
	case !digestPattern().MatchString(s.Digest):
		return errors.New("the subject's digest is not a digest")
	case s.Number < 0 || s.Number > 0 && (s.RepositoryID <= 0 || s.Head == ""):
		return errors.New("a subject with a number needs its repository and head")
	case s.Key != "" && (!keyPattern().MatchString(s.Key) || s.Number > 0):
		return errors.New("key does not look like a ticket's, or comes with a number")
	}
	return nil
}

// checkProtected verifies the fields that depend on trust and outcome. It does
// not require a seal, which is added after a manifest is encoded.
func (m Manifest) checkProtected() error {
	switch {
	case !slices.Contains(trusts(), m.Trust):
		return errors.New("trust has an unknown value")
	case m.Trust == TrustDigest && m.Seal != "":
		return errors.New("a seal where trust is digest")
	case m.Partial < 0 || m.Findings < 0 || m.Blockers < 0:
		return errors.New("partial, findings or blockers is less than 0")
	case !outcomePattern().MatchString(m.Outcome):
		return errors.New("outcome has an unknown value")
	case m.showsReview() && !digestPattern().MatchString(m.ReviewSHA256), !m.showsReview() && m.ReviewSHA256 != "":
		return errors.New("review_sha256 is missing, or there without a review")
	case m.PatchSHA256 != "" && !(m.showsReview() && digestPattern().MatchString(m.PatchSHA256)):
		return errors.New("patch_sha256 is not a digest, or there without a review")
	}
	return nil
}

// Manifest decodes the draft's manifest, with or without a key. Its author is
// unknown: use it only to show the draft, and to choose how to Open it.
func (z Zip) Manifest() (Manifest, error) {
	m, err := decodeManifest(z.parts[0])
	if err != nil {
		return Manifest{}, refuseDamaged(fmt.Errorf("reading manifest: %w", err))
	}
	return m, nil
}
