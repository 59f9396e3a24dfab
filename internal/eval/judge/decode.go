package judge

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/org/pr-review-action/internal/review"
)

// The bounds of an answer: bytes of the whole, characters of the reason.
const (
	maxAnswer = 64 << 10
	maxReason = 4_000
)

// decode reads an answer: one JSON object with a reason and the key, each once,
// and nothing else. The reason comes back on one line.
func decode(text, key string) (reason string, yes, ok bool) {
	var members map[string]jsontext.Value
	if len(text) > maxAnswer || json.Unmarshal([]byte(review.Unfence(text)), &members) != nil || len(members) != 2 {
		return "", false, false
	}
	var said *string // nil where null was given
	var verdict *bool
	if json.Unmarshal(members["reason"], &said) != nil || json.Unmarshal(members[key], &verdict) != nil {
		return "", false, false
	}
	if said == nil || verdict == nil || utf8.RuneCountInString(*said) > maxReason {
		return "", false, false
	}
	return strings.Join(strings.Fields(*said), " "), *verdict, true
}
