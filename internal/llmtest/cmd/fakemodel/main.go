// Command fakemodel serves the test model on an address, to try the product by
// hand without a key:
//
//	go run ./internal/llmtest/cmd/fakemodel -addr 127.0.0.1:8089 -delay 200ms
//	OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=any OPENAI_MODEL=fake pr-review-action review demo
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/llmtest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func scripts() map[string]llmtest.Script {
	return map[string]llmtest.Script{
		"honest":   llmtest.Either(llmtest.Honest, llmtest.HonestJudge),
		"obedient": llmtest.Either(llmtest.Obedient(llmtest.Honest), llmtest.ObedientJudge(llmtest.HonestJudge)),
		"prose":    llmtest.Always(llmtest.Answer{Text: "Looks good to me."}),
		"empty":    llmtest.Always(llmtest.Answer{}),
		"refusal":  llmtest.Always(llmtest.Answer{Refusal: "I cannot help with that."}),
		"huge":     llmtest.Always(llmtest.Answer{Text: strings.Repeat("x", 10<<20)}),
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8089", "address to listen on")
	name := flags.String("script", "honest", "honest, obedient, prose, empty, refusal or huge")
	delay := flags.Duration("delay", 0, "time that every answer takes")
	status := flags.Int("status", 0, "answer every request with this error status")
	price := flags.Float64("cost", 0, "usage.cost of every answer in USD")
	key := flags.String("key", "", "bearer token to ask for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	script, ok := scripts()[*name]
	if !ok {
		return fmt.Errorf("no script %q", *name)
	}
	model := llmtest.New(func(r llmtest.Request) llmtest.Answer {
		a := script(r)
		a.Delay, a.Cost, a.Status = *delay, *price, *status
		return a
	})
	model.Key = *key
	fmt.Fprintf(os.Stderr, "serving http://%s/v1\n", *addr)
	server := &http.Server{Addr: *addr, Handler: model, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
