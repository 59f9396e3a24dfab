// Fakegithub runs the fake GitHub as a process for scripts: it prints one JSON
// object with addresses and tokens and serves until it is interrupted.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/githubtest/demo"
)

func main() {
	log.SetFlags(0)
	fork := flag.Bool("fork", false, "the pull request comes from a fork")
	flag.Parse()
	s, err := githubtest.Start(githubtest.Options{Violation: func(reason string) { log.Print("violation: ", reason) }})
	if err != nil {
		log.Fatal("fakegithub: ", err)
	}
	defer s.Close()
	control := demo.Control(s)
	defer control.Close()
	world := demo.Add(s, *fork)
	world.ControlURL = control.URL
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	if err := e.Encode(world); err != nil {
		log.Fatal("fakegithub: ", err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}
