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
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// objects asks one process of git what objects hold: `cat-file --batch`, which is started for
// the first question and waits for the next one until life ends. Questions take turns. A
// process that has died is started again.
type objects struct {
	life    context.Context //nolint:containedctx // of the process, as exec.CommandContext has it
	command func() *exec.Cmd
	turn    chan struct{} // full while somebody asks
	running *batch        // nil before the first question, and behind a failure
}

// object is what a name stands for. One that is not there has no kind.
type object struct {
	hash, kind string // of kind blob, tree, commit or tag
	size       int64  // in bytes
	text       []byte // nil where it is larger than was asked for
}

func newObjects(life context.Context, command func() *exec.Cmd) *objects {
	return &objects{life: life, command: command, turn: make(chan struct{}, 1)}
}

// read looks up names as Git takes them, without line breaks: what each stands for, in their
// order, with the text of those that are no larger than limit. The error is ErrPartial, of ctx,
// or of git.
func (o *objects) read(ctx context.Context, limit int64, names ...string) ([]object, error) {
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
		all, err := o.running.answers(ctx, limit, names)
		if err == nil {
			return all, nil
		}
		err = o.end(err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrPartial), !used:
			return nil, err
		} // a process that answered before and is gone says nothing of these names: another one is asked
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
			_ = o.end(nil) // nobody asks any more
		}
		<-o.turn
	})
	return nil
}

// end ends the process and returns why it did not answer.
func (o *objects) end(why error) error {
	b := o.running
	o.running = nil
	_ = b.cmd.Process.Kill() // it may be gone already
	b.writing.Wait()
	_ = b.cmd.Wait() // it was killed
	if why == nil {
		return nil
	}
	return failure(why, b.stderr.String())
}

// batch is a process that answers: names on its input, objects on its output.
type batch struct {
	cmd     *exec.Cmd
	input   io.Writer
	output  *bufio.Reader
	stderr  bytes.Buffer // to be read behind the end
	writing sync.WaitGroup
}

// answers asks for names and reads what is answered. An error leaves answers behind that nobody
// has read, so that the process has to be ended.
func (b *batch) answers(ctx context.Context, limit int64, names []string) ([]object, error) {
	stop := context.AfterFunc(ctx, func() { _ = b.cmd.Process.Kill() })
	defer stop()
	b.writing.Go(func() { // beside the reading: git stops to read where nobody takes its answers
		_, _ = io.WriteString(b.input, strings.Join(names, "\n")+"\n") // who reads sees that it ended
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

var answered = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) ([0-9]{1,18})$`)

// readObject reads "hash kind size<lf>content<lf>", or "name why<lf>" of a name without an object. Content that is
// larger than limit is passed over.
func readObject(r *bufio.Reader, limit int64) (object, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return object{}, fmt.Errorf("reading git's answer: %w", err)
	}
	line = strings.TrimSuffix(line, "\n")
	field := answered.FindStringSubmatch(line)
	if field == nil {
		why := line[strings.LastIndexByte(line, ' ')+1:]
		if why == "missing" || why == "ambiguous" || why == "submodule" {
			return object{}, nil
		}
		return object{}, fmt.Errorf("git's answer %.80q is not understood", line)
	}
	found := object{hash: field[1], kind: field[2]}
	if found.size, err = strconv.ParseInt(field[3], 10, 64); err != nil {
		return object{}, err
	}
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
