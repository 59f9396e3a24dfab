package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/secret"
)

// Open returns the engine that ranks the code of a change's head; it may have to index it first.
// The error says why there is no engine.
type Open func(context.Context) (*retrieve.Engine, error)

const (
	maxRanked   = 12 << 10 // bytes of all ranked hits
	maxVerbatim = 10       // lines with the query verbatim, above which it is not a question
	fewWords    = 3        // words of a query such as "def fail", which is one only if no line contains it
)

// inWords reports whether the query is two or more words of a sentence, letters only.
func (a searchArgs) inWords() bool { return sentencePattern().MatchString(strings.TrimSpace(a.Query)) }

var sentencePattern = pattern.Lazy(`^[\p{L}\p{N}_'’-]+(?:,?\s+[\p{L}\p{N}_'’-]+)+[?.!]?$`)

// rankedPage returns the lines that contain the query verbatim, if any, and the pieces of code that
// answer it best.
func (a searchArgs) rankedPage(ctx context.Context, head Files, open Open) (string, error) {
	found, err := a.lines(ctx, head)
	if err != nil {
		return "", err
	}
	page := found.page(found.uses.format("hit"))
	if n := found.uses.total; n > maxVerbatim || n > 0 && (len(strings.Fields(a.Query)) <= fewWords || !a.inWords()) {
		return page, nil
	}
	e, err := open(ctx)
	if err != nil {
		return page, nil //nolint:nilerr // the lines are an answer; who opens tells why there is no other
	}
	r, err := e.Search(ctx, retrieve.Request{Query: a.Query, Paths: a.place().globs()})
	if err != nil {
		return page, nil //nolint:nilerr // as above
	}
	var b strings.Builder
	if found.uses.total > 0 || len(found.left) > 0 {
		b.WriteString(page + "\n")
	}
	if len(r.Hits) == 0 {
		return page, nil
	}
	fmt.Fprintf(&b, "%s by rank, which need not have just these words:\n", plural(len(r.Hits), "piece"))
	for i, h := range r.Hits {
		if text := hitText(h, a.Query, i < maxFull); b.Len()+len(text) <= maxRanked {
			b.WriteString(text)
		}
	}
	return b.String(), nil
}

// hitText returns a hit's place, signature and best line or, of a large one, the lines around it. The whole hit is
// redacted first, so that no line contains part of a credential.
func hitText(h retrieve.Hit, query string, large bool) string {
	h.Text, h.Signature = secret.Redact(h.Text), secret.Redact(h.Signature)
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d-%d", onePath(h.Path), h.StartLine, h.EndLine)
	if h.Signature != "" {
		b.WriteString(": " + guard.Visible(excerpt(h.Signature, 0)))
	}
	b.WriteString("\n")
	for _, best := range retrieve.Best(h.Chunk, query, 1) {
		from := max(h.StartLine, min(best.Number-fullLines/5, h.EndLine+1-fullLines))
		for i, line := range strings.Split(strings.TrimRight(h.Text, "\n"), "\n") {
			n := h.StartLine + i
			if n == best.Number || large && from <= n && n < from+fullLines && b.Len() < fullText {
				b.WriteString(numbered(n, line, maxExcerpt) + "\n")
			}
		}
	}
	return b.String()
}
