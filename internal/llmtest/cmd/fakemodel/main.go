// Command fakemodel serves the test model on an address, to try the product by
// hand without a key:
//
//	go run ./internal/llmtest/cmd/fakemodel -addr 127.0.0.1:8089 -delay 200ms
//	OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=any OPENAI_MODEL=fake pr-review-action review demo
//
// Embeddings and both kinds of reranking are served beside it. GET /bill tells what it has answered, refused and
// billed so far.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/embedtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func scripts() map[string]llmtest.Script {
	honest := llmtest.Either(llmtest.Honest, llmtest.HonestJudge)
	return map[string]llmtest.Script{
		"honest":   honest,
		"curious":  llmtest.Curious(honest),
		"obedient": llmtest.Either(llmtest.Obedient(llmtest.Honest), llmtest.ObedientJudge(llmtest.HonestJudge)),
		"prose":    llmtest.Always(llmtest.Answer{Text: "Looks good to me."}),
		"empty":    llmtest.Always(llmtest.Answer{}),
		"refusal":  llmtest.Always(llmtest.Answer{Refusal: "I cannot help with that."}),
		"huge":     llmtest.Always(llmtest.Answer{Text: strings.Repeat("x", 10<<20)}),
	}
}

// options are what the flags say.
type options struct {
	addr, script, kind, fault, price string
	implement                        map[string][]json.RawMessage
	delay                            time.Duration
	status, faulty                   int
	cost                             float64
	model                            *llmtest.Server
}

func run(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving http://%s%s\n", o.addr, o.model.Base())
	mux := http.NewServeMux()
	mux.Handle("/", o.model)
	search := &embedtest.Server{}
	for _, path := range []string{"/v1/embeddings", "/v1/rerank", "/v2/rerank"} {
		mux.Handle("POST "+path, search)
	}
	mux.HandleFunc("GET /bill", func(w http.ResponseWriter, _ *http.Request) { tell(w, o.model) })
	server := &http.Server{Addr: o.addr, Handler: mux, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}

func parse(args []string) (*options, error) {
	o := &options{}
	o.model = llmtest.New(func(r llmtest.Request) llmtest.Answer { return o.answer(r) })
	o.model.Whole = o.answer
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8089", "address to listen on")
	flags.StringVar(&o.script, "script", "honest", "one of "+names(scripts()))
	flags.Func("implement", "file of answers that turn a ticket into a change (see testdata/implement)",
		func(name string) error {
			text, err := os.ReadFile(name)
			if err == nil {
				o.implement, err = llmtest.ReadImplement(text)
			}
			return err
		})
	flags.StringVar(&o.kind, "kind", "", "kind of server: one of "+fmt.Sprint(llmtest.Kinds()))
	flags.StringVar(&o.fault, "fault", "", "trouble: one of "+names(llmtest.Faults()))
	flags.IntVar(&o.faulty, "faulty", 0, "how many tries of a question run into the fault; 0 for all")
	flags.DurationVar(&o.delay, "delay", 0, "time that every answer takes")
	flags.IntVar(&o.status, "status", 0, "answer every request with this error status")
	flags.Float64Var(&o.cost, "cost", 0, "usage.cost of every answer in USD")
	flags.StringVar(&o.price, "price", "", "bill at this price in USD per million tokens, such as 0.25/2")
	flags.StringVar(&o.model.Key, "key", "", "key to ask for")
	flags.BoolVar(&o.model.Caches, "cache", false, "report cached tokens")
	flags.BoolVar(&o.model.Cuts, "cut", false, "end answers at the output limit")
	flags.IntVar(&o.model.Rate.Requests, "rpm", 0, "requests per -period")
	flags.IntVar(&o.model.Rate.Tokens, "tpm", 0, "tokens per -period")
	flags.DurationVar(&o.model.Rate.Period, "period", time.Minute, "of the rate limits")
	flags.BoolVar(&o.model.Rate.Window, "window", false, "count rates in fixed windows")
	flags.BoolVar(&o.model.Rate.Silent, "silent", false, "write no x-ratelimit headers")
	flags.BoolVar(&o.model.Rate.RetryAfter, "retry-after", false, "write Retry-After")
	flags.BoolVar(&o.model.Rate.RetryAfterMS, "retry-after-ms", false, "write retry-after-ms")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return o, o.check()
}

func (o *options) check() error {
	kind := llmtest.Kind(o.kind)
	switch {
	case scripts()[o.script] == nil:
		return fmt.Errorf("no script %q", o.script)
	case o.fault != "" && llmtest.Faults()[o.fault] == nil:
		return fmt.Errorf("no fault %q", o.fault)
	case kind != "" && !slices.Contains(llmtest.Kinds(), kind):
		return fmt.Errorf("no kind %q", kind)
	}
	llmtest.As(kind)(o.model)
	if o.price == "" {
		return nil
	}
	price, err := cost.ParsePrice(o.price)
	o.model.Price = &price
	return err
}

func (o *options) answer(r llmtest.Request) llmtest.Answer {
	script := llmtest.Implement(o.implement, scripts()[o.script])
	if r.Whole() && slices.Contains([]string{"honest", "curious", "obedient"}, o.script) {
		script = llmtest.Nothing // they know files
	}
	a := script(r)
	if o.fault != "" && (o.faulty == 0 || r.Try <= o.faulty) {
		a = llmtest.Faults()[o.fault](r, a)
	}
	a.Delay += o.delay
	a.Cost = o.cost
	if o.status != 0 {
		a.Status = o.status
	}
	return a
}

func names[T any](all map[string]T) string { return strings.Join(slices.Sorted(maps.Keys(all)), ", ") }

func tell(w http.ResponseWriter, model *llmtest.Server) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // who left is not told
		"calls": model.Calls() + len(model.Wholes()), "limited": model.Limited(), "refused": model.Refusals(),
		"peak": model.Peak(),
		"bill": model.Bill(),
	})
}
