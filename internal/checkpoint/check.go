package checkpoint

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
)

// CheckFound is check 1: the artifact exists, has not expired, belongs to this repository and is no
// larger than MaxZip. found is nil if there is no artifact. An artifact whose repository GitHub does
// not report is refused.
func CheckFound(name string, found *github.Artifact, repositoryID int64, now time.Time) error {
	where := row("where", "artifact %s", name)
	switch {
	case found == nil || found.Name != name:
		return refuse(1, "compare pull request or ticket, instance and code with the draft's summary; if they "+
			"are right, it has expired or was deleted: "+draftAnew,
			"no draft of this name was found", where)
	case found.Expired || !found.ExpiresAt.IsZero() && now.After(found.ExpiresAt):
		r := refuse(1, draftAnew, "the draft was not decided in time, its artifact is gone", where)
		r.Expired = true
		return r
	case found.RepositoryID == 0:
		return refuse(1, "decide again later, since without its run nothing says who made it; or "+draftAnew,
			"GitHub does not say which run made the draft", where)
	case found.RepositoryID != repositoryID:
		return refuse(1, "find out who made it; "+draftAnew, "the draft was made by another repository", where,
			row("found", "repository id %d", found.RepositoryID), row("wanted", "repository id %d", repositoryID))
	case found.Size < 1 || found.Size > MaxZip:
		return refuse(1, draftAnew, "the artifact has a size that no draft has", where,
			row("found", "%d bytes", found.Size), row("wanted", "1 to %d bytes", MaxZip))
	}
	return nil
}

// CheckDigest is check 2: the zip has the digest received by a separate channel.
// want is a digest of 64 hex digits, optionally prefixed with "sha256:", or a
// code of 16. The comparison takes constant time and precedes any decoding.
func CheckDigest(z []byte, want string) error {
	want = strings.TrimPrefix(want, "sha256:")
	got := Digest(z)
	if !digestPattern().MatchString(want) && !codePattern().MatchString(want) {
		return refuse(2, "pass the draft's code (16 digits) or digest (64) as its summary has them",
			"this is not the digest of a draft", row("given", "%.80q", want))
	}
	if got = got[:len(want)]; subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
		return refuse(2, "find out who replaced it; "+draftAnew, "the artifact is not the draft that was shown",
			row("shown", "%s", want), row("found", "%s", got))
	}
	return nil
}

// CheckOne is check 2 for a draft named only by its code: a code has 64 bits, so an
// attacker can craft two drafts that share it, have one shown and the other decided.
func CheckOne(drafts []Draft) error {
	for _, d := range drafts {
		if d.Digest != drafts[0].Digest {
			return refuse(2, "decide with checkpoint-digest, which the draft's summary has in its command; find out "+
				"who made the other",
				"two drafts have this code", row("one", "digest %s", drafts[0].Digest),
				row("other", "digest %s", d.Digest))
		}
	}
	return nil
}

// CheckReported is the part of check 2 that the server can answer: the digest it
// reports, if any, is the wanted one, in the form that CheckDigest takes. Called
// before a download, it saves the download; called with the Digest of the
// received bytes, it detects a swap on the way. It never replaces CheckDigest:
// whoever swaps an artifact also swaps the reported digest.
func CheckReported(found github.Artifact, want string) error {
	if found.Digest == "" || strings.HasPrefix(found.Digest, "sha256:"+strings.TrimPrefix(want, "sha256:")) {
		return nil
	}
	return refuse(2, "find out who replaced it; "+draftAnew,
		"GitHub reports another digest for the artifact than the draft's",
		row("where", "artifact %s", found.Name), row("draft", "%.80q", want), row("found", "%.80q", found.Digest))
}

// Run describes the run that made a draft.
type Run struct {
	github.Run
	OnDefault bool // the head commit is on the default branch; only set for runs without a pull request
}

// RunWant describes the run that may have made a draft: ID is the run, 0 for any; Path
// is the workflow file; Branch is the default branch. A run without a pull request must
// be from that branch by name and by commit, because a tag can have the branch's name.
type RunWant struct {
	ID           int64
	Path, Branch string
	Events       []string
	RepositoryID int64
}

// CheckRun is check 4: the draft was made by the expected workflow, for an
// expected event, in this repository. pull_request_target runs the default
// branch's workflow even for forks, so for that event the head may be anywhere.
// The draft itself is not consulted; CheckMadeBy later compares the run it names.
func CheckRun(run Run, want RunWant) error {
	path, _, _ := strings.Cut(run.Path, "@")
	bad := func(label, found, wanted string) error {
		return refuse(4, "only decide drafts of your own review workflow, whose file draft-workflow names; "+draftAnew,
			notOurRun, row("where", "run %d, %s", run.ID, label), row("found", "%.80q", found),
			row("wanted", "%s", wanted))
	}
	switch {
	case run.ID == 0:
		return refuse(4, draftAnew, notOurRun, row("where", "it was not found in this repository"))
	case want.ID != 0 && run.ID != want.ID:
		return bad("id", fmt.Sprint(run.ID), fmt.Sprintf("run %d", want.ID))
	case run.RepoID != want.RepositoryID || want.RepositoryID == 0:
		return bad("repository id", fmt.Sprint(run.RepoID), fmt.Sprint(want.RepositoryID))
	case path != want.Path || path == "":
		return bad("workflow file", path, want.Path)
	case !slices.Contains(want.Events, run.Event):
		return bad("event", run.Event, strings.Join(want.Events, ", "))
	case run.HeadRepoID != want.RepositoryID && run.Event != "pull_request_target":
		return bad("head repository id", fmt.Sprint(run.HeadRepoID),
			fmt.Sprintf("%d, no fork", want.RepositoryID))
	case run.HeadBranch != want.Branch && run.Event != "pull_request" && run.Event != "pull_request_target":
		return bad("branch", run.HeadBranch, want.Branch+", the default branch")
	case !run.OnDefault && run.Event != "pull_request" && run.Event != "pull_request_target":
		return bad("commit", run.HeadSHA,
			"a commit of "+want.Branch+", the default branch; a tag of that name does not count")
	}
	return nil
}

const notOurRun = "the draft was made by a run that may not make drafts"

// CheckMadeBy is the rest of check 4: the draft names the run that stored it.
func CheckMadeBy(m Manifest, run int64) error {
	if m.RunID == run && run != 0 {
		return nil
	}
	return refuse(4, "find out who copied it; "+draftAnew, "the draft names another run than the one that stored it",
		row("where", "run %d", run), row("draft", "run %d", m.RunID))
}

// CheckFormat is check 6: format, graph and graph version are those of this
// program, and the checkpoint is a whole draft.
func CheckFormat(m Manifest, graph string, version int) error {
	if m.Format != Format {
		return refuseFormat(m.Format)
	}
	if m.Partial > 0 {
		return refuse(6, "wait for the run to finish, or "+draftAnew, "this is a run under way, not a draft",
			row("draft", "partial checkpoint %d of %.200q", m.Partial, m.Thread))
	}
	if m.Graph.Name != graph || m.Graph.Version != version {
		return refuse(6, "decide with the version that drafted, or "+draftAnew,
			"the draft comes from a graph that this version does not know",
			row("draft", "%.60q version %d, by %.60q", m.Graph.Name, m.Graph.Version, m.ToolVersion),
			row("known", "%q version %d", graph, version))
	}
	return nil
}

// CheckTarget is check 7: the draft is about the wanted subject (repository, kind,
// number, key and instance), and its thread is the given one. Names are compared
// without case, as GitHub does.
func CheckTarget(m Manifest, want Subject, thread string) error {
	is := m.Subject
	if want.RepositoryID > 0 && is.RepositoryID == want.RepositoryID && is.Kind == want.Kind &&
		is.Number == want.Number && strings.EqualFold(is.Key, want.Key) && is.Instance == want.Instance &&
		strings.EqualFold(is.Repository, want.Repository) && strings.EqualFold(m.Thread, thread) {
		return nil
	}
	return refuse(7, "compare the inputs with the draft's summary, or "+draftAnew,
		"the draft is of another "+want.Kind,
		row("draft", "%.200q, repository id %d", m.Thread, is.RepositoryID),
		row("wanted", "%q, repository id %d", thread, want.RepositoryID))
}

// Settings are the settings of the deciding job. An empty fingerprint, version or
// environment is unknown and not compared.
type Settings struct {
	Trust, Environment             string
	ToolVersion, PromptFingerprint string
}

// CheckSettings is check 8: the settings that govern deciding and posting are unchanged
// since the draft. Other changes invalidate nothing and are returned as lines to show.
func CheckSettings(m Manifest, now Settings) (changes []string, err error) {
	if trustOf(m.Trust) != trustOf(now.Trust) {
		return nil, refuseTrust(m, now.Trust)
	}
	// GitHub compares environment names without case.
	if m.Environment != "" && now.Environment != "" && !strings.EqualFold(m.Environment, now.Environment) {
		return nil, refuse(8, "decide in the environment that the draft names, or "+draftAnew,
			"the draft waits for the approval of another environment",
			row("draft", "environment %.80q", m.Environment), row("now", "environment %.80q", now.Environment))
	}
	changed := func(then, now, line string) {
		if then != "" && now != "" && now != then {
			changes = append(changes, line)
		}
	}
	changed(m.ToolVersion, now.ToolVersion, fmt.Sprintf("drafted by version %.40q, decided by %.40q", m.ToolVersion,
		now.ToolVersion))
	changed(m.PromptFingerprint, now.PromptFingerprint, "the prompts were changed since the draft")
	return changes, nil
}

func refuseTrust(m Manifest, now string) *problem.Error {
	return refuse(8, "give both jobs the same trust, or "+draftAnew,
		fmt.Sprintf("the draft was made under trust: %s, this job says %s", trustOf(m.Trust), trustOf(now)))
}

// CheckExpiry is check 10: the draft has not expired. At the very second of its
// expiry it can still be decided.
func CheckExpiry(m Manifest, now time.Time) error {
	if !now.After(m.ExpiresAt) {
		return nil
	}
	r := refuse(10, draftAnew, "the draft was not decided in time",
		row("draft", "waited until %s", m.ExpiresAt.Format("2 January 2006, 15:04 MST")))
	r.Expired = true
	return r
}
