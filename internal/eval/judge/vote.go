package judge

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/review"
)

// protocol is increased when answers are requested or parsed in another way.
const protocol = "2"

// maxTokens bounds the output of one call, reasoning included.
const maxTokens = 8_192

const majority = 2

// Reasons that no model gave. OffSchema is that of a no for want of a valid answer.
const (
	OffSchema = "the judge's answer was off its schema"
	steered   = "the judge said yes to an unrelated control question too"
)

type vote struct {
	yes, valid bool
	reason     string
	usage      cost.Usage
}

// rule asks until two votes agree, and checks a yes that a text may have dictated.
func (j *Judge) rule(ctx context.Context, k kind, q Question) (Ruling, error) {
	b, err := guard.NewBoundary(j.random, q.texts()...)
	if err != nil {
		return Ruling{}, err
	}
	var r Ruling
	reasons, counts := map[bool]string{}, map[bool]int{}
	for counts[true] < majority && counts[false] < majority {
		asked := q
		if len(r.Votes) > 0 {
			asked = k.withoutCode(q)
		}
		v, err := j.vote(ctx, k, asked, b, "vote "+strconv.Itoa(len(r.Votes)+1))
		r.Usage = cost.Add(r.Usage, v.usage)
		if err != nil {
			return Ruling{Usage: r.Usage}, err
		}
		if counts[v.yes]++; counts[v.yes] == 1 {
			reasons[v.yes] = v.reason
		}
		r.Votes = append(r.Votes, v.yes)
	}
	r.Yes = counts[true] == majority
	r.Reason = reasons[r.Yes]
	if r.Yes {
		return j.check(ctx, k, q, b, r)
	}
	return r, nil
}

// check asks the control questions. A yes stands only if each gets a clear no.
func (j *Judge) check(ctx context.Context, k kind, q Question, b guard.Boundary, r Ruling) (Ruling, error) {
	for _, control := range k.controls(q) {
		v, err := j.vote(ctx, k, control, b, "control")
		r.Usage = cost.Add(r.Usage, v.usage)
		if err != nil {
			return Ruling{Usage: r.Usage}, err
		}
		if v.yes || !v.valid {
			r.Yes, r.Steered, r.Reason = false, true, steered
			return r, nil
		}
	}
	return r, nil
}

// vote asks once, and once more if the answer violates its schema.
func (j *Judge) vote(ctx context.Context, k kind, q Question, b guard.Boundary, name string) (vote, error) {
	user := k.userTurn(b, q)
	first, err := j.ask(ctx, k, j.key(k, q, name, "first"), b, user)
	if err != nil || first.valid {
		return first, err
	}
	second, err := j.ask(ctx, k, j.key(k, q, name, "again"), b, user+retryUser)
	second.usage = cost.Add(first.usage, second.usage)
	return second, err
}

// key returns a hash of all that determines an answer, except the boundary.
func (j *Judge) key(k kind, q Question, parts ...string) string {
	asked := append([]string{
		"judge", protocol, sentHash(), j.chat.Identity(), strconv.Itoa(maxTokens),
		k.key, strconv.Itoa(q.Line),
	}, q.texts()...)
	return review.Hash(append(asked, parts...)...)
}

// ask makes one call, unless its answer is known, and parses the answer.
func (j *Judge) ask(ctx context.Context, k kind, key string, b guard.Boundary, user string) (vote, error) {
	var paid cost.Usage
	said, err := j.once(ctx, key, func(ctx context.Context) (review.Recorded, error) {
		answer, err := j.chat.Chat(ctx, llm.Request{
			System: system, User: user, SchemaName: k.key, Schema: k.schema(), MaxTokens: maxTokens,
			Deterministic: true,
		})
		paid = answer.Usage
		r := review.Recorded{Boundary: b, Text: answer.Text, Ended: review.Ending(err), Usage: paid}
		if r.Ended != "" {
			err = nil // it was billed, so keep it
		}
		return r, err
	})
	if err != nil {
		return vote{usage: paid}, fmt.Errorf("asking the judge: %w", err)
	}
	v := vote{usage: said.Usage, reason: OffSchema}
	if reason, yes, ok := decode(said.Text, k.key); ok && said.Ended == "" {
		v.reason, v.yes, v.valid = reason, yes, true
	}
	return v, nil
}

// The bounds of an answer: bytes of the whole, characters of the reason.
const (
	maxAnswer = 64 << 10
	maxReason = 4_000
)

// decode parses an answer: one JSON object with a reason and the key, each once, and
// nothing else. It returns the reason on one line.
func decode(text, key string) (reason string, yes, ok bool) {
	var members map[string]jsontext.Value
	if len(text) > maxAnswer || json.Unmarshal([]byte(review.Unfence(text)), &members) != nil || len(members) != 2 {
		return "", false, false
	}
	var said *string // nil for null
	var verdict *bool
	if json.Unmarshal(members["reason"], &said) != nil || json.Unmarshal(members[key], &verdict) != nil {
		return "", false, false
	}
	if said == nil || verdict == nil || utf8.RuneCountInString(*said) > maxReason {
		return "", false, false
	}
	return strings.Join(strings.Fields(*said), " "), *verdict, true
}
