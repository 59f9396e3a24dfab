package embed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/vector"
)

const (
	mostInputs      = 256     // texts per request: keeps answers small, and a lost one cheap
	inputTokens     = 8_000   // per text; longer ones are cut
	requestTokens   = 100_000 // for all texts of a request: Voyage's limit, and a third of OpenAI's
	bytesPerToken   = 3       // of code, on average; batches that turn out too large are halved
	inputFrame      = 32      // tokens that a server may count in addition to a text's bytes
	maxDimensions   = 8_192
	bytesPerNumber  = 32 // in JSON, at most
	requestsAtATime = 4
)

// Embedder turns texts into vectors of one model. It may be used from many goroutines.
type Embedder struct {
	server     *server
	dimensions atomic.Int64 // as configured, or else as in the first answer; 0 until then
	inputs     atomic.Int64 // per request: reduced when the server refuses that many
}

// NewEmbedder checks the options and returns an Embedder; it sends nothing.
func NewEmbedder(o Options) (*Embedder, error) {
	s, err := newServer(o, "embeddings", OpenAI, "https://api.openai.com/v1")
	if err != nil {
		return nil, err
	}
	e := &Embedder{server: s}
	e.dimensions.Store(int64(o.Dimensions))
	e.inputs.Store(mostInputs)
	return e, nil
}

// Identity returns the name of the model and its dimensions. Only vectors of the same identity are compared.
func (e *Embedder) Identity() string { return e.server.identity }

// Embed returns one vector of length 1 for each text, all of the same dimension. query
// tells it that the texts are queries, not documents: some models embed them differently.
// Ask keeps the answers for queries, and for documents if ctx is from Keeping. The error is
// a *LostError if the server is no longer asked in this run, otherwise ctx's or the budget's; vectors that were
// paid for before it are returned with it, and nil for the other texts.
func (e *Embedder) Embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	texts = e.server.outgoing(texts, inputTokens*bytesPerToken)
	vectors := make([][]float32, len(texts))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(requestsAtATime)
	for at := 0; at < len(texts) && groupCtx.Err() == nil; {
		n := e.batchSize(texts[at:])
		batch, into := texts[at:at+n], vectors[at:at+n]
		group.Go(func() error { return e.batch(groupCtx, batch, into, query) })
		at += n
	}
	if err := group.Wait(); err != nil {
		return vectors, e.server.recordFailure(ctx, err)
	}
	return vectors, ctx.Err()
}

type keeping struct{}

// Keeping returns a context in which Ask also keeps the vectors of documents, for a caller
// that does not store them elsewhere.
func Keeping(ctx context.Context) context.Context { return context.WithValue(ctx, keeping{}, true) }

// batchSize returns how many of the texts go into one request, at least one.
func (e *Embedder) batchSize(texts []string) int {
	n, tokens := 0, 0
	for n < len(texts) && n < int(e.inputs.Load()) {
		tokens += len(texts[n])/bytesPerToken + 1
		if n > 0 && tokens > requestTokens {
			break
		}
		n++
	}
	return n
}

// leastText is the length in bytes at or below which a refused text is not cut further.
const leastText = 500

// batch embeds texts in one request. If the server refuses that many, it tries each half;
// a single text that is refused is cut in half.
func (e *Embedder) batch(ctx context.Context, texts []string, into [][]float32, query bool) error {
	if err := e.server.disabledError(); err != nil {
		return err
	}
	err := e.request(ctx, texts, into, query)
	half := len(texts) / 2
	switch {
	case err == nil || !tooLarge(err):
		return err
	case half > 0:
		e.inputs.Store(min(e.inputs.Load(), int64(half)))
		if err := e.batch(ctx, texts[:half], into[:half], query); err != nil {
			return err
		}
		return e.batch(ctx, texts[half:], into[half:], query)
	case len(texts[0]) > leastText:
		return e.batch(ctx, []string{guard.CutBytes(texts[0], len(texts[0])/2)}, into, query)
	}
	return err
}

// tooLarge reports whether the server may accept a smaller request; a 400 or 422 does not tell its reason.
func tooLarge(err error) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusRequestEntityTooLarge ||
		status.Code == http.StatusUnprocessableEntity || transport.Oversized([]byte(status.Message)))
}

func (e *Embedder) request(ctx context.Context, texts []string, into [][]float32, query bool) error {
	dimensions := cmp.Or(int(e.dimensions.Load()), maxDimensions)
	r := request{body: e.requestBody(texts, query), texts: len(texts), bytes: dimensions * bytesPerNumber}
	for _, t := range texts {
		r.most.EmbeddingTokens += int64(len(t) + inputFrame)
	}
	switch {
	case query:
		r.name = e.server.answerKey("embedding of a query", texts...)
	case ctx.Value(keeping{}) != nil:
		r.name = e.server.answerKey("embedding of texts", texts...)
	}
	a, err := e.server.answer(ctx, r, func(a *Answer, said row) error {
		err := e.check(said.Vector)
		if err == nil {
			a.Vectors, err = binary.Append(a.Vectors, binary.LittleEndian, []float32(said.Vector))
		}
		return err
	})
	if err != nil {
		return err
	}
	return e.unpackVectors(a.Vectors, into)
}

func (e *Embedder) requestBody(texts []string, query bool) map[string]any {
	q, dimensions := map[string]any{"input": texts}, "dimensions"
	if e.server.Style == Voyage {
		q["truncation"], dimensions = true, "output_dimension"
		q["input_type"] = map[bool]string{false: "document", true: "query"}[query]
	}
	if e.server.Dimensions > 0 {
		q[dimensions] = e.server.Dimensions
	}
	return q
}

// numbers is a vector in JSON, without nulls.
type numbers []float32

// UnmarshalJSON reads a list of numbers.
func (n *numbers) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*[]float32)(n)) != nil || bytes.Contains(raw, []byte("null")) {
		return errors.New("a vector is not a list of numbers")
	}
	return nil
}

// check reports a vector with wrong dimensions or numbers, and scales others to length 1.
func (e *Embedder) check(v []float32) error {
	if len(v) == 0 || len(v) > maxDimensions {
		return newWrongError("it gave a vector of %d dimensions", len(v))
	}
	if !vector.Normalize(v) {
		return newWrongError("a vector contains a number that is not finite, or nothing but zeros")
	}
	e.dimensions.CompareAndSwap(0, int64(len(v)))
	if want := e.dimensions.Load(); int64(len(v)) != want {
		return newWrongError("it gave %d dimensions where %d were expected", len(v), want)
	}
	return nil
}

// unpackVectors unpacks the vectors of an answer, new or kept from an earlier run.
func (e *Embedder) unpackVectors(packed []byte, into [][]float32) error {
	size := len(packed) / len(into)
	if size == 0 || size%4 != 0 || len(packed)%len(into) != 0 {
		return newWrongError("a kept answer has not the size that it should have")
	}
	for i := range into {
		v := make([]float32, size/4)
		_, err := binary.Decode(packed[i*size:], binary.LittleEndian, v)
		if err != nil || e.check(v) != nil {
			return newWrongError("a kept answer is of another model, or damaged")
		}
		into[i] = v
	}
	return nil
}
