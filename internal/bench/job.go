package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type job struct {
	n           int
	latency     time.Duration // the simulated model's, per file
	concurrency int
	dir         string
	decision    string
}

// line is what one process prints to standard output. Times are milliseconds since the Unix epoch. Peak is the
// largest resident set in KiB, 0 if the system does not report it.
type line struct {
	Impl      string  `json:"impl"`
	Version   string  `json:"version"`
	Status    string  `json:"status"` // paused or done
	FirstNode float64 `json:"first_node_unix_ms,omitempty"`
	Paused    float64 `json:"paused_unix_ms,omitempty"`
	Tasks     int64   `json:"tasks,omitempty"`
	Posted    *bool   `json:"posted,omitempty"`
	BodyBytes *int    `json:"body_bytes,omitempty"`
	PostedAt  float64 `json:"posted_unix_ms,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"` // of a watched process
	Peak      int     `json:"peak_rss_kib,omitempty"`
}

var errUsage = errors.New("usage: bench compare|fanout|memory [--sizes N,N] [--repeats K] [--check]\n" +
	"       bench start|all [--repeats K] [--check]\n" +
	"       bench pause|floor-pause --n N --latency-ms L --concurrency C --dir DIR\n" +
	"       bench resume|floor-resume --dir DIR --decision approve|reject")

func parse(args []string, resume bool) (job, error) {
	var j job
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&j.dir, "dir", "", "an existing folder")
	latency := 0
	if resume {
		flags.StringVar(&j.decision, "decision", "", "approve or reject")
	} else {
		flags.IntVar(&j.n, "n", 10, "files")
		flags.IntVar(&latency, "latency-ms", 0, "of the model, per file")
		flags.IntVar(&j.concurrency, "concurrency", 8, "files under review at one time")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return j, err
	}
	j.latency = time.Duration(latency) * time.Millisecond
	return j, errors.Join(j.check(resume), checkNoArgs(flags))
}

func (j job) check(resume bool) error {
	switch info, err := os.Stat(j.dir); {
	case err != nil || !info.IsDir():
		return fmt.Errorf("--dir %q is not an existing folder", j.dir)
	case resume && j.decision != "approve" && j.decision != "reject":
		return fmt.Errorf("--decision %q is neither approve nor reject", j.decision)
	case !resume && (j.n < 1 || j.concurrency < 1 || j.latency < 0):
		return errors.New("--n and --concurrency are at least 1, --latency-ms at least 0")
	}
	return nil
}

func checkNoArgs(flags *flag.FlagSet) error {
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not expected", flags.Arg(0))
	}
	return nil
}

func now() float64 { return float64(time.Now().UnixNano()) / 1e6 }

// peak returns the process's largest resident set in KiB, from Linux's proc(5), or 0.
func peak() int {
	text, _ := os.ReadFile("/proc/self/status") // only Linux has it
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib int
	_, _ = fmt.Sscan(rest, &kib) // 0 elsewhere
	return kib
}

func doneLine(posted bool, body string) line {
	size := 0
	if posted {
		size = len(body)
	}
	return line{Status: "done", Posted: &posted, BodyBytes: &size, PostedAt: now()}
}

func (j job) body() string { return filepath.Join(j.dir, "body.md") }

func writeBody(j job, body string) error { return os.WriteFile(j.body(), []byte(body), 0o600) }
