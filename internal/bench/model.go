package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/llmtest"
)

// answerTime is how long the model behind the calls of a run takes for each.
const answerTime = 200 * time.Millisecond

// pacing is a server that the real program is let loose on.
type pacing struct {
	name string // in the table and of the limits
	rate llmtest.Rate
}

// pacings have shorter periods than the minute of real servers: what the program
// waits beyond a period's end weighs more than it would.
func pacings() []pacing {
	const few, some = 6 * time.Second, 15 * time.Second
	return []pacing{
		{"no limit", llmtest.Rate{}},
		{"a rate", llmtest.Rate{Requests: 60, Period: few, RetryAfterMS: true}},
		{"a rate in windows", llmtest.Rate{Requests: 60, Period: some, RetryAfterMS: true, Window: true}},
	}
}

// ideal is the least time that n calls can take: as many side by side as the
// program makes, and as many in a period as the server lets in.
func (p pacing) ideal(n int) time.Duration {
	rounds := time.Duration((n+concurrency-1)/concurrency) * answerTime
	over := float64(n - p.rate.Requests)
	switch {
	case p.rate.Requests == 0 || over <= 0:
		return rounds
	case p.rate.Window:
		over = math.Floor(float64(n-1)/float64(p.rate.Requests)) * float64(p.rate.Requests)
	}
	return max(rounds, time.Duration(over/float64(p.rate.Requests)*float64(p.rate.Period))+answerTime)
}

// model runs the real program over files in which there is nothing to find, so
// that each is one call, and times it from the first request to the last answer.
func (s *suite) model(ctx context.Context, sizes []int) error {
	product, err := s.product(ctx)
	if err != nil {
		return err
	}
	s.table("files", "server", "ideal s", "first request to last answer s", "measured / ideal", "calls / answers", "whole process s")
	for i, n := range sizes {
		diff := filepath.Join(s.scratch, fmt.Sprintf("model-%d.diff", n))
		if err := os.WriteFile(diff, []byte(plainDiff(n)), 0o600); err != nil {
			return err
		}
		for _, p := range pacings() {
			got, err := s.inTurn(side{p.name, func() ([]float64, error) { return s.paced(ctx, product, diff, p) }})
			if err != nil {
				return err
			}
			seconds, calls, whole := got[0][0], got[0][1], got[0][2]
			ideal := p.ideal(n).Seconds()
			s.row(n, p.name, ideal, seconds, times(seconds/ideal), times(calls/float64(n)), whole)
			if i == len(sizes)-1 {
				s.note("model: "+p.name+", time / ideal", seconds/ideal)
				s.note("model: "+p.name+", calls / answers", calls/float64(n))
			}
		}
	}
	return nil
}

// plainDiff is a diff of n files.
func plainDiff(n int) string {
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("pkg/f%04d.go", i)
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1 +1,3 @@\n package pkg\n+\n+const limit%[2]d = %[2]d\n", name, i)
	}
	return b.String()
}

// paced runs the program once: seconds from the first request to the last answer,
// the calls that it made, and seconds of the whole process.
func (s *suite) paced(ctx context.Context, product, diff string, p pacing) ([]float64, error) {
	server := &clocked{Server: llmtest.New(llmtest.Honest)}
	server.Delay, server.Rate = answerTime, p.rate
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	go func() { _ = web.Serve(listener) }() // it ends when it is closed
	defer web.Close()
	store, err := os.MkdirTemp(s.scratch, "store-")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, product, "review", diff, "--base-url", "http://"+listener.Addr().String()+"/v1", "--model", "gpt-5-mini",
		"--concurrency", strconv.Itoa(concurrency), "--store", store, "--quiet")
	var trouble bytes.Buffer
	command.Stderr = &trouble
	began := time.Now()
	if err := command.Run(); err != nil || trouble.Len() > 0 {
		return nil, errors.Join(err, fmt.Errorf("review: %s", trouble.String()))
	}
	return []float64{server.last.Sub(server.first).Seconds(), float64(server.Calls() + server.Limited()), time.Since(began).Seconds()}, nil
}

// clocked is a model server that knows when it was first and last at work.
type clocked struct {
	*llmtest.Server
	mu          sync.Mutex
	first, last time.Time
}

// ServeHTTP notes the time before and after the answer.
func (s *clocked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.first.IsZero() {
		s.first = time.Now()
	}
	s.mu.Unlock()
	s.Server.ServeHTTP(w, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
}
