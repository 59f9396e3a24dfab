package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/graph"
)

const thread = "bench#4242:synthetic"

// ask is what the gate shows. As in the product, it has a digest instead of the text.
type ask struct {
	Findings int    `json:"findings"`
	Body     string `json:"body_sha256"`
}

type bench struct {
	job
	fields
	store *filestore.Store
	first float64 // when ingest began, in milliseconds since the Unix epoch
	done  int64   // number of finished review tasks
}

type fields struct {
	pr       graph.Field[change]
	files    graph.Field[[]file]
	findings graph.Field[[]finding]
	usage    graph.Field[usage]
	comments graph.Field[[]comment]
	text     graph.Field[string]
	approved graph.Field[bool]
}

func open(j job) (*bench, *graph.Flow[state], error) {
	store, err := filestore.New(filepath.Join(j.dir, "checkpoint"))
	if err != nil {
		return nil, nil, err
	}
	b := &bench{job: j, store: store}
	flow, err := b.flow()
	return b, flow, err
}

func (b *bench) flow() (*graph.Flow[state], error) {
	g := graph.New[state]("bench", 1)
	b.fields = fields{
		pr:       graph.Value(g, "pr", func(s *state) *change { return &s.Change }),
		files:    graph.Value(g, "files", func(s *state) *[]file { return &s.Files }),
		findings: graph.Append(g, "findings", func(s *state) *[]finding { return &s.Findings }),
		usage:    graph.Reduce(g, "usage", func(s *state) *usage { return &s.Usage }, add),
		comments: graph.Value(g, "comments", func(s *state) *[]comment { return &s.Comments }),
		text:     graph.Value(g, "body", func(s *state) *string { return &s.Body }),
		approved: graph.Value(g, "approved", func(s *state) *bool { return &s.Approved }),
	}

	ingest := g.Node("ingest", b.ingest, graph.Writes(b.pr, b.files))
	review := graph.Each(g, "review", b.review, graph.Writes(b.findings, b.usage),
		graph.Concurrency(max(b.concurrency, 1)))
	aggregate := g.Node("aggregate", b.aggregate, graph.Writes(b.comments, b.text))
	gate := graph.Gate(g, "gate", question, b.decide, graph.Writes(b.approved))
	post := g.Effect("post", b.post, b.wasPosted)

	g.Start(ingest)
	g.Route(ingest, func(s state) graph.Next { return review.Over(indexes(s.Files)) }, review)
	g.Edge(review, aggregate)
	g.Edge(aggregate, gate)
	g.Route(gate, func(s state) graph.Next {
		if s.Approved {
			return graph.To(post)
		}
		return graph.To(graph.End("rejected"))
	}, post, graph.End("rejected"))
	g.Edge(post, graph.End("posted"))
	return g.Build(b.store, graph.Observe(b.observe))
}

func indexes(files []file) []int {
	list := make([]int, len(files))
	for i := range list {
		list[i] = i
	}
	return list
}

func (b *bench) ingest(context.Context, state) (graph.Update, error) {
	b.first = now()
	c, files := makeChange(b.n)
	return graph.Updates(b.pr.Set(c), b.files.Set(files)), nil
}

func (b *bench) review(_ context.Context, s state, i int) (graph.Update, error) {
	found, used := simulateReview(s.Files[i], b.latency)
	return graph.Updates(b.findings.Set(found), b.usage.Set(used)), nil
}

func (b *bench) aggregate(_ context.Context, s state) (graph.Update, error) {
	comments, body := aggregate(s)
	return graph.Updates(b.comments.Set(comments), b.text.Set(body)), nil
}

func question(s state) (ask, error) {
	sum := sha256.Sum256([]byte(s.Body))
	return ask{len(s.Comments), hex.EncodeToString(sum[:])}, nil
}

func (b *bench) decide(_ state, decision string) (graph.Update, error) {
	return b.approved.Set(decision == "approve"), nil
}

func (b *bench) post(_ context.Context, s state) (graph.Update, error) {
	return graph.Update{}, writeBody(b.job, s.Body)
}

func (b *bench) wasPosted(_ context.Context, s state) (graph.Update, bool, error) {
	body, err := os.ReadFile(b.body())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return graph.Update{}, string(body) == s.Body, err
}

func (b *bench) observe(e graph.Event) {
	if e.Kind == graph.TaskDone && e.Node == "review" {
		b.done++
	}
}

func pause(ctx context.Context, j job) (line, error) {
	b, flow, err := open(j)
	if err != nil {
		return line{}, err
	}
	r, err := flow.Run(ctx, thread, state{})
	err = errors.Join(err, b.store.Close())
	if err == nil && r.Status != graph.Paused {
		err = fmt.Errorf("the run is %s, not paused", r.Status)
	}
	return line{Status: "paused", FirstNode: b.first, Paused: now(), Tasks: b.done}, err
}

func resume(ctx context.Context, j job) (line, error) {
	b, flow, err := open(j)
	if err != nil {
		return line{}, err
	}
	r, err := flow.Resume(ctx, thread, graph.Answer{Value: j.decision})
	if err = errors.Join(err, b.store.Close()); err != nil {
		return line{}, err
	}
	return doneLine(r.End == "posted", r.State.Body), nil
}
