package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxEvent bounds the event file, in bytes; GitHub's own limit for a payload is 25 MB.
const maxEvent = 32 << 20

// Event holds the parts of the triggering event that the product uses. Everything
// else about the pull request comes from the API.
type Event struct {
	Name   string // pull_request, pull_request_target, workflow_dispatch, …
	Action string // opened, synchronize, labeled, …
	Number int    // of the pull request; 0 if the event has none
	Label  string // for a labeled event
	Head   string // the pull request's head at that time
}

type eventFile struct {
	Action      string `json:"action"`
	PullRequest struct {
		Number int `json:"number"`
		Head   struct {
			SHA string `json:"sha"`
		} `json:"head"`
	} `json:"pull_request"`
	Issue struct {
		Number      int              `json:"number"`
		PullRequest *json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	Label struct {
		Name string `json:"name"`
	} `json:"label"`
}

// ReadEvent reads the event's file. If there is no file, only the event's name is
// set.
func ReadEvent(env Env) (Event, error) {
	e := Event{Name: env.EventName}
	if env.EventPath == "" {
		return e, nil
	}
	f, err := os.Open(env.EventPath)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("opening the event: %w", err)
	}
	defer f.Close()
	var file eventFile
	if err := json.NewDecoder(io.LimitReader(f, maxEvent)).Decode(&file); err != nil {
		return e, fmt.Errorf("reading the event %s: %w", env.EventPath, err)
	}
	e.Action, e.Label = file.Action, file.Label.Name
	e.Number, e.Head = file.PullRequest.Number, file.PullRequest.Head.SHA
	if e.Number == 0 && file.Issue.PullRequest != nil {
		e.Number = file.Issue.Number
	}
	return e, nil
}
