// Command fakemodel serves the test model on an address, to try the product by hand without a key:
//
//	go run ./internal/llmtest/cmd/fakemodel -addr 127.0.0.1:8089 -delay 200ms
//	OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=any OPENAI_MODEL=fake pr-review-action review demo
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

	"github.com/org/pr-review-action/internal/llmtest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func scripts() map[string]llmtest.Script {
	return map[string]llmtest.Script{"honest": llmtest.Honest, "curious": llmtest.Curious(llmtest.Honest)}
}

func run(args []string) error {
	script, implement := "honest", map[string][]json.RawMessage(nil)
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8089", "address to listen on")
	flags.Func("script", "one of "+strings.Join(slices.Sorted(maps.Keys(scripts())), ", "), func(name string) error {
		if script = name; scripts()[name] == nil {
			return fmt.Errorf("no script %q", name)
		}
		return nil
	})
	flags.Func("implement", "file of answers that turn a ticket into a change (see testdata/implement)",
		func(name string) error {
			text, err := os.ReadFile(name)
			if err == nil {
				implement, err = llmtest.ReadImplement(text)
			}
			return err
		})
	delay := flags.Duration("delay", 0, "time that every answer takes")
	key := flags.String("key", "", "key to ask for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	model := llmtest.New(llmtest.Implement(implement, scripts()[script]))
	model.Key, model.Delay = *key, *delay
	fmt.Fprintf(os.Stderr, "serving http://%s%s\n", *addr, model.Base())
	server := &http.Server{Addr: *addr, Handler: model, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
