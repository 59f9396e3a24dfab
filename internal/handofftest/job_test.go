package handofftest

import (
	"cmp"
	"context"
	"fmt"
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

// site is a repository whose jobs draft and decide.
type site[S any] struct {
	Flow[S]
	t     *testing.T
	repo  *githubtest.Repo
	api   *github.Client
	run   *githubtest.Run // that drafts
	dir   string
	clock time.Time
}

func newSite[S any](t *testing.T, f Flow[S]) *site[S] {
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
	return &site[S]{Flow: f, t: t, repo: repo, api: api, run: repo.AddRun(githubtest.RunOptions{Path: draftFile}),
		dir: t.TempDir(), clock: made}
}

// about is what drafts are about, at no head.
func (s *site[S]) about() checkpoint.Subject {
	about := s.About
	about.Repository, about.RepositoryID = "o/r", s.repo.ID
	return about
}

// drafted is the job that drafts and stores what it parked.
func (s *site[S]) drafted(environment string, p checkpoint.Protection) checkpoint.Draft {
	s.t.Helper()
	m := checkpoint.Manifest{Subject: s.about(), RunID: s.run.ID, Environment: environment}
	m.Subject.Head = s.repo.Head("main")
	draft, err := s.draft(s.t.Context(), World{Store: graph.NewMemory(), Paid: func(string) {}}, m, p)
	require.NoError(s.t, err)
	s.run.AddArtifact(s.Names.Draft(s.about(), draft.Code), draft.Zip)
	return draft
}

// draft runs the graph up to its gate, and packs what waits there.
func (f Flow[S]) draft(ctx context.Context, w World, m checkpoint.Manifest,
	p checkpoint.Protection) (checkpoint.Draft, error) {
	m.Thread, m.Outcome = f.Thread(m.Subject.Head), "PAUSED"
	m.Subject.Digest, m.CreatedAt, m.ExpiresAt = checkpoint.Digest([]byte("a question")), made, made.Add(time.Hour)
	flow, err := f.Build(w)
	if err != nil {
		return checkpoint.Draft{}, err
	}
	if _, err := flow.Run(ctx, m.Thread, f.Begin(m)); err != nil {
		return checkpoint.Draft{}, err
	}
	return f.Subject.Pack(ctx, flow, w.Store, m.Thread, p)
}

// open puts a verified draft into a graph that writes to a folder.
func (f Flow[S]) open(ctx context.Context, draft checkpoint.Draft, out Out,
	over func(graph.Store) graph.Store) (*handoff.Draft[S], error) {
	return f.Subject.Open(ctx, draft, func(store graph.Store) (*graph.Flow[S], error) {
		return f.Build(World{Store: over(store), Paid: func(string) { panic("a deciding job asks nothing") }, Out: out})
	})
}

func plain(s graph.Store) graph.Store { return s }

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

// approval is the deciding job in the drafting run, dispatch one in a separate run.
func (s *site[S]) approval(shown string) deciding {
	return deciding{run: s.run, event: "pull_request_target", from: s.run.ID, environment: reviewers, shown: shown}
}

func (s *site[S]) dispatch(shown string, verdict decision.Verdict) deciding {
	run := s.repo.AddRun(githubtest.RunOptions{Path: decideFile, Event: "workflow_dispatch", Actor: "maya"})
	return deciding{run: run, event: "workflow_dispatch", verdict: verdict, actor: "maya", shown: shown}
}

// decide goes through all thirteen checks and carries the decision out.
func (s *site[S]) decide(d deciding) error {
	ctx := s.t.Context()
	runs := &handoff.Runs{API: s.api, Names: s.Names, Ref: pull.Ref{Owner: "o", Repo: "r"},
		Files: []string{draftFile, decideFile},
		Event: d.event, Own: d.run.ID}
	origin := handoff.Origin{
		Names: s.Names, Subject: s.about(), Thread: s.Thread, Workflow: draftFile, Branch: "main", Run: d.from,
		Protection: d.protection, RunFacts: runs.Facts("main"), Now: s.clock,
	}
	r := handoff.Resume{
		Origin: origin, Graph: s.Graph, Version: cmp.Or(d.version, s.Version), Shown: d.shown,
		Name:     s.Names.Draft(s.about(), d.shown),
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
	out := Out{Dir: s.dir}
	decisions := &handoff.Decisions{
		Records: &handoff.Artifacts{
			Runs: runs, Subject: s.about(), Branch: "main", Protection: d.protection,
			Own: uploads{artifactstore.REST{}, d.run}, Out: s.t.Output(),
		},
		Run: d.run.ID, Listed: true, Keyed: d.protection.Keyed(), Standing: out.Standing,
		Warn: func(what string, err error) { s.t.Log(what, err) },
	}
	out.Race = decisions.Race
	draft, err := s.open(ctx, verified, out, plain)
	if err != nil {
		return err
	}
	answer, err := s.answer(d, draft)
	if err != nil {
		return err
	}
	return draft.CarryOut(ctx, decisions, answer)
}

// unmoved is check 9: the branch is as it was.
func (s *site[S]) unmoved(_ context.Context, d checkpoint.Draft) error {
	if s.repo.Head("main") == d.Manifest.Subject.Head {
		return nil
	}
	return problem.Refuse(9, "main has moved", "draft again")
}

// answer is checks 11 and 12.
func (s *site[S]) answer(d deciding, draft *handoff.Draft[S]) (decision.Answer, error) {
	m := draft.Manifest
	record := decision.Record{Thread: m.Thread, Digest: draft.Digest, Code: draft.Code, By: d.actor, At: s.clock,
		Via: decision.ByDispatch}
	var items []decision.Item
	if s.Items != nil {
		items = s.Items(draft.State)
	}
	read := func(text string, given, fallback decision.Verdict) (decision.Decision, error) {
		return gate.Decide(text, given, fallback, items, m.ExpiresAt)
	}
	if d.environment == "" {
		said, err := read(d.text, d.verdict, "")
		err = cmp.Or(err, gate.CheckDispatchable(m), gate.Dispatch(d.actor, "maya", "refs/heads/main", "main"),
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

// written are the texts in the folder.
func (s *site[S]) written() (texts []string) {
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

// Routes decides drafts by an environment's approval and by dispatch, under a digest and
// under a seal, twice: they are carried out once (P3, P5). One that was rejected is not.
func Routes[S any](t *testing.T, f Flow[S]) {
	t.Parallel()
	for name, p := range map[string]checkpoint.Protection{"digest": {}, "seal": Sealed(t)} {
		t.Run("approval, "+name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, f)
			draft := s.drafted(reviewers, p)
			s.run.Approve(reviewers, "maya", "")
			d := s.approval(draft.Digest)
			d.protection = p
			require.NoError(t, s.decide(d))
			require.NoError(t, s.decide(d), "P5: again is the same")
			require.Equal(t, []string{draft.Digest + "\n" + f.Text}, s.written())
		})
		t.Run("dispatch, "+name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, f)
			draft := s.drafted("", p)
			for _, shown := range []string{draft.Code, draft.Digest} {
				d := s.dispatch(shown, decision.Approve)
				d.protection = p
				require.NoError(t, s.decide(d))
				d.run.Finish("success")
			}
			require.Equal(t, []string{draft.Digest + "\n" + f.Text}, s.written())
		})
	}
	t.Run("aborted", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, f)
		draft := s.drafted("", checkpoint.Protection{})
		d := s.dispatch(draft.Code, decision.Abort)
		require.NoError(t, s.decide(d))
		d.run.Finish("success")
		require.Equal(t, 13, problem.Check(s.decide(s.dispatch(draft.Code, decision.Approve))))
		require.Empty(t, s.written())
	})
}

// Checks breaks one thing for each of the thirteen checks, which refuses the draft.
func Checks[S any](t *testing.T, f Flow[S]) {
	t.Parallel()
	for check, spoil := range map[int]func(*site[S], *deciding, checkpoint.Draft){
		1: func(_ *site[S], d *deciding, _ checkpoint.Draft) { d.shown = "0123456789abcdef" },
		2: func(s *site[S], d *deciding, draft checkpoint.Draft) {
			d.shown = draft.Code + strings.Repeat("0", 48)
		},
		3: func(s *site[S], d *deciding, _ checkpoint.Draft) { d.shown = s.planted(s.run, []byte("PK")) },
		4: func(s *site[S], d *deciding, draft checkpoint.Draft) {
			other := s.repo.AddRun(githubtest.RunOptions{Path: ".github/workflows/other.yml"})
			d.shown, d.from = s.planted(other, s.altered(draft,
				func(d *checkpoint.Draft) { d.Manifest.RunID = other.ID })), other.ID
		},
		5: func(s *site[S], d *deciding, _ checkpoint.Draft) { d.protection = Sealed(s.t) },
		6: func(s *site[S], d *deciding, _ checkpoint.Draft) { d.version = s.Version + 1 },
		7: func(s *site[S], d *deciding, draft checkpoint.Draft) {
			d.shown = s.planted(s.run, s.altered(draft,
				func(d *checkpoint.Draft) { d.Manifest.Subject.Kind = "another kind" }))
		},
		8: func(_ *site[S], d *deciding, _ checkpoint.Draft) { d.environment = "anybody" },
		9: func(s *site[S], _ *deciding, _ checkpoint.Draft) {
			s.repo.Commit("main", "somebody else's", githubtest.Tree{"x": "y"})
		},
		10: func(s *site[S], _ *deciding, _ checkpoint.Draft) { s.clock = made.Add(2 * time.Hour) },
		11: func(s *site[S], d *deciding, draft checkpoint.Draft) {
			d.shown = s.planted(s.run, s.altered(draft, func(d *checkpoint.Draft) { d.Manifest.GateID = "another" }))
		},
		12: func(s *site[S], d *deciding, draft checkpoint.Draft) {
			*d = s.dispatch(draft.Digest, decision.Approve) // it waits for an environment
		},
		13: func(s *site[S], d *deciding, draft checkpoint.Draft) {
			out := Out{Dir: s.dir}
			require.NoError(s.t, os.WriteFile(out.path(draft.Manifest.Thread), []byte("another draft's"), 0o600))
		},
	} {
		t.Run(fmt.Sprint("check ", check), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, f)
			draft := s.drafted(reviewers, checkpoint.Protection{})
			s.run.Approve(reviewers, "maya", "")
			d := s.approval(draft.Digest)
			spoil(s, &d, draft)
			before := s.written()
			err := s.decide(d)
			require.Equal(t, check, problem.Check(err), "%v", err)
			require.Equal(t, before, s.written())
		})
	}
}

// Swapped changes one part of a draft, and hands its new digest over with it: what its
// approver read has to be what is carried out.
func Swapped[S any](t *testing.T, f Flow[S]) {
	t.Parallel()
	for name, c := range map[string]struct {
		check  int
		change func(*checkpoint.Draft)
	}{
		"review":   {11, func(d *checkpoint.Draft) { d.Review += "another" }},
		"patch":    {11, func(d *checkpoint.Draft) { d.Patch += "another" }},
		"snapshot": {3, func(d *checkpoint.Draft) { d.Snapshot = []byte("{}") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, f)
			draft := s.drafted(reviewers, checkpoint.Protection{})
			s.run.Approve(reviewers, "maya", "")
			err := s.decide(s.approval(s.planted(s.run, s.altered(draft, c.change))))
			require.Equal(t, c.check, problem.Check(err), "%v", err)
			require.Empty(t, s.written())
		})
	}
}

// planted stores a zip under the name that its digest gives.
func (s *site[S]) planted(run *githubtest.Run, zip []byte) (shown string) {
	shown = checkpoint.Digest(zip)
	run.AddArtifact(s.Names.Draft(s.about(), shown), zip)
	return shown
}

// altered is a draft of which something was changed, packed as this tool does.
func (s *site[S]) altered(draft checkpoint.Draft, change func(*checkpoint.Draft)) []byte {
	s.t.Helper()
	opened, err := Open(draft.Zip)
	require.NoError(s.t, err)
	change(&opened)
	other, err := checkpoint.Protection{}.Pack(opened.Manifest, opened.Snapshot, opened.Shown)
	require.NoError(s.t, err)
	return other.Zip
}
