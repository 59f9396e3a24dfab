// Command fakemodel serves the test model on an address, to try the product by hand without a key:
//
//	go run ./internal/llmtest/cmd/fakemodel -addr 127.0.0.1:8089 -delay 200ms
//	OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=any OPENAI_MODEL=fake pr-review-action review demo
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/org/pr-review-action/internal/llmtest"
)

func main() {
	log.SetFlags(0)
	addr := flag.String("addr", "127.0.0.1:8089", "address to listen on")
	script := flag.String("script", "honest", "honest or curious, which looks around first")
	implement := flag.String("implement", "", "file of answers that turn a ticket into a change "+
		"(see testdata/implement)")
	delay := flag.Duration("delay", 0, "time that every answer takes")
	key := flag.String("key", "", "key to ask for")
	flag.Parse()
	answer := map[string]llmtest.Script{"honest": llmtest.Honest, "curious": llmtest.Curious(llmtest.Honest)}[*script]
	if answer == nil {
		log.Fatalf("fakemodel: no script %q", *script)
	}
	answers := map[string][]json.RawMessage{}
	if *implement != "" {
		text, err := os.ReadFile(*implement)
		if err == nil {
			answers, err = llmtest.ReadImplement(text)
		}
		if err != nil {
			log.Fatal("fakemodel: ", err)
		}
	}
	model := llmtest.New(llmtest.Implement(answers, answer))
	model.Key, model.Delay = *key, *delay
	log.Printf("serving http://%s%s", *addr, model.Base())
	server := &http.Server{Addr: *addr, Handler: model, ReadHeaderTimeout: time.Minute}
	log.Fatal("fakemodel: ", server.ListenAndServe())
}
