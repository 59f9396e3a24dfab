package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The state of a run, in the form of its checkpoint.
type (
	change struct {
		Number int    `json:"number"`
		Title  string `json:"title"`
	}
	file struct {
		Path string `json:"path"`
		Diff string `json:"diff"`
	}
	finding struct {
		File       string  `json:"file"`
		Line       int     `json:"line"`
		Severity   string  `json:"severity"`
		Confidence float64 `json:"confidence"`
		Rule       string  `json:"rule"`
		Message    string  `json:"message"`
	}
	usage struct {
		Calls            int64 `json:"calls"`
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	}
	comment struct {
		Path string `json:"path"`
		Line int    `json:"line"`
		Body string `json:"body"`
	}
	state struct {
		Change   change    `json:"pr"`
		Files    []file    `json:"files"`
		Findings []finding `json:"findings"`
		Usage    usage     `json:"usage"`
		Comments []comment `json:"comments"`
		Body     string    `json:"body"`
		Approved bool      `json:"approved,omitempty"` // the gate's answer
	}
)

// severities lists the severities, most severe first. A finding draws one of them.
var severities = []string{"critical", "high", "medium", "low"}

func add(a, b usage) usage {
	return usage{a.Calls + b.Calls, a.PromptTokens + b.PromptTokens, a.CompletionTokens + b.CompletionTokens}
}

type stream uint32

func newStream(seed uint32) stream { return stream(max(seed, 1)) }

func (s *stream) draw() uint32 {
	*s ^= *s << 13
	*s ^= *s >> 17
	*s ^= *s << 5
	return uint32(*s)
}

func (s *stream) text(to []byte, n int) []byte {
	const c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	for range n {
		x := s.draw()
		to = append(to, c[x&63], c[x>>6&63], c[x>>12&63], c[x>>18&63], c[x>>24&63])
	}
	return to
}

func fnv1a(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// makeChange returns the synthetic change: n files with 4,168 bytes of diff each.
func makeChange(n int) (change, []file) {
	files := make([]file, n)
	for i := range files {
		path := fmt.Sprintf("src/pkg%02d/file%05d.go", i%17, i)
		s := newStream(fnv1a(fmt.Sprint("1:", i)))
		diff := fmt.Appendf(make([]byte, 0, 4168), "--- a/%[1]s\n+++ b/%[1]s\n@@ -1,66 +1,66 @@\n", path)
		for range 66 {
			diff = append(diff, " +-"[s.draw()%3])
			diff = append(s.text(diff, 12), '\n')
		}
		files[i] = file{path, string(diff)}
	}
	return change{4242, fmt.Sprintf("Synthetic change of %d files", n)}, files
}

// simulateReview returns what the simulated model finds in one file: three findings that depend only on its diff.
func simulateReview(f file, latency time.Duration) ([]finding, usage) {
	if latency > 0 {
		time.Sleep(latency) // stands for the time of the model's answer, which is part of the measurement
	}
	h := fnv1a(f.Diff)
	s := newStream(h)
	found := make([]finding, 3)
	for i := range found {
		a, b := s.draw(), s.draw()
		found[i] = finding{
			File: f.Path, Line: 1 + int(a%66), Severity: severities[a>>8%4],
			Confidence: float64(b%101) / 100, Rule: fmt.Sprint("R", b>>8%8),
			Message: string(s.text(make([]byte, 0, 200), 40)),
		}
	}
	return found, usage{1, int64(len(f.Diff) / 4), 200 + int64(h%100)}
}

// aggregate keeps the findings with enough confidence and renders them. It sorts in a
// total order, so that the order in which files were finished does not show.
func aggregate(s state) ([]comment, string) {
	kept := slices.DeleteFunc(slices.Clone(s.Findings), func(f finding) bool { return f.Confidence < 0.5 })
	slices.SortFunc(kept, func(a, b finding) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.File, b.File), a.Line-b.Line,
			strings.Compare(a.Message, b.Message))
	})
	comments := make([]comment, len(kept))
	for i, f := range kept {
		comments[i] = comment{f.File, f.Line, f.Message}
	}
	return comments, renderBody(s, kept)
}

func rank(f finding) int { return slices.Index(severities, f.Severity) }

func renderBody(s state, kept []finding) string {
	var out strings.Builder
	fmt.Fprintf(&out, "## Review of PR #%d: %s\n\n", s.Change.Number, s.Change.Title)
	fmt.Fprintf(&out, "%d findings in %d files (%d below confidence 0.50)\n", len(kept), len(s.Files),
		len(s.Findings)-len(kept))
	fmt.Fprintf(&out, "Usage: %d calls, %d prompt tokens, %d completion tokens\n\n", s.Usage.Calls,
		s.Usage.PromptTokens, s.Usage.CompletionTokens)
	for len(kept) > 0 {
		n := slices.IndexFunc(kept, func(f finding) bool { return f.Severity != kept[0].Severity })
		if n < 0 {
			n = len(kept)
		}
		fmt.Fprintf(&out, "### %s (%d)\n\n", kept[0].Severity, n)
		for _, f := range kept[:n] {
			fmt.Fprintf(&out, "- `%s:%d` **%s** (%.2f) %s\n", f.File, f.Line, f.Rule, f.Confidence, f.Message)
		}
		out.WriteByte('\n')
		kept = kept[n:]
	}
	return out.String()
}
