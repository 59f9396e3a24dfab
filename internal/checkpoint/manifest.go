package checkpoint

import (
	"errors"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Format is the number of the checkpoint format that this version writes.
const Format = 1

// Manifest says what a checkpoint is about. It never names its own zip's
// digest or code. For local input Repository, RepositoryID, Pull and the run's
// fields are empty.
type Manifest struct {
	Format            int       `json:"format"`
	Thread            string    `json:"thread"`
	Repository        string    `json:"repository,omitempty"` // owner/name
	RepositoryID      int64     `json:"repository_id,omitempty"`
	Pull              int       `json:"pull,omitempty"`
	Instance          string    `json:"instance,omitempty"`
	BaseSHA           string    `json:"base_sha,omitempty"`
	HeadSHA           string    `json:"head_sha,omitempty"`
	DiffDigest        string    `json:"diff_digest"`
	RunID             int64     `json:"run_id,omitempty"`
	RunAttempt        int       `json:"run_attempt,omitempty"`
	WorkflowRef       string    `json:"workflow_ref,omitempty"`
	Approvals         []string  `json:"approvals"`  // already given when the draft was parked; keys of the caller's making
	CreatedAt         time.Time `json:"created_at"` // UTC, whole seconds
	ExpiresAt         time.Time `json:"expires_at"` // UTC, whole seconds
	ToolVersion       string    `json:"tool_version"`
	Graph             Graph     `json:"graph"`
	ConfigFingerprint string    `json:"config_fingerprint"`
	PromptFingerprint string    `json:"prompt_fingerprint"`
	SnapshotSHA256    string    `json:"checkpoint_sha256"`
	GateID            string    `json:"gate_id"`
}

// Graph names the graph that made the snapshot.
type Graph struct {
	Name        string `json:"name"`
	Version     int    `json:"version"`
	Fingerprint string `json:"fingerprint"`
}

// normal cuts the times to what the JSON form holds.
func (m Manifest) normal() Manifest {
	m.CreatedAt = m.CreatedAt.UTC().Truncate(time.Second)
	m.ExpiresAt = m.ExpiresAt.UTC().Truncate(time.Second)
	return m
}

func (m Manifest) encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(m, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

// decodeManifest reads a manifest strictly. A manifest of another format may
// have other members, so its format is what the error is about.
func decodeManifest(text []byte) (Manifest, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Manifest{}, err
	}
	if head.Format != Format {
		return Manifest{}, unknownFormat(head.Format)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m, json.RejectUnknownMembers(true)); err != nil {
		return Manifest{}, err
	}
	return m, m.check()
}

var (
	commitPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})?$`)
	digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
	codePattern   = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// check holds what every manifest holds, whatever it is compared with later.
func (m Manifest) check() error {
	switch {
	case m.Thread == "" || m.Graph.Name == "" || m.GateID == "":
		return errors.New("thread, graph or gate_id is missing")
	case !commitPattern.MatchString(m.BaseSHA) || !commitPattern.MatchString(m.HeadSHA):
		return errors.New("base_sha or head_sha is not a commit")
	case !digestPattern.MatchString(m.DiffDigest) || !digestPattern.MatchString(m.SnapshotSHA256):
		return errors.New("diff_digest or checkpoint_sha256 is not a digest")
	case m.Pull < 0 || m.Pull > 0 && (m.RepositoryID <= 0 || m.HeadSHA == ""):
		return errors.New("a pull request needs its repository and head")
	case !m.ExpiresAt.After(m.CreatedAt):
		return errors.New("expires_at is not after created_at")
	}
	return nil
}
