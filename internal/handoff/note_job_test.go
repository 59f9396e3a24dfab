package handoff_test

import (
	"cmp"
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

const (
	draftFile  = ".github/workflows/notes.yml"
	decideFile = ".github/workflows/notes-decide.yml"
	reviewers  = "notes"
)

// site is a repository whose jobs draft and decide notes.
type site struct {
	t      *testing.T
	repo   *githubtest.Repo
	api    *github.Client
	run    *githubtest.Run // that drafts
	dir    string
	source string // what the note is about
	clock  time.Time
}

func newSite(t *testing.T) *site {
	t.Helper()
	hub := githubtest.New(t)
	repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
	repo.Permit("maya", "write")
	repo.AddEnvironment(reviewers, "maya")
	client := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(client.CloseIdleConnections)
	api, err := github.New(github.Options{APIURL: hub.URL, HTTP: client,
		Token: hub.AppToken(repo, map[string]string{"contents": "read", "actions": "read"})})
	require.NoError(t, err)
	return &site{t: t, repo: repo, api: api, run: repo.AddRun(githubtest.RunOptions{Path: draftFile}),
		dir: t.TempDir(), source: "a question", clock: made}
}

func (s *site) about() checkpoint.Subject {
	return checkpoint.Subject{Kind: "note", Repository: "o/r", RepositoryID: s.repo.ID, Number: 1}
}

func (s *site) thread(head string) string { return "o/r#1:" + head }

// drafted is the job that drafts and stores what it parked.
func (s *site) drafted(environment string, p checkpoint.Protection) checkpoint.Draft {
	s.t.Helper()
	m := checkpoint.Manifest{
		Subject: s.about(), RunID: s.run.ID, Environment: environment, Outcome: "PAUSED",
		CreatedAt: made, ExpiresAt: made.Add(time.Hour),
	}
	m.Subject.Head, m.Subject.Digest = s.repo.Head("main"), checkpoint.Digest([]byte(s.source))
	m.Thread = s.thread(m.Subject.Head)
	store := graph.NewMemory()
	flow, err := notes{draft: func(context.Context) (string, error) { return "an answer", nil }}.flow(store)
	require.NoError(s.t, err)
	_, err = flow.Run(s.t.Context(), m.Thread, note{Facts: m})
	require.NoError(s.t, err)
	draft, err := noteSubject().Pack(s.t.Context(), flow, store, m.Thread, p)
	require.NoError(s.t, err)
	s.run.AddArtifact(noteNames.Draft(s.about(), draft.Code), draft.Zip)
	return draft
}

// deciding is a job that decides; change is what is wrong with it.
type deciding struct {
	run         *githubtest.Run
	event       string
	from        int64 // the run that must have drafted
	environment string
	verdict     decision.Verdict
	actor       string
	text        string // of a dispatch
	shown       string
	protection  checkpoint.Protection
	version     int
}

// approval is the deciding job of the drafting run, dispatch a run of its own.
func (s *site) approval(shown string) deciding {
	return deciding{run: s.run, event: "pull_request_target", from: s.run.ID, environment: reviewers, shown: shown}
}

func (s *site) dispatch(shown string, verdict decision.Verdict) deciding {
	run := s.repo.AddRun(githubtest.RunOptions{Path: decideFile, Event: "workflow_dispatch", Actor: "maya"})
	return deciding{run: run, event: "workflow_dispatch", verdict: verdict, actor: "maya", shown: shown}
}

// decide goes through all thirteen checks and carries the decision out.
func (s *site) decide(d deciding) error {
	ctx := s.t.Context()
	runs := &handoff.Runs{API: s.api, Names: noteNames, Ref: pull.Ref{Owner: "o", Repo: "r"},
		Files: []string{draftFile, decideFile},
		Event: d.event, Own: d.run.ID}
	origin := handoff.Origin{
		Names:   noteNames,
		Subject: s.about(), Thread: s.thread, Workflow: draftFile, Branch: "main", Run: d.from,
		Protection: d.protection, RunFacts: runs.Facts("main"), Now: s.clock,
	}
	r := handoff.Resume{
		Origin: origin, Graph: noteGraph, Version: cmp.Or(d.version, noteVersion), Shown: d.shown,
		Name:     noteNames.Draft(s.about(), d.shown),
		Settings: checkpoint.Settings{Trust: d.protection.Trust, Environment: d.environment}, Unmoved: s.unmoved,
	}
	found, err := runs.Stored(ctx, r.Name, r.Run)
	if err != nil {
		return err
	}
	verified, _, err := r.Verify(ctx, handoff.Candidates(found, s.repo.ID))
	if err != nil {
		return err
	}
	out := notes{dir: s.dir}
	desk := &handoff.Desk{
		Records: &handoff.Artifacts{
			Runs: runs, Subject: s.about(), Branch: "main", Protection: d.protection,
			Own: uploads{artifactstore.REST{}, d.run}, Out: s.t.Output(),
		},
		Run: d.run.ID, Listed: true, Keyed: d.protection.Keyed(), Standing: out.standing,
		Warn: func(what string, err error) { s.t.Log(what, err) },
	}
	out.race = desk.Race
	draft, err := noteSubject().Open(ctx, verified, out.flow)
	if err != nil {
		return err
	}
	answer, err := s.answer(d, draft)
	if err != nil {
		return err
	}
	return draft.CarryOut(ctx, desk, answer)
}

// unmoved is check 9 of a note: what it is about reads as it did.
func (s *site) unmoved(_ context.Context, d checkpoint.Draft) error {
	if checkpoint.Digest([]byte(s.source)) == d.Manifest.Subject.Digest {
		return nil
	}
	return problem.Refuse(9, "the question has changed", "draft anew")
}

// answer is checks 11 and 12.
func (s *site) answer(d deciding, draft *handoff.Draft[note]) (decision.Answer, error) {
	m := draft.Manifest
	record := decision.Record{Thread: m.Thread, Digest: draft.Digest, Code: draft.Code, By: d.actor, At: s.clock,
		Via: decision.ByDispatch}
	read := func(text string, given, fallback decision.Verdict) (decision.Decision, error) {
		return gate.Decide(text, given, fallback, nil, m.ExpiresAt)
	}
	if d.environment == "" {
		said, err := read(d.text, d.verdict, "")
		err = cmp.Or(err, gate.Open(m), gate.Dispatch(d.actor, "maya", "refs/heads/main", "main"),
			gate.MayDecide(gate.Decider{Login: d.actor, Permission: "write"}, "lee", false, false))
		return decision.Answer{Decision: said, Record: record.With(said)}, err
	}
	approvals, err := s.api.Approvals(s.t.Context(), "o", "r", d.run.ID)
	if err != nil {
		return decision.Answer{}, err
	}
	by, said, err := gate.Approved(approvals, m.Approvals, d.environment, nil,
		func(a github.Approval) (decision.Decision, error) {
			return read(a.Comment, "", decision.Approve)
		})
	record.By, record.Via = by, decision.ByApproval
	return decision.Answer{Decision: said, Record: record.With(said)}, err
}

// uploads stores artifacts of a run, as the runner's protocol does.
type uploads struct {
	artifactstore.REST
	run *githubtest.Run
}

func (u uploads) Put(_ context.Context, name string, zip []byte) error {
	u.run.AddArtifact(name, zip)
	return nil
}

// written are the notes in the folder.
func (s *site) written() (texts []string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "*"))
	require.NoError(s.t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(s.t, err)
		texts = append(texts, string(text))
	}
	return texts
}

func TestANoteNeedsNoReview(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("note*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			require.NotRegexp(t, `internal/(flow/.*|review|finding|post)"$`, i.Path.Value, name)
		}
	}
	text, err := os.ReadFile("note_test.go")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 150, "graph and subject")
}

func TestP3_ANoteGoesByEitherRoute(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]checkpoint.Protection{"digest": {}, "seal": sealed(t)} {
		t.Run("approval, "+name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			draft := s.drafted(reviewers, p)
			s.run.Approve(reviewers, "maya", "")
			d := s.approval(draft.Digest)
			d.protection = p
			require.NoError(t, s.decide(d))
			require.NoError(t, s.decide(d), "P5: again is the same")
			require.Equal(t, []string{draft.Digest + "\nan answer"}, s.written())
		})
		t.Run("dispatch, "+name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			draft := s.drafted("", p)
			for _, shown := range []string{draft.Code, draft.Digest} {
				d := s.dispatch(shown, decision.Approve)
				d.protection = p
				require.NoError(t, s.decide(d))
				d.run.Finish("success")
			}
			require.Equal(t, []string{draft.Digest + "\nan answer"}, s.written())
		})
	}
	t.Run("aborted", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		draft := s.drafted("", checkpoint.Protection{})
		d := s.dispatch(draft.Code, decision.Abort)
		require.NoError(t, s.decide(d))
		d.run.Finish("success")
		require.Equal(t, 13, problem.Check(s.decide(s.dispatch(draft.Code, decision.Approve))))
		require.Empty(t, s.written())
	})
}

// TestCheck1_Check13_EachRefusesANote breaks one thing for each of the thirteen checks.
func TestCheck1_Check13_EachRefusesANote(t *testing.T) {
	t.Parallel()
	for check, spoil := range map[int]func(*site, *deciding, checkpoint.Draft){
		1: func(_ *site, d *deciding, _ checkpoint.Draft) { d.shown = "0123456789abcdef" },
		2: func(s *site, d *deciding, draft checkpoint.Draft) {
			d.shown = draft.Code + strings.Repeat("0", 48)
		},
		3: func(s *site, d *deciding, _ checkpoint.Draft) { d.shown = s.planted(s.run, []byte("PK")) },
		4: func(s *site, d *deciding, draft checkpoint.Draft) {
			other := s.repo.AddRun(githubtest.RunOptions{Path: ".github/workflows/other.yml"})
			d.shown, d.from = s.planted(other, s.altered(draft,
				func(m *checkpoint.Manifest) { m.RunID = other.ID })), other.ID
		},
		5: func(s *site, d *deciding, _ checkpoint.Draft) { d.protection = sealed(s.t) },
		6: func(_ *site, d *deciding, _ checkpoint.Draft) { d.version = 2 },
		7: func(s *site, d *deciding, draft checkpoint.Draft) {
			d.shown = s.planted(s.run, s.altered(draft,
				func(m *checkpoint.Manifest) { m.Subject.Kind = "pull request" }))
		},
		8:  func(_ *site, d *deciding, _ checkpoint.Draft) { d.environment = "anybody" },
		9:  func(s *site, _ *deciding, _ checkpoint.Draft) { s.source = "another question" },
		10: func(s *site, _ *deciding, _ checkpoint.Draft) { s.clock = made.Add(2 * time.Hour) },
		11: func(s *site, d *deciding, draft checkpoint.Draft) {
			d.shown = s.planted(s.run, s.altered(draft, func(m *checkpoint.Manifest) { m.GateID = "another" }))
		},
		12: func(s *site, d *deciding, draft checkpoint.Draft) {
			*d = s.dispatch(draft.Digest, decision.Approve) // it waits for an environment
		},
		13: func(s *site, d *deciding, draft checkpoint.Draft) {
			out := notes{dir: s.dir}
			require.NoError(s.t, os.WriteFile(out.path(draft.Manifest.Thread), []byte("another draft's"), 0o600))
		},
	} {
		s := newSite(t)
		draft := s.drafted(reviewers, checkpoint.Protection{})
		s.run.Approve(reviewers, "maya", "")
		d := s.approval(draft.Digest)
		spoil(s, &d, draft)
		before := s.written()
		err := s.decide(d)
		require.Equal(t, check, problem.Check(err), "%v", err)
		require.Equal(t, before, s.written(), "check %d", check)
	}
}

// planted stores a zip under the name that its digest gives.
func (s *site) planted(run *githubtest.Run, zip []byte) (shown string) {
	shown = checkpoint.Digest(zip)
	run.AddArtifact(noteNames.Draft(s.about(), shown), zip)
	return shown
}

// altered is a draft with another manifest, packed as this tool does.
func (s *site) altered(draft checkpoint.Draft, change func(*checkpoint.Manifest)) []byte {
	s.t.Helper()
	opened, err := open(draft.Zip)
	require.NoError(s.t, err)
	change(&opened.Manifest)
	other, err := checkpoint.Protection{}.Pack(opened.Manifest, opened.Snapshot, opened.Review)
	require.NoError(s.t, err)
	return other.Zip
}
