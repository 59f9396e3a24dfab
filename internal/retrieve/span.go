package retrieve

import (
	"fmt"

	"github.com/org/pr-review-action/internal/trace"
)

// tell records a result on its span: the hits, and the first chunks of the lists by words and by vectors.
func (r Result) tell(span *trace.Span, query string) {
	if span == nil {
		return
	}
	lists := map[string][]string{}
	for _, s := range r.Stages {
		lists[s.Name] = s.IDs(DefaultK)
	}
	var judged []string
	for _, h := range r.Hits {
		score := h.Score
		if h.Rerank != nil {
			score = *h.Rerank
		}
		judged = append(judged, fmt.Sprintf("%s %.4f", h.ID(), score))
	}
	span.Retrieved(query, lists["lexical"], lists["vector"], judged, r.Cached)
}
