package embed

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/vector"
)

const (
	defaultInputs   = 256 // less than vendors take: an answer stays small, and a lost one cheap
	inputTokens     = 8_000
	openAITokens    = 250_000
	voyageTokens    = 100_000
	bytesPerToken   = 3  // of code, on average; a batch that was too large is halved
	inputFrame      = 32 // tokens that a server may count beside a text's bytes
	maxDimensions   = 8_192
	bytesPerNumber  = 32 // of JSON, at most
	answerFrame     = 64 << 10
	requestsAtATime = 4
)

// Embedder turns texts into vectors of one model. It may be used from many goroutines.
type Embedder struct {
	server     *server
	dimensions atomic.Int64 // as set, or as the first answer had it; 0 before
	asked      int
	limits     Limits
	inputs     atomic.Int64 // that a request holds: fewer once the server refused more
}

// NewEmbedder checks the options and returns an Embedder; it sends nothing.
func NewEmbedder(o Options) (*Embedder, error) {
	s, err := o.check("embeddings", []string{OpenAI, Voyage},
		map[string]string{OpenAI: "https://api.openai.com/v1", Voyage: "https://api.voyageai.com/v1"}, "/embeddings")
	if err != nil {
		return nil, err
	}
	tokens := openAITokens
	if s.style == Voyage {
		tokens = voyageTokens
	}
	e := &Embedder{server: s, asked: o.Dimensions, limits: Limits{
		Inputs: cmp.Or(o.Limits.Inputs, defaultInputs), InputTokens: cmp.Or(o.Limits.InputTokens, inputTokens),
		RequestTokens: cmp.Or(o.Limits.RequestTokens, tokens),
	}}
	e.dimensions.Store(int64(o.Dimensions))
	e.inputs.Store(int64(e.limits.Inputs))
	return e, nil
}

// Identity names model and dimensions: vectors of another one are not compared.
func (e *Embedder) Identity() string {
	if e.asked == 0 {
		return e.server.identity()
	}
	return fmt.Sprintf("%s, %d dimensions", e.server.identity(), e.asked)
}

// Embed returns one vector of length 1 for each text, all of one dimension. Query says
// that the texts are asked, not searched: some models embed the two apart. Answers to
// queries are kept by Ask, others where ctx is of Keeping. The error is a *LostError where nothing more is
// asked in this run, else the end of ctx or of the money.
func (e *Embedder) Embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	texts = e.server.outgoing(texts, e.limits.InputTokens*bytesPerToken)
	vectors := make([][]float32, len(texts))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(requestsAtATime)
	for at := 0; at < len(texts) && groupCtx.Err() == nil; {
		n := e.fit(texts[at:])
		batch, into := texts[at:at+n], vectors[at:at+n]
		group.Go(func() error { return e.batch(groupCtx, batch, into, query) })
		at += n
	}
	if err := group.Wait(); err != nil {
		return nil, e.server.failed(ctx, err)
	}
	return vectors, ctx.Err()
}

type keeping struct{}

// Keeping returns a context in which Ask keeps the vectors of texts that are searched,
// for a caller who stores them nowhere else.
func Keeping(ctx context.Context) context.Context { return context.WithValue(ctx, keeping{}, true) }

// fit is how many of the texts one request takes.
func (e *Embedder) fit(texts []string) int {
	n, tokens := 0, 0
	for n < len(texts) && n < int(e.inputs.Load()) {
		tokens += len(texts[n])/bytesPerToken + 1
		if n > 0 && tokens > e.limits.RequestTokens {
			break
		}
		n++
	}
	return n
}

// leastText is the length in bytes below which a text that is refused is not cut further.
const leastText = 500

// batch embeds texts by one request, or by two of half the size where the server
// refuses that many; a single text that it refuses is cut.
func (e *Embedder) batch(ctx context.Context, texts []string, into [][]float32, query bool) error {
	if err := e.server.off(); err != nil {
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
		return e.batch(ctx, []string{clip(texts[0], len(texts[0])/2)}, into, query)
	}
	return err
}

// tooLarge reports whether a server may take less: of 400 nobody says what it is for.
func tooLarge(err error) bool {
	var status *transport.StatusError
	return errors.As(err, &status) &&
		(status.Code == http.StatusBadRequest || status.Code == http.StatusRequestEntityTooLarge)
}

func (e *Embedder) request(ctx context.Context, texts []string, into [][]float32, query bool) error {
	most := cost.Usage{}
	for _, t := range texts {
		most.EmbeddingTokens += int64(len(t) + inputFrame)
	}
	name := ""
	switch {
	case query:
		name = key(append([]string{"embedding of a query", e.Identity(), e.server.style}, texts...)...)
	case ctx.Value(keeping{}) != nil:
		name = key(append([]string{"embedding of texts", e.Identity(), e.server.style}, texts...)...)
	}
	a, err := e.server.call(ctx, name, most, func(ctx context.Context) (Answer, error) {
		return e.send(ctx, texts, query, most.EmbeddingTokens)
	})
	if err != nil {
		return err
	}
	return e.read(a.Vectors, into)
}

// question is a request in either style.
type question struct {
	Model string   `json:"model"`
	Input []string `json:"input"`

	Dimensions int `json:"dimensions,omitzero"`

	InputType       string `json:"input_type,omitzero"`
	OutputDimension int    `json:"output_dimension,omitzero"`
	Truncation      bool   `json:"truncation,omitzero"`
}

func (e *Embedder) question(texts []string, query bool) question {
	q := question{Model: e.server.model, Input: texts}
	switch {
	case e.server.style == OpenAI:
		q.Dimensions = e.asked
		return q
	case query:
		q.InputType = "query"
	default:
		q.InputType = "document"
	}
	q.OutputDimension, q.Truncation = e.asked, true
	return q
}

// send makes one request. Its answer may list the vectors in any order.
func (e *Embedder) send(ctx context.Context, texts []string, query bool, most int64) (Answer, error) {
	var said struct {
		Data []struct {
			Index     *int    `json:"index"`
			Embedding numbers `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Prompt float64 `json:"prompt_tokens"`
			Total  float64 `json:"total_tokens"`
		} `json:"usage"`
	}
	dimensions := cmp.Or(int(e.dimensions.Load()), maxDimensions)
	limit := int64(answerFrame + len(texts)*dimensions*bytesPerNumber)
	if err := e.server.post(ctx, e.question(texts, query), &said, limit); err != nil {
		return Answer{}, err
	}
	a := Answer{Usage: cost.Usage{Calls: 1, EmbeddingTokens: count(max(said.Usage.Prompt, said.Usage.Total), most)}}
	if len(said.Data) != len(texts) {
		return a, wrong("it gave %d vectors for %d texts", len(said.Data), len(texts))
	}
	places := make([]numbers, len(texts))
	for i, d := range said.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		} else if len(texts) > 1 {
			return a, wrong("it did not say which vector is of which text")
		}
		if err := e.check(d.Embedding, at, places); err != nil {
			return a, err
		}
		places[at] = d.Embedding
	}
	a.Vectors = pack(places)
	return a, nil
}

// check holds one vector of an answer against what was asked for.
func (e *Embedder) check(v numbers, at int, places []numbers) error {
	switch {
	case at < 0 || at >= len(places):
		return wrong("it gave a vector for text %d of %d", at+1, len(places))
	case places[at] != nil:
		return wrong("it gave two vectors for one text")
	case len(v) == 0 || len(v) > maxDimensions:
		return wrong("it gave a vector of %d dimensions", len(v))
	case vector.Normalize(v) != nil:
		return wrong("a vector holds a number that is not finite, or nothing but zeros")
	}
	if e.dimensions.CompareAndSwap(0, int64(len(v))) {
		return nil
	}
	if want := e.dimensions.Load(); int64(len(v)) != want {
		return wrong("it gave %d dimensions where %d were expected", len(v), want)
	}
	return nil
}

func pack(vectors []numbers) []byte {
	var all []byte
	for _, v := range vectors {
		for _, x := range v {
			all = binary.LittleEndian.AppendUint32(all, math.Float32bits(x))
		}
	}
	return all
}

// read takes an answer apart, one that was kept by an earlier run too.
func (e *Embedder) read(packed []byte, into [][]float32) error {
	size := len(packed) / len(into)
	if size == 0 || size%4 != 0 || len(packed)%len(into) != 0 {
		return wrong("a kept answer has not the size that it should have")
	}
	for i, part := range slices.Collect(slices.Chunk(packed, size)) {
		v := make([]float32, size/4)
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*j:]))
		}
		e.dimensions.CompareAndSwap(0, int64(len(v)))
		if err := vector.Normalize(v); err != nil || int64(len(v)) != e.dimensions.Load() {
			return wrong("a kept answer is of another model, or damaged")
		}
		into[i] = v
	}
	return nil
}
