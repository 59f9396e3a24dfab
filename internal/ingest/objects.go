package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/pattern"
)

// objects serves the contents of objects from one git process, `cat-file --batch`. It starts the
// process with the first request, keeps it until life ends, and restarts it if it died. Requests
// take turns.
type objects struct {
	life    context.Context //nolint:containedctx // of the process, as exec.CommandContext has it
	command func() *exec.Cmd
	turn    chan struct{} // full during a request
	running *batch        // nil before the first request, and after a failure
}

// object is the object that a name resolves to. A missing one has no kind.
type object struct {
	hash, kind string // kind is blob, tree, commit or tag
	size       int64  // in bytes
	text       []byte // nil if larger than the limit
}

// read looks up names in Git's syntax, without line breaks. It returns an object for each, in
// order, with the text of those no larger than limit. The error is ErrPartial, ctx's, or git's.
func (o *objects) read(ctx context.Context, limit int64, names ...string) ([]object, error) {
	if len(names) == 0 {
		return nil, nil // git would answer an empty line
	}
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-o.turn }()
	for {
		used := o.running != nil
		if !used {
			if err := o.start(); err != nil {
				return nil, err
			}
		}
		all, err := o.running.ask(ctx, limit, names)
		if err == nil {
			return all, nil
		}
		err = o.stop(err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrPartial), !used:
			return nil, err
		} // a process that answered before and died says nothing about these names: retry with a new one
	}
}

func (o *objects) start() error {
	b := &batch{cmd: o.command()}
	input, err := b.cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	b.input, b.output, b.cmd.Stderr, b.cmd.WaitDelay = input, bufio.NewReader(output), &b.stderr, time.Second
	if err := b.cmd.Start(); err != nil {
		return fmt.Errorf("running git: %w", err)
	}
	o.running = b
	context.AfterFunc(o.life, func() {
		o.turn <- struct{}{}
		if o.running == b {
			_ = o.stop(nil) // there are no more requests
		}
		<-o.turn
	})
	return nil
}

// stop kills the process and returns the reason why it did not answer.
func (o *objects) stop(why error) error {
	b := o.running
	o.running = nil
	_ = b.cmd.Process.Kill() // it may be gone already
	b.writing.Wait()
	_ = b.cmd.Wait() // it was killed
	if why == nil {
		return nil
	}
	return gitError(why, b.stderr.String())
}

// batch is a running process that reads names from its input and writes objects to its output.
type batch struct {
	cmd     *exec.Cmd
	input   io.Writer
	output  *bufio.Reader
	stderr  bytes.Buffer // readable only after the process has ended
	writing sync.WaitGroup
}

// ask requests names and reads the answers. After an error, unread answers remain, so the
// process must be killed.
func (b *batch) ask(ctx context.Context, limit int64, names []string) ([]object, error) {
	stop := context.AfterFunc(ctx, func() { _ = b.cmd.Process.Kill() })
	defer stop()
	b.writing.Go(func() { // concurrently: git stops reading if its answers are not read
		_, _ = io.WriteString(b.input, strings.Join(names, "\n")+"\n") // the reader notices the end
	})
	all := make([]object, len(names))
	for i := range all {
		var err error
		if all[i], err = readObject(b.output, limit); err != nil {
			return nil, err
		}
	}
	return all, nil
}

var answerHeader = pattern.Lazy(`^([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) ([0-9]{1,18})$`)

// readObject reads "hash kind size<lf>content<lf>", or "name why<lf>" for a name without an
// object. It skips content larger than limit.
func readObject(r *bufio.Reader, limit int64) (object, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return object{}, fmt.Errorf("reading git's answer: %w", err)
	}
	line = strings.TrimSuffix(line, "\n")
	field := answerHeader().FindStringSubmatch(line)
	if field == nil {
		why := line[strings.LastIndexByte(line, ' ')+1:]
		if why == "missing" || why == "ambiguous" || why == "submodule" {
			return object{}, nil
		}
		return object{}, fmt.Errorf("git's answer %.80q is not understood", line)
	}
	found := object{hash: field[1], kind: field[2]}
	found.size, _ = strconv.ParseInt(field[3], 10, 64) // at most eighteen digits
	if found.size <= limit {
		found.text = make([]byte, found.size)
		_, err = io.ReadFull(r, found.text)
	} else {
		_, err = io.CopyN(io.Discard, r, found.size)
	}
	if end, failed := r.ReadByte(); err != nil || failed != nil || end != '\n' {
		return object{}, fmt.Errorf("git did not give object %s whole: %w", found.hash,
			cmp.Or(err, failed, io.ErrUnexpectedEOF))
	}
	return found, nil
}
