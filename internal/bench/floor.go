package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// floorPause does by hand what pause does through the graph: it runs a bounded group of
// goroutines and finally writes the state as one JSON file. It has no journal.
func floorPause(_ context.Context, j job) (line, error) {
	l := line{Status: "paused", FirstNode: now()}
	var s state
	s.Change, s.Files = makeChange(j.n)
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(j.concurrency)
	for _, f := range s.Files {
		group.Go(func() error {
			found, used := simulateReview(f, j.latency)
			mu.Lock()
			defer mu.Unlock()
			s.Findings = append(s.Findings, found...)
			s.Usage = add(s.Usage, used)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return l, err
	}
	s.Comments, s.Body = aggregate(s)
	text, err := json.Marshal(&s)
	if err == nil {
		err = writeSynced(floorFile(j), text)
	}
	l.Paused, l.Tasks = now(), s.Usage.Calls
	return l, err
}

func floorResume(_ context.Context, j job) (line, error) {
	text, err := os.ReadFile(floorFile(j))
	if err != nil {
		return line{}, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return line{}, err
	}
	if j.decision != "approve" {
		return doneLine(false, ""), nil
	}
	return doneLine(true, s.Body), writeBody(j, s.Body)
}

func floorFile(j job) string { return filepath.Join(j.dir, "checkpoint", "state.json") }

func writeSynced(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
