package limit

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/transport"
)

// minute is what limits per minute are counted over, where no reset is told.
const minute = time.Minute

// most bounds the figures of a header.
const most = 1e12

// names are the headers of one limit: how much, how much is left, and when it is
// whole again.
type names struct{ limit, left, reset string }

// The families in the order of their trust: OpenAI's and its likes', Anthropic's,
// then those that count requests without saying so (OpenRouter; the IETF draft).
var (
	requestHeaders = []names{
		{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining",
			"Anthropic-Ratelimit-Requests-Reset"},
		{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
		{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset"},
	}
	tokenHeaders = []names{
		{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
		{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining",
			"Anthropic-Ratelimit-Tokens-Reset"},
		{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining",
			"Anthropic-Ratelimit-Input-Tokens-Reset"},
	}
)

// told is what an answer says of one limit, at the time its call began.
type told struct {
	limit, left float64
	reset       time.Duration
}

// read finds the first family that an answer tells in full. Without a reset a
// limit is taken as one per minute that fills evenly.
func read(h http.Header, families []names, at time.Time) *told {
	for _, n := range families {
		limit, ok := figure(h.Get(n.limit))
		left, also := figure(h.Get(n.left))
		if !ok || !also || limit < 1 {
			continue
		}
		left = min(left, limit)
		reset, named := transport.Wait(h.Get(n.reset), at)
		if !named {
			reset = time.Duration((limit - left) / limit * float64(minute))
		}
		return &told{limit: limit, left: left, reset: reset}
	}
	return nil
}

// figure reads a count; what follows a comma or semicolon is a policy's description.
func figure(value string) (float64, bool) {
	if end := strings.IndexAny(value, ",;"); end >= 0 {
		value = value[:end]
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > most {
		return 0, false
	}
	return n, true
}
